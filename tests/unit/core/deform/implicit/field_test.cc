// The posed field: against its reference in double, and laws for any rig.
#include "core/deform/implicit/field.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/vectors.h"
#include "core/simd/target.h"
#include "tests/reference/field_reference.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

using testing::AskField;
using testing::BendPose;
using testing::BindField;
using testing::CanonicalLimb;
using testing::Cloud;
using testing::FieldInPose;
using testing::FieldPoint;
using testing::RestPose;
using testing::SameBits;

TEST(LimbField, ZeroOnSkinAndReachOutside) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  EXPECT_EQ(field.parts(), 2u);
  EXPECT_NEAR(field.unit(), 1, 1e-6);
  FieldInPose rest(field, RestPose(rig));
  for (const Vec3d& p : testing::RestPoints(rig)) {
    if (std::abs(p.x) > 3.9) continue;
    EXPECT_NEAR(AskField(*rest, std::vector{p})[0].value, 0, 0.04);
  }
  const auto far = AskField(*rest, std::vector<Vec3d>{{0, 9, 0}, {20, 0, 0}, {1e30, -1e30, 1e30}});
  for (const FieldPoint& at : far) {
    EXPECT_EQ(at.value, std::min((*rest).Reach(0), (*rest).Reach(1)));
    EXPECT_EQ(Length(at.gradient), 0);
  }
  EXPECT_LT(AskField(*rest, std::vector<Vec3d>{{2, 0, 0}})[0].value, -0.4);
}

TEST(LimbField, MatchesReference) {
  const Rig rig = CanonicalLimb();
  const auto points = Cloud({1, 1, 0}, {6, 4, 2}, 3000);
  const LimbField field = BindField(rig);
  FieldInPose bent(field, BendPose(rig, 90));
  const reference::LimbDistances limbs = reference::DistancesOf(field, RestPose(rig), bent.pose());
  const auto got = AskField(*bent, points);
  std::size_t off = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    reference::FieldValue want{.value = HUGE_VAL, .gradient = {}};
    for (std::size_t p = 0; p < field.parts(); ++p) {
      const reference::FieldValue of = limbs.posed(p, points[i]);
      if (of.value < want.value) want = of;
    }
    EXPECT_NEAR(got[i].value, want.value, 5e-4);
    off += Length(got[i].gradient - want.gradient) > 0.01 ? 1 : 0;
  }
  EXPECT_LT(off, points.size() / 50) << "either side of a crease is valid";
}

TEST(LimbField, MovesWithJoints) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  const auto points = Cloud({0, 1, 0}, {6, 4, 2}, 500);
  FieldInPose bent(field, BendPose(rig, 70));
  const auto before = AskField(*bent, points);
  const AffineD motion = testing::RigidMotion({1, -2, 0.5}, 130, {3, 10, -2});
  const AffineD mirror = Compose(motion, testing::ScaleMotion({1, -1, 1}));
  const AffineD grown = Compose(motion, testing::ScaleMotion({3, 3, 3}));
  const AffineD skewed = Compose(motion, testing::ScaleMotion({1, 2, 0.5}));
  for (const AffineD& m : {motion, mirror, grown, skewed}) {
    FieldInPose moved(field, testing::Moved(m, bent.pose()));
    const double scale = double{(*moved).unit() / (*bent).unit()};
    std::vector<Vec3d> there;
    for (const Vec3d& p : points) there.push_back(Apply(m, p));
    const auto after = AskField(*moved, there);
    const Mat3d normal = Transpose(Linear(Inverse(m)));
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(after[i].value, before[i].value, 1e-3);
      if (before[i].value > -0.5 && before[i].value < 0.9) {
        EXPECT_LT(Length(after[i].gradient - scale * Multiply(normal, before[i].gradient)), 5e-3)
            << before[i].value;
      }
    }
  }
}

