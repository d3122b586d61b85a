// The stage as a whole: fitted fields, seams, degenerate rigs, errors.
#include "core/deform/implicit/implicit.h"
#include "core/surface/rig_surface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/deform/dqs/dqs.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/method/fields.h"
#include "core/deform/method/vertex_status.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/unit/core/deform/implicit/limb_projection.h"

namespace sinew {
namespace {

using ::testing::HasSubstr;
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
  EXPECT_GE(moved.Count(VertexStatus::kNotDisplaced), 2592u);
}

// Levels belong to the mesh in its bind pose, whatever the rest pose is.
TEST(Implicit, KeepsBindPose) {
  RigSource source = testing::CanonicalCylinderSource();
  const std::vector<Affine> bound = testing::RestPose(testing::MakeRig(source));
  const double c = std::cos(1.2), s = std::sin(1.2);
  source.rest_local[1] = Compose(source.rest_local[1], {{c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0}});
  const Ran ran = Deformed(testing::MakeRig(source), {}, bound);
  EXPECT_EQ(ran.points, ran.start);
  EXPECT_GE(ran.Count(VertexStatus::kNotDisplaced), 2592u);
}

// Skin shared by many joints is not projected; skin of two joints is, fully.
TEST(Implicit, SkinOfManyJointsFollowsInput) {
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
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    if (within(v, 0.3F)) {  // two rings from projected skin: weights are smooth
      EXPECT_EQ(ran.points[v], ran.start[v]);
    } else {
      moved += ran.points[v] == ran.start[v] ? 0 : 1;
    }
  }
  EXPECT_GT(moved, 50u);
}

// Skin between siblings has no limb to be projected to. Two rows of a fine palm are in between,
// because projection weights are smooth.
TEST(Implicit, SkinBetweenSiblingsFollowsInput) {
  const Rig rig = testing::MakeRig(testing::PalmSource(128));
  const Ran ran = Deformed(rig, {}, testing::TurnPose(rig, {1, 0, 0}, 40));
  std::size_t between = 0, moved = 0;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    if (rig.influences().weights(v).front() < 0.6) {
      ++between;
      EXPECT_EQ(ran.points[v], ran.start[v]);
    } else {
      moved += ran.points[v] == ran.start[v] ? 0 : 1;
    }
  }
  EXPECT_GT(between, 100u);
  EXPECT_GT(moved, 50u);
}

// Partially projected skin does not slide onto the next limb, however long it is tracked.
TEST(Implicit, SkinNearSiblingsIsTrackedAtProjection) {
  const Rig rig = testing::MakeRig(testing::PalmSource());
  Task task;
  const auto tracking = ValueOrDie(ParseRecipe("dqs | implicit(tracking=true)"));
  const Deformer tracked = ValueOrDie(Deformer::Bind(rig, tracking, task));
  std::vector<Vec3f> points(rig.vertices());
  std::vector<std::uint8_t> vertex_status(rig.vertices());
  FrameOut out{.positions = std::as_writable_bytes(std::span(points)),
               .vertex_status = std::as_writable_bytes(std::span(vertex_status))};
  Workspace workspace;
  StreamState state;
  for (int degrees = 4; degrees <= 80; degrees += 4) {
    const auto pose = testing::TurnPose(rig, {1, 0, 0}, std::min(degrees, 40));
    ASSERT_TRUE(tracked.Evaluate({.joints = pose}, out, workspace, &state, task).ok());
  }
  const Ran once = Deformed(rig, {}, testing::TurnPose(rig, {1, 0, 0}, 40));
  std::size_t sent = 0, elsewhere = 0;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const double larger = rig.influences().weights(v).front();
    const double apart = testing::Distance(ToDouble(points[v]), once.points[v]);
    if (larger > 0.95) {
      elsewhere += apart > 1e-3 ? 1 : 0;
      continue;
    }
    EXPECT_EQ(apart, 0) << v;
    EXPECT_EQ(vertex_status[v], once.vertex_status[v]) << v;
    sent += testing::Distance(once.points[v], once.start[v]) > 1e-3 ? 1 : 0;
  }
  EXPECT_GT(sent, 10u);
  EXPECT_GT(elsewhere, 10u) << "fully projected skin is tracked";
}

