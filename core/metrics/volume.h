// volume.h - the volume that a mesh encloses, posed over rest.
//
// Signed volume is the sum of det(a, b, c) / 6 over the triangles. It counts overlaps twice, so it
// says nothing about self-intersection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

class EnclosedVolume {
 public:
  // Takes the connected components that enclose something. An open border is closed by a fan round
  // the mean of its points. A component with borders counts if its fans are together no more than
  // half as large as its own surface and it is no flat sheet (36 pi V^2 / A^3, 1 for a ball, is
  // above 1e-3); a closed one unless it is flat.
  explicit EnclosedVolume(const Surface& surface);

  // At rest, scene units^3, each component positive; absent: no component encloses anything.
  std::optional<double> rest() const { return rest_; }
  // What counts, outward and closed: the middles of fans are points that Closed appends.
  std::span<const Triangle> triangles() const { return triangles_; }
  std::vector<Vec3d> Closed(std::span<const Vec3d> points) const;
  // Volume of closed points over rest(); a component turned inside out counts negative.
  std::optional<double> Ratio(std::span<const Vec3d> closed, const Task& task) const;

 private:
  struct Border {
    std::vector<std::uint32_t> points;
    std::vector<std::array<std::uint32_t, 2>> edges;  // directed as the fan needs them
  };
  static std::vector<Border> FindBorders(const Surface& surface);
  static Vec3d Mean(const Border& border, std::span<const Vec3d> points);
  double Volume(std::span<const Vec3d> closed, const Task& task) const;

  std::vector<Triangle> triangles_;
  std::vector<Border> borders_;  // of components that count
  std::optional<double> rest_;
};

}  // namespace sinew::metrics
