#include "server/convert/recipe.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

TEST(ConvertRecipe, ProtoAndRegistryHaveSameParameters) {
  for (const MethodInfo& method : ListMethods()) {
    const auto* stage = v1::Stage::descriptor()->FindFieldByName(method.name);
    ASSERT_NE(stage, nullptr) << method.name;
    std::set<std::string> ours, theirs;
    for (const ParameterInfo& parameter : method.parameters) ours.insert(parameter.name);
    for (int i = 0; i < stage->message_type()->field_count(); ++i) {
      theirs.insert(stage->message_type()->field(i)->name());
    }
    EXPECT_EQ(ours, theirs) << method.name;
  }
}

TEST(ConvertRecipe, ResolvedDefaultsAreStable) {
  for (const char* source : {"lbs", "dqs", "dqs(blend=0.25)", "ddm(variant=0, radius=0.03)",
                             "enhanced_ddm(lambda=0.1, pop_guard=false)"}) {
    const auto recipe = ParseRecipe(source);
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    const v1::Recipe proto = ToProto(*recipe);
    const auto back = ToRecipe(proto);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(FormatRecipe(*back), FormatRecipe(*recipe));
    EXPECT_EQ(DeterminismDigest(*back), DeterminismDigest(*recipe));
  }
}

TEST(ConvertRecipe, PresenceMattersNotValue) {
  v1::Recipe zero, unset;
  zero.add_stages()->mutable_dqs()->set_blend(0);
  unset.add_stages()->mutable_dqs();
  EXPECT_EQ(ToProto(*ToRecipe(zero)).stages(0).dqs().blend(), 0.0f);
  EXPECT_EQ(ToProto(*ToRecipe(unset)).stages(0).dqs().blend(), 1.0f);
}

TEST(ConvertRecipe, FloatsSurviveRoundTrip) {
  v1::Recipe recipe;
  for (const float value : {0.1f, 1.0f / 3, 1e-7f, 0.99999994f}) {
    recipe.Clear();
    recipe.add_stages()->mutable_dqs()->set_blend(value);
    EXPECT_EQ(ToProto(*ToRecipe(recipe)).stages(0).dqs().blend(), value);
  }
}

TEST(ConvertRecipe, WrongRecipeErrorsNameField) {
  v1::Recipe recipe;
  EXPECT_EQ(FieldOf(ToRecipe(recipe).status()), "recipe.stages");
  recipe.add_stages();
  EXPECT_EQ(FieldOf(ToRecipe(recipe).status()), "recipe.stages[0].method");
  recipe.mutable_stages(0)->mutable_lbs();
  recipe.add_stages()->mutable_dqs()->set_blend(2);
  EXPECT_EQ(FieldOf(ToRecipe(recipe).status()), "recipe.stages[1].dqs.blend");
  recipe.Clear();
  for (int i = 0; i < 17; ++i) recipe.add_stages()->mutable_lbs();
  EXPECT_EQ(FieldOf(ToRecipe(recipe).status()), "recipe.stages");
  recipe.Clear();
  auto& stage = *recipe.add_stages()->mutable_lbs();
  stage.GetReflection()->MutableUnknownFields(&stage)->AddVarint(50, 1);
  EXPECT_EQ(ReasonOf(ToRecipe(recipe).status()), v1::REASON_UNKNOWN_FIELD);
}

TEST(ConvertRecipe, AcceptsOnlyRegisteredMethods) {
  for (int i = 0; i < v1::Stage::descriptor()->field_count(); ++i) {
    const auto* field = v1::Stage::descriptor()->field(i);
    v1::Recipe recipe;
    v1::Stage& stage = *recipe.add_stages();
    stage.GetReflection()->MutableMessage(&stage, field);
    bool built = false;
    for (const MethodInfo& method : ListMethods()) built = built || method.name == field->name();
    EXPECT_EQ(ToRecipe(recipe).ok(), built) << field->name();
  }
}

TEST(ConvertRecipe, AcceptsTextInPlaceOfRecipe) {
  v1::SessionSource source;
  SessionConfig limits;
  EXPECT_EQ(FieldOf(RecipeOf(source, limits).status()), "source.recipe");
  source.set_recipe_text("dqs(blend=0.5)");
  ASSERT_TRUE(RecipeOf(source, limits).ok());
  EXPECT_EQ(ToProto(*RecipeOf(source, limits)).stages(0).dqs().blend(), 0.5f);
  source.set_recipe_text("no_such_method");
  EXPECT_EQ(RecipeOf(source, limits).status().code(), absl::StatusCode::kInvalidArgument);
  limits.recipe_bytes = 3;
  source.set_recipe_text("lbs");
  EXPECT_TRUE(RecipeOf(source, limits).ok());
  source.set_recipe_text("lbs ");
  EXPECT_EQ(RecipeOf(source, limits).status().code(), absl::StatusCode::kResourceExhausted);
  source.mutable_recipe()->add_stages()->mutable_dqs()->set_blend(0.5f);
  limits.recipe_bytes = source.recipe().ByteSizeLong();
  EXPECT_TRUE(RecipeOf(source, limits).ok());
  --limits.recipe_bytes;
  EXPECT_EQ(RecipeOf(source, limits).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sinew::server
