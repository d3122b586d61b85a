// The stage as a whole: fitted fields, seams, degenerate rigs, errors.
#include "core/deform/implicit/implicit.h"
#include "core/surface/rig_surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/smooth_step.h"
#include "core/deform/dqs/dqs.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/method/fields.h"
#include "core/deform/method/vertex_status.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/unit/core/deform/implicit/limb_figures.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"

namespace sinew {
namespace {

using testing::ValueOrDie;

struct Ran {
  std::vector<Vec3d> start, points;
  std::vector<std::uint8_t> vertex_status;
  std::size_t Count(VertexStatus state) const {
    return static_cast<std::size_t>(
        std::ranges::count(vertex_status, static_cast<std::uint8_t>(state)));
  }
};

// After dual quaternions.
Ran Deformed(const Rig& rig, const ImplicitParams& params, std::span<const Affine> pose) {
  const auto start = testing::RunMethod<Dqs>(rig, {}, pose);
  Task task;
  const Implicit implicit = ValueOrDie(
      Implicit::Bind({rig, *start.layout, RigSurface(rig, *start.layout)}, params, task));
  EXPECT_TRUE(implicit.Check(*start.layout, rig.bindings().size()).ok());
  PosedRig posed;
  posed.joints = pose;
  Ran ran{.start = start.points,
          .points = {},
          .vertex_status = std::vector<std::uint8_t>(rig.vertices())};
  ran.points = testing::FileOrder(
      *start.layout,
      testing::RunBound(implicit, *start.layout, posed, start.blocks, ran.vertex_status));
  return ran;
}

// With fitted fields.
TEST(Implicit, KeepsRestAndRigidMotion) {
  const Rig rig = testing::CanonicalCylinder();
  const auto rest = testing::RestPose(rig);
  const Ran still = Deformed(rig, {}, rest);
  EXPECT_EQ(still.points, still.start);
  const Ran moved =
      Deformed(rig, {}, testing::Moved(testing::RigidMotion({0.6, 0, 0.8}, 75), rest));
  EXPECT_EQ(moved.points, moved.start);
  EXPECT_GE(moved.Count(VertexStatus::kUnmoved), 2592u);
}

// Rounds weights like a file that stores them in bytes, the error of the sum with either joint.
RigSource RoundedWeights(RigSource source, std::uint32_t with_error) {
  InfluenceSource& influences = source.influences;
  for (std::size_t v = 0; v + 1 < influences.offsets.size(); ++v) {
    const std::uint64_t begin = influences.offsets[v], end = influences.offsets[v + 1];
    float sum = 0;
    std::uint64_t last = begin;
    for (std::uint64_t k = begin; k < end; ++k) {
      influences.weights[k] = std::round(255 * influences.weights[k]) / 255;
      sum += influences.weights[k];
      if (influences.bindings[k] == with_error) last = k;
    }
    influences.weights[last] += 1 - sum;
  }
  return source;
}

// Rings midway between two joints keep their owner, and the fields their samples.
TEST(Implicit, RoundedWeightsChangeLittle) {
  for (const testing::TubeWeights weights :
       {testing::TubeWeights::kSmooth, testing::TubeWeights::kRigid}) {
    const RigSource source = testing::TubeSource({.joints = 4, .weights = weights});
    const Rig rig = testing::MakeRig(source);
    const auto pose = testing::BendPose(rig, 50);
    const Ran exact = Deformed(rig, {}, pose);
    for (const std::uint32_t with_error : {1U, 2U}) {
      const Ran rounded = Deformed(testing::MakeRig(RoundedWeights(source, with_error)), {}, pose);
      const double skinned = testing::MaxDistance(exact.start, rounded.start);
      EXPECT_GT(skinned, 1e-4);
      EXPECT_LE(testing::MaxDistance(exact.points, rounded.points), 5 * skinned);
    }
  }
}

// Levels belong to the mesh in its bind pose, whatever the rest pose is.
TEST(Implicit, KeepsBindPose) {
  RigSource source = testing::CanonicalCylinderSource();
  const std::vector<Affine> bound = testing::RestPose(testing::MakeRig(source));
  const double c = std::cos(1.2), s = std::sin(1.2);
  source.rest_local[1] = Compose(source.rest_local[1], {{c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0}});
  const Ran ran = Deformed(testing::MakeRig(source), {}, bound);
  EXPECT_EQ(ran.points, ran.start);
  EXPECT_GE(ran.Count(VertexStatus::kUnmoved), 2592u);
}

// Skin that five joints share hardly moves; skin of two does, fully.
TEST(Implicit, SkinOfManyJointsNearlyFollowsInput) {
  RigSource source = testing::CanonicalCylinderSource();
  for (int k = 0; k < 3; ++k) {
    source.joints.push_back({.name = "twin" + std::to_string(k), .parent = 0});
    source.rest_local.push_back(source.rest_local[1]);
    source.bindings.push_back({static_cast<std::uint16_t>(2 + k), source.bindings[1].inverse_bind});
  }
  const auto within = [&](std::size_t v, float x) {
    return std::abs(source.mesh.positions[v].x) < x;
  };
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    if (within(v, 0.55F)) {
      rows.bindings.insert(rows.bindings.end(), {0, 1, 2, 3, 4});
      rows.weights.insert(rows.weights.end(), {0.2F, 0.2F, 0.2F, 0.2F, 0.2F});
    } else {
      rows.bindings.push_back(source.mesh.positions[v].x < 0 ? 0 : 1);
      rows.weights.push_back(1);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = rows;
  const Rig rig = testing::MakeRig(source);
  const Ran ran = Deformed(rig, {}, testing::BendPose(rig, 100));
  std::size_t moved = 0;
  double sum = 0, count = 0;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const double way = testing::Distance(ran.points[v], ran.start[v]);
    if (within(v, 0.3F)) {
      EXPECT_LT(way, 0.25) << v;
      sum += way;
      ++count;
    } else {
      moved += way > 0 ? 1 : 0;
    }
  }
  EXPECT_LT(sum / count, 0.03);
  EXPECT_GT(moved, 50u);
}

// Outward moves restore volume and end at the rest distance: two halves of a palm that turn about
// axes of their own tear their common skin, and neither pulls it out of the palm.
TEST(Implicit, SkinEndsNoFartherFromItsBoneThanAtRest) {
  const Rig rig = testing::MakeRig(testing::PalmSource(128));
  const Ran ran = Deformed(rig, {}, testing::TurnPose(rig, {1, 0, 0}, 40));
  std::size_t outward = 0;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    if (rig.influences().weights(v).front() == 0.5F) continue;  // either half may own it
    // The axes of the joints do not move.
    const double axis = rig.influences().bindings(v).front() == 0 ? -1 : 1;
    const auto from = [&](double y, double z) { return std::hypot(y - axis, z); };
    const Vec3f& rest = rig.mesh().positions()[v];
    const double start = from(ran.start[v].y, ran.start[v].z);
    const double end = from(ran.points[v].y, ran.points[v].z);
    // Easing lengthens moves beside steep ones a little.
    EXPECT_LT(end, std::max(start, from(double{rest.y}, double{rest.z})) + 1.1e-3) << v;
    outward += end > start + 0.05 ? 1 : 0;
  }
  EXPECT_GT(outward, 40u);
}

TEST(Implicit, RigsWithoutLimbsFollowInput) {
  for (const Rig& rig : {testing::OneVertex(), testing::OneTriangle(), testing::DegenerateFan(),
                         testing::IsolatedVertex(), testing::TouchingLips()}) {
    for (const auto projection : {ProjectionMethod::kLevel, ProjectionMethod::kMarch}) {
      const Ran ran = Deformed(rig, {.projection = projection}, testing::BendPose(rig, 80));
      EXPECT_EQ(ran.points, ran.start);
      EXPECT_EQ(ran.Count(VertexStatus::kAtRestLevel) + ran.Count(VertexStatus::kFitted), 0u);
    }
  }
}

// On fitted fields.
TEST(Implicit, MarchKeepsRestAndMeetsLimbs) {
  const Rig rig = testing::CanonicalCylinder();
  const ImplicitParams march = {.projection = ProjectionMethod::kMarch};
  const auto rest = testing::RestPose(rig);
  const Ran still = Deformed(rig, march, rest);
  EXPECT_EQ(still.points, still.start);
  EXPECT_GE(still.Count(VertexStatus::kNotDisplaced), 2592u);
  const Ran bent = Deformed(rig, march, testing::BendPose(rig, 110));
  EXPECT_GT(bent.Count(VertexStatus::kGradientDivergence), 50u);
  EXPECT_GT(bent.Count(VertexStatus::kFitted), 200u);
  EXPECT_NE(bent.points, Deformed(rig, {}, testing::BendPose(rig, 110)).points);
}

TEST(Implicit, ReportsFixedPoints) {
  const Rig rig = testing::TubeRig();
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const Implicit implicit =
      ValueOrDie(Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
  std::map<std::string, double> figures;
  for (const BindStatistic& m : implicit.Statistics()) figures[std::string(m.name)] = m.value;
  EXPECT_EQ(figures["border_points"], 64);
  EXPECT_EQ(figures["attached_points"], 0);
  EXPECT_EQ(figures["rigid_points"], 0);
  EXPECT_EQ(figures["points_without_field"], 0);
}

TEST(Implicit, DeepFoldsCloseWithoutOverlap) {
  const Rig rig = testing::CanonicalCylinder();
  for (const double degrees : {135, 145, 150}) {
    const Ran ran = Deformed(rig, {}, testing::BendPose(rig, degrees));
    const auto volumes = testing::MeasureOverlap(testing::TrianglesOf(rig.mesh()), ran.points);
    EXPECT_LT(volumes.overlap / testing::CanonicalVolume(), 1e-3) << degrees;
  }
}

// Millimetres, kilometres.
TEST(Implicit, InvariantToUnits) {
  const RigSource source = testing::CanonicalCylinderSource();
  const Rig rig = testing::MakeRig(source);
  const Ran plain = Deformed(rig, {}, testing::BendPose(rig, 90));
  for (const float scale : {0.0009765625f, 1024.0f}) {
    RigSource scaled = source;
    for (Vec3f& p : scaled.mesh.positions) p = {scale * p.x, scale * p.y, scale * p.z};
    for (AffineD& local : scaled.rest_local) local.m[3] *= double{scale};
    for (Binding& binding : scaled.bindings) binding.inverse_bind.m[3] *= double{scale};
    const Rig other = testing::MakeRig(scaled);
    const Ran ran = Deformed(other, {}, testing::BendPose(other, 90));
    std::size_t near = 0;
    for (std::size_t v = 0; v < ran.points.size(); ++v) {
      near +=
          testing::Distance((1 / double{scale}) * ran.points[v], plain.points[v]) < 1e-3 ? 1 : 0;
    }
    EXPECT_GE(near, ran.points.size() - 30) << scale;
  }
}

TEST(Implicit, HandlesDistantVertex) {
  for (const float far : {1e6f, 1e12f, 1e18f, 1e30f}) {
    RigSource source = testing::CanonicalCylinderSource();
    source.mesh.positions[500].y = far;
    const Rig rig = testing::MakeRig(std::move(source));
    const Ran ran = Deformed(rig, {}, testing::BendPose(rig, 60));
    for (const Vec3d& p : ran.points) {
      ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) << far;
    }
  }
}

TEST(Implicit, UsesUnder170BytesPerVertexWithoutFields) {
  for (const bool quads : {false, true}) {
    const Rig rig =
        testing::TubeRig({.rings = 600, .around = 50, .joints = 60, .length = 60, .quads = quads});
    const auto layout = ValueOrDie(BlockLayout::Create(rig));
    Task task;
    const Implicit bound =
        ValueOrDie(Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
    ASSERT_EQ(bound.field.parts(), 60u);
    const std::size_t bytes =
        FieldBytes(bound.skin) + FieldBytes(bound.level) + FieldBytes(bound.rings);
    EXPECT_LT(static_cast<double>(bytes) / static_cast<double>(rig.vertices()), 170.0);
  }
}

// The cylinder with the second joint beside the skin, whose vertices at x < 1 both joints carry.
TEST(Implicit, MovesWithoutContactFadeBetweenBonesApart) {
  for (const double offset : {0.0, 0.5, 4.0}) {
    RigSource source = testing::CanonicalCylinderSource();
    source.rest_local[1].m[7] += offset;
    source.bindings[1].inverse_bind.m[7] -= offset;
    const Rig rig = testing::MakeRig(std::move(source));
    const auto layout = ValueOrDie(BlockLayout::Create(rig));
    Task task;
    const Implicit implicit =
        ValueOrDie(Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
    std::size_t between = 0;
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      const double x = double{rig.mesh().positions()[v].x};
      const std::uint32_t p = implicit.skin.lane_point[layout->lane[v]];
      if (x > -0.01 || !implicit.skin.IsSkin(p)) continue;
      const double first = SmoothStep((1 - x) / 2);  // weight of the first joint
      const double alone = double{implicit.level.restore_share[p]};
      EXPECT_GT(alone, (offset < 1 || x <= -1 ? 1 : SmoothStep(2 * first - 1)) - 0.01) << x;
      if (offset > 1 && x > -0.2) {
        EXPECT_LT(alone, 0.5) << x;
        ++between;
      }
    }
    EXPECT_EQ(between > 0, offset > 1);
  }
}

// Tables that keep all rules, but do not belong together.
TEST(Implicit, CheckRejectsTablesOfAnotherSkin) {
  const Rig rig = testing::CanonicalCylinder();
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const auto refused = [&](ProjectionMethod projection, auto spoil) {
    Task task;
    Implicit spoilt = ValueOrDie(
        Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, {.projection = projection}, task));
    spoil(spoilt);
    return spoilt.Check(*layout, 2).code() == absl::StatusCode::kDataLoss;
  };
  constexpr auto kLevel = ProjectionMethod::kLevel, kMarch = ProjectionMethod::kMarch;
  EXPECT_FALSE(refused(kLevel, [](Implicit&) {}));
  EXPECT_FALSE(refused(kMarch, [](Implicit&) {}));
  EXPECT_TRUE(refused(kMarch, [](Implicit& m) { m.march = {}; }));
  EXPECT_TRUE(refused(kMarch, [](Implicit& m) { m.level.owner.assign(m.skin.points(), 0); }));
  EXPECT_TRUE(refused(kLevel, [](Implicit& m) {
    m.rings.spacing.pop_back();
    m.rings.offset.pop_back();
  }));
  EXPECT_TRUE(refused(kLevel, [](Implicit& m) {
    m.skin.attached.push_back(3);
    m.skin.followed.push_back(4);
    m.skin.follow_share.push_back(255);
  }));
}

}  // namespace
}  // namespace sinew
