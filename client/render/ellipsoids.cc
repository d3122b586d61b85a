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
constexpr double kBallPart = 0.012;   // radius of a joint, of the character's size
constexpr float kSpindlePart = 0.6f;  // width of a bone, of that
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

void AddEllipsoid(const PosedMuscle& muscle, Rgb colour, Ellipsoids& out) {
  if (!Drawable(muscle)) return;
  const auto first = static_cast<std::uint32_t>(out.positions.size() / 3);
  for (std::uint32_t ring = 0; ring <= kRings; ++ring) {
    const double polar = std::numbers::pi * ring / kRings;
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const double turn = 2 * std::numbers::pi * k / kAround;
      AddVertex(
          muscle,
          {std::cos(polar), std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn)},
          colour, out);
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

Vector3d PlaceOf(std::span<const float> joints, std::size_t joint) {
  const float* m = &joints[joint * 12];
  return Eigen::Vector3f(m[3], m[7], m[11]).cast<double>();
}

}  // namespace

Ellipsoids DrawMuscles(std::span<const PosedMuscle> muscles) {
  Ellipsoids out;
  for (std::size_t m = 0; m < muscles.size(); ++m) {
    AddEllipsoid(muscles[m], kFlesh[m % kFlesh.size()], out);
  }
  return out;
}

void AddBones(std::span<const float> joints, std::span<const std::int32_t> parents, double size,
              Ellipsoids& out) {
  const auto ball = static_cast<float>(kBallPart * size);
  for (std::size_t j = 0; j < parents.size() && (j + 1) * 12 <= joints.size(); ++j) {
    const Vector3d at = PlaceOf(joints, j);
    const auto add = [&](const Vector3d& middle, const Vector3d& along, float length, float width) {
      const Vector3d x = along.unitOrthogonal(), y = along.cross(x);
      PosedMuscle ellipsoid;
      for (std::size_t r = 0; r < 3; ++r) {
        const auto row = static_cast<Eigen::Index>(r);
        const double numbers[] = {along[row], x[row], y[row], middle[row]};
        for (std::size_t c = 0; c < 4; ++c) {
          ellipsoid.frame[r * 4 + c] = static_cast<float>(numbers[c]);
        }
      }
      ellipsoid.radii = {length, width, width};
      AddEllipsoid(ellipsoid, kBoneColour, out);
    };
    add(at, Vector3d::UnitX(), ball, ball);
    if (parents[j] < 0) continue;
    const Vector3d bone = at - PlaceOf(joints, static_cast<std::size_t>(parents[j]));
    const double length = bone.norm();
    if (!(length > 0)) continue;
    add(at - 0.5 * bone, bone / length, static_cast<float>(0.5 * length / double{kDrawnPart}),
        kSpindlePart * ball);
  }
}

}  // namespace sinew::client
