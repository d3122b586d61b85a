#include "client/lib/codec/message_codec.h"

#include <gtest/gtest.h>

#include <array>

namespace sinew::client {
namespace {

TEST(FromSpec, TakesTextAndJson) {
  const auto text = FromSpec("rigs/x", "dqs(blend=0.5)", "abc");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(text->spec(), "dqs(blend=0.5)");
  EXPECT_EQ(text->numerics(), "abc");
  const auto json = FromSpec("rigs/x", " {\"stages\": [{\"dqs\": {\"blend\": 0.5}}]}", "");
  ASSERT_TRUE(json.ok()) << json.status();
  ASSERT_EQ(json->recipe().stages_size(), 1);
  EXPECT_EQ(json->recipe().stages(0).dqs().blend(), 0.5f);
  EXPECT_FALSE(json->recipe().stages(0).dqs().has_max_influences());
}

TEST(FromSpec, RefusesWhatIsNoRecipe) {
  for (const char* bad :
       {"", "  ", "{", "{\"stage\": []}", "{\"stages\": [{\"dqs\": {\"blendd\": 1}}]}",
        "{\"stages\": [{\"nothing\": {}}]}", "{\"stages\": [{\"dqs\": {\"blend\": \"x\"}}]}",
        "{\"stages\": [{\"ddm\": {\"variant\": -1}}]}", "{} {}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(FromSpec("rigs/x", bad, "").status())) << bad;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(FromSpec("", "lbs", "").status()));
}

TEST(FromSpec, SaysWhatIsWrongWithJsonInItsOwnWords) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"stage": []})",
       "deformer: got JSON with \"stage\", need {\"stages\": [{\"lbs\": {}}, ...]}"},
      {R"({"stages": 3})", "deformer: got JSON without an array of stages, need "},
      {R"({"stages": [{"dqs": {}}, {"implcit": {}}]})",
       "recipe.stages[1]: got method 'implcit', need one of lbs, dqs, "},
      {R"({"stages": [{"dqs": {}, "lbs": {}}]})",
       "recipe.stages[0]: got 2 methods, need one method: "},
      {R"({"stages": [{"dqs": 3}]})", "recipe.stages[0].dqs: got 3, need an object {...}"},
      {R"({"stages": [{"lbs": {}}, {"implicit": {"trakcing": true}}]})",
       "recipe.stages[1].implicit.trakcing: unknown parameter, need one of "},
      {R"({"stages": [{"implicit": {"tracking": "x"}}]})",
       "recipe.stages[0].implicit.tracking: got \"x\", need true or false"},
      {R"({"stages": [{"dqs": {"blend": "a"}}]})",
       "recipe.stages[0].dqs.blend: got \"a\", need a number"},
      {R"({"stages": [{"dqs": {"blendMap": "a"}}, {"lbs": {"maxInfluences": -1}}]})",
       "recipe.stages[1].lbs.maxInfluences: got -1, need a whole number from 0"},
      {"{} {}", "deformer: got no JSON, need "},
  };
  for (const auto& [json, said] : rows) {
    const std::string message(FromSpec("rigs/x", json, "").status().message());
    EXPECT_EQ(message.substr(0, std::string(said).size()), said) << json;
    EXPECT_EQ(message.find("sinew.v1"), std::string::npos) << message;
  }
  const std::string near(
      FromSpec("rigs/x", R"({"stages": [{"implcit": {}}]})", "").status().message());
  EXPECT_NE(near.find("; did you mean implicit?"), std::string::npos) << near;
}

TEST(FromTarget, NeedsSessionOrRig) {
  EXPECT_EQ(FromTarget({.session = "sessions/1"})->session(), "sessions/1");
  EXPECT_EQ(FromTarget({.rig = "rigs/x", .deformer = "lbs"})->spec().rig(), "rigs/x");
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

TEST(ToSession, RoundTripsTheResolvedRecipe) {
  v1::Session message;
  message.mutable_recipe()->add_stages()->mutable_ddm()->set_radius(0.125f);
  message.set_state(v1::Session::STATE_READY);
  const Session session = ToSession(message);
  EXPECT_EQ(session.state, SessionState::kReady);
  const auto spec = FromSpec("rigs/x", session.recipe_json, "");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->recipe().SerializeAsString(), message.recipe().SerializeAsString());
}

// A text that is no UTF-8 would come back from gRPC as an error without a word.
TEST(FromSpec, RefusesWhatIsNoUtf8) {
  for (const char* good : {"lbs # \xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbf\xbf"}) {
    EXPECT_TRUE(FromSpec("rigs/x", good, "").ok()) << good;
  }
  for (const char* bad : {"lbs\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "a\x80z", "\xe2\x82", "{\"stages\": \"\xfe\"}"}) {
    const auto spec = FromSpec("rigs/x", bad, "");
    EXPECT_TRUE(absl::IsInvalidArgument(spec.status())) << bad;
    EXPECT_EQ(spec.status().message().find("deformer: byte "), 0u) << spec.status();
  }
  EXPECT_TRUE(absl::IsInvalidArgument(FromSpec("rigs/\xff", "lbs", "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(FromSpec("rigs/x", "lbs", "\xff").status()));
}

}  // namespace
}  // namespace sinew::client