TEST(Implicit, SeamsStayClosed) {
  // Every face has its own corners.
  const RigSource whole = testing::CanonicalCylinderSource();
  RigSource split = whole;
  split.mesh.positions.clear();
  split.mesh.face_vertices.clear();
  split.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (const std::uint32_t v : whole.mesh.face_vertices) {
    split.mesh.face_vertices.push_back(static_cast<std::uint32_t>(split.mesh.positions.size()));
    split.mesh.positions.push_back(whole.mesh.positions[v]);
    for (std::uint64_t k = whole.influences.offsets[v]; k < whole.influences.offsets[v + 1]; ++k) {
      split.influences.bindings.push_back(whole.influences.bindings[k]);
      split.influences.weights.push_back(whole.influences.weights[k]);
    }
    split.influences.offsets.push_back(split.influences.bindings.size());
  }
  split.mesh.parts[0].vertex_count = static_cast<std::uint32_t>(split.mesh.positions.size());
  const Rig rig = testing::MakeRig(split);
  const Ran ran = Deformed(rig, {}, testing::BendPose(rig, 100));
  EXPECT_GT(ran.Count(VertexStatus::kGradientDivergence), 100u);
  std::map<std::tuple<float, float, float>, Vec3d> at;
  for (std::size_t v = 0; v < ran.points.size(); ++v) {
    const Vec3f& u = rig.mesh().positions()[v];
    const auto [entry, fresh] = at.try_emplace({u.x, u.y, u.z}, ran.points[v]);
    EXPECT_EQ(entry->second, ran.points[v]) << v;
  }
  EXPECT_EQ(at.size(), 2594u);
}

