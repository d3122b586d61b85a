#include "server/convert/recipe.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/lib/base/choice_text.h"
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
    for (const ParameterInfo& parameter : method.parameters) {
      const auto* field = stage->message_type()->FindFieldByName(parameter.name);
      ASSERT_EQ(field->enum_type() != nullptr, parameter.type == "choice") << parameter.name;
      if (field->enum_type() == nullptr) continue;
      EXPECT_EQ(ChoiceTexts(*field->enum_type()), parameter.choices) << parameter.name;
      EXPECT_FALSE(field->has_presence()) << parameter.name;
    }
  }
}

TEST(ConvertRecipe, EveryChoiceSurvivesRoundTrip) {
  for (const MethodInfo& method : ListMethods()) {
    for (const ParameterInfo& parameter : method.parameters) {
      if (parameter.type != "choice") continue;
      for (const std::string& choice : parameter.choices) {
        std::vector<std::pair<std::string, std::string>> values = {{parameter.name, choice}};
        if (choice == "explicit") values.emplace_back("lambda", "0.5");  // which its default is not
        const auto stage = MakeStage(method.name, values);
        ASSERT_TRUE(stage.ok()) << stage.status();
        const auto back = ToRecipe(ToProto({*stage}));
        ASSERT_TRUE(back.ok()) << back.status();
        EXPECT_EQ(FormatRecipe(*back), FormatRecipe({*stage}));
      }
    }
  }
}

TEST(ConvertRecipe, UnsetChoiceIsDefault) {
  v1::Recipe recipe;
  recipe.add_stages()->mutable_ddm()->set_laplacian(v1::Ddm::LAPLACIAN_UNSPECIFIED);
  EXPECT_EQ(ToProto(*ToRecipe(recipe)).stages(0).ddm().laplacian(), v1::Ddm::LAPLACIAN_COTANGENT);
  recipe.mutable_stages(0)->mutable_ddm()->set_laplacian(v1::Ddm::LAPLACIAN_UNIFORM);
  EXPECT_EQ(ToProto(*ToRecipe(recipe)).stages(0).ddm().laplacian(), v1::Ddm::LAPLACIAN_UNIFORM);
}

TEST(ConvertRecipe, RefusesUnknownChoiceNumber) {
  for (const int number : {3, 99, -1}) {
    v1::Recipe recipe;
    recipe.add_stages()->mutable_ddm()->set_laplacian(static_cast<v1::Ddm::Laplacian>(number));
    const absl::Status status = ToRecipe(recipe).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FieldOf(status), "recipe.stages[0].ddm.laplacian");
    EXPECT_EQ(status.message(), absl::StrCat("recipe.stages[0].ddm.laplacian: got '", number,
                                             "', need uniform, cotangent"));
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
