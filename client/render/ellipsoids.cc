#include "client/render/ellipsoids.h"

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace sinew::client {
namespace {

using Eigen::Vector3d;

constexpr std::uint32_t kAround = 32, kRings = 20;
constexpr std::array<Rgb, 3> kFlesh = {kMuscleColour, Rgb{146, 58, 68}, Rgb{92, 24, 44}};

bool Drawable(const PosedMuscle& muscle) {
  return std::all_of(muscle.frame.begin(), muscle.frame.end(),
                     [](float v) { return std::isfinite(v); }) &&
         std::all_of(muscle.radii.begin(), muscle.radii.end(),
                     [](float r) { return std::isfinite(r) && r > 0; });
}

// A point of the unit sphere in the muscle's axes as a vertex; normals scale with the inverse
// radii.
void AddVertex(const PosedMuscle& muscle, const Vector3d& unit, Rgb colour, Ellipsoids& out) {
  Vector3d normal = Vector3d::Zero(), point = Vector3d::Zero();
  for (int axis = 0; axis < 3; ++axis) {
    const auto c = static_cast<std::size_t>(axis);
    const Vector3d column(muscle.frame[c], muscle.frame[c + 4], muscle.frame[c + 8]);
    const double radius = muscle.radii[c];
    point += double{kDrawnPart} * radius * unit[axis] * column;
    normal += unit[axis] / radius * column;
  }
  point += Vector3d(muscle.frame[3], muscle.frame[7], muscle.frame[11]);
  normal.stableNormalize();
  for (int i = 0; i < 3; ++i) {
    out.positions.push_back(static_cast<float>(point[i]));
    out.normals.push_back(static_cast<float>(normal[i]));
    out.colours.push_back(static_cast<float>(colour[static_cast<std::size_t>(i)]) / 255);
  }
}

}  // namespace

Ellipsoids DrawMuscles(std::span<const PosedMuscle> muscles) {
  Ellipsoids out;
  for (std::size_t m = 0; m < muscles.size(); ++m) {
    if (!Drawable(muscles[m])) continue;
    const auto first = static_cast<std::uint32_t>(out.positions.size() / 3);
    for (std::uint32_t ring = 0; ring <= kRings; ++ring) {
      const double polar = std::numbers::pi * ring / kRings;
      for (std::uint32_t k = 0; k < kAround; ++k) {
        const double turn = 2 * std::numbers::pi * k / kAround;
        AddVertex(
            muscles[m],
            {std::cos(polar), std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn)},
            kFlesh[m % kFlesh.size()], out);
      }
    }
    for (std::uint32_t ring = 0; ring < kRings; ++ring) {
      for (std::uint32_t k = 0; k < kAround; ++k) {
        const std::uint32_t a = first + ring * kAround, b = a + kAround, next = (k + 1) % kAround;
        out.face_vertices.insert(out.face_vertices.end(),
                                 {a + k, b + k, b + next, a + k, b + next, a + next});
      }
    }
  }
  return out;
}

}  // namespace sinew::client
