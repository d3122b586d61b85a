// Errors and warnings of Rig::Create about muscles.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/vectors.h"
#include "core/rig/muscle_size.h"
#include "core/rig/pose.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

using ::testing::HasSubstr;
using testing::TubeWithMusclesSource;

struct Bad {
  const char* field;
  std::function<void(RigSource&)> spoil;
};

TEST(MuscleCheck, ErrorsNameField) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto set = [](auto&& change) { return [change](RigSource& s) { change(s.muscles[1]); }; };
  const std::vector<Bad> table = {
      {"rig.muscles[1].name: got ''", set([](Muscle& m) { m.name.clear(); })},
      {"rig.muscles[1].name: got 'flexor'", set([](Muscle& m) { m.name = "flexor"; })},
      {"rig.muscles[1].origin.joint: got 2", set([](Muscle& m) { m.origin.joint = 2; })},
      {"rig.muscles[1].insertion.joint", set([](Muscle& m) { m.insertion.joint = 9; })},
      {"rig.muscles[1].via[0].joint", set([](Muscle& m) {
         m.via = {{7, {}}};
       })},
      {"rig.muscles[1].via[0].at", set([nan](Muscle& m) {
         m.via = {{0, {0, nan, 0}}};
       })},
      {"rig.muscles[1].via: got 65", set([](Muscle& m) { m.via.resize(65); })},
      {"rig.muscles[1].origin.at", set([](Muscle& m) { m.origin.at.x = INFINITY; })},
      {"rig.muscles[1].origin.at", set([](Muscle& m) { m.origin.at.x = -2e9; })},
      {"rig.muscles[1].wrap.joint", set([](Muscle& m) { m.wrap.joint = 2; })},
      {"rig.muscles[1].wrap.radius", set([](Muscle& m) { m.wrap.radius = 0; })},
      {"rig.muscles[1].wrap.axis", set([](Muscle& m) { m.wrap.axis = {}; })},
      {"rig.muscles[1].wrap.centre", set([nan](Muscle& m) { m.wrap.centre.z = nan; })},
      {"rig.muscles[1].origin_tendon", set([](Muscle& m) { m.origin_tendon = -1; })},
      {"rig.muscles[1].insertion_tendon", set([nan](Muscle& m) { m.insertion_tendon = nan; })},
      {"rig.muscles[1]: tendons add up to 9.3, need at most",
       set([](Muscle& m) { m.insertion_tendon = 9; })},
      {"rig.muscles[1].insertion: coincides", set([](Muscle& m) {
         m.wrap = {};
         m.insertion = m.origin;
         m.origin_tendon = m.insertion_tendon = 0;
       })},
      {"rig.muscles[1].width: got 0", set([](Muscle& m) { m.width = 0; })},
      {"rig.muscles[1].width: got 1e-39 on a path", set([](Muscle& m) { m.width = 1e-39; })},
      {"rig.muscles[1].depth: got -1", set([](Muscle& m) { m.depth = -1; })},
      {"rig.muscles[1].width_direction", set([nan](Muscle& m) { m.width_direction.x = nan; })},
      {"rig.muscles[1].warp: got 11", set([](Muscle& m) { m.warp = 11; })},
      {"rig.muscles[0].warp: got 2, need 1 for an ellipsoid",
       [](RigSource& s) { s.muscles[0].warp = 2; }},
      {"rig.muscles[1].tension: got 0", set([](Muscle& m) { m.tension = 0; })},
      {"rig.muscles[1].fat: got -1", set([](Muscle& m) { m.fat = -1; })},
      {"rig.muscles[1].activation: got control 1", set([](Muscle& m) { m.activation = 1; })},
      {"rig.muscles: got 4097", [](RigSource& s) { s.muscles.resize(4097); }},
  };
  for (const Bad& bad : table) {
    RigSource source = TubeWithMusclesSource();
    bad.spoil(source);
    const auto rig = Rig::Create(std::move(source));
    ASSERT_FALSE(rig.ok()) << bad.field;
    EXPECT_EQ(rig.status().code(), absl::StatusCode::kInvalidArgument) << bad.field;
    EXPECT_THAT(std::string(rig.status().message()), HasSubstr(bad.field));
  }
}

