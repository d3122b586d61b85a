#include "core/deform/engine/recipe_text.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/registry.h"

namespace sinew {
namespace {

using ::testing::HasSubstr;

TEST(RecipeText, ParsesParametersAndFillsDefaults) {
  const auto recipe = ParseRecipe("  ddm( radius = 0.03,laplacian=uniform , pop_guard=false)");
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  const auto& ddm = std::get<DdmParams>(recipe->at(0));
  EXPECT_FLOAT_EQ(*ddm.radius, 0.03f);
  EXPECT_EQ(ddm.laplacian, Laplacian::kUniform);
  EXPECT_FALSE(ddm.pop_guard);
  EXPECT_EQ(ddm.iterations, 4u);
}

TEST(RecipeText, EveryMethodRoundTrips) {
  for (const MethodInfo& method : ListMethods()) {
    const auto recipe = ParseRecipe(method.example);
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    const std::string text = FormatRecipe(*recipe);
    const auto again = ParseRecipe(text);
    ASSERT_TRUE(again.ok()) << text << ": " << again.status();
    EXPECT_EQ(FormatRecipe(*again), text);
    EXPECT_EQ(DeterminismDigest(*again), DeterminismDigest(*recipe));
  }
}

TEST(RecipeText, PresetsExpandToStages) {
  const auto text = [](const char* recipe_text) { return FormatRecipe(*ParseRecipe(recipe_text)); };
  EXPECT_EQ(text("bulge_free_dqs"), text("dqs | bulge_free"));
  EXPECT_EQ(text("bulge_free_dqs | delta_mush"), text("dqs | bulge_free | delta_mush"));
  EXPECT_EQ(text("shapes | bulge_free_dqs"), text("shapes | dqs | bulge_free"));
  EXPECT_EQ(text("shapes | delta_mush"), text("shapes | lbs | delta_mush"));
  EXPECT_EQ(text("delta_mush(iterations=20)"), text("lbs | delta_mush(iterations=20)"));
  EXPECT_EQ(text("dqs | delta_mush"), FormatRecipe({DqsParams{}, DeltaMushParams{}}));
  for (const PresetInfo& preset : ListPresets()) {
    EXPECT_FALSE(preset.summary.empty());
    EXPECT_EQ(text(std::string(preset.name).c_str()),
              text(std::string(preset.recipe_text).c_str()));
  }
}

TEST(RecipeText, AcceptsRangeLimits) {
  for (const MethodInfo& method : ListMethods()) {
    for (const ParameterInfo& parameter : method.parameters) {
      if (!parameter.minimum || *parameter.minimum == *parameter.maximum) continue;
      for (const double bound : {*parameter.minimum, *parameter.maximum}) {
        const auto stage = MakeStage(method.name, {{parameter.name, absl::StrCat(bound)}});
        EXPECT_TRUE(stage.ok() || parameter.name == "variant") << stage.status();
      }
    }
  }
}

TEST(RecipeText, PresetsRejectUnknownParameters) {
  const absl::Status given = ParseRecipe("bulge_free_dqs(strength=0.5)").status();
  EXPECT_EQ(given.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(given.message().find("dqs | bulge_free"), std::string::npos) << given;
  EXPECT_FALSE(ParseRecipe("delta_mush(iterations=x)").ok());
  EXPECT_FALSE(ParseRecipe("delta_mush(no_such=1)").ok());
}

TEST(RecipeText, EmptyQuotesAreEmptyText) {
  for (const auto& [recipe_text, plain] :
       {std::pair{"lbs | delta_mush(map=\"\")", "lbs | delta_mush"},
        {"dqs(blend_map=\"\", blend=0.5)", "dqs(blend=0.5)"}}) {
    const auto recipe = ParseRecipe(recipe_text);
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    EXPECT_EQ(FormatRecipe(*recipe), FormatRecipe(*ParseRecipe(plain)));
  }
}

TEST(RecipeText, QuotesNamesIfNeeded) {
  const auto recipe = ParseRecipe("dqs(blend_map=\"left arm, outer\")");
  ASSERT_TRUE(recipe.ok()) << recipe.status();
  EXPECT_EQ(std::get<DqsParams>(recipe->at(0)).blend_map, "left arm, outer");
  EXPECT_THAT(FormatRecipe(*recipe), HasSubstr("blend_map=\"left arm, outer\""));
}

TEST(RecipeText, DeterminismDigestCoversParameters) {
  EXPECT_EQ(DeterminismDigest(*ParseRecipe("dqs")),
            DeterminismDigest(*ParseRecipe("dqs(blend=1)")));
  EXPECT_NE(DeterminismDigest(*ParseRecipe("dqs")),
            DeterminismDigest(*ParseRecipe("dqs(blend=0.5)")));
  EXPECT_NE(DeterminismDigest(*ParseRecipe("ddm")),
            DeterminismDigest(*ParseRecipe("enhanced_ddm")));
}

TEST(RecipeText, RejectsInvalidText) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "got the end at column 1, need a method's name"},
      {"lbs |", "got the end at column 6"},
      {"| lbs", "got '|' at column 1"},
      {"lbs lbs", "got 'l' at column 5, need '|' or the end"},
      {"spline",
       "got method 'spline', need one of lbs, dqs, bulge_free, spherical_blend, "
       "cor, delta_mush, ddm, enhanced_ddm, shapes, "},
      {"lbs(speed=3)", "lbs.speed: unknown parameter, need one of max_influences"},
      {"lbs(max_influences=many)", "got 'many', need a whole number from 0 to 255"},
      {"lbs(max_influences=256)", "got 256, need 0 to 255"},
      {"lbs(max_influences=-1)", "got '-1', need a whole number from 0 to 255"},
      {"dqs(blend=1.5)", "dqs.blend: got 1.5, need 0 to 1"},
      {"dqs(blend=nan)", "got 'nan', need a number from 0 to 1"},
      {"dqs(blend=inf)", "got 'inf', need a number from 0 to 1"},
      {"dqs(blend=1,blend=0)", "duplicate parameter"},
      {"dqs(blend", "need '='"},
      {"dqs(blend=", "need a value"},
      {"dqs(blend=1", "need ',' or ')'"},
      {"dqs(blend=\"\")", "dqs.blend: got '', need a number from 0 to 1"},
      {"dqs(\"\"=1)", "need a parameter name"},
      {"lbs | delta_mush(map=\")", "got '\"' at column 22, need a value"},
      {"\"\"", "need a method's name"},
      {"ddm(laplacian=mean_value)", "need uniform, cotangent"},
      {"ddm(pop_guard=1)", "need true or false"},
      {"lbs(speed=3)", "recipe.stages[0].lbs.speed: unknown parameter"},
      {"dqs | bulge_free | implicit(samples=7)", "recipe.stages[2].implicit.samples: got 7"},
      {"shapes | delta_mush(step=7)",
       "recipe.stages[2].delta_mush.step: got 7"},  // stage index after the inserted lbs
      {"lbs | implcit", "bulge_free_dqs, implicit_skinning; did you mean implicit?"},
      {"lbs | implicit(contcat=true)", "smoothing; did you mean contact?"},
      {"dqs | implicit(tracking=true)", "implicit.tracking: unknown parameter"},
      {"ddm(storage=float16)", "ddm.storage: unknown parameter"},
      {"lbs | bulge_free(method=bisectr)",
       "got 'bisectr', need projection, bisector; did you mean bisector?"},
      {"lbs | dqs", "dqs reads rest positions"},
      {"implicit", "implicit reads posed positions"},
  };
  for (const auto& [recipe_text, message] : cases) {
    const auto recipe = ParseRecipe(recipe_text);
    EXPECT_EQ(recipe.status().code(), absl::StatusCode::kInvalidArgument) << recipe_text;
    EXPECT_THAT(std::string(recipe.status().message()), HasSubstr(message)) << recipe_text;
  }
  EXPECT_FALSE(ParseRecipe(std::string(5000, 'a')).ok());
}

