// volume.h - the volume that a mesh encloses, posed over rest.
//
// Signed volume is the sum of det(a, b, c) / 6 over the triangles. Overlaps count twice, so it does
// not measure self-intersection.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

class EnclosedVolume {
 public:
  // Selects the connected components that enclose a volume. An open border is closed by a fan
  // around the mean of its points. A component with borders counts if its fans have at most half
  // the area of its own surface and 36 pi V^2 / A^3 (1 for a ball) exceeds 1e-3; a closed one
  // unless it is flat.
  explicit EnclosedVolume(const Surface& surface);

  // At rest, scene units^3, each component positive. Absent: no component encloses a volume.
  std::optional<double> rest() const { return rest_; }
  // Triangles of the selected components, closed and outward. Fan centres are points appended by
  // Closed.
  std::span<const Triangle> triangles() const { return triangles_; }
  std::vector<Vec3d> Closed(std::span<const Vec3d> points) const;
  // Volume of closed points over rest(). Components turned inside out count negative.
  std::optional<double> Ratio(std::span<const Vec3d> closed, const Task& task) const;

 private:
  struct Border {
    std::vector<std::uint32_t> points;
    std::vector<std::array<std::uint32_t, 2>> edges;  // in the direction the fan needs
  };
  static std::vector<Border> FindBorders(const Surface& surface);
  static Vec3d Mean(const Border& border, std::span<const Vec3d> points);
  double Volume(std::span<const Vec3d> closed, const Task& task) const;

  std::vector<Triangle> triangles_;
  std::vector<Border> borders_;  // of the selected components
  std::optional<double> rest_;
};

}  // namespace sinew::metrics
