// The stage without fields: rest, swell, strength, unaffected skin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/muscle/muscle.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

using testing::MakeRig;
using testing::TubeWithMusclesSource;
using testing::ValueOrDie;

struct Result {
  std::vector<Vec3f> positions;
  std::vector<BindStatistic> statistics;
};

Result Behind(const Rig& rig, const char* recipe_text, std::span<const Affine> pose,
              const std::vector<float>& controls = {}) {
  Task task;
  const Deformer deformer =
      ValueOrDie(Deformer::Bind(rig, ValueOrDie(ParseRecipe(recipe_text)), task));
  Result result{.positions = std::vector<Vec3f>(rig.vertices()),
                .statistics = deformer.Statistics()};
  FrameOut out{.positions = std::as_writable_bytes(std::span(result.positions))};
  Workspace workspace;
  const absl::Status status =
      deformer.Evaluate({.joints = pose, .controls = controls}, out, workspace, task);
  EXPECT_TRUE(status.ok()) << status;
  return result;
}

double Moved(const Result& a, const Result& b, std::size_t v) {
  return testing::Distance(ToDouble(a.positions[v]), ToDouble(b.positions[v]));
}

// Index of the tube vertex nearest to p.
std::size_t Nearest(const Rig& rig, const Vec3d& p) {
  std::size_t best = 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const double d = testing::Distance(ToDouble(rig.mesh().positions()[v]), p);
    if (d < nearest) {
      nearest = d;
      best = v;
    }
  }
  return best;
}

TEST(MuscleStage, KeepsRestPoseWithTenseMuscles) {
  RigSource source = TubeWithMusclesSource();
  source.controls.front().default_value = 1;
  const Rig rig = MakeRig(std::move(source));
  const auto pose = testing::RestPose(rig);
  const Result plain = Behind(rig, "lbs", pose), pushed = Behind(rig, "lbs | muscle", pose);
  const Result slack = Behind(rig, "lbs | muscle", pose, {0});
  double sunk = 0;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    EXPECT_LE(Moved(plain, pushed, v), 1e-6);
    sunk = std::max(sunk, Moved(plain, slack, v));
  }
  EXPECT_GT(sunk, 0.02);
}

TEST(MuscleStage, SkinRisesByBellySwell) {
  const Rig rig = MakeRig(TubeWithMusclesSource());
  const std::size_t top = Nearest(rig, {-0.87, 0.5, 0}), below = Nearest(rig, {-1.9, -0.5, 0});
  for (const double degrees : {30.0, 60.0, 90.0}) {
    const auto pose = testing::BendPose(rig, degrees);
    const Result plain = Behind(rig, "lbs", pose), pushed = Behind(rig, "lbs | muscle", pose);
    const double swell = PoseMuscles(rig, {.joints = pose})[0].radii[1] - 0.22;
    EXPECT_GT(swell, 0.004);
    // Close to the belly's centre: most of the profile, all of the footprint.
    EXPECT_NEAR(Moved(plain, pushed, top) / swell, 0.97, 0.04) << degrees;
    EXPECT_GT(pushed.positions[top].y, plain.positions[top].y);
    EXPECT_EQ(Moved(plain, pushed, below), 0);
    const Result half = Behind(rig, "lbs | muscle(strength=0.5)", pose);
    EXPECT_NEAR(Moved(plain, half, top), 0.5 * Moved(plain, pushed, top), 1e-6);
  }
}

TEST(MuscleStage, StretchedMuscleLowersSkin) {
  const Rig rig = MakeRig(TubeWithMusclesSource());
  const auto pose = testing::BendPose(rig, 80);
  const std::size_t v = Nearest(rig, {-0.9, -0.5, 0});
  EXPECT_GT(Behind(rig, "lbs | muscle", pose).positions[v].y,
            Behind(rig, "lbs", pose).positions[v].y + 0.002);
}

TEST(MuscleStage, TensionPushesWithoutMotion) {
  const Rig rig = MakeRig(TubeWithMusclesSource());
  const auto pose = testing::RestPose(rig);
  const Result slack = Behind(rig, "lbs | muscle", pose, {0});
  const Result tense = Behind(rig, "lbs | muscle", pose, {1});
  const std::size_t top = Nearest(rig, {-0.87, 0.5, 0});
  EXPECT_GT(tense.positions[top].y, slack.positions[top].y + 0.02);
}

TEST(MuscleStage, MirroredJointsPushOutward) {
  const Rig rig = MakeRig(TubeWithMusclesSource());
  const auto bend = testing::BendPose(rig, 70);
  const auto mirrored = testing::Moved(testing::ScaleMotion({-1, 1, 1}), bend);
  const Result there = Behind(rig, "lbs | muscle", bend),
               here = Behind(rig, "lbs | muscle", mirrored);
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    EXPECT_NEAR(there.positions[v].x, -here.positions[v].x, 2e-6);
    EXPECT_NEAR(there.positions[v].y, here.positions[v].y, 2e-6);
  }
}