TEST(LimbField, MirroredRigGivesMirroredField) {
  const Rig rig = CanonicalLimb(), mirrored = CanonicalLimb({.mirrored = true});
  const LimbField a = BindField(rig), b = BindField(mirrored);
  FieldInPose rest(a, RestPose(rig)), other(b, RestPose(mirrored));
  // Mirrored triangles have another corner order, but samples are drawn alike.
  for (const Vec3d& p : testing::RestPoints(rig)) {
    if (std::abs(p.x) > 3.9) continue;
    EXPECT_NEAR(AskField(*rest, std::vector{p})[0].value,
                AskField(*other, std::vector{Vec3d{-p.x, p.y, p.z}})[0].value, 0.032);
  }
}

TEST(LimbField, InvariantToUnitsAndOrigin) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  const auto points = Cloud({0, 1, 0}, {6, 4, 2}, 500);
  FieldInPose bent(field, BendPose(rig, 70));
  const auto before = AskField(*bent, points);
  struct Place {
    double scale;
    Vec3d origin;
  };
  for (const Place& at : {Place{1e-3, {}}, Place{1e6, {}}, Place{1, {1000, -500, 200}}}) {
    const Rig there = CanonicalLimb({.scale = at.scale, .origin = at.origin});
    const LimbField other = BindField(there);
    EXPECT_NEAR(other.unit(), at.scale, 1e-4 * at.scale);
    FieldInPose posed(other, BendPose(there, 70));
    std::vector<Vec3d> moved;
    for (const Vec3d& p : points) moved.push_back(at.origin + at.scale * p);
    const auto after = AskField(*posed, moved);
    const double tolerance = Length(at.origin) > 0 ? 2e-2 : 2e-3;
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(after[i].value, before[i].value, tolerance);
    }
  }
}

TEST(LimbField, ZeroScaledJointHasNoField) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  for (const double scale : {0.0, 1e-30, 1e-20, 1e-12}) {
    auto pose = RestPose(rig);
    pose[1] = ToFloat(Compose(ToDouble(pose[1]), testing::ScaleMotion({scale, scale, scale})));
    FieldInPose posed(field, pose);
    const auto points = Cloud({1, 0, 0}, {6, 2, 2}, 400);
    for (const FieldPoint& at : AskField(*posed, points)) {
      EXPECT_TRUE(std::isfinite(at.value) && std::isfinite(Length(at.gradient)));
    }
    EXPECT_GT(AskField(*posed, std::vector<Vec3d>{{3, 0.5, 0}})[0].value, 0.5);
    EXPECT_LT(AskField(*posed, std::vector<Vec3d>{{-3, 0.5, 0}})[0].value, 0);
  }
  // Flattened in one direction.
  auto pose = RestPose(rig);
  pose[1] = ToFloat(Compose(ToDouble(pose[1]), testing::ScaleMotion({1, 0, 1})));
  FieldInPose flat(field, pose);
  EXPECT_GT(AskField(*flat, std::vector<Vec3d>{{3, 0, 0}})[0].value, 0.5);
}

TEST(LimbField, SameBitsOnEveryLevelAndBlock) {
  const Rig rig = CanonicalLimb();
  const auto points = Cloud({1, 1, 0}, {6, 4, 2}, 640);
  const LimbField field = BindField(rig);
  FieldInPose bent(field, BendPose(rig, 100));
  ASSERT_TRUE(ForceIsa(Isa::kScalar).ok());
  const auto want = AskField(*bent, points);
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    EXPECT_TRUE(SameBits(AskField(*bent, points), want)) << IsaName(isa);
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
  std::vector<FieldPoint> alone;
  for (const Vec3d& p : points) {
    alone.push_back(AskField(*bent, std::vector{p})[0]);
  }
  EXPECT_TRUE(SameBits(alone, want)) << "a lane depends on its own point alone";
}

TEST(LimbField, ClosesOpenTubes) {
  const Rig rig = CanonicalLimb({.closed = false});
  const LimbField field = BindField(rig);
  ASSERT_EQ(field.parts(), 2u);
  FieldInPose rest(field, RestPose(rig));
  EXPECT_GT(AskField(*rest, std::vector<Vec3d>{{8, 0, 0}})[0].value, 0.5);
  EXPECT_LT(AskField(*rest, std::vector<Vec3d>{{4, 0, 0}})[0].value, -0.2);
}

