#include "core/deform/implicit/field/joint_operators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::testing::HasSubstr;
using testing::ValueOrDie;

TEST(JointOperators, ParseNameOperatorAndOptionalController) {
  const auto all = ValueOrDie(
      ParseJointOperators(" forearm_l blend camel; Bip01 L Thumb  bulge ;;mixamorig:Neck max",
                          FieldController::kFinger));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].joint, "forearm_l");
  EXPECT_EQ(all[0].op, FieldOperator::kBlend);
  EXPECT_EQ(all[0].controller, FieldController::kCamel);
  EXPECT_EQ(all[1].joint, "Bip01 L Thumb");
  EXPECT_EQ(all[1].op, FieldOperator::kBulge);
  EXPECT_EQ(all[1].controller, FieldController::kFinger);
  EXPECT_EQ(all[2].joint, "mixamorig:Neck");
  EXPECT_TRUE(ValueOrDie(ParseJointOperators(" ; ", FieldController::kElbow)).empty());
}

TEST(JointOperators, ErrorsNameEntry) {
  for (const char* text : {"forearm", "forearm blend elbow extra", "blend", "blend elbow",
                           "forearm union", "ok max; forearm elbow"}) {
    const auto status = ParseJointOperators(text, FieldController::kElbow).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()),
                ::testing::AllOf(HasSubstr("implicit.joints: got '"), HasSubstr("clean_union"),
                                 HasSubstr("flat_down")));
  }
}

TEST(JointOperators, RejectUnknownAndDuplicateJoints) {
  const Rig rig = testing::TubeRig();
  const auto found = [&](const char* text) {
    return FindJointOperators(ValueOrDie(ParseJointOperators(text, FieldController::kElbow)),
                              rig.skeleton());
  };
  EXPECT_EQ(ValueOrDie(found("joint1 blend")).front().joint, 1u);
  EXPECT_EQ(std::string(found("elbow blend").status().message()),
            "implicit.joints: the rig has no joint 'elbow'");
  EXPECT_EQ(std::string(found("jiont1 blend").status().message()),
            "implicit.joints: the rig has no joint 'jiont1'; did you mean joint1?");
  EXPECT_EQ(std::string(found("joint1 blend; joint1 max").status().message()),
            "implicit.joints: duplicate joint 'joint1'");
}

}  // namespace
}  // namespace sinew
