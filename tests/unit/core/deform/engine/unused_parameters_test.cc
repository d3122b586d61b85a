#include "core/deform/engine/unused_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

std::vector<Vec3f> Bent(const Recipe& recipe) {
  const Rig rig = testing::TubeRig({.joints = 3});
  Task task;
  const auto deformer = Deformer::Bind(rig, recipe, task);
  EXPECT_TRUE(deformer.ok()) << FormatRecipe(recipe) << ": " << deformer.status();
  std::vector<Vec3f> points(rig.vertices());
  if (!deformer.ok()) return points;
  FrameOut out{.positions = std::as_writable_bytes(std::span(points))};
  Workspace workspace;
  const auto pose = testing::BendPose(rig, 100);
  EXPECT_TRUE(deformer->Evaluate({.joints = pose}, out, workspace, task).ok());
  return points;
}

struct Case {
  const char* recipe_text;
  const char* without;  // the same with the default for the reported parameter
  const char* field;    // behind "stages[k]."
  const char* why;
};

// Reported parameters have no effect: the bits of a strong bend are the same without them.
TEST(UnusedParameters, ReportsParametersWithoutEffect) {
  const Case cases[] = {
      {"ddm(radius=0.05, lambda=2)", "ddm(radius=0.05)", "ddm.lambda", "radius"},
      {"ddm(radius=0.05, lambda=0.5, smoothing=explicit)", "ddm(radius=0.05, smoothing=explicit)",
       "ddm.lambda", "radius"},
      {"ddm(kappa=3)", "ddm", "ddm.kappa", "alpha is 0"},
      {"ddm(variant=2, pop_guard=false)", "ddm(variant=2)", "ddm.pop_guard", "variant"},
      {"ddm(variant=1, pop_guard=false)", "ddm(variant=1)", "ddm.pop_guard", "variant"},
      {"enhanced_ddm(radius=0.05, lambda=2)", "enhanced_ddm(radius=0.05)", "enhanced_ddm.lambda",
       "radius"},
      {"lbs | delta_mush(radius=0.05, iterations=3)", "lbs | delta_mush(radius=0.05)",
       "delta_mush.iterations", "radius"},
      {"dqs | bulge_free(method=bisector, sharpness=3)", "dqs | bulge_free(method=bisector)",
       "bulge_free.sharpness", "bisector"},
      {"dqs | bulge_free(method=bisector, softness=0)", "dqs | bulge_free(method=bisector)",
       "bulge_free.softness", "bisector"},
      {"dqs | bulge_free(strongest=true, sharpness=3)", "dqs | bulge_free(strongest=true)",
       "bulge_free.sharpness", "strongest is true"},
      {"dqs | bulge_free(strength=0, softness=3)", "dqs | bulge_free(strength=0)",
       "bulge_free.softness", "strength is 0"},
      {"dqs(blend=0, signs=parent)", "dqs(blend=0)", "dqs.signs", "blend is 0"},
      {"dqs | implicit(smoothing=3)", "dqs | implicit", "implicit.smoothing",
       "projection is level"},
      {"dqs | implicit(max_iterations=1)", "dqs | implicit", "implicit.max_iterations",
       "projection is level"},
      {"dqs | implicit(step_length=0.5)", "dqs | implicit", "implicit.step_length",
       "projection is level"},
      {"dqs | implicit(gradient_threshold=0)", "dqs | implicit", "implicit.gradient_threshold",
       "projection is level"},
      {"dqs | implicit(potential_pit=false)", "dqs | implicit", "implicit.potential_pit",
       "projection is level"},
      {"dqs | implicit(projection=march, contact=false)", "dqs | implicit(projection=march)",
       "implicit.contact", "projection is march"},
  };
  for (const Case& c : cases) {
    const auto unused = UnusedParameters(*ParseRecipe(c.recipe_text));
    ASSERT_EQ(unused.size(), 1u) << c.recipe_text;
    EXPECT_THAT(unused[0].field, ::testing::EndsWith(std::string("].") + c.field));
    EXPECT_THAT(unused[0].message, ::testing::HasSubstr(c.why));
    EXPECT_TRUE(UnusedParameters(*ParseRecipe(c.without)).empty()) << c.without;
    const auto with = Bent(*ParseRecipe(c.recipe_text)), without = Bent(*ParseRecipe(c.without));
    EXPECT_TRUE(with == without) << c.recipe_text << " and " << c.without << " differ";
  }
}

// Where these parameters matter, and others too, nothing is reported, and they change the result.
TEST(UnusedParameters, SilentForEffectiveParameters) {
  const std::pair<const char*, const char*> cases[] = {
      {"ddm(lambda=2)", "ddm"},
      {"ddm(radius=0.05, iterations=2)", "ddm(radius=0.05)"},
      {"ddm(alpha=0.5, kappa=3)", "ddm(alpha=0.5)"},
      {"ddm(variant=5, alpha=0.5)", "ddm(variant=5)"},
      {"lbs | delta_mush(iterations=3)", "lbs | delta_mush"},
      {"dqs | bulge_free(sharpness=3)", "dqs | bulge_free"},
      {"dqs | bulge_free(softness=0)", "dqs | bulge_free"},
      {"dqs | bulge_free(strongest=true, softness=0)", "dqs | bulge_free(strongest=true)"},
      {"dqs | implicit(projection=march)", "dqs | implicit"},
      {"dqs | implicit(projection=march, smoothing=3)", "dqs | implicit(projection=march)"},
      {"dqs | implicit(projection=march, max_iterations=1)", "dqs | implicit(projection=march)"},
      {"dqs | implicit(projection=march, step_length=0.5)", "dqs | implicit(projection=march)"},
      {"dqs | implicit(projection=march, gradient_threshold=1)",
       "dqs | implicit(projection=march)"},
  };
  for (const auto& [recipe_text, other] : cases) {
    EXPECT_TRUE(UnusedParameters(*ParseRecipe(recipe_text)).empty()) << recipe_text;
    EXPECT_FALSE(Bent(*ParseRecipe(recipe_text)) == Bent(*ParseRecipe(other)))
        << recipe_text << " and " << other << " are the same: report it";
  }
}

TEST(UnusedParameters, NamesStage) {
  const auto unused = UnusedParameters(
      *ParseRecipe("shapes | dqs(blend=0, signs=parent) | delta_mush(radius=0.1, iterations=4)"));
  ASSERT_EQ(unused.size(), 2u);
  EXPECT_EQ(unused[0].field, "stages[1].dqs.signs");
  EXPECT_EQ(unused[1].field, "stages[2].delta_mush.iterations");
}

TEST(UnusedWithoutMuscles, ReportsMuscleStagesAndParameters) {
  const auto stage = UnusedWithoutMuscles(*ParseRecipe("dqs | muscle(strength=2)"));
  ASSERT_EQ(stage.size(), 1u);
  EXPECT_EQ(stage[0].severity, Severity::kWarning);
  EXPECT_EQ(stage[0].field, "stages[1].muscle");
  EXPECT_THAT(stage[0].message, ::testing::HasSubstr("no muscles"));
  const auto parameter = UnusedWithoutMuscles(*ParseRecipe("dqs | implicit(muscles=false)"));
  ASSERT_EQ(parameter.size(), 1u);
  EXPECT_EQ(parameter[0].field, "stages[1].implicit.muscles");
  EXPECT_TRUE(UnusedWithoutMuscles(*ParseRecipe("dqs | implicit | relax")).empty());
}

}  // namespace
}  // namespace sinew