// Three closed cylinders of radius 1 that meet at the origin: the root's along -x, two children
// along +x and +y.
Rig Star() {
  RigSource source;
  auto& mesh = source.mesh;
  mesh.face_offsets = {0};
  source.influences.offsets = {0};
  const Vec3d along[] = {{-1, 0, 0}, {1, 0, 0}, {0, 1, 0}},
              across[] = {{0, 1, 0}, {0, 1, 0}, {0, 0, 1}};
  for (std::uint32_t j = 0; j < 3; ++j) {
    const Vec3d v = Cross(along[j], across[j]);
    const auto add = [&](double x, double radius, double angle) {
      mesh.positions.push_back(
          ToFloat(x * along[j] + radius * (std::cos(angle) * across[j] + std::sin(angle) * v)));
      source.influences.bindings.push_back(j);
      source.influences.weights.push_back(1);
      source.influences.offsets.push_back(source.influences.bindings.size());
      return static_cast<std::uint32_t>(mesh.positions.size() - 1);
    };
    const auto face = [&](std::initializer_list<std::uint32_t> corners) {
      mesh.face_vertices.insert(mesh.face_vertices.end(), corners);
      mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
    };
    constexpr std::uint32_t kRings = 11, kAround = 16;
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (std::uint32_t i = 0; i < kRings * kAround; ++i) {
      add(0.5 * (i / kAround), 1, 2 * 3.14159265358979323846 * (i % kAround) / kAround);
    }
    const std::uint32_t tip = add(5, 0, 0), last = first + (kRings - 1) * kAround;
    for (std::uint32_t k = 0; k < kAround; ++k) {
      const std::uint32_t next = (k + 1) % kAround;
      for (std::uint32_t i = first; i < last; i += kAround) {
        face({i + k, i + next, i + next + kAround, i + k + kAround});
      }
      face({last + k, last + next, tip});
    }
  }
  mesh.parts = {{"mesh", 0, static_cast<std::uint32_t>(mesh.positions.size()), 0,
                 static_cast<std::uint32_t>(mesh.face_offsets.size() - 1)}};
  source.joints = {{.name = "a"}, {.name = "b", .parent = 0}, {.name = "c", .parent = 0}};
  source.rest_local.resize(3);
  source.bindings = {{0, {}}, {1, {}}, {2, {}}};
  return testing::MakeRig(std::move(source));
}

TEST(LimbField, BranchesComposeContinuously) {
  const Rig rig = Star();
  const LimbField field = BindField(rig);
  ASSERT_EQ(field.parts(), 3u);
  FieldInPose rest(field, RestPose(rig));
  for (const auto& [from, to] : {std::pair<Vec3d, Vec3d>{{-2, 1.2, 0.3}, {2, 1.2, 0.3}},
                                 {{-1.2, -1, 0.2}, {1.2, 3, 0.2}},
                                 {{2, 2, -1.5}, {-1, 0.5, 1.5}}}) {
    std::vector<Vec3d> points;
    for (int i = 0; i <= 4000; ++i) points.push_back(from + (i / 4000.0) * (to - from));
    const auto along = AskField(*rest, points);
    for (std::size_t i = 1; i < along.size(); ++i) {
      EXPECT_LT(std::abs(along[i].value - along[i - 1].value), 1e-2);
    }
  }
}

// A ball that belongs to the second part.
MusclePrimitive Ball(const Vec3d& centre, double size) {
  MuscleRow row{};
  row.profile = static_cast<std::uint32_t>(MuscleProfile::kEllipsoid);
  MuscleState state;
  state.frame = testing::RigidMotion({1, 0, 0}, 0, centre);
  std::ranges::fill(state.radii, size);
  return {.shape = MakeMuscleShape(row, state),
          .part = 1,
          .minimum = {-9, -9, -9},
          .maximum = {9, 9, 9}};
}

