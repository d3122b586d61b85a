// Projection on closed-form fields: invariants, continuity, status, and the reference in double.
#include "core/deform/implicit/project/projection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/support/compare.h"
#include "tests/unit/core/deform/implicit/limb_figures.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"
#include "tests/unit/core/deform/implicit/wild_field.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::LimbProjection;
using testing::Projected;
using testing::RoundedLimb;
using testing::SameBits;
using testing::SkinMatrices;

const RoundedLimb& RestLimb() {
  static const auto* const kLimb = new RoundedLimb(std::array<AffineD, 2>{});
  return *kLimb;
}

const LimbProjection& Cylinder() {
  static const auto* const kCylinder = new LimbProjection(testing::CanonicalCylinder(), RestLimb());
  return *kCylinder;
}

RoundedLimb PosedLimb(std::span<const Affine> pose) {
  return RoundedLimb(SkinMatrices(Cylinder().rig(), pose));
}

// Rest mesh blocks, as a stage would pass them that does nothing.
AlignedVector<PointBlock> RestBlocks(const LimbProjection& limb) {
  AlignedVector<PointBlock> blocks(limb.layout().blocks());
  for (std::size_t i = 0; i < limb.layout().order.size(); ++i) {
    const Vec3f& u = limb.rig().mesh().positions()[limb.layout().Vertex(i)];
    blocks[i / kLanes].x[i % kLanes] = u.x;
    blocks[i / kLanes].y[i % kLanes] = u.y;
    blocks[i / kLanes].z[i % kLanes] = u.z;
  }
  return blocks;
}

TEST(Projection, KeepsRestMeshBits) {
  const auto rest = RestBlocks(Cylinder());
  const Projected run = Cylinder().RunOn(rest, RestLimb());
  EXPECT_TRUE(SameBits(run.in, run.out));
  // The centres of the caps are on the axis, where the field has no depth.
  EXPECT_EQ(run.Count(VertexStatus::kExcluded), 2u);
  EXPECT_EQ(run.Count(VertexStatus::kUnmoved), 2592u);
  const auto pose = testing::RestPose(Cylinder().rig());
  const Projected skinned = Cylinder().Run<Dqs>(pose, PosedLimb(pose));
  EXPECT_TRUE(SameBits(skinned.in, skinned.out));
}

// Skin of one part alone is not projected.
TEST(Projection, CommonRotationMovesRigidly) {
  RigSource source = testing::CanonicalCylinderSource();
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    source.influences.bindings.push_back(source.mesh.positions[v].x < 0 ? 0 : 1);
    source.influences.weights.push_back(1);
    source.influences.offsets.push_back(v + 1);
  }
  const LimbProjection limb(testing::MakeRig(source), RestLimb());
  const AffineD motion = testing::RigidMotion({0.6, 0, 0.8}, 75, {1, 2, 3});
  const auto pose = testing::Moved(motion, testing::RestPose(limb.rig()));
  const Projected run = limb.Run<Lbs>(pose, RoundedLimb(std::array{motion, motion}));
  EXPECT_TRUE(SameBits(run.in, run.out));
  EXPECT_EQ(run.Count(VertexStatus::kUnmoved), 2592u);
}

TEST(Projection, RepairsTwistOnlyWherePinched) {
  for (const double degrees : {30.0, 90.0, 135.0, 179.0}) {
    const auto pose = testing::TwistPose(Cylinder().rig(), degrees);
    const Projected run = Cylinder().Run<Dqs>(pose, PosedLimb(pose));
    EXPECT_EQ(run.Count(VertexStatus::kUnmoved), 2592u) << degrees;
  }
  const auto pose = testing::TwistPose(Cylinder().rig(), 90);
  const Projected run = Cylinder().Run<Lbs>(pose, PosedLimb(pose));
  EXPECT_GT(run.Count(VertexStatus::kAtRestLevel), 300u);
  double least = HUGE_VAL;
  for (std::size_t v = 0; v < 2592; ++v) {
    least = std::min(least, std::hypot(run.points[v].y, run.points[v].z));
  }
  EXPECT_GE(least, 0.995);
  const auto volume =
      testing::MeasureOverlap(testing::TrianglesOf(Cylinder().rig().mesh()), run.points);
  EXPECT_NEAR(volume.signed_volume / testing::CanonicalVolume(), 0.9995, 2e-3);
}

