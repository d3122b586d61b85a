// Muscles as JSON: valid files, and errors in others.
#include "client/bake/character/muscle_file.h"

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "client/cli/character/muscle_help.h"
#include "client/models/models.h"
#include "google/rpc/error_details.pb.h"
#include "sinew/client.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

client::RigData Arm() {
  return client::Make("arm")->rig;
}

std::string TextOf(const char* path) {
  std::ifstream file(sinew::testing::SourceFolder() / path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string ExampleText() {
  return TextOf("deploy/arm_muscles.json");
}

TEST(MuscleFile, ExampleEqualsMusclesOfTheArm) {
  const client::RigData arm = Arm();
  client::RigData read = arm;
  read.muscles.clear();
  read.controls.clear();
  const absl::Status status = bake::ReadMuscles(ExampleText(), read);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(*client::EncodeRig(read), *client::EncodeRig(arm));
}

TEST(MuscleFile, ReadsEveryMember) {
  client::RigData rig = Arm();
  const absl::Status status = bake::ReadMuscles(R"({"muscles": [{
    "name": "m", "origin": {"joint": "forearm", "at": [1, 2, 3]},
    "insertion": {"joint": "hand", "at": [4, 5, 6]}, "tendons": [0.5, 0.25], "width": 2, "depth": 1,
    "wrap": {"shape": "sphere", "joint": "hand", "centre": [7, 8, 9], "radius": 0.5},
    "width_direction": [0, 0, -1], "profile": "parabola", "warp": 0.5, "tension": 1.5, "fat": 0.1,
    "activation": "squeeze"}]})",
                                                rig);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(rig.muscles.size(), 1u);
  const client::Muscle& m = rig.muscles[0];
  EXPECT_EQ(m.origin.joint, 1u);
  EXPECT_EQ(m.insertion.at, (std::array<float, 3>{4, 5, 6}));
  EXPECT_EQ(m.insertion_tendon, 0.25f);
  EXPECT_EQ(m.wrap->shape, client::MuscleWrap::Shape::kSphere);
  EXPECT_EQ(m.wrap->radius, 0.5f);
  EXPECT_EQ((*m.width_direction)[2], -1);
  EXPECT_EQ(m.profile, client::MuscleProfile::kParabola);
  EXPECT_EQ(m.warp, 0.5f);
  EXPECT_EQ(m.tension, 1.5f);
  EXPECT_EQ(m.fat, 0.1f);
  ASSERT_EQ(rig.controls.size(), 2u);  // one of its own, one for this text
  EXPECT_EQ(rig.controls[1].name, "squeeze");
  const auto back = client::DecodeRig(*client::EncodeRig(rig));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*client::EncodeRig(*back), *client::EncodeRig(rig));
}

TEST(MuscleFile, HelpShowsAValidFile) {
  const std::string readme = TextOf("client/docs/muscles.md");
  const std::string fence = "```json\n";
  const std::size_t at = readme.find(fence);
  ASSERT_NE(at, std::string::npos);
  const std::size_t begin = at + fence.size();
  EXPECT_EQ(readme.substr(begin, readme.find("```", begin) - begin), kMuscleExample);
  EXPECT_THAT(MuscleHelp(), HasSubstr(kMuscleExample));
  const client::RigData arm = Arm();
  client::RigData read = arm;
  const absl::Status status = bake::ReadMuscles(kMuscleExample, read);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(read.muscles.size(), 1u);
  EXPECT_EQ(read.muscles[0].width, arm.muscles[0].width);
}

TEST(MuscleFile, HelpNamesEveryMember) {
  client::RigData rig = Arm();
  const auto names = [&](const char* text) {
    // "unknown member, need one of name, origin, ..."
    const std::string said(bake::ReadMuscles(text, rig).message());
    return std::vector<std::string>(
        absl::StrSplit(said.substr(said.find("one of ") + 7), absl::ByString(", ")));
  };
  std::vector<std::string> members = names(R"({"muscles": [{"x": 1}]})");
  EXPECT_EQ(members.size(), 14u);
  for (const char* inner :
       {R"({"muscles": [{"name": "m", "origin": {"x": 1}}]})",
        R"({"muscles": [{"name": "m", "origin": {"joint": "hand", "at": [0, 0, 0]},
            "insertion": {"joint": "hand", "at": [0, 0, 1]}, "wrap": {"x": 1}}]})"}) {
    const std::vector<std::string> more = names(inner);
    EXPECT_GE(more.size(), 2u);
    members.insert(members.end(), more.begin(), more.end());
  }
  const std::string readme = TextOf("client/docs/muscles.md"), help = MuscleHelp();
  const std::string table = help.substr(0, help.find("Example"));
  for (const std::string& member : members) {
    EXPECT_THAT(readme, HasSubstr("`" + member + "`"));
    EXPECT_THAT(table, ::testing::ContainsRegex("(^|[ \n])" + member + "[, ]")) << member;
  }
}