TEST(MuscleStage, SwellScalesWithCharacter) {
  const Rig rig = MakeRig(TubeWithMusclesSource());
  const auto bend = testing::BendPose(rig, 70);
  const auto larger = testing::Moved(testing::ScaleMotion({2, 2, 2}), bend);
  const Result there = Behind(rig, "lbs | muscle", bend),
               here = Behind(rig, "lbs | muscle", larger);
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    EXPECT_LE(testing::Distance(2 * ToDouble(there.positions[v]), ToDouble(here.positions[v])),
              4e-6);
  }
}

// For any winding of the faces; inside, it pushes outward.
TEST(MuscleStage, BellyOutsideSkinHasNoEffect) {
  for (const bool inside_out : {false, true}) {
    RigSource source = TubeWithMusclesSource();
    if (inside_out) {
      MeshSource& mesh = source.mesh;
      for (std::size_t c = 0; c < mesh.face_vertices.size(); c += 3) {
        std::swap(mesh.face_vertices[c], mesh.face_vertices[c + 1]);
      }
    }
    const std::size_t all = source.muscles.size();
    for (const double up : {0.0, 0.6}) {  // the tube's radius is 0.5
      RigSource moved = source;
      Muscle& flexor = moved.muscles.front();
      for (MusclePoint* point : {&flexor.origin, &flexor.via.front(), &flexor.insertion}) {
        point->at.y += up;
      }
      const Rig rig = MakeRig(std::move(moved));
      const Result pushed = Behind(rig, "lbs | muscle", testing::RestPose(rig));
      const auto counted = std::ranges::find(pushed.statistics, "muscles", &BindStatistic::name);
      ASSERT_NE(counted, pushed.statistics.end());
      EXPECT_EQ(counted->value, static_cast<double>(up > 0 ? all - 1 : all)) << inside_out;
      const Result tense = Behind(rig, "lbs | muscle", testing::RestPose(rig), {1});
      const std::size_t top = Nearest(rig, {-0.87, 0.5, 0});
      const float risen = tense.positions[top].y - pushed.positions[top].y;
      EXPECT_EQ(risen > 0.02f, up == 0) << inside_out;
      EXPECT_GE(risen, 0) << inside_out;
    }
  }
}

TEST(MuscleStage, OverlappingMusclesDoNotAddUp) {
  RigSource source = TubeWithMusclesSource();
  source.muscles.resize(1);
  const Rig once = MakeRig(source);
  source.muscles.push_back(source.muscles[0]);
  source.muscles[1].name = "again";
  const Rig twice = MakeRig(source);
  const auto pose = testing::BendPose(once, 70);
  const Result a = Behind(once, "lbs | muscle", pose), b = Behind(twice, "lbs | muscle", pose);
  const std::size_t top = Nearest(once, {-0.87, 0.5, 0});
  const Result plain = Behind(once, "lbs", pose);
  EXPECT_GT(Moved(plain, a, top), 0.005);
  EXPECT_LE(Moved(plain, b, top), 1.05 * Moved(plain, a, top));
}

TEST(MuscleStage, SeamsStayClosed) {
  RigSource source = TubeWithMusclesSource();
  // Every vertex twice, as along a seam; the second half of the faces uses the copies.
  const std::size_t count = source.mesh.positions.size();
  MeshSource& mesh = source.mesh;
  InfluenceSource& rows = source.influences;
  for (std::size_t v = 0; v < count; ++v) {
    mesh.positions.push_back(mesh.positions[v]);
    for (std::uint64_t k = rows.offsets[v]; k < rows.offsets[v + 1]; ++k) {
      rows.bindings.push_back(rows.bindings[k]);
      rows.weights.push_back(rows.weights[k]);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  for (std::size_t c = mesh.face_vertices.size() / 6 * 3; c < mesh.face_vertices.size(); ++c) {
    mesh.face_vertices[c] += static_cast<std::uint32_t>(count);
  }
  mesh.parts[0].vertex_count = static_cast<std::uint32_t>(2 * count);
  const Rig rig = MakeRig(std::move(source));
  const Result result = Behind(rig, "lbs | muscle", testing::BendPose(rig, 70));
  for (std::size_t v = 0; v < count; ++v) {
    EXPECT_EQ(result.positions[v], result.positions[count + v]) << v;
  }
}

TEST(MuscleStage, NoEffectWithoutMuscles) {
  const Rig rig = testing::TubeRig();
  const auto pose = testing::BendPose(rig, 50);
  const Result plain = Behind(rig, "lbs", pose), pushed = Behind(rig, "lbs | muscle", pose);
  for (std::size_t v = 0; v < rig.vertices(); ++v) EXPECT_EQ(Moved(plain, pushed, v), 0);
  ASSERT_EQ(pushed.statistics.size(), 2u);
  EXPECT_EQ(pushed.statistics[0].value, 0);
}

}  // namespace
}  // namespace sinew
