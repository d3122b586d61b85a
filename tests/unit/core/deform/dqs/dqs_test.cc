#include "core/deform/dqs/dqs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/deform/dqs/dqs_kernel.h"
#include "core/deform/lbs/lbs.h"
#include "tests/reference/dqs_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/continuity.h"
#include "tests/support/kernel_input.h"
#include "tests/support/posing.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::AffineMotions;
using testing::AllRigs;
using testing::BendPose;
using testing::ExpectHalvedSteps;
using testing::ExpectStretchSetsInSmoothly;
using testing::HardPoses;
using ::testing::HasSubstr;
using testing::MaxDistance;
using testing::Moved;
using testing::NamedRig;
using testing::PosedTolerance;
using testing::RestPoints;
using testing::RestPose;
using testing::RunMethod;
using testing::ScaledPose;
using testing::Shifted;
using testing::SkinMatrices;
using testing::Transformed;
using testing::TubeRig;
using testing::TubeWeights;
using testing::TwistPose;

DqsParams Params(float blend, std::uint32_t max_influences = 0, const char* map = "") {
  return {.blend = blend, .blend_map = map, .max_influences = max_influences};
}

TEST(Dqs, MatchesReference) {
  for (const NamedRig& named : AllRigs()) {
    const auto poses = HardPoses(named.rig);
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const auto want = reference::Dqs(RestPoints(named.rig), named.rig.influences(),
                                       SkinMatrices(named.rig, poses[i]));
      EXPECT_LT(MaxDistance(RunMethod<Dqs>(named.rig, {}, poses[i]).points, want),
                PosedTolerance(named.rig))
          << named.name << " pose " << i;
    }
  }
}

TEST(Lbs, MatchesReference) {
  for (const NamedRig& named : AllRigs()) {
    const auto poses = HardPoses(named.rig);
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const auto want = reference::Lbs(RestPoints(named.rig), named.rig.influences(),
                                       SkinMatrices(named.rig, poses[i]));
      EXPECT_LT(MaxDistance(RunMethod<Lbs>(named.rig, {}, poses[i]).points, want),
                PosedTolerance(named.rig))
          << named.name << " pose " << i;
    }
  }
}

// The published values of both methods on the tube with smooth weights, to the last digit.
TEST(SkinningTable, TubeVolumes) {
  const Rig rig = TubeRig();
  struct Row {
    std::vector<Affine> pose;
    testing::TubeShape lbs, dqs;
  };
  const Row rows[] = {{BendPose(rig, 90), {0.967, 0.707}, {0.999, 1.000}},
                      {BendPose(rig, 135), {0.944, 0.383}, {0.998, 1.000}},
                      {TwistPose(rig, 90), {0.936, 0.707}, {1.000, 1.000}},
                      {TwistPose(rig, 179), {0.871, 0.009}, {0.999, 1.000}}};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto lbs = testing::ShapeOf(rig, RunMethod<Lbs>(rig, {}, rows[i].pose).points);
    const auto dqs = testing::ShapeOf(rig, RunMethod<Dqs>(rig, {}, rows[i].pose).points);
    EXPECT_NEAR(lbs.volume, rows[i].lbs.volume, 2e-3) << i;
    EXPECT_NEAR(lbs.radius, rows[i].lbs.radius, 2e-3) << i;
    EXPECT_NEAR(dqs.volume, rows[i].dqs.volume, 2e-3) << i;
    EXPECT_NEAR(dqs.radius, rows[i].dqs.radius, 2e-3) << i;
  }
}

TEST(Dqs, EqualsLinearBlendForTranslations) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  const auto pose = Shifted(RestPose(rig));
  EXPECT_LT(MaxDistance(RunMethod<Dqs>(rig, {}, pose).points, RunMethod<Lbs>(rig, {}, pose).points),
            1e-6);
}

TEST(Dqs, OneInfluenceFollowsItsMatrix) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  const std::vector<Affine> pose = ScaledPose(rig, {-2, 0.5, 3});
  const auto skin = SkinMatrices(rig, pose);
  auto want = RestPoints(rig);
  for (std::size_t v = 0; v < want.size(); ++v) {
    want[v] = Apply(skin[rig.influences().bindings(v).front()], want[v]);
  }
  EXPECT_LT(MaxDistance(RunMethod<Dqs>(rig, Params(1, 1), pose).points, want), 1e-5);
}

TEST(Dqs, CommonAffineMotionIsExact) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  for (const AffineD& motion : AffineMotions()) {
    EXPECT_LT(MaxDistance(RunMethod<Dqs>(rig, {}, Moved(motion, RestPose(rig))).points,
                          Transformed(motion, RestPoints(rig))),
              1e-5);
  }
}

TEST(Dqs, ContinuousInPose) {
  const Rig rig = TubeRig();
  ExpectHalvedSteps({{0, 25, 50, 75, 100, 125, 150}}, [&](double degrees) {
    return RunMethod<Dqs>(rig, {}, BendPose(rig, degrees)).points;
  });
}

TEST(Dqs, StretchIsContinuous) {
  ExpectStretchSetsInSmoothly<Dqs>();
}

Rig RigWithMap(std::vector<float> values) {
  RigSource source = testing::TubeSource();
  values.resize(source.mesh.positions.size(), 1.0f);
  source.maps.push_back({"twist_only", std::move(values)});
  return testing::MakeRig(std::move(source));
}