TEST(MuscleFile, SuggestsSimilarNames) {
  client::RigData rig = Arm();
  EXPECT_THAT(std::string(bake::ReadMuscles(R"({"muscles": [{"widht": 1}]})", rig).message()),
              ::testing::EndsWith("activation; did you mean width?"));
  Json muscles = Json::parse(kMuscleExample);
  muscles["muscles"][0]["profile"] = "sines";
  EXPECT_THAT(
      std::string(bake::ReadMuscles(muscles.dump(), rig).message()),
      ::testing::EndsWith("need ellipsoid, sine, root_sine or parabola; did you mean sine?"));
}

struct Bad {
  const char* said;  // at the start
  void (*spoil)(Json& muscles);
};

TEST(MuscleFile, ErrorsNameThePlace) {
  const Bad table[] = {
      {"top level: has no \"muscles\"", [](Json& j) { j.erase("muscles"); }},
      {"top level: got 3", [](Json& j) { j = 3; }},
      {"bones: unknown member", [](Json& j) { j["bones"] = 1; }},
      {"muscles: got an object", [](Json& j) { j["muscles"] = Json::object(); }},
      {"muscles[1]: got \"x\"", [](Json& j) { j["muscles"][1] = "x"; }},
      {"muscles[1].girth: unknown member", [](Json& j) { j["muscles"][1]["girth"] = 1; }},
      {"muscles[0]: has no \"name\"", [](Json& j) { j["muscles"][0].erase("name"); }},
      {"muscles[0].name: got 5", [](Json& j) { j["muscles"][0]["name"] = 5; }},
      {"muscles[0]: has no \"origin\"", [](Json& j) { j["muscles"][0].erase("origin"); }},
      {"muscles[0].origin.joint: got \"leg\"",
       [](Json& j) { j["muscles"][0]["origin"]["joint"] = "leg"; }},
      {"muscles[0].origin.at: got an array of 2",
       [](Json& j) { j["muscles"][0]["origin"]["at"].erase(0); }},
      {"muscles[0].origin.at[1]: got \"a\"",
       [](Json& j) { j["muscles"][0]["origin"]["at"][1] = "a"; }},
      {"muscles[0].origin.at[1]: got 1e+300",
       [](Json& j) { j["muscles"][0]["origin"]["at"][1] = 1e300; }},
      {"muscles[0].via: got null", [](Json& j) { j["muscles"][0]["via"] = nullptr; }},
      {"muscles[0].via[0]: has no \"at\"", [](Json& j) { j["muscles"][0]["via"][0].erase("at"); }},
      {"muscles[1].wrap: has no \"shape\"",
       [](Json& j) { j["muscles"][1]["wrap"].erase("shape"); }},
      {"muscles[1].wrap.shape: got \"cone\"",
       [](Json& j) { j["muscles"][1]["wrap"]["shape"] = "cone"; }},
      {"muscles[1].wrap.axis: got one for a sphere",
       [](Json& j) { j["muscles"][1]["wrap"]["shape"] = "sphere"; }},
      {"muscles[1].wrap: has no \"axis\"", [](Json& j) { j["muscles"][1]["wrap"].erase("axis"); }},
      {"muscles[1].tendons: got an array of 3",
       [](Json& j) {
         j["muscles"][1]["tendons"] = {1, 2, 3};
       }},
      {"muscles[1]: has no \"width\"", [](Json& j) { j["muscles"][1].erase("width"); }},
      {"muscles[1].depth: got true", [](Json& j) { j["muscles"][1]["depth"] = true; }},
      {"muscles[1].profile: got \"round\"", [](Json& j) { j["muscles"][1]["profile"] = "round"; }},
  };
  for (const Bad& bad : table) {
    Json text = Json::parse(ExampleText());
    bad.spoil(text);
    client::RigData rig = Arm();
    const std::size_t muscles = rig.muscles.size();
    const absl::Status status = bake::ReadMuscles(text.dump(), rig);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad.said;
    EXPECT_THAT(std::string(status.message()), StartsWith(bad.said));
    EXPECT_EQ(rig.muscles.size(), muscles);
  }
  client::RigData rig = Arm();
  for (const char* text : {"", "{", "{\"muscles\": [1e999]}", "\xff\xfe"}) {
    EXPECT_EQ(bake::ReadMuscles(text, rig).code(), absl::StatusCode::kInvalidArgument) << text;
  }
  // A text nested as deep as memory allows is refused, not followed.
  EXPECT_FALSE(
      bake::ReadMuscles("{\"muscles\": [{\"name\": " + std::string(1'000'000, '['), rig).ok());
  EXPECT_EQ(bake::ReadMuscles("{\"muscles\": [{\"name\": " + std::string(100'000, '[') +
                                  std::string(100'000, ']') + "}]}",
                              rig)
                .message(),
            "muscles[0].name[0][0][0][0][0][0][0][0][...: nested deeper than 64");
}

TEST(MuscleFile, InvalidJsonIsLocatedByLineAndColumn) {
  client::RigData rig = Arm();
  EXPECT_EQ(bake::ReadMuscles("{\"muscles\": [\n  {\"name\": \"a\",\n   \"width\" 3}\n]}\n", rig)
                .message(),
            "line 3, column 12: not JSON");
}

TEST(MuscleFile, RefusesDuplicateMembers) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"muscles": [], "muscles": []})", "muscles: given twice"},
      {R"({"muscles": [{}, {"width": 1, "depth": 2, "width": 3}]})",
       "muscles[1].width: given twice"},
      {R"({"muscles": [{"origin": {"at": [1, 2]}, "via": [{"at": []}, {"at": 1, "at": 2}]}]})",
       "muscles[0].via[1].at: given twice"},
  };
  for (const auto& [text, said] : rows) {
    client::RigData rig = Arm();
    const absl::Status status = bake::ReadMuscles(text, rig);
    EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists) << text;
    EXPECT_THAT(std::string(status.message()), StartsWith(said));
  }
}

