#include "client/cli/base/request_field.h"

#include <gtest/gtest.h>

namespace sinew::cli {
namespace {

TEST(OptionForField, NamesTheOptionOfEachField) {
  const struct {
    const char *field, *command, *option;
  } rows[] = {
      {"source.recipe.stages[0].ddm.radius", "bind", "--deformer stage 1 (ddm), radius"},
      {"source.recipe.stages[1]", "bake", "--deformer stage 2"},
      {"recipe.stages[0]", "bind", "--deformer stage 1"},
      {"recipe.stages", "bind", "--deformer"},
      {"source.ddm.radius", "bind", "--deformer (ddm), radius"},
      {"recipe.stages[1].implicit.samples", "render", "--deformer stage 2 (implicit), samples"},
      {"source.recipe_text", "bind", "--deformer"},
      {"target.source.recipe_text", "render", "--deformer"},
      {"targets[1].source.recipe_text", "compare", "--deformers number 2"},
      {"targets[2]", "compare", "--deformers number 3"},
      {"name", "delete", "NAME"},
      {"source.rig", "bind", "RIG"},
      {"ttl", "bind", "--ttl"},
      {"capsule.inner", "weights", "--inner"},
      {"max_influences", "weights", "--max-influences"},
      {"joints[3]", "weights", "--joints"},
      {"output.attributes", "render", "--vertex-status"},
      {"open.output.muscles", "render", "--translucent"},
      {"max_influences", "bind", ""},
      {"output.muscles", "bake", ""},
      {"poses", "bake", ""},
      {"", "", ""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(OptionForField(row.field, row.command), row.option) << row.field;
  }
}

TEST(OptionForField, SurvivesMalformedPaths) {
  for (const char* path : {".", "..", "[", "]", "[]", "source.", "source.recipe.stages[",
                           "targets[99999999999999999999]", "recipe.stages[-1].x", "a[0][1]"}) {
    EXPECT_LT(OptionForField(path, "bind").size(), 100U) << path;
  }
}

TEST(IsRecipeField, ExcludesOtherFieldsOfTheSource) {
  EXPECT_TRUE(IsRecipeField("source.recipe_text"));
  EXPECT_TRUE(IsRecipeField("recipe.stages[0].ddm"));
  EXPECT_FALSE(IsRecipeField("source.rig"));
  EXPECT_FALSE(IsRecipeField("ttl"));
  EXPECT_FALSE(IsRecipeField(""));
}

TEST(NameOption, ReplacesTheFieldInTheMessage) {
  EXPECT_EQ(NameOption("ttl: got 0 s", "ttl", "bind"), "--ttl: got 0 s");
  EXPECT_EQ(NameOption("dqs: recipe.dqs.blend: got 5", "recipe.dqs.blend", "compare"),
            "dqs: --deformers (dqs), blend: got 5");
  EXPECT_EQ(NameOption("got 0 s", "ttl", "bind"), "--ttl: got 0 s");
  EXPECT_EQ(NameOption("got 5", "other.field", "bind"), "other.field: got 5");
  EXPECT_EQ(NameOption("hero.glb: no mesh", "", "bind"), "hero.glb: no mesh");
}

}  // namespace
}  // namespace sinew::cli
