#include "tests/reference/shapes_reference.h"

#include <map>

namespace sinew::reference {

std::vector<Vec3d> ShapedRest(const Rig& rig, std::span<const float> controls, double strength) {
  std::vector<Vec3d> points;
  for (const Vec3f& p : rig.mesh().positions()) points.push_back(ToDouble(p));
  for (const Shape& shape : rig.shapes()) {
    std::map<double, std::vector<Vec3d>> knots = {{0, std::vector<Vec3d>(points.size())}};
    for (const ShapeTarget& target : shape.targets) {
      std::vector<Vec3d>& dense = knots[double{target.weight}];
      dense.resize(points.size());
      for (std::size_t i = 0; i < target.vertices.size(); ++i) {
        dense[target.vertices[i]] = ToDouble(target.offsets[i]);
      }
    }
    const double value =
        controls.empty() ? rig.controls()[shape.control].default_value : controls[shape.control];
    auto right = knots.upper_bound(value);
    if (right == knots.end()) --right;
    if (right == knots.begin()) ++right;
    const auto left = std::prev(right);
    const double t = (value - left->first) / (right->first - left->first);
    for (std::size_t v = 0; v < points.size(); ++v) {
      points[v] =
          points[v] + strength * (left->second[v] + t * (right->second[v] - left->second[v]));
    }
  }
  return points;
}

}  // namespace sinew::reference