TEST(Implicit, RigsWithoutLimbsFollowInput) {
  for (const Rig& rig : {testing::OneVertex(), testing::OneTriangle(), testing::DegenerateFan(),
                         testing::IsolatedVertex(), testing::TouchingLips()}) {
    const Ran ran = Deformed(rig, {}, testing::BendPose(rig, 80));
    EXPECT_EQ(ran.points, ran.start);
    EXPECT_EQ(ran.Count(VertexStatus::kFitted), 0u);
  }
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

// Projection cannot resolve this start, which is folded through itself.
TEST(Implicit, TrackingClosesFoldsWithoutOverlap) {
  const Rig rig = testing::CanonicalCylinder();
  Task task;
  const auto deformer = ValueOrDie(
      Deformer::Bind(rig, ValueOrDie(ParseRecipe("dqs | implicit(tracking=true)")), task));
  EXPECT_FALSE(deformer.frames_independent());
  const auto triangles = testing::TrianglesOf(rig.mesh());
  const auto overlap = [&](StreamState* state, double degrees) {
    std::vector<Vec3f> positions(rig.vertices());
    FrameOut out{.positions = std::as_writable_bytes(std::span(positions))};
    Workspace workspace;
    const auto pose = testing::BendPose(rig, degrees);
    EXPECT_TRUE(deformer.Evaluate({.joints = pose}, out, workspace, state, task).ok());
    std::vector<Vec3d> points;
    for (const Vec3f& p : positions) points.push_back(ToDouble(p));
    const auto volumes = testing::MeasureOverlap(triangles, points);
    return volumes.overlap / testing::CanonicalVolume();
  };
  StreamState state;
  EXPECT_LT(overlap(&state, 120), 1e-3);
  EXPECT_LT(overlap(&state, 145), 3e-3);
  EXPECT_LT(overlap(nullptr, 145), 1e-3);
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

// Points use their own cotangents only, also beside points and faces without any.
TEST(Implicit, CotangentRowsSumToOne) {
  auto rigs = testing::AllRigs();
  RigSource source = testing::CanonicalCylinderSource();
  source.mesh.positions[500] = source.mesh.positions[501];  // zero-area faces
  rigs.push_back({"no_area", testing::MakeRig(source)});
  source.mesh.positions[500].y = 1e30f;
  rigs.push_back({"far", testing::MakeRig(std::move(source))});
  for (const auto& [name, rig] : rigs) {
    const auto layout = ValueOrDie(BlockLayout::Create(rig));
    Task task;
    const Implicit bound =
        ValueOrDie(Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
    const NeighbourRows& rows = bound.skin.rows;
    for (std::size_t p = 0; p < bound.skin.points(); ++p) {
      if (rows.RowSize(p) == 0) continue;
      double sum = 0;
      for (std::size_t k = rows.begin(p); k < rows.end(p); ++k) {
        sum += double{bound.skin.cotangent[k]};
      }
      ASSERT_NEAR(sum, 1, 1e-5) << name << " point " << p;
    }
  }
}

TEST(Implicit, UsesUnder64BytesPerVertexWithoutFields) {
  for (const bool quads : {false, true}) {
    const Rig rig =
        testing::TubeRig({.rings = 600, .around = 50, .joints = 60, .length = 60, .quads = quads});
    const auto layout = ValueOrDie(BlockLayout::Create(rig));
    Task task;
    const Implicit bound =
        ValueOrDie(Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
    ASSERT_EQ(bound.field.parts(), 60u);
    const std::size_t bytes = FieldBytes(bound.skin);
    EXPECT_LT(static_cast<double>(bytes) / static_cast<double>(rig.vertices()), 64.0);
  }
}

// Sets the fourth entry of one row table, or a new one, to an invalid value.
void SpoilRows(Implicit& implicit, std::string_view table) {
  NeighbourRows::Fields(implicit.skin.rows,
                        [&](std::string_view name, auto& values, const auto&...) {
                          if (name != table) return;
                          if constexpr (std::is_integral_v<std::decay_t<decltype(values)>>) {
                            values = 4;
                          } else {
                            using Value = std::decay_t<decltype(values.front())>;
                            if (values.size() < 4) values.resize(4);
                            values[3] = std::numeric_limits<Value>::max();
                          }
                        });
}

TEST(Implicit, CheckRejectsInconsistentTables) {
  const Rig rig = testing::CanonicalCylinder();
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const Implicit bound =
      ValueOrDie(Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
  const auto refused = [&](auto spoil) {
    Implicit spoilt = bound;
    spoil(spoilt);
    return spoilt.Check(*layout, 2).code() == absl::StatusCode::kDataLoss;
  };
  EXPECT_FALSE(refused([](Implicit&) {}));
  EXPECT_TRUE(refused([](Implicit& m) { m.contact = 2; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.iterations = 1001; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.smoothing = 51; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.joints = 1; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.point_lane[3] = 1 << 20; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.lane_point.pop_back(); }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.role.pop_back(); }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.firmness.push_back(1); }));
  EXPECT_TRUE(refused([](Implicit& m) {
    m.skin.firm.push_back(1 << 20);
    m.skin.firmness.resize(m.skin.firm.size());
  }));
  EXPECT_TRUE(refused([](Implicit& m) {
    m.skin.firm = {2, 1};
    m.skin.firmness = {9, 9};
  }));
  EXPECT_TRUE(refused([](Implicit& m) { SpoilRows(m, "row_shift"); }));
  EXPECT_TRUE(refused([](Implicit& m) { SpoilRows(m, "row_base"); }));
  EXPECT_TRUE(refused([](Implicit& m) { SpoilRows(m, "row_start"); }));
  EXPECT_TRUE(refused([](Implicit& m) { SpoilRows(m, "row_step"); }));
  EXPECT_TRUE(refused([](Implicit& m) { SpoilRows(m, "row_far_entry"); }));
  EXPECT_TRUE(refused([](Implicit& m) { SpoilRows(m, "row_far_point"); }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.cotangent[3] = -1; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.cotangent.pop_back(); }));
  EXPECT_TRUE(refused([](Implicit& m) {
    for (std::uint16_t& weight : m.skin.mean_value) weight /= 2;
  }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.mean_value.pop_back(); }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.potential[3] = INFINITY; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.run_part.pop_back(); }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.run_point[0] = 1; }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.island.push_back(3); }));
  EXPECT_TRUE(refused([](Implicit& m) { m.skin.along.push_back(255); }));
  EXPECT_TRUE(refused([](Implicit& m) {
    m.skin.island.push_back(3);
    m.skin.nearest.push_back(4);
    m.skin.along.push_back(255);
  }));
}

}  // namespace
}  // namespace sinew