TEST(LimbField, MusclesReplaceTheirParts) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  const MusclePrimitive balls[] = {Ball({2, 1, 0}, 0.5)};
  FieldInPose with(field, RestPose(rig), balls), without(field, RestPose(rig));
  const Vec3d top = {2, 1.5, 0};
  EXPECT_NEAR(AskField(*with, std::vector{top})[0].value, 0, 1e-6);
  EXPECT_GT(AskField(*without, std::vector{top})[0].value, 0.3);
  EXPECT_NEAR(AskField(*with, std::vector{top})[0].gradient.y, 1, 1e-5);
  // Tight bounds do not change a bit.
  const auto points = Cloud({2, 1, 0}, {4, 2, 2}, 320);
  const auto want = AskField(*with, points);
  MusclePrimitive bounded = balls[0];
  bounded.minimum = {0.5f, -0.5f, -1.5f};
  bounded.maximum = {3.5f, 2.5f, 1.5f};
  FieldInPose culled(field, RestPose(rig), std::span(&bounded, 1));
  EXPECT_TRUE(SameBits(AskField(*culled, points), want));
}

// A chain whose parts hardly overlap: omitted parts are farther away than was asked for.
TEST(LimbField, OmittedDistancesAreNotNeeded) {
  const Rig rig = testing::TubeRig({.rings = 301, .joints = 12, .length = 24});
  const LimbField field = BindField(rig);
  FieldInPose rest(field, RestPose(rig));
  std::size_t left_out = 0;
  const auto points = Cloud({0, 0, 0}, {12, 1, 1}, 100 * kLanes);
  for (std::size_t b = 0; b < points.size(); b += kLanes) {
    PointBlock block;
    for (std::size_t i = 0; i < kLanes; ++i) {
      // Near each other.
      const Vec3f p = ToFloat(points[b] + 0.2 * points[b + i]);
      block.x[i] = p.x;
      block.y[i] = p.y;
      block.z[i] = p.z;
    }
    DistanceNeed all, need;
    all.margin.fill(HUGE_VALF);
    need.own.fill(static_cast<std::uint16_t>(b / kLanes % field.parts()));
    need.margin.fill(0.1f);
    const PartBlocks every = (*rest).Distances(block, all);
    const PartBlocks some = (*rest).Distances(block, need);
    left_out += every.size() - some.size();
    const auto own = std::ranges::find(some, need.own[0], &PartBlock::part);
    ASSERT_NE(own, some.end());
    for (const PartBlock& part : every) {
      const auto same = std::ranges::find(some, part.part, &PartBlock::part);
      if (same != some.end()) {
        EXPECT_EQ(std::memcmp(&part, &*same, sizeof(FieldBlock)), 0);
        continue;
      }
      for (std::size_t i = 0; i < kLanes; ++i) {
        // Beyond its reach a part has no distances to ask for.
        EXPECT_GE(part.value[i],
                  std::min((*rest).Reach(part.part), own->value[i] + need.margin[i]));
      }
    }
  }
  EXPECT_GT(left_out, 0u);
}

// A point moved by its part's frame keeps its value.
TEST(LimbField, FramesCarryPoints) {
  const Rig rig = CanonicalLimb();
  const LimbField field = BindField(rig);
  FieldInPose bent(field, BendPose(rig, 60)), rest(field, RestPose(rig));
  ASSERT_EQ((*bent).PartFrames().size(), 2u);
  const Vec3d p = {3, 0.8, 0.2};
  const AffineD carry =
      Compose(ToDouble((*bent).PartFrames()[1]), Inverse(ToDouble((*rest).PartFrames()[1])));
  EXPECT_NEAR(AskField(*rest, std::vector{p})[0].value,
              AskField(*bent, std::vector{Apply(carry, p)})[0].value, 5e-5);
}

}  // namespace
}  // namespace sinew
