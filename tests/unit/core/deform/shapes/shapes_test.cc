#include "core/deform/shapes/shapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/reference/lbs_reference.h"
#include "tests/reference/shapes_reference.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::testing::ElementsAre;
using testing::MaxDistance;

std::vector<float> Blend(std::vector<float> weights, double value, double strength = 1) {
  std::vector<float> coefficients(weights.size(), NAN);
  BlendTargets(weights, value, strength, coefficients);
  return coefficients;
}

TEST(BlendTargets, OneTargetIsLinear) {
  EXPECT_THAT(Blend({1}, 0), ElementsAre(0));
  EXPECT_THAT(Blend({1}, 1), ElementsAre(1));
  EXPECT_THAT(Blend({1}, 0.3f), ElementsAre(0.3f));
  EXPECT_THAT(Blend({1}, -0.5), ElementsAre(-0.5f));
  EXPECT_THAT(Blend({1}, 3), ElementsAre(3));
  EXPECT_THAT(Blend({-2}, -1), ElementsAre(0.5f));
  EXPECT_THAT(Blend({-2}, 1), ElementsAre(-0.5f));
  EXPECT_THAT(Blend({4}, 1, -10), ElementsAre(-2.5f));
}

TEST(BlendTargets, InBetweensArePiecewiseLinear) {
  EXPECT_THAT(Blend({0.5f, 1}, 0.25), ElementsAre(0.5f, 0));
  EXPECT_THAT(Blend({0.5f, 1}, 0.5), ElementsAre(1, 0));
  EXPECT_THAT(Blend({0.5f, 1}, 0.75), ElementsAre(0.5f, 0.5f));
  EXPECT_THAT(Blend({0.5f, 1}, 1), ElementsAre(0, 1));
  EXPECT_THAT(Blend({0.25f, 0.5f, 1}, 0.375), ElementsAre(0.5f, 0.5f, 0));
}

TEST(BlendTargets, ExtrapolatesBeyondOutermostKnots) {
  EXPECT_THAT(Blend({0.5f, 1}, 1.5), ElementsAre(-1, 2));
  EXPECT_THAT(Blend({0.5f, 1}, -0.5), ElementsAre(-1, 0));
  EXPECT_THAT(Blend({-2, -1}, -3), ElementsAre(2, -1));
  EXPECT_THAT(Blend({-2, -1}, 1), ElementsAre(0, -1));
}

TEST(BlendTargets, TargetsOnBothSidesOfZero) {
  EXPECT_THAT(Blend({-1, 0.5f, 1}, -0.5), ElementsAre(0.5f, 0, 0));
  EXPECT_THAT(Blend({-1, 0.5f, 1}, -3), ElementsAre(3, 0, 0));
  EXPECT_THAT(Blend({-1, 0.5f, 1}, 0), ElementsAre(0, 0, 0));
  EXPECT_THAT(Blend({-1, 0.5f, 1}, 0.25), ElementsAre(0, 0.5f, 0));
  EXPECT_THAT(Blend({-1, 0.5f, 1}, 2), ElementsAre(0, -2, 3));
  EXPECT_THAT(Blend({-2, -1, 1}, -1.25), ElementsAre(0.25f, 0.75f, 0));
}

// Blending the knots' own weights gives the control's value.
TEST(BlendTargets, ReproducesKnotWeights) {
  const std::vector<float> weights = {-3, -0.7f, 0.1f, 0.4f, 5};
  for (double value = -8; value <= 8; value += 0.0625) {
    const auto c = Blend(weights, value);
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += double{c[i]} * double{weights[i]};
    EXPECT_NEAR(sum, value, 1e-5 * (1 + std::abs(value))) << value;
    EXPECT_LE(std::count_if(c.begin(), c.end(), [](float x) { return x != 0; }), 2) << value;
  }
}

TEST(BlendTargets, StaysFinite) {
  for (const float c : Blend({1e-38f, 2e-38f}, 3e38)) EXPECT_TRUE(std::isfinite(c));
}

