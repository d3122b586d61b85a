// canonical_limb.h - the cylinder for measuring implicit skinning, and pointwise field queries.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "core/deform/implicit/field.h"
#include "core/rig/posed_rig.h"
#include "tests/support/compare.h"
#include "tests/support/random.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

struct CanonicalOptions {
  double scale = 1;
  Vec3d origin{};
  bool closed = true;
  bool mirrored = false;  // in x
};

// Radius 1, x from -5 to 5, 81 rings of 32 and two fans; joints at -5 and 0; smoothstep weights of
// half-width 1.
inline RigSource CanonicalSource(const CanonicalOptions& options = {}) {
  constexpr std::uint32_t kRings = 81, kAround = 32;
  RigSource source;
  auto& mesh = source.mesh;
  const double side = options.mirrored ? -1 : 1;
  const auto place = [&](double x, double y, double z) {
    return options.origin + options.scale * Vec3d{side * x, y, z};
  };
  source.influences.offsets = {0};
  const auto add = [&](double x, double y, double z) {
    mesh.positions.push_back(ToFloat(place(x, y, z)));
    const double t = std::clamp(0.5 * (x + 1), 0.0, 1.0), w = t * t * (3 - 2 * t);
    if (w < 1) {
      source.influences.bindings.push_back(0);
      source.influences.weights.push_back(static_cast<float>(1 - w));
    }
    if (w > 0) {
      source.influences.bindings.push_back(1);
      source.influences.weights.push_back(static_cast<float>(w));
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  };
  for (std::uint32_t i = 0; i < kRings; ++i) {
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const double angle = 2 * 3.14159265358979323846 * k / kAround;
      add(-5 + 0.125 * i, std::cos(angle), std::sin(angle));
    }
  }
  mesh.face_offsets = {0};
  const auto face = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (options.mirrored) std::swap(b, c);
    mesh.face_vertices.insert(mesh.face_vertices.end(), {a, b, c});
    mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  };
  for (std::uint32_t i = 0; i + 1 < kRings; ++i) {
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const std::uint32_t a = i * kAround + k, b = i * kAround + (k + 1) % kAround, c = a + kAround,
                          d = b + kAround;
      if ((i + k) % 2 == 0) {
        face(a, b, d);
        face(a, d, c);
      } else {
        face(a, b, c);
        face(b, d, c);
      }
    }
  }
  if (options.closed) {
    add(-5, 0, 0);
    add(5, 0, 0);
    const std::uint32_t start = kRings * kAround, last = (kRings - 1) * kAround;
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const std::uint32_t next = (k + 1) % kAround;
      face(start, next, k);
      face(start + 1, last + k, last + next);
    }
  }
  const auto vertices = static_cast<std::uint32_t>(mesh.positions.size());
  mesh.parts = {{"mesh", 0, vertices, 0, static_cast<std::uint32_t>(mesh.face_offsets.size() - 1)}};
  source.joints = {{.name = "a"}, {.name = "b", .parent = 0}};
  const auto translation = [](const Vec3d& t) {
    return AffineD{{1, 0, 0, t.x, 0, 1, 0, t.y, 0, 0, 1, t.z}};
  };
  const Vec3d a = place(-5, 0, 0), b = place(0, 0, 0);
  source.rest_local = {translation(a), translation(b - a)};
  source.bindings = {{0, translation(-1.0 * a)}, {1, translation(-1.0 * b)}};
  return source;
}

inline Rig CanonicalLimb(const CanonicalOptions& options = {}) {
  return MakeRig(CanonicalSource(options));
}

inline LimbField BindField(const Rig& rig, std::size_t samples = 50) {
  Task task;
  LimbField field = ValueOrDie(LimbField::Bind(rig, Weld(rig), samples, task));
  const absl::Status status = CheckFields("field", field, {.joints = rig.joints()});
  if (!status.ok()) ValueOrDie<int>(status);
  return field;
}

struct FieldPoint {
  double value = 0;
  Vec3d gradient;
};

// The least distance of all parts at points in file order, 16 at a time; the last block is padded
// with its first point.
inline std::vector<FieldPoint> AskField(const PosedField& field, std::span<const Vec3d> points) {
  std::vector<FieldPoint> answers;
  for (std::size_t begin = 0; begin < points.size(); begin += kLanes) {
    PointBlock block;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const Vec3f p = ToFloat(points[begin + i < points.size() ? begin + i : begin]);
      block.x[i] = p.x;
      block.y[i] = p.y;
      block.z[i] = p.z;
    }
    DistanceNeed all;
    all.margin.fill(HUGE_VALF);
    const PartBlocks parts = field.Distances(block, all);
    for (std::size_t i = 0; i < kLanes && begin + i < points.size(); ++i) {
      // Parts may be left out beyond their reach.
      FieldPoint& least = answers.emplace_back(FieldPoint{.value = HUGE_VAL, .gradient = {}});
      for (std::uint32_t p = 0; p < field.PartFrames().size(); ++p) {
        least.value = std::min(least.value, double{field.Reach(p)});
      }
      for (const PartBlock& part : parts) {
        if (!(double{part.value[i]} < least.value)) continue;
        least = {double{part.value[i]}, {double{part.x[i]}, double{part.y[i]}, double{part.z[i]}}};
      }
    }
  }
  return answers;
}

// A field in a pose, which it stores.
class FieldInPose {
 public:
  FieldInPose(const LimbField& field, std::vector<Affine> pose,
              std::span<const MusclePrimitive> muscles = {})
      : pose_(std::move(pose)),
        posed_(field,
               {.joints = pose_,
                .skin = {},
                .signs = {},
                .rotations = {},
                .dual_quats = {},
                .controls = {}},
               muscles) {}
  PosedLimbField& operator*() { return posed_; }
  std::span<const Affine> pose() const { return pose_; }

 private:
  std::vector<Affine> pose_;
  PosedLimbField posed_;
};

// Uniform random points of a box, representable in float.
inline std::vector<Vec3d> Cloud(const Vec3d& centre, const Vec3d& half, std::size_t count) {
  std::vector<Vec3d> points;
  Random random(11);
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d u = {2 * random.Next() - 1, 2 * random.Next() - 1, 2 * random.Next() - 1};
    points.push_back(ToDouble(ToFloat(centre + Vec3d{u.x * half.x, u.y * half.y, u.z * half.z})));
  }
  return points;
}

}  // namespace sinew::testing
