// sinew.v1.Muscle to the core's muscles: values, errors by path, limits.
#include "server/convert/muscle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "server/base/status.h"
#include "server/convert/rig.h"
#include "tests/support/test_rig.h"

namespace sinew::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::TubeRig;

void Set(google::protobuf::RepeatedField<float>& field, float x, float y, float z) {
  field.Clear();
  for (const float value : {x, y, z}) field.Add(value);
}

// A tube with one muscle that uses every field.
v1::Rig Sample() {
  v1::Rig rig = TubeRig();
  rig.add_controls()->set_name("tense");
  v1::Muscle& muscle = *rig.add_muscles();
  muscle.set_name("flexor");
  Set(*muscle.mutable_origin()->mutable_at(), 0.1f, 0.02f, 0.03f);
  muscle.mutable_insertion()->set_joint(1);
  Set(*muscle.mutable_insertion()->mutable_at(), 0.2f, 0.9f, 0.04f);
  v1::MusclePoint& via = *muscle.add_via();
  Set(*via.mutable_at(), 0.15f, 0.5f, 0.1f);
  v1::MuscleWrap& wrap = *muscle.mutable_wrap();
  wrap.set_shape(v1::WRAP_SHAPE_CYLINDER);
  wrap.set_joint(1);
  Set(*wrap.mutable_centre(), 0, 0.1f, 0);
  Set(*wrap.mutable_axis(), 1, 0, 0);
  wrap.set_radius(0.01f);
  muscle.set_origin_tendon(0.01f);
  muscle.set_insertion_tendon(0.02f);
  muscle.set_width(0.03f);
  muscle.set_depth(0.025f);
  Set(*muscle.mutable_width_direction(), 0, 0, 1);
  muscle.set_profile(v1::MUSCLE_PROFILE_SINE);
  muscle.set_warp(1.5f);
  muscle.set_tension(1.2f);
  muscle.set_fat(0.005f);
  muscle.set_activation("tense");
  return rig;
}

absl::StatusOr<ConvertedRig> Convert(const v1::Rig& rig, const RigConfig& limits = {}) {
  return ConvertRig(rig.SerializeAsString(), limits);
}

TEST(ConvertMuscle, ConvertsEveryField) {
  const auto converted = Convert(Sample());
  ASSERT_TRUE(converted.ok()) << converted.status();
  ASSERT_EQ(converted->rig->muscles().size(), 1u);
  const Muscle& muscle = converted->rig->muscles()[0];
  EXPECT_EQ(muscle.name, "flexor");
  EXPECT_EQ(muscle.origin.joint, 0u);
  EXPECT_EQ(muscle.origin.at.x, 0.1f);
  EXPECT_EQ(muscle.insertion.joint, 1u);
  ASSERT_EQ(muscle.via.size(), 1u);
  EXPECT_EQ(muscle.via[0].at.z, 0.1f);
  EXPECT_EQ(muscle.wrap.shape, WrapShape::kCylinder);
  EXPECT_EQ(muscle.wrap.joint, 1u);
  EXPECT_EQ(muscle.wrap.axis.x, 1);
  EXPECT_EQ(muscle.wrap.radius, 0.01f);
  EXPECT_EQ(muscle.origin_tendon, 0.01f);
  EXPECT_EQ(muscle.insertion_tendon, 0.02f);
  EXPECT_EQ(muscle.width, 0.03f);
  EXPECT_EQ(muscle.depth, 0.025f);
  EXPECT_EQ(muscle.width_direction.z, 1);
  EXPECT_EQ(muscle.profile, MuscleProfile::kSine);
  EXPECT_EQ(muscle.warp, 1.5f);
  EXPECT_EQ(muscle.tension, 1.2f);
  EXPECT_EQ(muscle.fat, 0.005f);
  EXPECT_EQ(muscle.activation, 0u);
}

TEST(ConvertMuscle, UnsetFieldsUseDefaults) {
  v1::Rig rig = Sample();
  v1::Muscle& muscle = *rig.mutable_muscles(0);
  for (const int field : {4, 5, 10, 11, 12, 13, 14, 15}) {
    muscle.GetReflection()->ClearField(&muscle, muscle.GetDescriptor()->FindFieldByNumber(field));
  }
  const auto converted = Convert(rig);
  ASSERT_TRUE(converted.ok()) << converted.status();
  const Muscle& plain = converted->rig->muscles()[0];
  EXPECT_TRUE(plain.via.empty());
  EXPECT_EQ(plain.wrap.shape, WrapShape::kNone);
  EXPECT_EQ(plain.profile, MuscleProfile::kEllipsoid);
  EXPECT_EQ(plain.warp, 1);
  EXPECT_EQ(plain.tension, 1.3);
  EXPECT_FALSE(plain.fat);
  EXPECT_FALSE(plain.activation);
}