TEST(Projection, BendsStopAtOtherPart) {
  for (const double degrees : {60.0, 90.0, 120.0}) {
    const auto pose = testing::BendPose(Cylinder().rig(), degrees);
    const Projected run = Cylinder().Run<Dqs>(pose, PosedLimb(pose));
    const auto volume =
        testing::MeasureOverlap(testing::TrianglesOf(Cylinder().rig().mesh()), run.points);
    // Smoothing rounds the edge of the fold, which is then a little hollow.
    EXPECT_NEAR(volume.Union() / testing::CanonicalVolume(), testing::ExactUnion(degrees),
                degrees < 120 ? 3e-3 : 4e-3);
    EXPECT_LT(volume.overlap / testing::CanonicalVolume(), 3e-4) << degrees;
    EXPECT_GT(run.counts.touching, degrees < 90 ? 10u : 80u) << degrees;
    EXPECT_EQ(run.Count(VertexStatus::kMoveLimit), 0u) << degrees;
    // Most points are evaluated once.
    EXPECT_LT(static_cast<double>(run.counts.evaluations), 2592 * 4.0) << degrees;
  }
}

// Within the softness of contacts.
TEST(Projection, FittedPointsAreOnLevel) {
  const auto pose = testing::BendPose(Cylinder().rig(), 100);
  const RoundedLimb field = PosedLimb(pose);
  const Projected run = Cylinder().Run<Dqs>(pose, field);
  std::size_t fitted = 0;
  for (std::size_t v = 0; v < run.points.size(); ++v) {
    if (run.vertex_status[v] != static_cast<std::uint8_t>(VertexStatus::kAtRestLevel)) continue;
    const std::uint32_t p = Cylinder().skin().lane_point[Cylinder().layout().lane[v]];
    const double f = std::min(field.DistanceOf(0, run.points[v]).value,
                              field.DistanceOf(1, run.points[v]).value);
    EXPECT_LT(f, double{Cylinder().level().level[p]} + 5e-3) << v;
    EXPECT_GT(f, double{Cylinder().level().level[p]} - 0.1) << v;
    ++fitted;
  }
  EXPECT_GT(fitted, 200u);
}

struct Jumps {
  double largest = 0, most = 0;  // second difference: maximum and 99.9th percentile
};

// Second differences of the vertices near the joint.
Jumps SecondDifferences(double from, double to, double step) {
  std::vector<double> differences;
  std::vector<Vec3d> before, middle;
  for (int k = 0; from + k * step <= to + 1e-9; ++k) {
    const auto pose = testing::BendPose(Cylinder().rig(), from + k * step);
    std::vector<Vec3d> now = Cylinder().Run<Dqs>(pose, PosedLimb(pose)).points;
    for (std::size_t v = 0; v < now.size() && !before.empty(); ++v) {
      if (std::abs(Cylinder().rig().mesh().positions()[v].x) >= 2) continue;
      const Vec3d twice = before[v] + now[v];
      differences.push_back(Distance(twice, 2 * middle[v]));
    }
    before = std::move(middle);
    middle = std::move(now);
  }
  std::ranges::sort(differences);
  return {differences.back(), differences[differences.size() * 999 / 1000]};
}

// In steps of one degree, in radii. Direct delta mush has .022 and .0055 up to 130 degrees.
TEST(Projection, IsContinuousInThePose) {
  const Jumps usual = SecondDifferences(0, 130, 1), deep = SecondDifferences(130, 150, 1);
  EXPECT_LT(usual.largest, 0.02);
  EXPECT_LT(usual.most, 0.004);
  EXPECT_LT(deep.largest, 0.05);
  EXPECT_LT(deep.most, 0.01);
  // A jump would not shrink with the step; a bend of the path shrinks with its square.
  const Jumps fine = SecondDifferences(100, 130, 0.25);
  EXPECT_LT(fine.most, usual.most / 3);
}

// Bent the other way, the other side of the limb does the same.
TEST(Projection, MirroredInputGivesMirroredResult) {
  const auto left = testing::BendPose(Cylinder().rig(), 90);
  const auto right = testing::BendPose(Cylinder().rig(), -90);
  const Projected a = Cylinder().Run<Dqs>(left, PosedLimb(left));
  const Projected b = Cylinder().Run<Dqs>(right, PosedLimb(right));
  for (std::size_t v = 0; v < 2592; ++v) {
    const std::size_t ring = v / 32, k = v % 32, w = ring * 32 + (48 - k) % 32;  // y to -y
    const Vec3d m = {b.points[w].x, -b.points[w].y, b.points[w].z};
    EXPECT_LT(Distance(a.points[v], m), 1e-4) << v;
  }
}