TEST(Dqs, BlendInterpolatesLinearAndDualQuaternion) {
  const Rig rig = TubeRig();
  for (const auto& pose : {TwistPose(rig, 120), ScaledPose(rig, {1.5, 0.5, 2})}) {
    const auto linear = RunMethod<Lbs>(rig, {}, pose).points;
    const auto dual = RunMethod<Dqs>(rig, {}, pose).points;
    EXPECT_EQ(MaxDistance(RunMethod<Dqs>(rig, Params(0), pose).points, linear), 0);
    const auto mixed = RunMethod<Dqs>(rig, Params(0.25f), pose).points;
    for (std::size_t v = 0; v < mixed.size(); ++v) {
      const Vec3d want = 0.75 * linear[v] + 0.25 * dual[v];
      EXPECT_LT(testing::Distance(mixed[v], want), 1e-6);
    }
  }
}

TEST(Dqs, BlendMapMultipliesPerVertex) {
  constexpr std::size_t kMiddle =
      30 * 32;  // the ring at the joint, where the two blends differ most
  std::vector<float> map(kMiddle, 0.0f);
  map.insert(map.end(), {0, 0.5f, 1, 2, 9, -1});
  const double parts[] = {0, 0.25, 0.5, 1, 1, 0};  // half of that, within [0, 1]
  const Rig rig = RigWithMap(map);
  const auto pose = TwistPose(rig, 120);
  const auto linear = RunMethod<Lbs>(rig, {}, pose).points;
  const auto dual = RunMethod<Dqs>(rig, {}, pose).points;
  ASSERT_GT(testing::Distance(linear[kMiddle], dual[kMiddle]), 0.1);
  const auto mixed = RunMethod<Dqs>(rig, Params(0.5f, 0, "twist_only"), pose).points;
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    const std::size_t v = kMiddle + i;
    const Vec3d want = (1 - parts[i]) * linear[v] + parts[i] * dual[v];
    EXPECT_LT(testing::Distance(mixed[v], want), parts[i] == 0 || parts[i] == 1 ? 1e-30 : 1e-6)
        << i;
  }
}

TEST(Dqs, ErrorNamesUnknownBlendMap) {
  const Rig rig = RigWithMap({});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const auto bound =
      Dqs::Bind({rig, *layout, RigSurface(rig, *layout)}, Params(1, 0, "nothing"), task);
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bound.status().message()), HasSubstr("'nothing'"));
}

// mixed: with lanes that blend with linear blending.
struct DqsInput : testing::KernelInput {
  explicit DqsInput(bool mixed) {
    if (!mixed) return;
    linear = Points();
    for (std::size_t i = 0; i < kBlocks * 16; ++i) blend.push_back(i % 3 == 0 ? 1 : random.Next());
  }

  void Run(float* out) const {
    DqsKernel({.pair_offset = offset.data(),
               .pair_entry = entry.data(),
               .weights = weights.data(),
               .dual_quats = quats.data(),
               .stretch = stretch.data(),
               .signs = signs.empty() ? nullptr : signs.data(),
               .in = in.data(),
               .out = out,
               .linear = linear.empty() ? nullptr : linear.data(),
               .blend_lanes = blend.empty() ? nullptr : blend.data(),
               .blend = 1},
              0, kBlocks);
  }
  AlignedVector<float> Result() const {
    AlignedVector<float> out(in.size());
    Run(out.data());
    return out;
  }

  AlignedVector<float> weights = Weights(0.6f), signs, linear, blend;
};

TEST(DqsKernel, SameBitsOnEveryInstructionSet) {
  for (const bool mixed : {false, true}) {
    DqsInput input(mixed);
    if (mixed) input.signs = {1, -1, -1, 1, 1, -1, 1, -1, 1};
    testing::ExpectSameBitsOnEveryIsa([&] { return input.Result(); });
  }
}

// Between the pivot and the others, so that these are far back in a block.
TEST(DqsKernel, JointsWithoutWeightChangeNothing) {
  constexpr std::size_t kForeign = 35;
  const DqsInput input(false);
  DqsInput wide(false);
  wide.offset = {0};
  wide.entry.clear();
  wide.weights.clear();
  for (std::size_t b = 0; b < DqsInput::kBlocks; ++b) {
    for (std::size_t pair = input.offset[b]; pair < input.offset[b + 1]; ++pair) {
      wide.entry.push_back(input.entry[pair]);
      const float* const weights = input.weights.data() + pair * 16;
      wide.weights.insert(wide.weights.end(), weights, weights + 16);
      for (std::size_t k = 0; pair == input.offset[b] && k < kForeign; ++k) {
        wide.entry.push_back(static_cast<std::uint16_t>(k % DqsInput::kJoints));
        wide.weights.insert(wide.weights.end(), 16, 0.0f);
      }
    }
    wide.offset.push_back(static_cast<std::uint32_t>(wide.entry.size()));
  }
  EXPECT_EQ(wide.Result(), input.Result());
}

TEST(DqsKernel, InvariantToQuaternionSigns) {
  testing::ExpectInvariantToQuaternionSigns(DqsInput(false));
}

TEST(DqsKernel, AllowsInPlaceOutput) {
  testing::ExpectSameBitsInPlace(DqsInput(true));
}

}  // namespace
}  // namespace sinew
