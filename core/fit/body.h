// body.h - the inside of a mesh as a solid on a grid: depth below the skin, and its medial surface.
//
// Unit space: the mesh is centred at its bounding box and its longest side is 0.9, as in Pinocchio,
// whose constants refer to it.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/surface/part_triangles.h"

namespace sinew::fit {

struct MedialPoint {
  Vec3d place;
  double radius = 0;  // distance to the skin
};

constexpr double kLongestSide = 0.9;  // of the body in unit space, which is centred on it

class Body {
 public:
  // The largest connected inside of the mesh with `resolution` cells along its longest side. What
  // lies far from it, such as a floor, does not count, and neither do vertices without a face.
  // The mesh need not be closed: see weights::MakeVoxels. kInvalidArgument: no inside.
  // kResourceExhausted, kCancelled.
  static absl::StatusOr<Body> Create(const Mesh& mesh, std::uint32_t resolution, const Task& task);

  Vec3d ToUnit(const Vec3d& p) const { return scale_ * (p - centre_); }
  Vec3d FromUnit(const Vec3d& p) const { return (1 / scale_) * p + centre_; }

  // Distance below the skin; negative outside. Interpolated; constant beyond the grid.
  double Depth(const Vec3d& p) const { return Sample(depth_, p); }
  // Distance to the medial surface.
  double ToMedial(const Vec3d& p) const { return Sample(to_medial_, p); }

  // Points whose directions to the skin on two sides differ by 120 degrees or more, deepest first.
  const std::vector<MedialPoint>& medial() const { return medial_; }
  // The share of inside cells that is connected.
  double connected() const { return connected_; }
  // How long the longest part is that is not connected.
  double longest_left_out() const { return longest_left_out_; }
  // The sides of the box around the connected part.
  const Vec3d& size() const { return extent_; }
  double cell() const { return size_; }
  // The grid has a border of cells that are outside.
  std::size_t cell_count() const { return depth_.size(); }
  bool Inside(std::size_t cell) const { return depth_[cell] > 0; }
  // The cell of a place, or the nearest one.
  std::size_t CellOf(const Vec3d& p) const;
  Vec3d Middle(std::size_t cell) const;
  // Calls `visit(cell)` for the inside cells whose middle is nearer to `p` than `distance`.
  template <class Visit>
  void ForEachWithin(const Vec3d& p, double distance, Visit visit) const {
    const Vec3d reach = {distance, distance, distance};
    const std::size_t low = CellOf(p - reach), high = CellOf(p + reach);
    const auto nx = static_cast<std::size_t>(cells_[0]), ny = static_cast<std::size_t>(cells_[1]);
    for (std::size_t z = low / nx / ny; z <= high / nx / ny; ++z) {
      for (std::size_t y = low / nx % ny; y <= high / nx % ny; ++y) {
        for (std::size_t x = low % nx; x <= high % nx; ++x) {
          const std::size_t cell = x + nx * (y + ny * z);
          if (Inside(cell) && Length(Middle(cell) - p) < distance) visit(cell);
        }
      }
    }
  }
  // The six cells next to one that is inside.
  std::array<std::size_t, 6> Neighbours(std::size_t cell) const {
    const auto nx = static_cast<std::size_t>(cells_[0]), ny = static_cast<std::size_t>(cells_[1]);
    return {cell - 1, cell + 1, cell - nx, cell + nx, cell - nx * ny, cell + nx * ny};
  }

 private:
  // Sets the grid, and returns which of its cells [cells] are in the largest connected part.
  absl::StatusOr<std::vector<std::uint8_t>> FindInside(std::span<const Vec3d> places,
                                                       std::span<const Triangle> triangles,
                                                       std::uint32_t resolution, const Task& task);
  double Sample(const std::vector<float>& grid, const Vec3d& p) const;

  Vec3d centre_;
  double scale_ = 1;
  Vec3d origin_;     // centre of cell 0
  double size_ = 1;  // of a cell
  std::array<std::int32_t, 3> cells_{};
  std::vector<float> depth_, to_medial_;  // [cells]
  std::vector<MedialPoint> medial_;
  double connected_ = 1;
  double longest_left_out_ = 0;
  Vec3d extent_;
};

}  // namespace sinew::fit
