// The bones of a skeleton: leaves, coincident joints, helpers.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include "core/weights/weights.h"
#include "tests/support/run_method.h"

namespace sinew {
namespace {

struct Joint {
  std::uint32_t parent;
  Vec3d offset;  // from the parent
};

std::vector<Bone> BonesAt(const std::vector<Joint>& joints) {
  std::vector<SkeletonJoint> names;
  std::vector<AffineD> rest;
  for (const Joint& joint : joints) {
    names.push_back({.name = absl::StrCat("j", names.size()), .parent = joint.parent});
    const Vec3d& t = joint.offset;
    rest.push_back({{1, 0, 0, t.x, 0, 1, 0, t.y, 0, 0, 1, t.z}});
  }
  const std::vector<std::uint8_t> carriers(names.size(), 1);
  const Skeleton skeleton =
      testing::ValueOrDie(Skeleton::Create(std::move(names), std::move(rest)));
  return Bones(skeleton, 1, skeleton.rest_model(), {}).ToEachChild(carriers);
}

void ExpectBones(const std::vector<Bone>& bones, const std::vector<Bone>& expected) {
  ASSERT_EQ(bones.size(), expected.size());
  for (std::size_t b = 0; b < bones.size(); ++b) {
    EXPECT_EQ(bones[b].joint, expected[b].joint) << b;
    EXPECT_LT(testing::Distance(bones[b].root, expected[b].root), 1e-12) << b;
    EXPECT_LT(testing::Distance(bones[b].tip, expected[b].tip), 1e-12) << b;
  }
}

TEST(BonesToEachChild, ChainEndsWithLeafExtendedByHalf) {
  ExpectBones(BonesAt({{kNoParent, {1, 0, 0}}, {0, {2, 0, 0}}, {1, {0, 4, 0}}}),
              {{0, {1, 0, 0}, {3, 0, 0}}, {1, {3, 0, 0}, {3, 4, 0}}, {2, {3, 4, 0}, {3, 6, 0}}});
}

TEST(BonesToEachChild, OneBonePerChild) {
  ExpectBones(BonesAt({{kNoParent, {0, 0, 0}}, {0, {0, 2, 0}}, {0, {2, 0, 0}}}),
              {{0, {0, 0, 0}, {0, 2, 0}},
               {0, {0, 0, 0}, {2, 0, 0}},
               {1, {0, 2, 0}, {0, 3, 0}},
               {2, {2, 0, 0}, {3, 0, 0}}});
}

TEST(BonesToEachChild, SingleJointIsPoint) {
  ExpectBones(BonesAt({{kNoParent, {1, 2, 3}}}), {{0, {1, 2, 3}, {1, 2, 3}}});
}

TEST(BonesToEachChild, CoincidentJointsUseLastChild) {
  ExpectBones(BonesAt({{kNoParent, {0, 0, 0}}, {0, {0, 0, 0}}, {1, {2, 0, 0}}}),
              {{1, {0, 0, 0}, {2, 0, 0}}, {2, {2, 0, 0}, {3, 0, 0}}});
}

TEST(BonesToEachChild, CoincidentTwistJointOwnsNoBone) {
  ExpectBones(BonesAt({{kNoParent, {0, 0, 0}}, {0, {0, 0, 0}}, {0, {2, 0, 0}}}),
              {{0, {0, 0, 0}, {2, 0, 0}}, {2, {2, 0, 0}, {3, 0, 0}}});
}

TEST(BonesToEachChild, CoincidentEndJointsKeepLeafBone) {
  ExpectBones(BonesAt({{kNoParent, {0, 0, 0}}, {0, {2, 0, 0}}, {1, {0, 0, 0}}, {1, {1e-9, 0, 0}}}),
              {{0, {0, 0, 0}, {2, 0, 0}}, {1, {2, 0, 0}, {3, 0, 0}}});
}

TEST(BonesToEachChild, CoincidentSkeletonIsOnePoint) {
  ExpectBones(BonesAt({{kNoParent, {1, 0, 0}}, {0, {0, 0, 0}}, {1, {0, 0, 0}}}),
              {{0, {1, 0, 0}, {1, 0, 0}}});
}

}  // namespace
}  // namespace sinew