struct Bad {
  const char* field;
  std::function<void(v1::Muscle&)> spoil;
};

TEST(ConvertMuscle, WrongValueErrorsNameField) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Bad> table = {
      {"rig.muscles[0].name", [](v1::Muscle& m) { m.clear_name(); }},
      {"rig.muscles[0].origin.at", [](v1::Muscle& m) { m.clear_origin(); }},
      {"rig.muscles[0].origin.at",
       [](v1::Muscle& m) { m.mutable_origin()->mutable_at()->RemoveLast(); }},
      {"rig.muscles[0].insertion.joint",
       [](v1::Muscle& m) { m.mutable_insertion()->set_joint(4'000'000'000u); }},
      {"rig.muscles[0].via[0].at", [](v1::Muscle& m) { m.mutable_via(0)->add_at(3); }},
      {"rig.muscles[0].via[0].at", [nan](v1::Muscle& m) { m.mutable_via(0)->set_at(1, nan); }},
      {"rig.muscles[0].wrap.shape", [](v1::Muscle& m) { m.mutable_wrap()->clear_shape(); }},
      {"rig.muscles[0].wrap.shape",
       [](v1::Muscle& m) { m.mutable_wrap()->set_shape(static_cast<v1::WrapShape>(9)); }},
      {"rig.muscles[0].wrap.axis", [](v1::Muscle& m) { m.mutable_wrap()->clear_axis(); }},
      {"rig.muscles[0].wrap.axis",
       [](v1::Muscle& m) { m.mutable_wrap()->set_shape(v1::WRAP_SHAPE_SPHERE); }},
      {"rig.muscles[0].wrap.centre", [](v1::Muscle& m) { m.mutable_wrap()->clear_centre(); }},
      {"rig.muscles[0].wrap.radius", [](v1::Muscle& m) { m.mutable_wrap()->set_radius(-1); }},
      {"rig.muscles[0].wrap.joint", [](v1::Muscle& m) { m.mutable_wrap()->set_joint(70); }},
      {"rig.muscles[0].origin_tendon", [](v1::Muscle& m) { m.set_origin_tendon(-1); }},
      {"rig.muscles[0]", [](v1::Muscle& m) { m.set_insertion_tendon(100); }},
      {"rig.muscles[0].width", [nan](v1::Muscle& m) { m.set_width(nan); }},
      {"rig.muscles[0].depth", [](v1::Muscle& m) { m.set_depth(0); }},
      {"rig.muscles[0].width_direction", [](v1::Muscle& m) { m.add_width_direction(1); }},
      {"rig.muscles[0].profile",
       [](v1::Muscle& m) { m.set_profile(static_cast<v1::MuscleProfile>(7)); }},
      {"rig.muscles[0].warp", [](v1::Muscle& m) { m.set_warp(0); }},
      {"rig.muscles[0].tension", [](v1::Muscle& m) { m.set_tension(5); }},
      {"rig.muscles[0].fat", [nan](v1::Muscle& m) { m.set_fat(nan); }},
      {"rig.muscles[0].activation", [](v1::Muscle& m) { m.set_activation("tens"); }},
      {"rig.muscles[0].77",
       [](v1::Muscle& m) { m.GetReflection()->MutableUnknownFields(&m)->AddVarint(77, 1); }},
  };
  for (const Bad& bad : table) {
    v1::Rig rig = Sample();
    bad.spoil(*rig.mutable_muscles(0));
    const auto converted = Convert(rig);
    ASSERT_FALSE(converted.ok()) << bad.field;
    EXPECT_EQ(converted.status().code(), absl::StatusCode::kInvalidArgument) << bad.field;
    EXPECT_THAT(std::string(converted.status().message()), StartsWith(bad.field));
  }
}

TEST(ConvertMuscle, EnforcesLimits) {
  v1::Rig rig = Sample();
  *rig.add_muscles() = rig.muscles(0);
  rig.mutable_muscles(1)->set_name("again");
  *rig.mutable_muscles(1)->add_via() = rig.muscles(1).via(0);
  RigConfig limits;
  limits.muscles = 2;
  limits.muscle_vias = 2;
  EXPECT_TRUE(Convert(rig, limits).ok()) << Convert(rig, limits).status();
  limits.muscles = 1;
  absl::Status status = Convert(rig, limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("max-rig-muscles"));
  limits.muscles = 2;
  limits.muscle_vias = 1;
  status = Convert(rig, limits).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), StartsWith("rig.muscles[1].via: got 2"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("max-muscle-vias"));
}

}  // namespace
}  // namespace sinew::server