std::vector<Vec3d> Evaluated(const Rig& rig, const std::string& recipe_text,
                             std::span<const Affine> pose, std::span<const float> controls) {
  Task task;
  const auto deformer =
      testing::ValueOrDie(Deformer::Bind(rig, testing::ValueOrDie(ParseRecipe(recipe_text)), task));
  std::vector<Vec3f> points(rig.vertices());
  FrameOut out{.positions = std::as_writable_bytes(std::span(points))};
  Workspace workspace;
  const auto status =
      deformer.Evaluate({.joints = pose, .controls = controls}, out, workspace, task);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<Vec3d> result;
  for (const Vec3f& p : points) result.push_back(ToDouble(p));
  return result;
}

TEST(Shapes, MatchReferenceWithLinearBlend) {
  const Rig rig = testing::TubeWithShapes();
  const auto pose = testing::BendPose(rig, 65);
  const auto skin = testing::SkinMatrices(rig, pose);
  for (const std::vector<float>& controls : {std::vector<float>{0, 0, 1},
                                             {0, 0.3f, 0},
                                             {0, -0.4f, 0},
                                             {-0.7f, 0, 0},
                                             {0.9f, 0.8f, 0.7f},
                                             {-2, 1.7f, -3},
                                             {0.1f, -2.5f, 0.2f}}) {
    for (const double strength : {1.0, -0.5}) {
      const auto rest = reference::ShapedRest(rig, controls, strength);
      const auto expected = reference::Lbs(rest, rig.influences(), skin);
      const auto got = Evaluated(
          rig, strength == 1 ? "shapes | lbs" : "shapes(strength=-0.5) | lbs", pose, controls);
      EXPECT_LE(MaxDistance(expected, got), 1e-6 * rig.mesh().diagonal());
    }
  }
}

TEST(Shapes, MissingControlsUseDefaults) {
  RigSource source = testing::TubeWithShapesSource();
  source.controls[2].default_value = 0.5f;
  const Rig rig = testing::MakeRig(std::move(source));
  const auto pose = testing::RestPose(rig);
  const auto expected = reference::ShapedRest(rig, {});
  EXPECT_GT(MaxDistance(expected, testing::RestPoints(rig)), 0.05);
  EXPECT_LE(MaxDistance(expected, Evaluated(rig, "shapes | lbs", pose, {})), 1e-6);
}

