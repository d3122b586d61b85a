// The effect of a belly on the skin above it: bowstringing, via points, fat.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/implicit/muscles.h"
#include "core/surface/muscle_footprint.h"
#include "tests/reference/muscle_reference.h"
#include "tests/support/small_rigs.h"
#include "tests/unit/core/muscle/two_joints.h"

namespace sinew {
namespace {

using testing::At;
using testing::OnLower;
using testing::OnUpper;
using testing::Tables;

double Value(const MuscleShape& shape, double fat, double x, double y) {
  PointBlock points;
  FieldBlock out;
  for (std::size_t i = 0; i < kLanes; ++i) {
    points.x[i] = static_cast<float>(x);
    points.y[i] = static_cast<float>(y);
    points.z[i] = 0;
  }
  EvaluateMuscle(shape, fat, points, out);
  return out.value[0];
}

// A limb of radius 1 along x, and its muscle.
struct Limb {
  MuscleTables tables;
  double fat = 1e9;

  explicit Limb(const Muscle& muscle) : tables(Tables(muscle)) {
    const MuscleShape shape = MakeMuscleShape(tables.rows[0], At(tables, 0));
    for (double x = -6; x < 0; x += 0.01) fat = std::min(fat, Value(shape, 0, x, 1));
  }
  // Largest radius of the skin above the belly, on the upper bone: where max(bone, muscle) = 1/2.
  double SkinRadius(double degrees) const {
    const MuscleShape shape = MakeMuscleShape(tables.rows[0], At(tables, degrees));
    double radius = 0;
    for (double x = -6; x < -0.8; x += 0.02) {
      double inside = 0.9, outside = 2.5;
      for (int k = 0; k < 40; ++k) {
        const double y = 0.5 * (inside + outside);
        const double f =
            std::max(reference::Compact(y - 1, 1), reference::Compact(Value(shape, fat, x, y), 1));
        (f > 0.5 ? inside : outside) = y;
      }
      radius = std::max(radius, inside);
    }
    return radius;
  }
  double Swell(double degrees) const { return At(tables, degrees).radii[1] - 0.6; }
};

Muscle Biceps() {
  Muscle muscle;
  muscle.name = "biceps";
  muscle.origin = OnUpper(-6, 0.3);
  muscle.insertion = OnLower(1, 0.3);
  muscle.origin_tendon = muscle.insertion_tendon = 1.75;
  muscle.width = muscle.depth = 0.6;
  muscle.width_direction = {0, 1, 0};
  return muscle;
}

TEST(MuscleSkin, ViaPointSkinRisesByBellySwell) {
  Muscle muscle = Biceps();
  muscle.via = {OnUpper(-0.5, 0.3)};
  const Limb limb(muscle);
  EXPECT_NEAR(limb.SkinRadius(0), 1, 1e-4);
  for (const double degrees : {30.0, 60.0, 90.0, 120.0}) {
    const double predicted = 1 + limb.Swell(degrees), measured = limb.SkinRadius(degrees);
    EXPECT_NEAR(measured, predicted, 0.005);
    EXPECT_GT(measured, 1.01);
  }
}

TEST(MuscleSkin, WithoutViaPointWholeLineLiftsOff) {
  const Limb limb(Biceps());
  const double predicted = 1 + limb.Swell(60), measured = limb.SkinRadius(60);
  EXPECT_GT(measured - predicted, 0.15);
}

TEST(MuscleSkin, FatFillsRestGap) {
  RigSource source = testing::TubeWithMusclesSource();
  const auto fat = [](const RigSource& from) {
    const Rig rig = testing::MakeRig(from);
    return MakeFootprint(rig, MakeBindPoseSkin(rig), 0);
  };
  const MuscleFootprint calibrated = fat(source);
  EXPECT_GT(calibrated.fat, 0.02);
  EXPECT_LT(calibrated.fat, 0.2);
  // No vertex is inside the belly with its fat, and one is on it.
  EXPECT_EQ(*std::min_element(calibrated.values.begin(), calibrated.values.end()),
            static_cast<float>(calibrated.fat));
  source.muscles[0].fat = 0.01;
  EXPECT_EQ(fat(source).fat, calibrated.fat);
  source.muscles[0].fat = 0.5;
  EXPECT_EQ(fat(source).fat, 0.5);
}

TEST(MuscleSkin, FootprintIsSkinOfItsJoints) {
  RigSource source = testing::TubeSource({.rings = 41, .joints = 5});
  source.muscles = testing::TubeWithMusclesSource().muscles;
  source.muscles.resize(1);
  source.muscles[0].activation.reset();
  source.muscles[0].via.clear();
  source.muscles[0].origin.joint = 1;
  source.muscles[0].insertion.joint = 3;
  const Rig rig = testing::MakeRig(std::move(source));
  const BindPoseSkin skin = MakeBindPoseSkin(rig);
  const MuscleFootprint footprint = MakeFootprint(rig, skin, 0);
  std::size_t expected = 0;
  for (const std::uint32_t joint : skin.joint) expected += joint >= 1 && joint <= 3 ? 1 : 0;
  EXPECT_EQ(footprint.vertices.size(), expected);
  EXPECT_EQ(MostUnderMuscles(rig), expected);
}

TEST(MuscleSkin, MuscleReplacesPartOfOrigin) {
  const Rig rig = testing::MakeRig(testing::TubeWithMusclesSource());
  Task task;
  const auto limbs = LimbField::Bind(rig, Weld(rig), 50, task);
  ASSERT_TRUE(limbs.ok()) << limbs.status();
  const auto muscles = MuscleField::Bind(rig, *limbs, task);
  ASSERT_TRUE(muscles.ok()) << muscles.status();
  EXPECT_TRUE(muscles->Check(rig.joints()).ok());
  EXPECT_EQ(muscles->without_field(), 0u);
  const std::vector<float> controls = {0};
  const auto rest = testing::RestPose(rig);
  PosedRig still;
  still.joints = rest;
  still.controls = controls;
  const auto posed = muscles->Pose(still);
  ASSERT_EQ(posed.size(), 2u);
  for (const MusclePrimitive& muscle : posed) {
    EXPECT_EQ(muscle.part, 0u);
    EXPECT_NEAR(muscle.reach, limbs->reach(0), 1e-5);
  }
  // Above the flexor the bent field swells; far below nothing changes.
  const auto bent = testing::BendPose(rig, 80);
  PosedRig moved;
  moved.joints = bent;
  moved.controls = controls;
  const auto swollen = muscles->Pose(moved);
  const PosedLimbField with(*limbs, moved, swollen), without(*limbs, moved);
  PointBlock points;
  for (std::size_t i = 0; i < kLanes; ++i) {
    points.x[i] = -0.95f;
    points.y[i] = i % 2 == 0 ? 0.5f : -0.5f;
    points.z[i] = 0;
  }
  DistanceNeed all;
  all.margin.fill(HUGE_VALF);
  const auto least = [&](const PosedLimbField& field, std::size_t lane) {
    float value = HUGE_VALF;
    for (const PartBlock& part : field.Distances(points, all)) {
      value = std::min(value, part.value[lane]);
    }
    return value;
  };
  EXPECT_LT(least(with, 0), least(without, 0) - 0.01f);
  EXPECT_EQ(least(with, 1), least(without, 1));
}

// Otherwise its fat would fill the gap up to the skin.
TEST(MuscleSkin, MuscleOutsideSkinHasNoEffect) {
  for (const double away : {0.0, 1.0, 20.0}) {
    RigSource source = testing::TubeWithMusclesSource();
    source.muscles.resize(1);
    source.muscles[0].activation.reset();
    source.muscles[0].via.clear();
    source.muscles[0].origin.at.y += away;
    source.muscles[0].insertion.at.y += away;
    const Rig rig = testing::MakeRig(source);
    Task task;
    const auto limbs = LimbField::Bind(rig, Weld(rig), 50, task);
    ASSERT_TRUE(limbs.ok()) << limbs.status();
    const auto muscles = MuscleField::Bind(rig, *limbs, task);
    ASSERT_TRUE(muscles.ok()) << muscles.status();
    EXPECT_EQ(muscles->without_field(), away > 0 ? 1u : 0u) << away;
  }
}

// The rig's skin after a recipe, file order.
std::vector<Vec3f> Skin(const Rig& rig, const char* recipe_text, std::span<const Affine> pose) {
  using testing::ValueOrDie;
  Task task;
  const Deformer deformer =
      ValueOrDie(Deformer::Bind(rig, ValueOrDie(ParseRecipe(recipe_text)), task));
  std::vector<Vec3f> skin(rig.vertices());
  FrameOut out{.positions = std::as_writable_bytes(std::span(skin))};
  Workspace workspace;
  const absl::Status status = deformer.Evaluate({.joints = pose}, out, workspace, task);
  EXPECT_TRUE(status.ok()) << status;
  return skin;
}

TEST(MuscleSkin, ImplicitSkinStaysOutsideBelly) {
  const Rig rig = testing::MakeRig(testing::TubeWithMusclesSource());
  const MuscleFootprint footprint = MakeFootprint(rig, MakeBindPoseSkin(rig), 0);
  const std::vector<float> controls = {0};
  for (const double degrees : {40.0, 80.0}) {
    const auto pose = testing::BendPose(rig, degrees);
    const MuscleState state = PoseMuscle(rig.muscle_tables(), 0, pose, controls);
    const MuscleShape shape = MakeMuscleShape(rig.muscle_tables().rows[0], state);
    const auto deepest = [&](const std::vector<Vec3f>& skin) {
      double least = 1e9;
      for (const std::uint32_t v : footprint.vertices) {
        if (rig.mesh().positions()[v].x > -0.6f || rig.mesh().positions()[v].x < -1.7f) continue;
        PointBlock points;
        FieldBlock out;
        for (std::size_t i = 0; i < kLanes; ++i) {
          points.x[i] = skin[v].x;
          points.y[i] = skin[v].y;
          points.z[i] = skin[v].z;
        }
        EvaluateMuscle(shape, footprint.fat, points, out);
        least = std::min(least, double{out.value[0]});
      }
      return least;
    };
    const double with = deepest(Skin(rig, "dqs | implicit", pose));
    const double without = deepest(Skin(rig, "dqs | implicit(muscles=false)", pose));
    EXPECT_GE(with, -2e-3);
    EXPECT_LT(without, -0.01);
  }
}

TEST(MuscleSkin, ImplicitSkinRisesBySwell) {
  const Rig rig = testing::MakeRig(testing::TubeWithMusclesSource());
  // The top of the belly: it swells, and slides along its slanted line as it shortens.
  const auto top = [&](std::span<const Affine> joints) {
    const PosedMuscle muscle = PoseMuscles(rig, {.joints = joints})[0];
    return double{muscle.frame.m[7]} + double{muscle.radii[1]};
  };
  const double rest = top(testing::RestPose(rig));
  for (const double degrees : {40.0, 80.0}) {
    const auto pose = testing::BendPose(rig, degrees);
    const auto highest = [&](const char* recipe_text) {
      const auto skin = Skin(rig, recipe_text, pose);
      float y = 0;
      for (std::size_t v = 0; v < skin.size(); ++v) {
        if (rig.mesh().positions()[v].x < -0.6f) y = std::max(y, skin[v].y);
      }
      return double{y};
    };
    const double predicted = 0.5 + top(pose) - rest;
    const double measured = highest("dqs | implicit");
    EXPECT_NEAR(measured, predicted, 0.005);
    EXPECT_NEAR(highest("dqs | implicit(muscles=false)"), 0.5, 0.005);
  }
}

}  // namespace
}  // namespace sinew
