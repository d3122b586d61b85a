#include "tests/support/rounded_limb.h"
#include "core/base/vectors.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/tube.h"

namespace sinew::testing {
namespace {

constexpr std::uint32_t kRings = 81, kSpokes = 32;

double Smoothstep(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

AffineD ShiftBy(double x) {
  return {{1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, 0}};
}

template <class Sample>
PartBlocks BothParts(const PointBlock& points, Sample at) {
  PartBlocks parts(2);
  for (std::uint32_t b = 0; b < 2; ++b) {
    parts[b].part = b;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const FieldSample sample = at(b, ToDouble(points.At(i)));
      const Vec3f g = ToFloat(sample.gradient);
      parts[b].value[i] = static_cast<float>(sample.value);
      parts[b].x[i] = g.x;
      parts[b].y[i] = g.y;
      parts[b].z[i] = g.z;
    }
  }
  return parts;
}

Vec3d TurnedBack(const AffineD& inverse, const Vec3d& g) {
  return Multiply(Transpose(Linear(inverse)), g);
}

}  // namespace

RigSource CanonicalCylinderSource() {
  RigSource source;
  MeshSource& mesh = source.mesh;
  source.influences.offsets = {0};
  const auto add = [&](const Vec3d& p) {
    mesh.positions.push_back(ToFloat(p));
    const double w = Smoothstep((p.x + 1) / 2);
    for (std::uint16_t b = 0; b < 2; ++b) {
      const double share = b == 0 ? 1 - w : w;
      if (share <= 0) continue;
      source.influences.bindings.push_back(b);
      source.influences.weights.push_back(static_cast<float>(share));
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  };
  for (std::uint32_t i = 0; i < kRings; ++i) {
    for (std::uint32_t k = 0; k < kSpokes; ++k) {
      const double angle = 2 * std::numbers::pi * k / kSpokes;
      add({-5 + 10.0 * i / (kRings - 1), std::cos(angle), std::sin(angle)});
    }
  }
  add({-5, 0, 0});
  add({5, 0, 0});
  mesh.face_offsets = {0};
  const auto triangle = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    mesh.face_vertices.insert(mesh.face_vertices.end(), {a, b, c});
    mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  };
  const auto at = [](std::uint32_t i, std::uint32_t k) { return i * kSpokes + k % kSpokes; };
  for (std::uint32_t i = 0; i + 1 < kRings; ++i) {
    for (std::uint32_t k = 0; k < kSpokes; ++k) {
      const std::uint32_t a = at(i, k), b = at(i, k + 1), c = at(i + 1, k + 1), d = at(i + 1, k);
      if ((i + k) % 2 == 0) {
        triangle(a, b, c);
        triangle(a, c, d);
      } else {
        triangle(a, b, d);
        triangle(b, c, d);
      }
    }
  }
  for (std::uint32_t k = 0; k < kSpokes; ++k) {
    triangle(kRings * kSpokes, at(0, k + 1), at(0, k));
    triangle(kRings * kSpokes + 1, at(kRings - 1, k), at(kRings - 1, k + 1));
  }
  mesh.parts = {{"cylinder", 0, static_cast<std::uint32_t>(mesh.positions.size()), 0,
                 static_cast<std::uint32_t>(mesh.face_offsets.size() - 1)}};
  source.joints = {{.name = "upper", .parent = kNoParent}, {.name = "lower", .parent = 0}};
  source.rest_local = {ShiftBy(-5), ShiftBy(5)};
  source.bindings = {{0, ShiftBy(5)}, {1, ShiftBy(0)}};
  return source;
}

Rig CanonicalCylinder() {
  return MakeRig(CanonicalCylinderSource());
}

double CanonicalVolume() {
  return 10 * kSpokes / 2.0 * std::sin(2 * std::numbers::pi / kSpokes);
}

double ExactUnion(double degrees) {
  const double theta = degrees * std::numbers::pi / 180;
  return 1 + (2 * theta - 4 * std::tan(theta / 2)) / (30 * std::numbers::pi);
}

RoundedLimb::RoundedLimb(std::span<const AffineD> skin) {
  for (std::size_t b = 0; b < 2; ++b) {
    skin_[b] = skin[b];
    inverse_[b] = Inverse(skin[b]);
    frames_[b] = ToFloat(Compose(skin[b], ShiftBy(b == 0 ? -2.5 : 2.5)));
  }
}

RoundedLimb::RoundedLimb(std::span<const Affine> skin)
    : RoundedLimb(std::array{ToDouble(skin[0]), ToDouble(skin[1])}) {}

Vec3d RoundedLimb::FromAxis(std::size_t part, const Vec3d& point) const {
  Vec3d p = Apply(inverse_[part], point);
  const double along = part == 0 ? -p.x : p.x;  // the half axis points away from the joint
  if (along > 0) p.x = 0;
  return p;
}

FieldSample RoundedLimb::DistanceOf(std::size_t part, const Vec3d& point) const {
  const Vec3d p = FromAxis(part, point);
  const double distance = Length(p);
  if (distance >= 2) return {.value = 1};
  FieldSample sample = {.value = distance - 1};
  const double scale = double{Scale()};
  if (distance > 0) sample.gradient = TurnedBack(inverse_[part], (scale / distance) * p);
  return sample;
}

float RoundedLimb::Trust(std::uint32_t part, const Vec3f& point) const {
  static const RoundedLimb kRest(std::span<const AffineD>(std::array<AffineD, 2>{}));
  const Vec3d at_bind = Apply(inverse_[part], ToDouble(point));
  return TrustOfGap(static_cast<float>(kRest.DistanceOf(1 - part, at_bind).value -
                                       kRest.DistanceOf(part, at_bind).value));
}

Vec3f RoundedLimb::FromBone(std::uint32_t part, const Vec3f& point) const {
  return ToFloat(FromAxis(part, ToDouble(point)));
}

PartBlocks RoundedLimb::Distances(const PointBlock& points, const DistanceNeed&) const {
  return BothParts(points, [&](std::size_t b, const Vec3d& x) { return DistanceOf(b, x); });
}

}  // namespace sinew::testing