TEST(Shapes, RigWithoutShapesPassesThrough) {
  const Rig rig = testing::TubeRig();
  Task task;
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const Shapes shapes =
      testing::ValueOrDie(Shapes::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
  EXPECT_TRUE(shapes.Check(*layout, 2).ok());
  EXPECT_EQ(shapes.Facts().controls, 0u);
  EXPECT_EQ(shapes.Statistics().front().value, 0);
  const auto pose = testing::BendPose(rig, 50);
  EXPECT_EQ(MaxDistance(Evaluated(rig, "shapes | lbs", pose, {}), Evaluated(rig, "lbs", pose, {})),
            0);
}

// A sparse target costs the blocks it touches, and one of zeros nothing.
TEST(Shapes, StoresOnlyMovedBlocks) {
  RigSource source = testing::TubeWithShapesSource();
  ShapeTarget still;
  for (std::uint32_t v = 0; v < source.mesh.positions.size(); ++v) {
    still.vertices.push_back(v);
    still.offsets.push_back({0, 0, 0});
  }
  source.shapes = {{.control = 0, .targets = {still}}, source.shapes.front()};
  const Rig rig = testing::MakeRig(std::move(source));
  Task task;
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const Shapes shapes =
      testing::ValueOrDie(Shapes::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
  EXPECT_EQ(shapes.target_pair[1], 0u);
  EXPECT_GE(shapes.pair_block.size(), 14u) << "two patches of 100 vertices each";
  EXPECT_LE(shapes.pair_block.size(), 16u);
  EXPECT_EQ(shapes.Facts().controls, 3u);
  const auto cost = testing::ValueOrDie(Shapes::Cost({rig, *layout, RigSurface(rig, *layout)}, {}));
  EXPECT_GE(cost.bound_bytes, shapes.offsets.size() * 4 + shapes.pair_block.size() * 4);
  EXPECT_LE(cost.bound_bytes, 4096u);
}

// An in-between without offsets is still a knot.
TEST(Shapes, EmptyTargetIsKnot) {
  RigSource source = testing::TubeWithShapesSource();
  Shape shape = source.shapes.front();
  shape.targets.resize(1);
  shape.targets[0].weight = 1;
  shape.targets.insert(shape.targets.begin(),
                       {.weight = 0.5f, .vertices = {0}, .offsets = {{}}, .normal_offsets = {}});
  source.shapes = {shape};
  const Rig rig = testing::MakeRig(std::move(source));
  std::vector<float> controls(3);
  const auto moved = [&](float value) {
    controls[shape.control] = value;
    return MaxDistance(Evaluated(rig, "shapes | lbs", testing::RestPose(rig), controls),
                       testing::RestPoints(rig));
  };
  const double whole = moved(1);
  EXPECT_GT(whole, 0.01);
  EXPECT_LT(moved(0.25f), 1e-6);
  EXPECT_LT(moved(0.5f), 1e-6);
  EXPECT_NEAR(moved(0.75f), 0.5 * whole, 1e-6);
}

// Every chunk searches each active target's blocks, though it moves but one.
TEST(Shapes, FrameCostsSearchPerTargetAndChunk) {
  const auto frame_ns = [](std::size_t targets) {
    RigSource source = testing::TubeWithShapesSource();
    source.shapes.assign(
        targets,
        {.control = 0,
         .targets = {
             {.weight = 1, .vertices = {0}, .offsets = {{1, 0, 0}}, .normal_offsets = {}}}});
    const Rig rig = testing::MakeRig(std::move(source));
    const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
    const double chunks = std::ceil(static_cast<double>(layout->blocks()) / 64);
    return std::pair(
        testing::ValueOrDie(Shapes::Cost({rig, *layout, RigSurface(rig, *layout)}, {})).frame_ns,
        chunks);
  };
  const auto [few, chunks] = frame_ns(1);
  const auto [many, same] = frame_ns(1001);
  ASSERT_GE(chunks, 2);
  EXPECT_GE(many - few, 1000 * (20 + 5 * chunks));
}

TEST(Shapes, PaddingLanesRepeatFirstVertex) {
  const Rig rig = testing::TubeWithShapes();
  Task task;
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const Shapes shapes =
      testing::ValueOrDie(Shapes::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
  std::size_t padding = 0;
  for (std::size_t p = 0; p < shapes.pair_block.size(); ++p) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (layout->order[shapes.pair_block[p] * kLanes + i] >= 0) continue;
      ++padding;
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(shapes.offsets[(p * 3 + c) * kLanes + i], shapes.offsets[(p * 3 + c) * kLanes]);
      }
    }
  }
  EXPECT_GT(padding, 0u) << "or nothing was tested";
}

TEST(Shapes, RigRejectsTargetAtZero) {
  RigSource source = testing::TubeWithShapesSource();
  source.shapes[0].targets[0].weight = 0;
  const auto rig = Rig::Create(std::move(source));
  EXPECT_EQ(rig.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(rig.status().message()),
              ::testing::HasSubstr("rig.meshes.shapes[0].targets[0].weight: got 0"));
}

TEST(Shapes, ApplyBeforeSkinning) {
  EXPECT_TRUE(ParseRecipe("shapes | dqs").ok());
  Task task;
  const Rig rig = testing::TubeWithShapes();
  for (const char* recipe_text : {"shapes", "lbs | shapes"}) {
    const auto recipe = ParseRecipe(recipe_text);
    const absl::Status status =
        recipe.ok() ? Deformer::Bind(rig, *recipe, task).status() : recipe.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << recipe_text;
  }
}

}  // namespace
}  // namespace sinew
