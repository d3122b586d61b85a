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
