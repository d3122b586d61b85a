#include "core/rig/skeleton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace sinew {
namespace {

using ::testing::HasSubstr;

AffineD Move(double x, double y, double z) {
  return {{1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z}};
}

TEST(Skeleton, ChainsRestPose) {
  const auto skeleton = Skeleton::Create({{"root"}, {"arm", 0}, {"hand", 1}},
                                         {Move(0, 1, 0), Move(2, 0, 0), Move(3, 0, 0)});
  ASSERT_TRUE(skeleton.ok()) << skeleton.status();
  EXPECT_EQ(Translation(skeleton->rest_model()[2]), (Vec3d{5, 1, 0}));
  EXPECT_EQ(skeleton->Find("hand"), 2u);
  EXPECT_EQ(skeleton->Find("foot"), kNoParent);
}

TEST(Skeleton, CompensationExcludesParentScaleFromAxes) {
  const auto skeleton = Skeleton::Create({{"a"}, {"b", 0, true}, {"c", 0, false}},
                                         {AffineD{}, Move(1, 0, 0), Move(1, 0, 0)});
  ASSERT_TRUE(skeleton.ok());
  const AffineD scaled = {{3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0}};
  const AffineD b = skeleton->ToModel(1, scaled, scaled, Move(1, 0, 0));
  const AffineD c = skeleton->ToModel(2, scaled, scaled, Move(1, 0, 0));
  EXPECT_EQ(Translation(b), (Vec3d{3, 0, 0}));  // the origin moves with the parent
  EXPECT_EQ(b.m[0], 1);
  EXPECT_EQ(b.m[5], 1);
  EXPECT_EQ(c.m[0], 3);
  EXPECT_EQ(c.m[5], 2);
}

// Two legs and a tail, then the same skeleton with the legs the other way round.
TEST(JointsByPlace, DoesNotDependOnFileOrder) {
  const AffineD left = Move(-1, 0, 0), right = Move(1, 0, 0);
  const AffineD turned = {{-1, 0, 0, 1, 0, -1, 0, 0, 0, 0, 1, 0}};  // at the place of `right`
  const auto names = [](std::vector<SkeletonJoint> joints, std::vector<AffineD> rest) {
    const Skeleton skeleton = *Skeleton::Create(std::move(joints), std::move(rest));
    std::vector<std::string> sorted;
    for (const std::uint32_t j : JointsByPlace(skeleton, skeleton.rest_model())) {
      sorted.push_back(skeleton.joint(j).name);
    }
    return sorted;
  };
  const std::vector<std::string> want = {"hip", "left", "tail", "right", "left foot"};
  EXPECT_EQ(names({{"hip"}, {"right", 0}, {"tail", 0}, {"left", 0}, {"left foot", 3}},
                  {AffineD{}, right, turned, left, Move(-9, 0, 0)}),
            want);
  EXPECT_EQ(names({{"hip"}, {"left", 0}, {"left foot", 1}, {"tail", 0}, {"right", 0}},
                  {AffineD{}, left, Move(-9, 0, 0), turned, right}),
            want);
}

TEST(JointsByPlace, OrdersPlacesThatAreNotFinite) {
  const Skeleton skeleton = *Skeleton::Create({{"a"}, {"b", 0}, {"c", 0}}, std::vector<AffineD>(3));
  std::vector<AffineD> pose(3);
  pose[1].m[3] = 1;
  pose[2].m[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(JointsByPlace(skeleton, pose), (std::vector<std::uint32_t>{0, 2, 1}));
}

TEST(Skeleton, RejectsBadJoints) {
  const double inf = std::numeric_limits<double>::infinity();
  const struct {
    std::vector<SkeletonJoint> joints;
    std::vector<AffineD> rest;
    const char* message;
  } cases[] = {
      {{}, {}, "got 0 joints"},
      {{{"a"}}, {}, "got 0 rows, need one per joint (1)"},
      {{{""}}, {AffineD{}}, "is empty"},
      {{{"a"}, {"a", 0}}, {AffineD{}, AffineD{}}, "duplicate 'a'"},
      {{{"a", 0}}, {AffineD{}}, "need an earlier joint"},
      {{{"a", 1}, {"b"}}, {AffineD{}, AffineD{}}, "need an earlier joint"},
      {{{"a"}}, {Move(inf, 0, 0)}, "row 0 is not finite"},
  };
  for (const auto& bad : cases) {
    const auto skeleton = Skeleton::Create(bad.joints, bad.rest);
    EXPECT_EQ(skeleton.status().code(), absl::StatusCode::kInvalidArgument) << bad.message;
    EXPECT_THAT(std::string(skeleton.status().message()), HasSubstr(bad.message));
  }
}

}  // namespace
}  // namespace sinew
