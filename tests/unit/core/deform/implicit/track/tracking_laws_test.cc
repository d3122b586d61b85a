// Laws of every sequence: rest, rigid motions, threads and instruction sets, bad poses.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/method/vertex_status.h"
#include "core/simd/target.h"
#include "tests/support/compare.h"
#include "tests/support/run_method.h"
#include "tests/unit/core/deform/implicit/track/limb_sequence.h"

namespace sinew {
namespace {

using testing::LimbSequence;
using testing::SameBits;

TEST(TrackingLaws, KeepsRestBits) {
  LimbSequence limb;
  const auto rest = testing::RestPoints(limb.rig());
  for (int frame = 0; frame < 3; ++frame) {
    EXPECT_TRUE(SameBits(limb.Bend(0), rest)) << frame;
  }
  std::size_t out = 0;
  for (const std::uint8_t state : limb.vertex_status()) {
    out += state == static_cast<std::uint8_t>(VertexStatus::kExcluded) ? 1 : 0;
    EXPECT_TRUE(state == static_cast<std::uint8_t>(VertexStatus::kExcluded) ||
                state == static_cast<std::uint8_t>(VertexStatus::kNotDisplaced));
  }
  EXPECT_EQ(out, 2u) << "the middles of both ends, where the field is flat";
}

// With the closed-form fields of both parts.
TEST(TrackingLaws, VertexStatusMatchesContact) {
  LimbSequence limb;
  std::vector<Vec3d> points;
  for (int degrees = 5; degrees <= 120; degrees += 5) points = limb.Bend(degrees);
  const auto pose = testing::BendPose(limb.rig(), 120);
  const testing::RoundedLimb field{
      std::span<const AffineD>(testing::SkinMatrices(limb.rig(), pose))};
  std::map<VertexStatus, int> count;
  for (std::size_t v = 0; v < points.size(); ++v) {
    const auto state = static_cast<VertexStatus>(limb.vertex_status()[v]);
    ++count[state];
    const auto [nearer, farther] =
        std::minmax({field.DistanceOf(0, points[v]).value, field.DistanceOf(1, points[v]).value});
    if (state == VertexStatus::kGradientDivergence) {
      EXPECT_LE(farther, 0.02) << v << " lies in both limbs";
    } else if (state == VertexStatus::kFitted || state == VertexStatus::kNotDisplaced) {
      EXPECT_GE(farther, -0.035) << v;
      EXPECT_NEAR(nearer, 0, 0.035) << v;
    }
  }
  EXPECT_GE(count[VertexStatus::kGradientDivergence], 20);
  EXPECT_GE(count[VertexStatus::kFitted], 200);
  EXPECT_GE(count[VertexStatus::kNotDisplaced], 200);
  EXPECT_LE(count[VertexStatus::kIterationLimit], 10);
  EXPECT_EQ(count[VertexStatus::kExcluded], 2);
  EXPECT_EQ(count[VertexStatus::kZeroGradient] + count[VertexStatus::kPotentialPit], 0);
}

TEST(TrackingLaws, ConstantPoseConverges) {
  LimbSequence limb;
  for (int degrees = 5; degrees <= 150; degrees += 5) limb.Bend(degrees);
  std::vector<Vec3d> before = limb.Bend(150), now;
  for (int frame = 0; frame < 60; ++frame) {
    now = limb.Bend(150);
    if (frame + 1 < 60) before = now;
  }
  EXPECT_LE(testing::MaxDistance(before, now), 1e-3);
}

// At the ring at the joint both parts' fields are equal: there, and later on both sides of the
// contact, rounding decides the gradient, and neighbours follow.
TEST(TrackingLaws, SequenceFollowsRigidMotion) {
  LimbSequence still, carried;
  for (int degrees = 3; degrees <= 120; degrees += 3) {
    const auto pose = testing::BendPose(still.rig(), degrees);
    const AffineD motion =
        testing::RigidMotion({0.36, 0.48, 0.8}, 7.0 * degrees, {0.2 * degrees, -1, 3});
    const auto a = still.To(pose), b = carried.To(testing::Moved(motion, pose));
    std::vector<double> errors;
    for (std::size_t v = 0; v < a.size(); ++v) {
      errors.push_back(testing::Distance(Apply(motion, a[v]), b[v]));
    }
    std::ranges::sort(errors);
    const double median = errors[errors.size() / 2];
    EXPECT_LE(median, 1e-5) << degrees;
    EXPECT_LE(errors[errors.size() * 99 / 100], degrees < 70 ? 2e-3 : 5e-3) << degrees;
    EXPECT_LE(errors.back(), degrees < 70 ? 1e-2 : 0.1) << degrees;
  }
}

// The whole character scaled.
TEST(TrackingLaws, InvariantToPoseScale) {
  const Rig rig = testing::CanonicalCylinder();
  Task task;
  const auto recipe = testing::ValueOrDie(ParseRecipe("dqs | implicit(tracking=true)"));
  const Deformer deformer = testing::ValueOrDie(Deformer::Bind(rig, recipe, task));
  const auto tracked = [&](double scale) {
    std::vector<Vec3f> positions(rig.vertices());
    FrameOut out{.positions = std::as_writable_bytes(std::span(positions))};
    Workspace workspace;
    StreamState state;
    for (int degrees = 0; degrees <= 130; degrees += 5) {
      const auto pose = testing::Moved(testing::ScaleMotion({scale, scale, scale}),
                                       testing::BendPose(rig, degrees));
      const absl::Status status =
          deformer.Evaluate({.joints = pose, .controls = {}}, out, workspace, &state, task);
      EXPECT_TRUE(status.ok()) << status;
    }
    return positions;
  };
  const auto plain = tracked(1);
  for (const double scale : {0.015625, 64.0}) {
    const auto other = tracked(scale);
    std::vector<double> errors;
    for (std::size_t v = 0; v < plain.size(); ++v) {
      errors.push_back(testing::Distance(ToDouble(plain[v]), (1 / scale) * ToDouble(other[v])));
    }
    std::ranges::sort(errors);
    EXPECT_LE(errors[errors.size() / 2], 1e-3) << scale;
    EXPECT_LE(errors[errors.size() * 99 / 100], 5e-2) << scale;
  }
}

TEST(TrackingLaws, SameBitsForAnyThreadsAndInstructionSet) {
  std::vector<Vec3d> first;
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    for (const int threads : {1, 4}) {
      tbb::task_arena arena(threads);
      arena.execute([&] {
        LimbSequence limb;
        std::vector<Vec3d> points;
        for (int degrees = 5; degrees <= 120; degrees += 5) points = limb.Bend(degrees);
        if (first.empty()) first = points;
        EXPECT_TRUE(SameBits(first, points)) << IsaName(isa) << ", " << threads << " threads";
      });
    }
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
}

// Duplicates of a point, as at texture seams, stay together and do not change the bits of other
// points.
TEST(TrackingLaws, SplitVerticesMoveTogether) {
  RigSource split = testing::CanonicalCylinderSource();
  const auto whole = split;
  const std::size_t vertices = whole.mesh.positions.size();
  // The second half of the faces uses its own copies.
  std::vector<std::uint32_t> copy(vertices, 0);
  MeshSource& mesh = split.mesh;
  for (std::size_t c = mesh.face_vertices.size() / 2; c < mesh.face_vertices.size(); ++c) {
    const std::uint32_t v = mesh.face_vertices[c];
    if (copy[v] == 0) {
      copy[v] = static_cast<std::uint32_t>(mesh.positions.size());
      mesh.positions.push_back(mesh.positions[v]);
      for (auto k = whole.influences.offsets[v]; k < whole.influences.offsets[v + 1]; ++k) {
        split.influences.bindings.push_back(whole.influences.bindings[k]);
        split.influences.weights.push_back(whole.influences.weights[k]);
      }
      split.influences.offsets.push_back(split.influences.bindings.size());
    }
    mesh.face_vertices[c] = copy[v];
  }
  mesh.parts[0].vertex_count = static_cast<std::uint32_t>(mesh.positions.size());
  LimbSequence a, b(std::move(split));
  ASSERT_EQ(a.surface().points(), b.surface().points());
  std::vector<Vec3d> pa, pb;
  for (int degrees = 5; degrees <= 120; degrees += 5) {
    pa = a.Bend(degrees);
    pb = b.Bend(degrees);
  }
  for (std::size_t v = 0; v < vertices; ++v) {
    if (copy[v] != 0) {
      ASSERT_EQ(pb[v], pb[copy[v]]);
    }
  }
  EXPECT_LE(testing::MaxDistance(pa, std::span(pb).first(vertices)), 2e-2);
}

// The cylinder twice in one place: once as it is, once as a part with its own bind space.
RigSource CylinderAndItsCopyElsewhere(const AffineD& motion) {
  RigSource source = testing::CanonicalCylinderSource();
  const RigSource one = source;
  const auto vertices = static_cast<std::uint32_t>(one.mesh.positions.size());
  MeshSource& mesh = source.mesh;
  for (const Vec3f& p : one.mesh.positions) {
    mesh.positions.push_back(ToFloat(Apply(motion, ToDouble(p))));
  }
  for (const std::uint32_t v : one.mesh.face_vertices) mesh.face_vertices.push_back(vertices + v);
  for (std::size_t f = 1; f < one.mesh.face_offsets.size(); ++f) {
    mesh.face_offsets.push_back(one.mesh.face_offsets.back() + one.mesh.face_offsets[f]);
  }
  MeshPart& part = mesh.parts.emplace_back(one.mesh.parts.front());
  part.name = "copy";
  part.vertex_offset = vertices;
  part.face_offset = part.face_count;
  for (const Binding& binding : one.bindings) {
    source.bindings.push_back({binding.joint, Compose(binding.inverse_bind, Inverse(motion))});
  }
  InfluenceSource& rows = source.influences;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    for (auto k = one.influences.offsets[v]; k < one.influences.offsets[v + 1]; ++k) {
      const std::size_t binding = one.influences.bindings[k] + one.bindings.size();
      rows.bindings.push_back(static_cast<std::uint16_t>(binding));
      rows.weights.push_back(one.influences.weights[k]);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  return source;
}

TEST(TrackingLaws, PartWithOwnBindSpaceIsTracked) {
  const AffineD motion = testing::RigidMotion({0.36, 0.48, 0.8}, 70, {4, -3, 2});
  const Rig rig = testing::MakeRig(CylinderAndItsCopyElsewhere(motion));
  Task task;
  const auto recipe = testing::ValueOrDie(ParseRecipe("dqs | implicit(tracking=true)"));
  const Deformer deformer = testing::ValueOrDie(Deformer::Bind(rig, recipe, task));
  std::vector<Vec3f> positions(rig.vertices());
  FrameOut out{.positions = std::as_writable_bytes(std::span(positions))};
  Workspace workspace;
  StreamState state;
  for (int degrees = 0; degrees <= 120; degrees += 5) {
    const auto pose = testing::BendPose(rig, degrees);
    const absl::Status status =
        deformer.Evaluate({.joints = pose, .controls = {}}, out, workspace, &state, task);
    ASSERT_TRUE(status.ok()) << status;
    const std::size_t half = positions.size() / 2;
    std::vector<double> errors;
    for (std::size_t v = 0; v < half; ++v) {
      errors.push_back(testing::Distance(ToDouble(positions[v]), ToDouble(positions[half + v])));
    }
    std::ranges::sort(errors);
    EXPECT_LE(errors[half / 2], 2e-5) << degrees;
    EXPECT_LE(errors[half * 99 / 100], 2e-3) << degrees;
    EXPECT_LE(errors.back(), 1e-2) << degrees;
  }
}

// Joints scaled to zero, and a pose far outside the field.
TEST(TrackingLaws, FiniteForAnyPose) {
  LimbSequence limb;
  const auto finite = [](std::span<const Vec3d> points) {
    return std::ranges::all_of(points, [](const Vec3d& p) {
      return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z);
    });
  };
  auto pose = testing::BendPose(limb.rig(), 40);
  for (const float scale : {1e-6f, 1.0f, 40.0f}) {
    auto scaled = pose;
    for (const std::size_t i : {0, 1, 2, 4, 5, 6, 8, 9, 10}) scaled[1].m[i] *= scale;
    EXPECT_TRUE(finite(limb.To(scaled))) << scale;
  }
  EXPECT_TRUE(
      finite(limb.To(testing::Moved(testing::RigidMotion({0, 0, 1}, 90, {1e4, 0, 0}), pose))));
  EXPECT_TRUE(finite(limb.To(pose)));
}

}  // namespace
}  // namespace sinew
