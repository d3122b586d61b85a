#include "client/lib/codec/message_codec.h"

#include <gtest/gtest.h>

#include <array>

namespace sinew::client {
namespace {

TEST(FromRecipe, AcceptsTextAndJson) {
  const auto text = FromRecipe("rigs/x", "dqs(blend=0.5)", "abc");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->recipe_text(), "dqs(blend=0.5)");
  EXPECT_EQ(text->determinism_digest(), "abc");
  const auto json = FromRecipe("rigs/x", " {\"stages\": [{\"dqs\": {\"blend\": 0.5}}]}", "");
  ASSERT_TRUE(json.ok()) << json.status();
  ASSERT_EQ(json->recipe().stages_size(), 1);
  EXPECT_EQ(json->recipe().stages(0).dqs().blend(), 0.5f);
  EXPECT_FALSE(json->recipe().stages(0).dqs().has_max_influences());
}

TEST(FromRecipe, RefusesInvalidRecipes) {
  for (const char* bad :
       {"", "  ", "{", "{\"stage\": []}", "{\"stages\": [{\"dqs\": {\"blendd\": 1}}]}",
        "{\"stages\": [{\"nothing\": {}}]}", "{\"stages\": [{\"dqs\": {\"blend\": \"x\"}}]}",
        "{} {}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(FromRecipe("rigs/x", bad, "").status())) << bad;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(FromRecipe("", "lbs", "").status()));
}

TEST(FromRecipe, NamesFieldOfJsonError) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"stage": []})", "recipe"},
      {R"({"stages": 3})", "recipe"},
      {R"({"stages": [{"dqs": {}}, {"implcit": {}}]})", "recipe.stages[1]"},
      {R"({"stages": [{"dqs": {}, "lbs": {}}]})", "recipe.stages[0]"},
      {R"({"stages": [{"dqs": 3}]})", "recipe.stages[0].dqs"},
      {R"({"stages": [{"lbs": {}}, {"implicit": {"contcat": true}}]})",
       "recipe.stages[1].implicit.contcat"},
      {R"({"stages": [{"implicit": {"contact": "x"}}]})", "recipe.stages[0].implicit.contact"},
      {R"({"stages": [{"dqs": {"blend": "a"}}]})", "recipe.stages[0].dqs.blend"},
      {"{} {}", "recipe"},
      {"", "recipe"},
  };
  for (const auto& [json, field] : rows) {
    const absl::Status status = FromRecipe("rigs/x", json, "").status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << json;
    EXPECT_EQ(Details(status).field, field) << json;
    EXPECT_EQ(Details(status).reason, "INVALID_FIELD") << json;
    EXPECT_EQ(status.message().find("sinew.v1"), std::string::npos) << status;
  }
}

TEST(FromRecipe, NumbersWithoutFieldBecomeText) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"stages": [{"dqs": {"blendMap": "a"}}, {"lbs": {"maxInfluences": -1}}]})",
       "dqs(blend_map=\"a\") | lbs(max_influences=-1)"},
      {R"({"stages": [{"ddm": {"iterations": 2.5}}]})", "ddm(iterations=2.5)"},
      {R"({"stages": [{"ddm": {"iterations": 5000000000}}]})", "ddm(iterations=5000000000)"},
  };
  for (const auto& [json, text] : rows) {
    EXPECT_EQ(FromRecipe("rigs/x", json, "")->recipe_text(), text) << json;
  }
}

TEST(FromRecipe, SuggestsCloseMethodName) {
  const std::string message(
      FromRecipe("rigs/x", R"({"stages": [{"implcit": {}}]})", "").status().message());
  EXPECT_NE(message.find("; did you mean implicit?"), std::string::npos) << message;
}

