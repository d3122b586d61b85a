// Projection on closed-form fields: invariants, status, and the reference in double.
#include "core/deform/implicit/project/projection.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/simd/target.h"
#include "tests/reference/implicit_reference.h"
#include "tests/support/compare.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::LimbProjection;
using testing::MaxDistance;
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
  const Projected run = Cylinder().RunOn(rest, RestLimb(), {});
  EXPECT_TRUE(SameBits(run.in, run.out));
  // The centres of the caps are on the axis, where the field is 1.
  EXPECT_EQ(run.First(VertexStatus::kExcluded), 2u);
  EXPECT_EQ(run.First(VertexStatus::kNotDisplaced), 2592u);
  EXPECT_EQ(run.counts.evaluations, 2592u);
  const auto pose = testing::RestPose(Cylinder().rig());
  const Projected skinned = Cylinder().Run<Dqs>(pose, PosedLimb(pose), {});
  EXPECT_TRUE(SameBits(skinned.in, skinned.out));
}

// On a cylinder without a ring where both parts are equal: there rounding would decide which of
// them is larger.
TEST(Projection, FollowsRigidMotion) {
  RigSource source = testing::CanonicalCylinderSource();
  for (Vec3f& p : source.mesh.positions) p.x += 0.04f * (1 - p.x * p.x / 25);
  const LimbProjection limb(testing::MakeRig(source), RestLimb());
  for (const double degrees : {60.0, 90.0, 120.0}) {
    const auto pose = testing::BendPose(limb.rig(), degrees);
    const AffineD motion = testing::RigidMotion({0.36, 0.48, 0.8}, 137, {3, -2, 5});
    const auto moved_pose = testing::Moved(motion, pose);
    const Projected still = limb.Run<Dqs>(pose, PosedLimb(pose), {});
    const Projected moved = limb.Run<Dqs>(moved_pose, PosedLimb(moved_pose), {});
    EXPECT_GT(still.First(VertexStatus::kFitted), 200u);
    std::size_t near = 0;
    double farthest = 0;
    for (std::size_t v = 0; v < still.points.size(); ++v) {
      const double d = Distance(Apply(motion, still.points[v]), moved.points[v]);
      near += d < 1e-5 ? 1 : 0;
      farthest = std::max(farthest, d);
    }
    // Rounding flips a threshold of the schedule at up to 1 % of the points.
    EXPECT_GE(near, still.points.size() * 99 / 100) << degrees;
    EXPECT_LT(farthest, 1e-3) << degrees;
  }
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
  const Projected run = limb.Run<Lbs>(pose, RoundedLimb(std::array{motion, motion}), {});
  EXPECT_TRUE(SameBits(run.in, run.out));
  EXPECT_EQ(run.First(VertexStatus::kNotDisplaced), 2592u);
}

TEST(Projection, RepairsTwistOnlyWherePinched) {
  for (const double degrees : {30.0, 90.0, 135.0, 179.0}) {
    const auto pose = testing::TwistPose(Cylinder().rig(), degrees);
    const Projected run = Cylinder().Run<Dqs>(pose, PosedLimb(pose), {});
    EXPECT_EQ(run.First(VertexStatus::kNotDisplaced), 2592u) << degrees;
  }
  const auto pose = testing::TwistPose(Cylinder().rig(), 90);
  const Projected run = Cylinder().Run<Lbs>(pose, PosedLimb(pose), {});
  EXPECT_GT(run.First(VertexStatus::kFitted), 300u);
  EXPECT_EQ(run.First(VertexStatus::kFitted) + run.First(VertexStatus::kNotDisplaced), 2592u);
  double least = HUGE_VAL;
  for (std::size_t v = 0; v < 2592; ++v) {
    least = std::min(least, std::hypot(run.points[v].y, run.points[v].z));
  }
  EXPECT_GE(least, 0.999);
  const auto volume =
      testing::MeasureOverlap(testing::TrianglesOf(Cylinder().rig().mesh()), run.points);
  EXPECT_NEAR(volume.signed_volume / testing::CanonicalVolume(), 0.9995, 5e-4);
}