// An error of a server about `field` of a request.
absl::Status FieldError(absl::StatusCode code, const std::string& field) {
  google::rpc::BadRequest details;
  details.add_field_violations()->set_field(field);
  absl::Status status(code, field + ": got -1");
  status.SetPayload("type.googleapis.com/google.rpc.BadRequest",
                    absl::Cord(details.SerializeAsString()));
  return status;
}

TEST(MuscleFile, ServerFieldsBecomePlacesInTheFile) {
  const std::pair<const char*, const char*> rows[] = {
      {"rig.muscles[2].insertion_tendon", "arm.json: muscles[2].tendons[1]: got -1"},
      {"rig.muscles[2].origin_tendon", "arm.json: muscles[2].tendons[0]: got -1"},
      {"rig.muscles[0].wrap.axis", "arm.json: muscles[0].wrap.axis: got -1"},
      {"rig.muscles[1]", "arm.json: muscles[1]: got -1"},
      {"rig.joints[1]", "rig.joints[1]: got -1"},
  };
  for (const auto& [field, message] : rows) {
    const absl::Status status = FieldError(absl::StatusCode::kInvalidArgument, field);
    EXPECT_EQ(bake::PlacedInMuscleFile("arm.json", status).message(), message);
    EXPECT_EQ(bake::PlacedInMuscleFile("", status), status);
    const std::vector<client::Problem> problems = bake::PlacedInMuscleFile(
        "arm.json", {{.message = std::string(status.message()), .field = field}});
    EXPECT_EQ(problems[0].message, message);
  }
}

TEST(MuscleFile, PlacedErrorsKeepOtherDetails) {
  absl::Status limit = FieldError(absl::StatusCode::kResourceExhausted, "rig.muscles");
  limit.SetPayload("details", absl::Cord("limit"));
  const absl::Status placed = bake::PlacedInMuscleFile("arm.json", limit);
  EXPECT_EQ(placed.code(), limit.code());
  EXPECT_EQ(placed.message(), "arm.json: muscles: got -1");
  EXPECT_EQ(placed.GetPayload("details"), absl::Cord("limit"));
  EXPECT_EQ(client::Details(placed).field, "") << "the message states the place";
}

TEST(MuscleFile, MessagesBeginWithTheFile) {
  const testing::TemporaryFolder folder;
  client::RigData rig = Arm();
  EXPECT_EQ(bake::ReadMuscleFile(folder / "none.json", rig).code(), absl::StatusCode::kNotFound);
  std::ofstream(folder / "bad.json") << "{";
  EXPECT_THAT(std::string(bake::ReadMuscleFile(folder / "bad.json", rig).message()),
              StartsWith(folder / "bad.json"));
}

}  // namespace
}  // namespace sinew::cli
