#include "client/bake/character/recipe_text.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "client/bake/base/errors.h"
#include "client/bake/character/recipe_argument.h"
#include "tests/support/temporary_folder.h"

namespace sinew::bake {
namespace {

TEST(RecipeText, WritesStagesAndParameters) {
  EXPECT_EQ(
      RecipeText(R"({"stages":[{"dqs":{"blend":0.5,"max_influences":0}},{"bulge_free":{}}]})"),
      "dqs(blend=0.5, max_influences=0) | bulge_free");
  EXPECT_EQ(RecipeText(R"({"stages":[{"ddm":{"laplacian":"uniform","pop_guard":false}}]})"),
            "ddm(laplacian=uniform, pop_guard=false)");
}

TEST(RecipeText, QuotesWhatIsNotAWord) {
  EXPECT_EQ(
      RecipeText(
          R"({"stages":[{"relax":{"mask":"left arm","iterations":3,"other":"a.b-c+1_2","none":""}}]})"),
      R"(relax(mask="left arm", iterations=3, other=a.b-c+1_2))");
}

TEST(RecipeText, LeavesOtherTextAlone) {
  for (const char* text :
       {"", "ddm", "{", "[]", R"({"stages":1})", R"({"stages":[1]})", R"({"stages":[{"a":1}]})"}) {
    EXPECT_EQ(RecipeText(text), text);
  }
}

TEST(RecipeArgument, ReadsTextAndFiles) {
  const testing::TemporaryFolder folder;
  testing::WriteAll(folder / "r.json", "\n {\"stages\": []} \n");
  testing::WriteAll(folder / "empty.json", " \n");
  testing::WriteAll(folder / "large.json", std::string(70'000, '{'));
  EXPECT_EQ(*ReadRecipe("lbs | relax"), "lbs | relax");
  EXPECT_EQ(*ReadRecipe(absl::StrCat("@", folder / "r.json")), "{\"stages\":[]}");
  testing::WriteAll(folder / "mark.json", "\xEF\xBB\xBF{\"stages\": []}");
  EXPECT_EQ(*ReadRecipe(absl::StrCat("@", folder / "mark.json")), "{\"stages\":[]}");
  testing::WriteAll(folder / "mark.txt", "\xEF\xBB\xBF ddm\n");
  EXPECT_EQ(*ReadRecipe(absl::StrCat("@", folder / "mark.txt")), "ddm");
  EXPECT_EQ(*ReadRecipe("{/* none */ \"stages\": []}"), "{\"stages\":[]}");
  EXPECT_TRUE(IsRequestError(ReadRecipe("").status()));
  EXPECT_TRUE(IsRequestError(ReadRecipe("@").status()));
  for (const char* name : {"none.json", "empty.json", "large.json", "."}) {
    EXPECT_FALSE(ReadRecipe(absl::StrCat("@", folder / name)).ok()) << name;
  }
  EXPECT_EQ(
      ReadRecipe(absl::StrCat("@", folder / "none.json")).status().message(),
      absl::StrCat("deformer: cannot read ", folder / "none.json", ": No such file or directory"));
  EXPECT_EQ(ReadRecipe("{\"stages\":\n  [nothing]}").status().message(),
            "deformer: JSON: line 2, column 5: not JSON");
  testing::WriteAll(folder / "twice.json", R"({"stages": [{"lbs": {}}], "stages": []})");
  const absl::Status twice = ReadRecipe(absl::StrCat("@", folder / "twice.json")).status();
  EXPECT_TRUE(absl::IsAlreadyExists(twice));
  EXPECT_EQ(twice.message(), absl::StrCat("deformer: ", folder / "twice.json",
                                          ": stages: given twice, need it once"));
  EXPECT_EQ(ReadRecipe(R"({"stages": [{"lbs": {}}, {"delta_mush": {"step": 1, "step": 1}}]})")
                .status()
                .message(),
            "deformer: JSON: stages[1].delta_mush.step: given twice, need it once");
  EXPECT_EQ(RecipeLabel("@/some/where/soft.json"), "soft");
  EXPECT_EQ(RecipeLabel("dqs | bulge_free"), "dqs | bulge_free");
}

}  // namespace
}  // namespace sinew::bake