// With the published, slower step.
TEST(Projection, BendsStopAtOtherPart) {
  struct Case {
    double degrees, whole;
    std::size_t divergence;
  };
  for (const Case& c : {Case{60, .9975, 15}, Case{90, .9899, 101}, Case{120, .9697, 133}}) {
    const auto pose = testing::BendPose(Cylinder().rig(), c.degrees);
    const RoundedLimb field = PosedLimb(pose);
    const Projected run = Cylinder().Run<Dqs>(pose, field, {.sigma = 0.35f, .fit_iterations = 40});
    const auto volume =
        testing::MeasureOverlap(testing::TrianglesOf(Cylinder().rig().mesh()), run.points);
    EXPECT_NEAR(volume.Union() / testing::CanonicalVolume(), c.whole, 2e-3) << c.degrees;
    const auto stopped = static_cast<double>(run.First(VertexStatus::kGradientDivergence));
    EXPECT_NEAR(stopped, static_cast<double>(c.divergence),
                std::max(4.0, 0.15 * static_cast<double>(c.divergence)))
        << c.degrees;
    EXPECT_EQ(run.Last(VertexStatus::kIterationLimit), 0u) << c.degrees;
  }
}

// Points reported as fitted are on their level; without smoothing nothing moves afterwards.
TEST(Projection, FittedPointsAreOnLevel) {
  const auto pose = testing::BendPose(Cylinder().rig(), 100);
  const RoundedLimb field = PosedLimb(pose);
  const Projected run = Cylinder().Run<Dqs>(pose, field, {.smoothing = 0});
  std::size_t fitted = 0;
  for (std::size_t v = 0; v < run.points.size(); ++v) {
    if (run.vertex_status[v] != static_cast<std::uint8_t>(VertexStatus::kFitted)) continue;
    const std::uint32_t p = Cylinder().skin().lane_point[Cylinder().layout().lane[v]];
    const double level = double{Cylinder().skin().potential[p]};
    EXPECT_LT(std::abs(field.At(run.points[v], Contact::kCrease).value - level), 2e-5) << v;
    ++fitted;
  }
  EXPECT_GT(fitted, 250u);
}

// More steps never leave a fitted or moving point farther from its level.
TEST(Projection, StepsNeverIncreaseLevelDistance) {
  const auto pose = testing::BendPose(Cylinder().rig(), 80);
  const RoundedLimb field = PosedLimb(pose);
  std::vector<double> before(Cylinder().rig().vertices(), HUGE_VAL);
  for (std::uint32_t steps = 1; steps < 12; ++steps) {
    const Projected run = Cylinder().Run<Dqs>(
        pose, field,
        {.sigma = 0.35f, .iterations = steps, .smoothing = 0, .relax = false, .fit_iterations = 0});
    for (std::size_t v = 0; v < run.points.size(); ++v) {
      const std::uint32_t p = Cylinder().skin().lane_point[Cylinder().layout().lane[v]];
      const double left = std::abs(field.At(run.points[v], Contact::kCrease).value -
                                   double{Cylinder().skin().potential[p]});
      EXPECT_LE(left, before[v] + 1e-6) << v << " after " << steps;
      before[v] = left;
    }
  }
}

TEST(Projection, SameBitsForAnyThreadCount) {
  const auto pose = testing::BendPose(Cylinder().rig(), 115);
  const RoundedLimb field = PosedLimb(pose);
  const auto start = testing::RunMethod<Dqs>(Cylinder().rig(), {}, pose).blocks;
  const Projected serial = Cylinder().RunOn(start, field, {}, Task({.parallel = false}));
  EXPECT_GT(serial.First(VertexStatus::kGradientDivergence), 50u);
  for (const int threads : {1, 2, 5}) {
    tbb::task_arena arena(threads);
    arena.execute([&] {
      const Projected run = Cylinder().RunOn(start, field, {});
      EXPECT_TRUE(SameBits(serial.out, run.out)) << threads;
      EXPECT_EQ(serial.vertex_status, run.vertex_status) << threads;
      EXPECT_EQ(serial.counts.evaluations, run.counts.evaluations) << threads;
    });
  }
}