TEST(MuscleCheck, LimitsSizeToMesh) {
  const double most = testing::MakeRig(TubeWithMusclesSource()).mesh().diagonal();
  ASSERT_GT(most, 1);
  using Set = void (*)(Muscle&, double);
  const std::vector<std::pair<const char*, Set>> lengths = {
      {"width", [](Muscle& m, double length) { m.width = length; }},
      {"depth", [](Muscle& m, double length) { m.depth = length; }},
      {"fat", [](Muscle& m, double length) { m.fat = length; }},
      {"wrap.radius",
       [](Muscle& m, double length) {
         m.wrap = {WrapShape::kSphere, 0, {2, 0, 5e3}, {}, length};  // beside the path
       }},
  };
  for (const auto& [field, set] : lengths) {
    for (const double times : {1.0, 1.0001, 1e8}) {
      RigSource source = TubeWithMusclesSource();
      set(source.muscles[1], times * most);
      const absl::Status status = Rig::Create(std::move(source)).status();
      if (times == 1) {
        EXPECT_TRUE(status.ok()) << field << status;
        continue;
      }
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << field;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat("rig.muscles[1].", field, ": got ", times * most,
                                         ", need at most ", most, ", the diagonal of")));
    }
  }
  RigSource source = TubeWithMusclesSource();
  source.muscles[1].insertion.at.x = 3 * most;
  EXPECT_THAT(std::string(Rig::Create(std::move(source)).status().message()),
              HasSubstr("rig.muscles[1].insertion: got a belly of "));
}

TEST(MuscleCheck, ChecksSizesInRestPoseUnits) {
  // A mesh in centimetres with a skeleton in metres, as some files have it.
  RigSource source = TubeWithMusclesSource();
  for (Vec3f& p : source.mesh.positions) p = {100 * p.x, 100 * p.y, 100 * p.z};
  for (Binding& binding : source.bindings) {
    for (const std::size_t i : {0, 1, 2, 4, 5, 6, 8, 9, 10}) binding.inverse_bind.m[i] /= 100;
  }
  EXPECT_TRUE(Rig::Create(source).ok());
  source.muscles[0].width = 90;
  EXPECT_THAT(std::string(Rig::Create(source).status().message()),
              HasSubstr("rig.muscles[0].width: got 90, need at most"));
}

TEST(MuscleCheck, RejectsDirectionAlongBelly) {
  RigSource source = TubeWithMusclesSource();
  source.muscles[0].via.clear();
  source.muscles[0].origin.at = {0.3, 0.2, 0};
  source.muscles[0].width_direction = {-2, 0, 0};
  const auto rig = Rig::Create(std::move(source));
  ASSERT_FALSE(rig.ok());
  EXPECT_THAT(std::string(rig.status().message()), HasSubstr("rig.muscles[0].width_direction"));
}

TEST(MuscleCheck, MuscleOutsideMeshIsSuspicious) {
  const auto doubtful = [](const std::function<void(RigSource&)>& change) {
    RigSource source = TubeWithMusclesSource();
    change(source);
    return SuspiciousMuscles(testing::MakeRig(std::move(source)));
  };
  EXPECT_TRUE(doubtful([](RigSource&) {}).empty());
  const struct {
    const char* what;
    std::function<void(Muscle&)> change;
  } rows[] = {
      {"a via point outside",
       [](Muscle& m) {
         m.via = {{0, {0.5, 0, 2}}};
       }},
      {"a wide wrap", [](Muscle& m) { m.wrap.radius = 1.5; }},
      {"a thick belly", [](Muscle& m) { m.width = m.depth = 1.5; }},
  };
  for (const auto& [what, change] : rows) {
    const auto found = doubtful([&](RigSource& s) { change(s.muscles[1]); });
    ASSERT_EQ(found.size(), 1u) << what;
    EXPECT_EQ(found[0].field, "muscles[1]");
    EXPECT_THAT(found[0].message, HasSubstr("beyond the character's bounding box")) << what;
  }
}

