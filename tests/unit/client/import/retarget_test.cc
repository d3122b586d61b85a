// Clips of another skeleton: which joints follow which, and how they move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "client/import/joint_roles.h"
#include "client/import/posed_scene.h"
#include "core/base/vectors.h"
#include "sinew/clip_files.h"

namespace sinew::client {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Placed {
  std::string name;
  std::int32_t parent = -1;
  Vec3d at = {};  // in model space
};

RigData RigOf(const std::vector<Placed>& joints, UpAxis up) {
  RigData rig;
  rig.up_axis = up;
  for (const Placed& joint : joints) {
    rig.joints.push_back({.name = joint.name, .parent = joint.parent});
    const Vec3d above =
        joint.parent < 0 ? Vec3d{} : joints[static_cast<std::size_t>(joint.parent)].at;
    const Vec3f at = ToFloat(joint.at - above);
    rig.rest_local.insert(rig.rest_local.end(), {1, 0, 0, at.x, 0, 1, 0, at.y, 0, 0, 1, at.z});
  }
  return rig;
}

ImportedScene Hero(const std::vector<Placed>& joints, UpAxis up = UpAxis::kY) {
  RigData rig = RigOf(joints, up);
  rig.label = "hero.sinewrig";
  return MakePosedScene(std::move(rig), {}).value();
}

// A clip that turns one joint, with those below it, by 90 degrees about +z within a second, and
// moves all joints by `moved`.
ImportedScene Walk(const std::vector<Placed>& joints, std::size_t turned, const Vec3d& moved = {},
                   UpAxis up = UpAxis::kY) {
  RigData rig = RigOf(joints, up);
  rig.label = "walk.fbx";
  const auto evaluate = [joints, turned, moved](double seconds, RigPose& pose) {
    const double angle = seconds * std::numbers::pi / 2;
    const double c = std::cos(angle), s = std::sin(angle);
    for (std::size_t j = 0; j < joints.size(); ++j) {
      std::size_t up_to = j;
      while (up_to != turned && joints[up_to].parent >= 0) {
        up_to = static_cast<std::size_t>(joints[up_to].parent);
      }
      double* m = &pose.joints[j * 12];
      if (up_to == turned) {
        const Vec3d centre = joints[turned].at, from = joints[j].at - centre;
        const double turn[] = {c, -s, 0, centre.x + c * from.x - s * from.y,
                               s, c,  0, centre.y + s * from.x + c * from.y,
                               0, 0,  1, centre.z + from.z};
        std::copy_n(turn, 12, m);
      }
      m[3] += seconds * moved.x;
      m[7] += seconds * moved.y;
      m[11] += seconds * moved.z;
    }
    return absl::OkStatus();
  };
  return MakePosedScene(std::move(rig),
                        {{.info = {.name = "walk", .end = 1}, .evaluate = evaluate}})
      .value();
}

// Places of the joints in the last clip.
std::map<std::string, Vec3d> Places(const ImportedScene& scene, double frame) {
  const ClipData clip =
      SampleClip(scene, scene.clips.size() - 1, {.fps = 1, .frame_numbers = {frame}}).value();
  std::map<std::string, Vec3d> places;
  for (std::size_t j = 0; j < scene.rig.joints.size(); ++j) {
    const float* m = &clip.joint_transforms[j * 12];
    places[scene.rig.joints[j].name] = {m[3], m[7], m[11]};
  }
  return places;
}

void ExpectNear(const Vec3d& found, const Vec3d& expected) {
  EXPECT_LT(Length(found - expected), 1e-5)
      << found.x << " " << found.y << " " << found.z << ", need " << expected.x << " " << expected.y
      << " " << expected.z;
}

std::vector<std::string> Warnings(const ImportedScene& scene) {
  std::vector<std::string> found;
  for (const Problem& problem : scene.problems) {
    if (problem.severity == Severity::kWarning) found.push_back(problem.message);
  }
  return found;
}

// A skeleton as fit-skeleton makes it: the chest is the root, arms hang.
const std::vector<Placed> kHero = {{"chest", -1, {0, 1.5, 0}},
                                   {"back", 0, {0, 1.2, 0}},
                                   {"hips", 1, {0, 1, 0}},
                                   {"head", 0, {0, 1.8, 0}},
                                   {"left_thigh", 2, {.1, 1, 0}},
                                   {"left_knee", 4, {.1, .5, 0}},
                                   {"left_ankle", 5, {.1, 0, 0}},
                                   {"right_thigh", 2, {-.1, 1, 0}},
                                   {"right_knee", 7, {-.1, .5, 0}},
                                   {"right_ankle", 8, {-.1, 0, 0}},
                                   {"left_shoulder", 0, {.2, 1.5, 0}},
                                   {"left_elbow", 10, {.2, 1.2, 0}},
                                   {"left_hand", 11, {.2, .9, 0}}};
// In centimetres, arms in a T, twice as tall.
const std::vector<Placed> kMixamo = {
    {"mixamorig:Hips", -1, {0, 200, 0}},          {"mixamorig:Spine", 0, {0, 240, 0}},
    {"mixamorig:Spine2", 1, {0, 300, 0}},         {"mixamorig:Head", 2, {0, 360, 0}},
    {"mixamorig:LeftUpLeg", 0, {20, 200, 0}},     {"mixamorig:LeftLeg", 4, {20, 100, 0}},
    {"mixamorig:LeftFoot", 5, {20, 0, 0}},        {"mixamorig:RightUpLeg", 0, {-20, 200, 0}},
    {"mixamorig:RightLeg", 7, {-20, 100, 0}},     {"mixamorig:RightFoot", 8, {-20, 0, 0}},
    {"mixamorig:LeftShoulder", 2, {10, 300, 0}},  {"mixamorig:LeftArm", 10, {40, 300, 0}},
    {"mixamorig:LeftForeArm", 11, {100, 300, 0}}, {"mixamorig:LeftHand", 12, {160, 300, 0}}};

// A joint of scale 0 has no directions, so nothing can turn as it does: a limb that is hidden at
// rest is left out, and the others follow.
TEST(Retarget, LimbsWithoutDirectionsFollowTheJointAbove) {
  const auto raise = [](double, RigPose&) { return absl::OkStatus(); };
  RigData flat = RigOf(kMixamo, UpAxis::kY);
  flat.label = "walk.fbx";
  flat.rest_local[11 * 12] = 0;
  ImportedScene hero = Hero(kHero);
  const ImportedScene walk =
      MakePosedScene(flat, {{.info = {.name = "a", .end = 1}, .evaluate = raise}}).value();
  ASSERT_TRUE(RetargetClips(walk, {}, hero).ok());
  EXPECT_THAT(Warnings(hero),
              Contains("joint 'mixamorig:LeftArm' of walk.fbx has scale 0 at rest, so joint "
                       "'left_shoulder' follows the joint above"));
}

TEST(Retarget, LimbsOfTheCharacterWithoutDirectionsFollowTheJointAbove) {
  const std::size_t leaf = kHero.size() - 1, inner = 1;
  for (const std::size_t joint : {inner, leaf}) {
    RigData flat = RigOf(kHero, UpAxis::kY);
    flat.label = "hero.glb";
    flat.rest_local[joint * 12] = 0;
    ImportedScene hero = MakePosedScene(flat, {}).value();
    ASSERT_TRUE(RetargetClips(Walk(kMixamo, 11), {}, hero).ok());
    const std::string text =
        absl::StrCat("joint '", kHero[joint].name, "' of hero.glb has scale 0 at rest, so joint '",
                     kHero[joint].name, "' follows the joint above");
    EXPECT_THAT(Warnings(hero), Contains(text).Times(joint == leaf ? 0 : 1));
  }
}

TEST(Retarget, RestPosesWithoutDirectionsAreRefused) {
  const auto refusal = [](const ImportedScene& walk) {
    ImportedScene hero = Hero(kHero);
    const absl::Status status = RetargetClips(walk, {}, hero);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  const auto still = [](double, RigPose&) { return absl::OkStatus(); };
  RigData flat = RigOf(kMixamo, UpAxis::kY);
  flat.label = "walk.fbx";
  flat.rest_local[0] = 0;
  EXPECT_EQ(
      refusal(MakePosedScene(flat, {{.info = {.name = "a", .end = 1}, .evaluate = still}}).value()),
      "joint 'mixamorig:Spine2' of walk.fbx has scale 0 at rest, need another one");
  std::vector<Placed> point = kMixamo;
  for (Placed& joint : point) joint.at = {0, 1, 0};
  EXPECT_EQ(refusal(Walk(point, 11)),
            "walk.fbx: its joints are at one place at rest, need a skeleton");
}

// A limb that is scaled to nothing in a frame, to hide it, follows the joint above meanwhile.
TEST(Retarget, HiddenLimbsFollowTheJointAbove) {
  RigData rig = RigOf(kMixamo, UpAxis::kY);
  rig.label = "walk.fbx";
  const auto hide = [](double seconds, RigPose& pose) {
    for (std::size_t k = 0; k < 12; ++k) {
      if (k % 4 < 3 && seconds > 0) pose.joints[11 * 12 + k] = 0;
    }
    return absl::OkStatus();
  };
  ImportedScene hero = Hero(kHero);
  ASSERT_TRUE(
      RetargetClips(
          MakePosedScene(rig, {{.info = {.name = "hide", .end = 1}, .evaluate = hide}}).value(), {},
          hero)
          .ok());
  const ClipData clip = SampleClip(hero, 0, {.fps = 1, .frame_numbers = {1}}).value();
  for (std::size_t j = 0; j < kHero.size(); ++j) {
    const std::span m = std::span(clip.joint_transforms).subspan(j * 12, 12);
    EXPECT_NEAR(std::hypot(m[0], m[4], m[8]), 1, 1e-5) << kHero[j].name;
  }
}

TEST(Retarget, LimbsTakeTheDirectionsOfTheClip) {
  ImportedScene hero = Hero(kHero);
  ASSERT_TRUE(RetargetClips(Walk(kMixamo, 11), {}, hero).ok());
  ASSERT_THAT(hero.clips, SizeIs(1));
  EXPECT_THAT(Warnings(hero), IsEmpty());
  const auto rest = Places(hero, 0), end = Places(hero, 1);
  for (const Placed& joint : kHero) {  // all but the arm, which is in a T
    if (joint.name == "left_elbow" || joint.name == "left_hand") continue;
    ExpectNear(rest.at(joint.name), joint.at);
    ExpectNear(end.at(joint.name), joint.at);
  }
  ExpectNear(rest.at("left_hand"), {.8, 1.5, 0});
  ExpectNear(end.at("left_elbow"), {.2, 1.8, 0});  // raised, with its own length
  ExpectNear(end.at("left_hand"), {.2, 2.1, 0});
}

TEST(Retarget, StepsScaleWithTheHeightOfTheHips) {
  ImportedScene hero = Hero(kHero);
  ASSERT_TRUE(RetargetClips(Walk(kMixamo, 13, {10, -20, 100}), {}, hero).ok());
  const auto end = Places(hero, 1);
  for (const Placed& joint : kHero) {
    if (joint.name == "left_elbow" || joint.name == "left_hand") continue;
    ExpectNear(end.at(joint.name), joint.at + Vec3d{.05, -.1, .5});
  }
}

TEST(Retarget, AxesOfTheFilesMayDiffer) {
  // kHero with Z up, facing -Y.
  std::vector<Placed> turned = kHero;
  for (Placed& joint : turned) joint.at = {joint.at.x, -joint.at.z, joint.at.y};
  ImportedScene hero = Hero(turned, UpAxis::kUnspecified);
  ASSERT_TRUE(RetargetClips(Walk(kMixamo, 11, {0, 0, 100}), {}, hero).ok());
  const auto end = Places(hero, 1);
  ExpectNear(end.at("hips"), {0, -.5, 1});
  ExpectNear(end.at("left_hand"), {.2, -.5, 2.1});
}

TEST(Retarget, JointMapComesFirst) {
  ImportedScene hero =
      Hero({{"a", -1, {0, 1, 0}}, {"b", 0, {0, 2, 0}}, {"c", 1, {.5, 3, 0}}, {"d", 2, {.5, 4, 0}}});
  const ImportedScene walk = Walk(
      {{"p", -1, {0, 1, 0}}, {"q", 0, {0, 2, 0}}, {"r", 1, {.5, 3, 0}}, {"d", 2, {.5, 4, 0}}}, 1);
  const std::map<std::string, std::string> joint_map = {{"a", "p"}, {"b", "q"}, {"c", "r"}};
  ASSERT_TRUE(RetargetClips(walk, joint_map, hero).ok());
  const auto end = Places(hero, 1);
  ExpectNear(end.at("c"), {-1, 2.5, 0});
  ExpectNear(end.at("d"), {-2, 2.5, 0});
  std::vector<std::string> notes;
  for (const Problem& problem : hero.problems) notes.push_back(problem.message);
  EXPECT_THAT(notes, Contains("joint 'b' follows 'q'"));
  EXPECT_THAT(notes, Contains("joint 'd' follows 'd'"));
}

TEST(Retarget, JointsWithoutCounterpartAreReportedAndFollow) {
  std::vector<Placed> joints = kHero;
  joints.push_back({"tail", 2, {0, 1, -.3}});
  joints.push_back({"tail end", 13, {0, 1, -.6}});
  ImportedScene hero = Hero(joints);
  ASSERT_TRUE(RetargetClips(Walk(kMixamo, 0), {}, hero).ok());
  EXPECT_THAT(Warnings(hero),
              ::testing::ElementsAre(AllOf(HasSubstr("1 joint of hero.sinewrig"),
                                           HasSubstr("follows the joint above: 'tail'"))));
  ExpectNear(Places(hero, 1).at("tail"), {0, 1, -.3});  // turned about its own axis
}

TEST(Retarget, RestPosesThatHardlyFitAreReported) {
  std::vector<Placed> lying = kMixamo;
  for (Placed& joint : lying) joint.at = {joint.at.x, 0.2 * joint.at.y, joint.at.x};
  ImportedScene hero = Hero(kHero);
  ASSERT_TRUE(RetargetClips(Walk(lying, 0), {}, hero).ok());
  EXPECT_THAT(Warnings(hero), Contains(HasSubstr("stand elsewhere")));
}

TEST(Retarget, MistakesChangeNothing) {
  ImportedScene hero = Hero(kHero);
  const ImportedScene walk = Walk(kMixamo, 0);
  const auto refusal = [&](const ImportedScene& from,
                           const std::map<std::string, std::string>& joint_map) {
    const absl::Status status = RetargetClips(from, joint_map, hero);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(hero.clips, IsEmpty());
    EXPECT_THAT(hero.problems, IsEmpty());
    return std::string(status.message());
  };
  EXPECT_THAT(refusal(walk, {{"nose", "mixamorig:Head"}}),
              HasSubstr("joint_map: got 'nose', need a joint that hero.sinewrig has once"));
  EXPECT_THAT(refusal(walk, {{"head", "nose"}}), HasSubstr("got 'nose', need a joint that walk"));
  EXPECT_THAT(refusal(walk, {{"head", "mixamorig:Head"}, {"chest", "mixamorig:Head"}}),
              HasSubstr("joint_map: got 'mixamorig:Head' of walk.fbx twice, need it for one"));
  EXPECT_THAT(refusal(Walk({{"head"}, {"wheel", 0, {0, 1, 0}}}, 0), {}),
              AllOf(HasSubstr("walk.fbx: 1 joint of hero.sinewrig"), HasSubstr("need 3 or more")));
  ImportedScene none = walk;
  none.clips.clear();
  EXPECT_THAT(refusal(none, {}), HasSubstr("has no clip"));
}

TEST(JointRoles, KnowsCommonNames) {
  const auto expect = [](const std::vector<std::string>& names,
                         const std::vector<std::string>& roles) {
    const std::vector<JointRole> found = JointRoles(names);
    ASSERT_EQ(found.size(), roles.size());
    for (std::size_t k = 0; k < roles.size(); ++k) EXPECT_EQ(found[k].name, roles[k]) << names[k];
  };
  expect({"Bip01", "Bip01 Pelvis", "Bip01 Spine", "Bip01 Spine1", "Bip01 Neck", "Bip01 Head",
          "Bip01 L Clavicle", "Bip01 L UpperArm", "Bip01 L Forearm", "Bip01 L Hand",
          "Bip01 L Finger0", "Bip01 R Thigh", "Bip01 R Calf", "Bip01 R Foot", "Bip01 R Toe0"},
         {"", "hips", "back", "chest", "neck", "head", "", "left shoulder", "left elbow",
          "left hand", "", "right thigh", "right knee", "right ankle", "right foot"});
  expect({"root", "pelvis", "spine_01", "spine_02", "spine_03", "upperarm_l", "upperarm_twist_01_l",
          "lowerarm_l", "thigh_r", "calf_r", "foot_r", "ball_r", "ik_foot_r"},
         {"", "hips", "back", "", "chest", "left shoulder", "", "left elbow", "right thigh",
          "right knee", "right ankle", "right foot", ""});
  expect({"J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Chest", "J_Bip_C_UpperChest",
          "J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot", "J_Bip_L_ToeBase"},
         {"hips", "back", "", "chest", "left thigh", "left knee", "left ankle", "left foot"});
  expect({"root", "pelvis.L", "upperleg01.L", "upperleg02.L", "lowerleg01.L", "foot.L", "spine05",
          "spine04", "spine01", "neck01", "neck02", "head", "shoulder01.R", "upperarm01.R",
          "lowerarm01.R", "wrist.R"},
         {"hips", "", "left thigh", "", "left knee", "left ankle", "back", "", "chest", "neck", "",
          "head", "", "right shoulder", "right elbow", "right hand"});
  // Only numbered, and not always upwards: their order in the tree counts.
  expect({"Skeleton_torso_joint_1", "Skeleton_torso_joint_2", "torso_joint_3", "neck_joint_1",
          "neck_joint_2", "arm_joint_L__4_", "arm_joint_L__3_", "arm_joint_L__2_", "leg_joint_R_1",
          "leg_joint_R_2", "leg_joint_R_3", "leg_joint_R_5"},
         {"hips", "back", "chest", "neck", "head", "left shoulder", "left elbow", "left hand",
          "right thigh", "right knee", "right ankle", "right foot"});
  expect({"chest", "back", "hips", "left_ankle", "left_foot", "right_shoulder", "right_elbow"},
         {"chest", "back", "hips", "left ankle", "left foot", "right shoulder", "right elbow"});
  expect({"", "wheel", "12", "L"}, {"", "", "", ""});
}

}  // namespace
}  // namespace sinew::client
