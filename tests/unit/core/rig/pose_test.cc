#include "core/rig/pose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::testing::HasSubstr;

Rig Chain() {
  RigSource source = testing::TubeSource({.joints = 3});
  source.controls = {{.name = "smile", .minimum = 0, .maximum = 1, .default_value = 0.25f},
                     {.name = "frown", .minimum = 0, .maximum = 1, .default_value = 0}};
  return testing::MakeRig(std::move(source));
}

template <class T>
std::string Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

struct Read {
  std::vector<Affine> joints;
  std::vector<float> controls;
};

absl::StatusOr<Read> ReadPose(const Rig& rig, const PoseFormat& format, const std::string& bytes,
                              const std::string& controls = "") {
  Read read;
  const absl::Status status = format.Read(rig, bytes, controls, read.joints, read.controls);
  if (!status.ok()) return status;
  return read;
}

void ExpectNear(const std::vector<Affine>& a, const std::vector<Affine>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t j = 0; j < a.size(); ++j) {
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(a[j].m[i], b[j].m[i], 1e-5) << j << " " << i;
  }
}

// Local transforms of a model-space pose.
std::vector<Affine> ToLocal(const Rig& rig, const std::vector<Affine>& model) {
  std::vector<Affine> local;
  for (std::size_t j = 0; j < model.size(); ++j) {
    const std::uint32_t p = rig.skeleton().joint(j).parent;
    local.push_back(p == kNoParent
                        ? model[j]
                        : ToFloat(Compose(Inverse(ToDouble(model[p])), ToDouble(model[j]))));
  }
  return local;
}

TEST(PoseFormat, KeepsModelMatrices) {
  const Rig rig = Chain();
  const auto pose = testing::BendPose(rig, 70);
  const auto format = *PoseFormat::Create(rig, JointFormat::kMatrix3x4, PoseSpace::kModel, {}, {});
  const auto read = ReadPose(rig, format, Bytes(pose), Bytes(std::vector<float>{0.5f, 1.0f}));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(std::memcmp(read->joints.data(), pose.data(), pose.size() * sizeof(Affine)), 0);
  EXPECT_EQ(read->controls, (std::vector<float>{0.5f, 1.0f}));
}

TEST(PoseFormat, ChainsLocalMatrices) {
  const Rig rig = Chain();
  const auto pose = testing::BendPose(rig, 70);
  const auto format = *PoseFormat::Create(rig, JointFormat::kMatrix3x4, PoseSpace::kLocal, {}, {});
  const auto read = ReadPose(rig, format, Bytes(ToLocal(rig, pose)));
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectNear(read->joints, pose);
}

TEST(PoseFormat, ReadsTranslationRotationScale) {
  const Rig rig = Chain();
  const auto pose = testing::BendPose(rig, 70);
  std::vector<float> trs;
  for (const Affine& local : ToLocal(rig, pose)) {
    const double angle = std::atan2(local.m[4], local.m[0]);  // the tube bends about z
    trs.insert(trs.end(), {local.m[3], local.m[7], local.m[11], 0, 0,
                           static_cast<float>(2 * std::sin(angle / 2)),
                           static_cast<float>(2 * std::cos(angle / 2)), 1, 1, 1});
  }
  const auto format = *PoseFormat::Create(rig, JointFormat::kTrs, PoseSpace::kLocal, {}, {});
  const auto read = ReadPose(rig, format, Bytes(trs));
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectNear(read->joints, pose);
  EXPECT_EQ(read->controls, (std::vector<float>{0.25f, 0})) << "defaults";
}

TEST(PoseFormat, UnnamedJointsKeepRestRelativeToParent) {
  const Rig rig = Chain();
  const auto rest = testing::RestPose(rig);
  const AffineD motion = testing::RigidMotion({0, 0, 1}, 50, {1, 2, 3});
  const std::vector<std::string> names = {rig.skeleton().joint(0).name};
  const auto format =
      *PoseFormat::Create(rig, JointFormat::kMatrix3x4, PoseSpace::kModel, names, {});
  const auto moved = testing::Moved(motion, rest);
  const auto read = ReadPose(rig, format, Bytes(std::vector<Affine>{moved[0]}));
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectNear(read->joints, moved);
}

TEST(PoseFormat, AcceptsNamesInAnyOrder) {
  const Rig rig = Chain();
  const auto pose = testing::BendPose(rig, 70);
  std::vector<std::string> names;
  std::vector<Affine> reversed(pose.rbegin(), pose.rend());
  for (std::size_t j = rig.joints(); j-- > 0;) names.push_back(rig.skeleton().joint(j).name);
  const auto format =
      *PoseFormat::Create(rig, JointFormat::kMatrix3x4, PoseSpace::kModel, names, {});
  const auto read = ReadPose(rig, format, Bytes(reversed));
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectNear(read->joints, pose);
}

TEST(PoseFormat, RejectsUnknownAndDuplicateNames) {
  const Rig rig = Chain();
  for (const auto& [names, message] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"unknown"}, "layout.joints[0]: got 'unknown'"},
           {{rig.skeleton().joint(1).name, rig.skeleton().joint(1).name},
            "layout.joints[1]: duplicate"}}) {
    const auto format =
        PoseFormat::Create(rig, JointFormat::kMatrix3x4, PoseSpace::kModel, names, {});
    EXPECT_THAT(std::string(format.status().message()), HasSubstr(message));
  }
}

TEST(PoseFormat, RejectsBadBytes) {
  const Rig rig = Chain();
  const auto format = *PoseFormat::Create(rig, JointFormat::kMatrix3x4, PoseSpace::kModel, {}, {});
  const std::string good = Bytes(testing::RestPose(rig));
  EXPECT_THAT(std::string(ReadPose(rig, format, good.substr(4)).status().message()),
              HasSubstr("got 140 bytes, need 144"));
  EXPECT_FALSE(ReadPose(rig, format, good + "abcd").ok());
  EXPECT_FALSE(ReadPose(rig, format, good, "abcd").ok()) << "controls of a wrong size";
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::string broken = good;
    std::memcpy(broken.data() + 13 * 4, &bad, 4);
    EXPECT_THAT(std::string(ReadPose(rig, format, broken).status().message()),
                HasSubstr("value 1 of entry 1 is not finite"));
  }
  const auto trs = *PoseFormat::Create(rig, JointFormat::kTrs, PoseSpace::kLocal, {}, {});
  EXPECT_THAT(
      std::string(ReadPose(rig, trs, Bytes(std::vector<float>(30, 0.0f))).status().message()),
      HasSubstr("pose.joint_transforms: joint 0"));
}

TEST(PoseFormat, RejectsJointsBeyondFloat) {
  const Rig rig = Chain();
  const auto format = *PoseFormat::Create(rig, JointFormat::kMatrix3x4, PoseSpace::kLocal, {}, {});
  std::vector<Affine> pose(rig.joints());
  for (Affine& joint : pose) joint.m[0] = 1e30f;  // twice that leaves the range
  EXPECT_THAT(std::string(ReadPose(rig, format, Bytes(pose)).status().message()),
              HasSubstr("joint 1 leaves the range of float32"));
}

}  // namespace
}  // namespace sinew