// A muscle file in metres for a character in millimetres: all lengths are a thousandth.
TEST(MuscleCheck, MuscleInOtherUnitsIsSuspicious) {
  const auto doubtful = [](double factor) {
    RigSource source = TubeWithMusclesSource();
    for (Muscle& muscle : source.muscles) {
      std::vector<MusclePoint*> points = {&muscle.origin, &muscle.insertion};
      for (MusclePoint& via : muscle.via) points.push_back(&via);
      for (MusclePoint* point : points) point->at = factor * point->at;
      for (double* length : {&muscle.width, &muscle.depth, &muscle.origin_tendon,
                             &muscle.insertion_tendon, &muscle.wrap.radius}) {
        *length *= factor;
      }
      muscle.wrap.centre = factor * muscle.wrap.centre;
    }
    return SuspiciousMuscles(testing::MakeRig(std::move(source)));
  };
  EXPECT_TRUE(doubtful(1).empty());
  EXPECT_TRUE(doubtful(0.5).empty()) << "small muscles are valid";
  for (const double factor : {0.01, 0.001, 1e-6}) {
    const auto found = doubtful(factor);
    ASSERT_EQ(found.size(), TubeWithMusclesSource().muscles.size()) << factor;
    for (const Problem& muscle : found) {
      EXPECT_THAT(muscle.message, HasSubstr("in another unit than the character's")) << factor;
    }
  }
}

TEST(MuscleCheck, DigestCoversEveryNumber) {
  const auto digest = [](const std::function<void(Muscle&)>& change) {
    RigSource source = TubeWithMusclesSource();
    change(source.muscles[1]);
    return testing::MakeRig(std::move(source)).digest();
  };
  const std::vector<std::string> digests = {
      digest([](Muscle&) {}),
      digest([](Muscle& m) { m.width = 0.16; }),
      digest([](Muscle& m) { m.depth = 0.21; }),
      digest([](Muscle& m) { m.origin.at.z = 0.01; }),
      digest([](Muscle& m) {
        m.via = {{0, {1, -0.2, 0}}};
      }),
      digest([](Muscle& m) { m.wrap = {}; }),
      digest([](Muscle& m) { m.wrap.radius = 0.19; }),
      digest([](Muscle& m) { m.origin_tendon = 0.31; }),
      digest([](Muscle& m) { m.insertion_tendon = 0.69; }),
      digest([](Muscle& m) { m.profile = MuscleProfile::kParabola; }),
      digest([](Muscle& m) { m.warp = 1.4; }),
      digest([](Muscle& m) { m.tension = 1.4; }),
      digest([](Muscle& m) { m.fat = 0.1; }),
      digest([](Muscle& m) { m.activation = 0; }),
      digest([](Muscle& m) {
        m.width_direction = {0, 0, 1};
      })};
  for (std::size_t a = 0; a < digests.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(digests[a], digests[b]) << a << " " << b;
  }
  EXPECT_EQ(digests[0], digest([](Muscle& m) { m.name = "other"; }));
}

TEST(MuscleCheck, PosedMusclesUseControls) {
  const Rig rig = testing::MakeRig(TubeWithMusclesSource());
  const auto pose = testing::BendPose(rig, 60);
  const std::vector<float> tense = {1};
  const auto slack = PoseMuscles(rig, {.joints = pose});
  const auto tensed = PoseMuscles(rig, {.joints = pose, .controls = tense});
  ASSERT_EQ(slack.size(), 2u);
  EXPECT_GT(tensed[0].radii[1], slack[0].radii[1] * 1.1f);
  EXPECT_EQ(tensed[1].radii[1], slack[1].radii[1]);
  EXPECT_NEAR(slack[0].frame.m[3] - -0.87, 0, 0.2);  // at the centre of the upper half
}

}  // namespace
}  // namespace sinew