TEST(Projection, IndependentOfVertexOrder) {
  RigSource source = testing::CanonicalCylinderSource();
  const auto vertices = static_cast<std::uint32_t>(source.mesh.positions.size());
  std::vector<std::uint32_t> order(vertices);  // new number -> old
  for (std::uint32_t v = 0; v < vertices; ++v) {
    order[v] = static_cast<std::uint32_t>(std::uint64_t{v} * 1009 % vertices);
  }
  RigSource permuted = source;
  permuted.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  std::vector<std::uint32_t> number(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const std::uint32_t old = order[v];
    number[old] = v;
    permuted.mesh.positions[v] = source.mesh.positions[old];
    for (std::uint64_t k = source.influences.offsets[old]; k < source.influences.offsets[old + 1];
         ++k) {
      permuted.influences.bindings.push_back(source.influences.bindings[k]);
      permuted.influences.weights.push_back(source.influences.weights[k]);
    }
    permuted.influences.offsets.push_back(permuted.influences.bindings.size());
  }
  for (std::uint32_t& v : permuted.mesh.face_vertices) v = number[v];
  const LimbProjection other(testing::MakeRig(permuted), RestLimb());
  const auto pose = testing::BendPose(Cylinder().rig(), 90);
  const Projected run = Cylinder().Run<Dqs>(pose, PosedLimb(pose), {});
  const Projected turned = other.Run<Dqs>(pose, PosedLimb(pose), {});
  std::size_t near = 0;  // sums over neighbours have another order
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const double d = Distance(run.points[order[v]], turned.points[v]);
    near += d < 1e-4 ? 1 : 0;
    EXPECT_LT(d, 0.03) << v;
  }
  EXPECT_GE(near, vertices - 12);
}

// Bent the other way, the other side of the limb does the same.
TEST(Projection, MirroredInputGivesMirroredResult) {
  const auto left = testing::BendPose(Cylinder().rig(), 90);
  const auto right = testing::BendPose(Cylinder().rig(), -90);
  const Projected a = Cylinder().Run<Dqs>(left, PosedLimb(left), {.relax = false});
  const Projected b = Cylinder().Run<Dqs>(right, PosedLimb(right), {.relax = false});
  // Diagonals are not mirrored, so smoothed regions are excluded.
  std::size_t compared = 0;
  for (std::size_t v = 0; v < 2592; ++v) {
    const std::size_t ring = v / 32, k = v % 32, w = ring * 32 + (48 - k) % 32;  // y to -y
    const Vec3d m = {b.points[w].x, -b.points[w].y, b.points[w].z};
    if (a.points[v].y > 0 && std::abs(a.start[v].x) < 1.2 && std::abs(a.start[v].y) < 1.2) continue;
    EXPECT_LT(Distance(a.points[v], m), 1e-4) << v;
    ++compared;
  }
  EXPECT_GT(compared, 1800u);
}

// The whole schedule against the reference. Thresholds let a few points differ.
TEST(Projection, MatchesReference) {
  struct Case {
    double degrees;
    ProjectionOptions options;
  };
  for (const Case& c : {Case{60, {}}, Case{90, {}}, Case{120, {}}, Case{90, {.contact = false}},
                        Case{90, {.smoothing = 0}}, Case{90, {.relax = false}}}) {
    const auto pose = testing::BendPose(Cylinder().rig(), c.degrees);
    const RoundedLimb field = PosedLimb(pose);
    const auto as_field = [](const RoundedLimb& limb) -> reference::Field {
      return [&limb](const Vec3d& x) {
        const auto sample = limb.At(x, Contact::kCrease);
        return reference::FieldValue{sample.value, sample.gradient};
      };
    };
    ProjectionOptions options = c.options;
    options.strays = false;  // not in the reference
    const Projected run = Cylinder().Run<Dqs>(pose, field, options);
    const reference::ProjectionRules rules = {.contact = c.options.contact,
                                              .relax = c.options.relax,
                                              .smoothing = static_cast<int>(c.options.smoothing)};
    const auto want = reference::Project(Cylinder().rig(), as_field(RestLimb()), as_field(field),
                                         run.start, rules);
    std::size_t near = 0, alike = 0;
    for (std::size_t v = 0; v < want.points.size(); ++v) {
      near += Distance(run.points[v], want.points[v]) < 2e-4 ? 1 : 0;
      alike += run.vertex_status[v] == static_cast<std::uint8_t>(want.vertex_status[v]) ? 1 : 0;
    }
    const std::size_t vertices = want.points.size();
    EXPECT_GE(near, vertices - vertices / 50) << c.degrees;
    EXPECT_GE(alike, vertices - vertices / 50) << c.degrees;
  }
}

// At the ends of a deep crease the path out of the other limb leads through its side.
TEST(Projection, NoWrongSidePointsRemain) {
  for (const double degrees : {100.0, 110.0, 120.0}) {
    const auto pose = testing::BendPose(Cylinder().rig(), degrees);
    const RoundedLimb field = PosedLimb(pose);
    const Projected run = Cylinder().Run<Dqs>(pose, field, {});
    std::size_t strayed = 0;
    for (std::size_t v = 0; v < 2592; ++v) {
      const Vec3d rest = ToDouble(Cylinder().rig().mesh().positions()[v]);
      if (std::abs(rest.x) < 0.05) continue;  // of both parts
      const std::size_t own = rest.x < 0 ? 0 : 1;
      const double of_own = field.Part(own, run.points[v]).value;
      const double of_other = field.Part(1 - own, run.points[v]).value;
      strayed += of_other > of_own && of_own < 0.48 ? 1 : 0;
    }
    EXPECT_LE(strayed, 2u) << degrees;
  }
}

