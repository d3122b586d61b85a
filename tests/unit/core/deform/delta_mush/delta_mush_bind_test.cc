// Binding Delta Mush: errors, derived values, table checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>
#include <string>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/surface/adjacency.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/deform/delta_mush/posed_stage.h"

namespace sinew {
namespace {

using testing::BindMush;
using ::testing::HasSubstr;
using testing::TubeRig;
using testing::ValueOrDie;

absl::Status BindStatus(const Rig& rig, const DeltaMushParams& params) {
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const absl::Status bound =
      DeltaMush::Bind({rig, *layout, RigSurface(rig, *layout)}, params, task).status();
  EXPECT_EQ(DeltaMush::Cost({rig, *layout, RigSurface(rig, *layout)}, params).status(), bound);
  return bound;
}

TEST(DeltaMushBind, RejectsInvalidParameters) {
  const Rig rig = TubeRig();
  struct Bad {
    DeltaMushParams params;
    const char* message;
  };
  const Bad bads[] = {{{.map = "nothing"}, "delta_mush.map: the rig has no vertex map 'nothing'"},
                      {{.radius = 1}, "delta_mush.radius: got 1, which takes "},
                      {{.step = 1e-4f, .radius = 0.05f}, "need at most 1000: lower radius"},
                      {{.step = 0, .radius = 0.05f}, "delta_mush.step: got 0, "}};
  for (const Bad& bad : bads) {
    const absl::Status status = BindStatus(rig, bad.params);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(bad.message));
  }
}

TEST(DeltaMushBind, RecipeRejectsValuesOutOfRange) {
  for (const char* recipe_text :
       {"delta_mush(step=1.1)", "delta_mush(step=-0.1)", "delta_mush(step=nan)",
        "delta_mush(iterations=1001)", "delta_mush(displacement=11)", "delta_mush(radius=2)",
        "delta_mush(laplacian=mean)", "delta_mush(step=0, radius=0.1)"}) {
    const auto recipe = ParseRecipe(recipe_text);
    EXPECT_EQ(recipe.status().code(), absl::StatusCode::kInvalidArgument) << recipe_text;
    EXPECT_THAT(std::string(recipe.status().message()), HasSubstr("delta_mush.")) << recipe_text;
  }
}

TEST(DeltaMushBind, RadiusDeterminesSteps) {
  const Rig rig = TubeRig();
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  const WeldedPoints welded = Weld(rig);
  const double edge = RmsEdge(rig.mesh(), welded, PolygonNeighbours(rig.mesh(), welded));
  for (const float step : {0.25f, 0.5f, 1.0f}) {
    const double edges = double{0.05f} * rig.mesh().diagonal() / edge;
    const DeltaMush mush = BindMush(rig, *layout, {.step = step, .radius = 0.05f});
    EXPECT_EQ(mush.iterations, static_cast<std::uint32_t>(std::ceil(edges * edges / double{step})));
    EXPECT_GT(mush.iterations, 1u);
    EXPECT_EQ(mush.Statistics().front().value, mush.iterations);
  }
}

TEST(DeltaMushBind, NoStepsWithoutEdges) {
  for (const DeltaMushParams& params : {DeltaMushParams{}, DeltaMushParams{.radius = 0.5f}}) {
    const Rig rig = testing::OneVertex();
    const auto layout = ValueOrDie(BlockLayout::Create(rig));
    EXPECT_EQ(BindMush(rig, *layout, params).iterations, 0u);
  }
}

TEST(DeltaMushBind, CancellableBetweenSteps) {
  const Rig rig = TubeRig();
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  std::stop_source stop;
  Task task({.stop = stop.get_token(), .progress = [&](double done) {
               if (done > 0.5) stop.request_stop();
             }});
  const DeltaMushParams params = {.iterations = 1000};
  const BindInput input = {rig, *layout, RigSurface(rig, *layout)};
  task.SetTotal(ValueOrDie(DeltaMush::Cost(input, params)).work);
  EXPECT_EQ(DeltaMush::Bind(input, params, task).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace sinew
