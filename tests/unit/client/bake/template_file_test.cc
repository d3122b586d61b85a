#include "client/bake/character/template_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/temporary_folder.h"

namespace sinew::bake {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kBiped[] = R"({"joints": [
    {"name": "body", "at": [0, 0.5, 0], "wide": true},
    {"name": "left", "parent": "body", "at": [0.2, -0.8, 0.125], "foot": true, "partner": "right"},
    {"name": "right", "parent": "body", "at": [-0.2, -0.8, 0.125], "foot": true, "partner": "left"}
  ]})";

TEST(TemplateFile, MembersBecomeThoseOfJoints) {
  const auto joints = ParseTemplate(kBiped);
  ASSERT_TRUE(joints.ok()) << joints.status();
  ASSERT_EQ(joints->size(), 3u);
  const client::TemplateJoint &body = (*joints)[0], &left = (*joints)[1];
  EXPECT_EQ(body.name, "body");
  EXPECT_FALSE(body.parent || body.partner || body.foot);
  EXPECT_TRUE(body.wide);
  EXPECT_EQ(body.place, (std::array<double, 3>{0, 0.5, 0}));
  EXPECT_EQ(left.parent, 0u);
  EXPECT_EQ(left.partner, 2u);
  EXPECT_TRUE(left.foot);
  EXPECT_FALSE(left.wide);
  EXPECT_EQ(left.place, (std::array<double, 3>{0.2, -0.8, 0.125}));
}

TEST(TemplateFile, MistakesNameTheMember) {
  const auto refusal = [](const std::string& text) {
    const absl::Status status = ParseTemplate(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("{}"), ::testing::Eq("top level: has no \"joints\""));
  EXPECT_THAT(refusal(R"({"joints": 7})"), AllOf(StartsWith("joints: got 7"), HasSubstr("array")));
  EXPECT_THAT(refusal(R"({"joints": [7]})"), StartsWith("joints[0]: "));
  EXPECT_THAT(refusal(R"({"bones": []})"), StartsWith("bones: "));
  EXPECT_THAT(refusal(R"({"joints": [{"at": [0, 0, 0]}]})"),
              ::testing::Eq("joints[0]: has no \"name\""));
  EXPECT_THAT(refusal(R"({"joints": [{"name": "a"}]})"), ::testing::Eq("joints[0]: has no \"at\""));
  EXPECT_THAT(refusal(R"({"joints": [{"name": "a", "at": [0, 0]}]})"),
              StartsWith("joints[0].at: "));
  EXPECT_THAT(refusal(R"({"joints": [{"name": "a", "at": [0, 0, 0], "foot": 1}]})"),
              StartsWith("joints[0].foot: "));
  EXPECT_THAT(refusal(R"({"joints": [{"name": "a", "at": [0, 0, 0], "toe": true}]})"),
              StartsWith("joints[0].toe: "));
  EXPECT_THAT(refusal(R"({"joints": [{"name": "spine", "at": [0, 0, 0]},
                                     {"name": "b", "at": [0, 1, 0], "parent": "spin"}]})"),
              AllOf(StartsWith("joints[1].parent: got \"spin\""), HasSubstr("spine")));
  EXPECT_THAT(refusal(R"({"joints": [{"name": "a", "at": [0, 0, 0]},
                                     {"name": "a", "at": [0, 1, 0], "parent": "a"}]})"),
              ::testing::Eq("joints[1].name: got \"a\" twice, need it once"));
  EXPECT_THAT(refusal("{"), HasSubstr("JSON"));
}

TEST(TemplateFile, MessagesBeginWithTheFile) {
  testing::TemporaryFolder folder;
  const std::string path = folder / "biped.json";
  EXPECT_TRUE(absl::IsNotFound(ReadTemplateFile(path).status()));
  testing::WriteAll(path, kBiped);
  EXPECT_TRUE(ReadTemplateFile(path).ok());
  std::string many = R"({"name": "j", "at": [0, 0, 0]})";
  for (int j = 1; j <= 64; ++j) {
    many += R"(, {"name": "j)" + std::to_string(j) + R"(", "at": [0, 0, 0], "parent": "j"})";
  }
  testing::WriteAll(path, R"({"joints": [)" + many + "]}");
  EXPECT_EQ(ReadTemplateFile(path).status().message(), path + ": joints: got 65, need 2 to 64");
  testing::WriteAll(path, "{}");
  EXPECT_THAT(std::string(ReadTemplateFile(path).status().message()),
              StartsWith(path + ": top level: has no"));
}

}  // namespace
}  // namespace sinew::bake
