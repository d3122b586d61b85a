#include "core/fit/skeleton_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/fit/reduced_skeleton.h"
#include "tests/support/run_method.h"

namespace sinew::fit {
namespace {

using sinew::testing::ValueOrDie;
using ::testing::HasSubstr;

TEST(BuiltInTemplate, IsValidAndHasMirroredPairs) {
  for (const std::string_view name : BuiltInTemplates()) {
    const SkeletonTemplate skeleton = ValueOrDie(BuiltInTemplate(name));
    EXPECT_EQ(CheckTemplate(skeleton), absl::OkStatus()) << name;
    for (const TemplateJoint& joint : skeleton.joints) {
      if (joint.partner == kNone) {
        EXPECT_EQ(joint.place.x, 0) << joint.name;
        continue;
      }
      const TemplateJoint& other = skeleton.joints[joint.partner];
      EXPECT_EQ(other.place, (Vec3d{-joint.place.x, joint.place.y, joint.place.z}));
      EXPECT_EQ(joint.place.x > 0, joint.name.starts_with("left_")) << joint.name;
    }
  }
}

TEST(BuiltInTemplate, UnknownNameListsTheOthers) {
  EXPECT_THAT(BuiltInTemplate("dog").status().message(),
              HasSubstr("\"dog\", need human, quadruped, horse, centaur or joints of your own"));
  EXPECT_THAT(BuiltInTemplate("humna").status().message(), HasSubstr("did you mean human?"));
}

// Numbers of joints, and of those that remain; but for neck, head and wrists as in the
// published skeletons.
TEST(Reduce, DropsJointsThatDivideAChain) {
  const struct {
    const char* name;
    std::size_t joints, reduced;
  } rows[] = {{"human", 22, 7}, {"quadruped", 18, 8}, {"horse", 20, 8}, {"centaur", 27, 11}};
  for (const auto& row : rows) {
    const SkeletonTemplate skeleton = ValueOrDie(BuiltInTemplate(row.name));
    std::vector<Vec3d> places;
    for (const TemplateJoint& joint : skeleton.joints) places.push_back(joint.place);
    const ReducedSkeleton reduced = Reduce(skeleton, places);
    EXPECT_EQ(skeleton.joints.size(), row.joints) << row.name;
    EXPECT_EQ(reduced.joints.size(), row.reduced) << row.name;
    std::size_t in_chains = 0;
    for (std::size_t k = 0; k < reduced.joints.size(); ++k) {
      const ReducedJoint& joint = reduced.joints[k];
      in_chains += joint.chain.size();
      EXPECT_EQ(joint.chain.back(), joint.joint);
      if (k == 0) continue;
      EXPECT_LT(joint.parent, k);
      EXPECT_EQ(joint.parts.back(), 1);
    }
    EXPECT_EQ(in_chains, row.joints) << row.name;
  }
}

TEST(CheckTemplate, NamesTheJointAndTheFault) {
  const struct {
    std::function<void(std::vector<TemplateJoint>&)> spoil;
    const char* message;
  } rows[] = {{[](auto& joints) { joints.clear(); }, "joints: got 0, need 2 to 64"},
              {[](auto& joints) { joints.resize(65); }, "joints: got 65"},
              {[](auto& joints) { joints[3].name = ""; }, "joints[3].name"},
              {[](auto& joints) { joints[3].name = "hips"; }, "\"hips\": got the name twice"},
              {[](auto& joints) { joints[0].parent = 1; }, "\"chest\": parent"},
              {[](auto& joints) { joints[2].parent = 2; }, "\"hips\": parent"},
              {[](auto& joints) { joints[2].parent = kNone; }, "\"hips\": parent"},
              {[](auto& joints) { joints[2].place = joints[1].place; }, "\"hips\": place"},
              {[](auto& joints) { joints[2].place.x = std::numeric_limits<double>::quiet_NaN(); },
               "\"hips\": place"},
              {[](auto& joints) { joints[6].partner = 4; }, "\"left_thigh\": partner"},
              {[](auto& joints) {
                 joints[0].partner = 6;
                 joints[6].partner = 0;
               },
               "\"chest\": partner: the first joint has none"},
              {[](auto& joints) { joints[6].partner = 99; }, "\"left_thigh\": partner"},
              {[](auto& joints) { joints[6].partner = 9; }, "\"left_thigh\": partner"}};
  for (const auto& row : rows) {
    SkeletonTemplate skeleton = ValueOrDie(BuiltInTemplate("human"));
    row.spoil(skeleton.joints);
    const absl::Status status = CheckTemplate(skeleton);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(row.message));
  }
}

}  // namespace
}  // namespace sinew::fit