TEST(Projection, MatchesReference) {
  for (const auto& [degrees, contact] :
       {std::pair(60.0, true), {90.0, true}, {120.0, true}, {90.0, false}}) {
    const auto pose = testing::BendPose(Cylinder().rig(), degrees);
    const RoundedLimb field = PosedLimb(pose);
    const Projected run = Cylinder().Run<Dqs>(pose, field, contact);
    const std::vector<Vec3d> want =
        testing::ReferenceOf(Cylinder(), RestLimb(), pose, run.start, contact);
    std::size_t moved = 0;
    for (std::size_t v = 0; v < want.size(); ++v) {
      EXPECT_LT(Distance(run.points[v], want[v]), 1e-3) << v << " at " << degrees;
      moved += Distance(want[v], run.start[v]) > 0.05 ? 1 : 0;
    }
    EXPECT_GT(moved, 100u) << degrees;
  }
}

// Points between bones that lie apart move less without contact, or not at all.
TEST(Projection, MatchesReferenceBetweenBonesApart) {
  LimbProjection cylinder(testing::CanonicalCylinder(), RestLimb());
  cylinder.SetAlone([](std::size_t p) { return p % 2 == 0 ? 0.4f : 0.0f; });
  for (const bool contact : {true, false}) {
    const auto pose = testing::BendPose(cylinder.rig(), 90);
    const RoundedLimb field = PosedLimb(pose);
    const Projected run = cylinder.Run<Dqs>(pose, field, contact);
    const std::vector<Vec3d> want =
        testing::ReferenceOf(cylinder, RestLimb(), pose, run.start, contact);
    for (std::size_t v = 0; v < want.size(); ++v) {
      EXPECT_LT(Distance(run.points[v], want[v]), 1e-3) << v << ", " << contact;
    }
  }
  cylinder.SetAlone([](std::size_t) { return 0.0f; });
  const Projected run =
      cylinder.Run<Dqs>(testing::BendPose(cylinder.rig(), 90),
                        PosedLimb(testing::BendPose(cylinder.rig(), 90)), /*contact=*/false);
  EXPECT_EQ(run.points, run.start);
}

// No point ends within the other limb: there it would have been moved out through its side.
TEST(Projection, PointsStayOnTheirSideOfTheContact) {
  for (const double degrees : {100.0, 110.0, 120.0, 140.0}) {
    const auto pose = testing::BendPose(Cylinder().rig(), degrees);
    const RoundedLimb field = PosedLimb(pose);
    const Projected run = Cylinder().Run<Dqs>(pose, field);
    for (std::size_t v = 0; v < 2592; ++v) {
      const float x = Cylinder().rig().mesh().positions()[v].x;
      if (std::abs(x) < 0.05f) continue;  // of both parts
      const std::size_t own = x < 0 ? 0 : 1;
      const double of_own = field.DistanceOf(own, run.points[v]).value;
      const double of_other = field.DistanceOf(1 - own, run.points[v]).value;
      EXPECT_GT(of_other - of_own, -0.03) << v << " at " << degrees;
    }
  }
}

TEST(Projection, WithoutContactNothingTouches) {
  const auto pose = testing::BendPose(Cylinder().rig(), 100);
  const RoundedLimb field = PosedLimb(pose);
  const Projected run = Cylinder().Run<Dqs>(pose, field, false);
  // Nor is skin moved nearer to its bone than at rest.
  for (std::size_t v = 0; v < 2592; ++v) {
    const std::uint32_t p = Cylinder().skin().lane_point[Cylinder().layout().lane[v]];
    const std::uint32_t owner = Cylinder().level().owner[p];
    const auto from_bone = [&](const Vec3d& x) {
      return Length(ToDouble(field.FromBone(owner, ToFloat(x))));
    };
    // Easing turns moves that are not parallel a little.
    EXPECT_GE(from_bone(run.points[v]),
              std::min(from_bone(run.start[v]), double{Cylinder().level().from_bone[p]}) - 1.3e-3)
        << v;
  }
  EXPECT_EQ(run.counts.touching, 0u);
  EXPECT_EQ(run.Count(VertexStatus::kContact), 0u);
  EXPECT_GT(run.Count(VertexStatus::kAtRestLevel), 200u);
}