TEST(Projection, WithoutContactNoCreaseStopsOrSmoothing) {
  const auto pose = testing::BendPose(Cylinder().rig(), 100);
  const Projected run = Cylinder().Run<Dqs>(pose, PosedLimb(pose), {.contact = false});
  EXPECT_EQ(run.First(VertexStatus::kGradientDivergence), 0u);
  EXPECT_EQ(run.Last(VertexStatus::kGradientDivergence), 0u);
  // Only points whose steps ran out are stepped again.
  const auto out = static_cast<std::size_t>(VertexStatus::kIterationLimit);
  EXPECT_EQ(run.counts.last[1], run.counts.first[1] + run.counts.first[out]);
}

// In millimetres and kilometres, close and on a scaled character: the same shape.
TEST(Projection, InvariantToUnits) {
  const auto pose = testing::BendPose(Cylinder().rig(), 90);
  const Projected run = Cylinder().Run<Dqs>(pose, PosedLimb(pose), {});
  const double scale = 4;  // exact
  const auto large = testing::Moved(testing::ScaleMotion({scale, scale, scale}), pose);
  const Projected scaled = Cylinder().Run<Lbs>(large, PosedLimb(large), {});
  const Projected plain = Cylinder().Run<Lbs>(pose, PosedLimb(pose), {});
  EXPECT_EQ(scaled.counts.first, plain.counts.first);
  EXPECT_GT(run.First(VertexStatus::kFitted), 0u);
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
  EXPECT_EQ(limb.skin().Count(PointRole::kBorder), 2u);
  EXPECT_EQ(limb.skin().Count(PointRole::kNoField), 2u);
  const auto pose = testing::BendPose(limb.rig(), -90);  // the joint's far side bulges
  const Projected run = limb.Run<Dqs>(pose, RoundedLimb(SkinMatrices(limb.rig(), pose)), {});
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

// A field with arbitrary values.
class WildField : public PosedField {
 public:
  explicit WildField(int kind) : kind_(kind) {}
  void Evaluate(const PointBlock& points, Contact, FieldBlock& out) const override {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float wave = std::sin(1e3f * points.x[i]) * 0.5f + 0.5f;
      out.value[i] = kind_ == 0 ? 0.5f : wave;
      out.x[i] = kind_ == 0 ? 0 : kind_ == 1 ? 1e-30f : 1e8f * std::cos(1e3f * points.x[i]);
      out.y[i] = kind_ == 2 ? 1e-20f : 0;
      out.z[i] = 0;
    }
  }
  PartBlocks EvaluateParts(const PointBlock&) const override {
    PartBlocks parts(2);
    for (std::uint32_t b = 0; b < 2; ++b) {
      parts[b].part = b;
      std::ranges::fill(parts[b].value, 0.5f);
    }
    return parts;
  }
  std::span<const Affine> PartFrames() const override { return {}; }

 private:
  int kind_;
};

TEST(Projection, FiniteForAnyField) {
  const auto pose = testing::BendPose(Cylinder().rig(), 150);
  for (const int kind : {0, 1, 2}) {
    const Projected run = Cylinder().Run<Lbs>(pose, WildField(kind), {.iterations = 1000});
    for (const Vec3d& p : run.points) {
      ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) << kind;
    }
  }
}

// The limb with the noise that float leaves in the field of a thin part: up to 7e-4, varying from
// point to point.
class NoisyLimb : public RoundedLimb {
 public:
  using RoundedLimb::RoundedLimb;
  void Evaluate(const PointBlock& points, Contact contact, FieldBlock& out) const override {
    RoundedLimb::Evaluate(points, contact, out);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float wave = 1e5f * (points.x[i] + 2 * points.y[i] + 3 * points.z[i]);
      out.value[i] += 7e-4f * std::sin(wave);
    }
  }
};

TEST(Projection, NoiseIsNeitherContactNorDirection) {
  const NoisyLimb noisy(std::array<AffineD, 2>{});
  const Projected run = Cylinder().RunOn(RestBlocks(Cylinder()), noisy, {});
  EXPECT_EQ(run.First(VertexStatus::kNotDisplaced), 2592u);
  EXPECT_EQ(run.points, run.start);
}

}  // namespace
}  // namespace sinew
