#include "client/bake/character/joint_suggestion.h"

#include <gtest/gtest.h>

#include <vector>

namespace sinew::bake {
namespace {

TEST(NearNames, TyposAndPartsAreClose) {
  const std::vector<std::string> names = {"index_proximal", "index_distal", "thumb_distal", "Hips",
                                          "a"};
  const struct {
    const char *typed, *said;
  } rows[] = {
      {"index_proximl", "; did you mean index_proximal?"},
      {"hips", "; did you mean Hips?"},
      {"Hip", "; did you mean Hips?"},
      {"Hisp", "; did you mean Hips?"},
      {"distal", "; did you mean index_distal or thumb_distal?"},
      {"index_distals", "; did you mean index_distal?"},
      {"i", ""},  // nothing of it is left
      {"nosuch", ""},
      {"", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(DidYouMean(row.typed, names), row.said) << row.typed;
  EXPECT_EQ(DidYouMean("x", {}), "");
  EXPECT_EQ(DidYouMean(std::string(1000, 'i'), names), "");
}

TEST(NearNames, ReturnsClosestThreeFirst) {
  const std::vector<std::string> names = {"leg_1_end", "leg_1x", "leg_1", "leg_2", "leg_1y"};
  EXPECT_EQ(DidYouMean("leg_1", names), "; did you mean leg_1, leg_1_end or leg_1x?");
}

TEST(NearNames, JointsAreFoundByName) {
  client::RigData rig;
  for (const char* name : {"hip", "knee"}) rig.joints.push_back({.name = name});
  EXPECT_EQ(*FindJoint(rig, "knee"), 1u);
  EXPECT_EQ(FindJoint(rig, "Knee").status().message(),
            "got \"Knee\", which is no joint of the character; did you mean knee?");
  for (const char* name : {"ankle", "toe"}) rig.joints.push_back({.name = name});
  EXPECT_EQ(FindJoint(rig, "tail").status().message(),
            "got \"tail\", which is no joint of the character; the closest are hip, toe, knee");
  EXPECT_EQ(FindJoint(rig, "All", "all").status().message(),
            "got \"All\", which is no joint of the character; did you mean all?");
  EXPECT_EQ(FindJoint(rig, "All", "--all-joints").status().message(),
            "got \"All\", which is no joint of the character; did you mean --all-joints?");
}

}  // namespace
}  // namespace sinew::bake