// In millimetres and kilometres, close and on a scaled character: the same shape.
TEST(Projection, InvariantToUnits) {
  const auto pose = testing::BendPose(Cylinder().rig(), 90);
  const Projected run = Cylinder().Run<Dqs>(pose, PosedLimb(pose));
  const double scale = 4;  // exact
  const auto large = testing::Moved(testing::ScaleMotion({scale, scale, scale}), pose);
  const Projected scaled = Cylinder().Run<Lbs>(large, PosedLimb(large));
  const Projected plain = Cylinder().Run<Lbs>(pose, PosedLimb(pose));
  EXPECT_EQ(scaled.counts.moved, plain.counts.moved);
  EXPECT_GT(run.Count(VertexStatus::kAtRestLevel), 0u);
  for (std::size_t v = 0; v < run.points.size(); ++v) {
    EXPECT_LT(Distance(scale * plain.points[v], scaled.points[v]), 1e-3) << v;
  }
}

TEST(Projection, BordersStayAndAttachedComponentsFollow) {
  RigSource source = testing::CanonicalCylinderSource();
  MeshSource& mesh = source.mesh;
  mesh.face_vertices.resize(mesh.face_vertices.size() - 3);  // a hole in the last cap
  mesh.face_offsets.pop_back();
  // A button above the joint.
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  for (const Vec3f& p :
       {Vec3f{0.55f, 1.05f, 0.05f}, Vec3f{0.45f, 1.05f, 0.05f}, Vec3f{0.5f, 1.05f, -0.05f}}) {
    mesh.positions.push_back(p);
    source.influences.bindings.push_back(1);
    source.influences.weights.push_back(1);
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  mesh.face_vertices.insert(mesh.face_vertices.end(), {first, first + 2, first + 1});
  mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
  mesh.parts[0].vertex_count += 3;
  const LimbProjection limb(testing::MakeRig(source), RestLimb());
  EXPECT_EQ(limb.skin().Count(PointRole::kAttachedComponent), 3u);
  EXPECT_EQ(limb.skin().Count(PointRole::kBorder), 3u);
  const auto pose = testing::BendPose(limb.rig(), -90);  // the joint's far side bulges
  const Projected run = limb.Run<Dqs>(pose, RoundedLimb(SkinMatrices(limb.rig(), pose)));
  // The first vertex of the ring at 0.5 is below the button.
  const std::size_t below = 44 * 32;
  const Vec3d shift = run.points[below] - run.start[below];
  EXPECT_GT(std::sqrt(Dot(shift, shift)), 0.02);
  for (std::size_t v = first; v < first + 3; ++v) {
    EXPECT_LT(Distance(run.points[v], run.start[v] + shift), 0.05) << v;
    EXPECT_NE(run.points[v], run.start[v]);
    EXPECT_EQ(run.vertex_status[v], static_cast<std::uint8_t>(VertexStatus::kExcluded));
  }
}

TEST(Projection, FiniteForAnyField) {
  const auto pose = testing::BendPose(Cylinder().rig(), 150);
  for (const int kind : {0, 1, 2}) {
    const Projected run = Cylinder().Run<Lbs>(pose, testing::WildField(kind, 1e-20f));
    for (std::size_t v = 0; v < run.points.size(); ++v) {
      // The longest move is 1. Smoothing averages moves, but easing keeps what is along a move.
      EXPECT_LE(Distance(run.points[v], run.start[v]), std::sqrt(2.0)) << v << ", " << kind;
    }
  }
}

// The limb with the noise that float leaves in the field of a thin part.
class NoisyLimb : public RoundedLimb {
 public:
  using RoundedLimb::RoundedLimb;
  PartBlocks Distances(const PointBlock& points, const DistanceNeed& need) const override {
    PartBlocks parts = RoundedLimb::Distances(points, need);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float wave = 1e5f * (points.x[i] + 2 * points.y[i] + 3 * points.z[i]);
      for (PartBlock& part : parts) part.value[i] += 7e-5f * std::sin(wave);
    }
    return parts;
  }
};

TEST(Projection, NoiseMovesNothing) {
  const NoisyLimb noisy(std::array<AffineD, 2>{});
  const Projected run = Cylinder().RunOn(RestBlocks(Cylinder()), noisy);
  EXPECT_EQ(run.Count(VertexStatus::kUnmoved), 2592u);
  EXPECT_EQ(run.points, run.start);
}

}  // namespace
}  // namespace sinew