TEST(FromTarget, RequiresSessionOrRig) {
  EXPECT_EQ(FromTarget({.session = "sessions/1"})->session(), "sessions/1");
  EXPECT_EQ(FromTarget({.rig = "rigs/x", .recipe = "lbs"})->source().rig(), "rigs/x");
  EXPECT_TRUE(absl::IsInvalidArgument(FromTarget({}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(FromTarget({.session = "s", .rig = "rigs/x"}).status()));
}

TEST(FromPose, KeepsEveryBit) {
  const std::array<float, 3> floats = {1.5f, -0.0f, 3e-42f};
  const v1::Pose pose = FromPose({.joint_transforms = floats, .frame = 9, .time = 0.0});
  EXPECT_EQ(pose.joint_transforms(), std::string("\0\0\xc0\x3f\0\0\0\x80\x5d\x08\0\0", 12));
  EXPECT_TRUE(pose.has_time());
  EXPECT_TRUE(pose.controls().empty());
}

TEST(ToSession, RoundTripsResolvedRecipe) {
  v1::Session message;
  message.mutable_recipe()->add_stages()->mutable_ddm()->set_radius(0.125f);
  message.set_state(v1::Session::STATE_READY);
  const Session session = ToSession(message);
  EXPECT_EQ(session.state, SessionState::kReady);
  const auto recipe_text = FromRecipe("rigs/x", session.recipe_json, "");
  ASSERT_TRUE(recipe_text.ok()) << recipe_text.status();
  EXPECT_EQ(recipe_text->recipe().SerializeAsString(), message.recipe().SerializeAsString());
}

TEST(FromRecipe, ChoicesHaveTextNameProtoNameOrNumber) {
  for (const char* value : {"\"inverse_distance\"", "\"LAPLACIAN_INVERSE_DISTANCE\"", "3"}) {
    const auto source =
        FromRecipe("rigs/x",
                   absl::StrCat(R"({"stages": [{"lbs": {}}, {"deltaMush": {"laplacian": )", value,
                                R"(, "pinBorders": false}}]})"),
                   "");
    ASSERT_TRUE(source.ok()) << source.status();
    EXPECT_EQ(source->recipe().stages(1).delta_mush().laplacian(),
              v1::DeltaMush::LAPLACIAN_INVERSE_DISTANCE);
    EXPECT_FALSE(source->recipe().stages(1).delta_mush().pin_borders());
  }
}

TEST(FromRecipe, WrongChoiceNamesField) {
  for (const char* value :
       {"\"dance\"", "\"\"", "\"unspecified\"", "1.5", "true", "[\"uniform\"]"}) {
    const auto source = FromRecipe(
        "rigs/x", absl::StrCat(R"({"stages": [{"ddm": {"laplacian": )", value, "}}]}"), "");
    ASSERT_FALSE(source.ok()) << value;
    EXPECT_EQ(Details(source.status()).field, "recipe.stages[0].ddm.laplacian");
    EXPECT_NE(source.status().message().find("need uniform, cotangent"), std::string::npos);
  }
  const auto near = FromRecipe("rigs/x", R"({"stages": [{"dqs": {"signs": "parents"}}]})", "");
  EXPECT_NE(near.status().message().find("did you mean parent?"), std::string::npos);
}

TEST(ToSession, WritesChoicesAsText) {
  v1::Session message;
  v1::Ddm& ddm = *message.mutable_recipe()->add_stages()->mutable_ddm();
  ddm.set_laplacian(v1::Ddm::LAPLACIAN_COTANGENT);
  ddm.set_truncation(1e-3f);
  message.mutable_recipe()->add_stages()->mutable_implicit()->set_projection(
      v1::Implicit::PROJECTION_MARCH);
  message.mutable_recipe()->add_stages()->mutable_dqs()->set_signs(static_cast<v1::Dqs::Signs>(9));
  EXPECT_EQ(ToSession(message).recipe_json,
            R"({"stages":[{"ddm":{"laplacian":"cotangent","truncation":0.001}},)"
            R"({"implicit":{"projection":"march"}},{"dqs":{"signs":9}}]})");
}

TEST(FromRecipe, RefusesInvalidUtf8) {
  for (const char* good : {"lbs # \xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbf\xbf"}) {
    EXPECT_TRUE(FromRecipe("rigs/x", good, "").ok()) << good;
  }
  for (const char* bad : {"lbs\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "a\x80z", "\xe2\x82", "{\"stages\": \"\xfe\"}"}) {
    const auto recipe_text = FromRecipe("rigs/x", bad, "");
    EXPECT_TRUE(absl::IsInvalidArgument(recipe_text.status())) << bad;
    EXPECT_EQ(Details(recipe_text.status()).field, "recipe") << recipe_text.status();
  }
  EXPECT_TRUE(absl::IsInvalidArgument(FromRecipe("rigs/\xff", "lbs", "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(FromRecipe("rigs/x", "lbs", "\xff").status()));
}

}  // namespace
}  // namespace sinew::client