TEST(Registry, ExamplesPutSuitableStageFirst) {
  for (const MethodInfo& method : ListMethods()) {
    const bool behind_dqs = method.name == "bulge_free" || method.name == "implicit";
    const bool behind_lbs = method.reads == "posed" && !behind_dqs;
    EXPECT_EQ(method.example.starts_with("dqs | "), behind_dqs) << method.example;
    EXPECT_EQ(method.example.starts_with("lbs | "), behind_lbs) << method.example;
  }
}

TEST(Registry, DescribesEveryParameter) {
  std::set<std::string> names;
  for (const MethodInfo& method : ListMethods()) {
    EXPECT_TRUE(names.insert(method.name).second);
    EXPECT_FALSE(method.summary.empty());
    EXPECT_FALSE(method.paper.empty());
    EXPECT_GE(method.version, 1);
    for (const ParameterInfo& parameter : method.parameters) {
      EXPECT_GT(parameter.description.size(), 10u) << method.name << "." << parameter.name;
      if (parameter.type == "choice") {
        EXPECT_GE(parameter.choices.size(), 2u);
      }
    }
  }
}

// The listed values are exactly those that bind: each choice parses, and unlisted numbers of the
// range do not.
TEST(Registry, ListsAllowedIntegerValues) {
  std::size_t listed = 0;
  for (const MethodInfo& method : ListMethods()) {
    for (const ParameterInfo& parameter : method.parameters) {
      if (parameter.type != "integer" || parameter.choices.empty()) continue;
      ++listed;
      EXPECT_EQ(parameter.choices.front(), absl::StrCat(*parameter.minimum));
      EXPECT_EQ(parameter.choices.back(), absl::StrCat(*parameter.maximum));
      for (double value = *parameter.minimum; value <= *parameter.maximum + 1; ++value) {
        const std::string text = absl::StrCat(value);
        const bool allowed = std::ranges::count(parameter.choices, text) == 1;
        EXPECT_EQ(ParseRecipe(absl::StrCat(method.name, "(", parameter.name, "=", text, ")")).ok(),
                  allowed)
            << method.name << " " << text;
      }
    }
  }
  EXPECT_EQ(listed, 1u) << "enhanced_ddm.variant";
}

}  // namespace
}  // namespace sinew
