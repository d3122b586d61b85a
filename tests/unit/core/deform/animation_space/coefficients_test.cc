// The methods with coefficients, animation_space and multi_weight, against their definition.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/deform/animation_space/animation_space.h"
#include "core/deform/engine/unused_parameters.h"
#include "core/deform/multi_weight/multi_weight.h"
#include "core/simd/target.h"
#include "tests/reference/coefficients_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/posing.h"
#include "tests/support/random.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::kChainTube;
using testing::MakeRig;
using testing::MaxDistance;
using testing::RunMethod;

// Coefficients as large as fits have, with the sums that rig.proto asks for; every eleventh vertex
// has none.
JointCoefficients RandomCoefficients(std::size_t vertices, std::uint32_t columns) {
  testing::Random random(5);
  const auto number = [&] { return random.Next() - 0.5f; };
  JointCoefficients c{.columns = columns, .offsets = {0}, .bindings = {}, .values = {}};
  for (std::size_t v = 0; v < vertices; ++v) {
    const std::size_t first = c.values.size(), count = v % 11 == 10 ? 0 : 1 + v % 5;
    for (std::size_t k = 0; k < count; ++k) {
      c.bindings.push_back(static_cast<std::uint16_t>((v + 3 * k) % kChainTube.joints));
      for (std::uint32_t i = 0; i < columns; ++i) {
        float value = k == 0 ? (i % 4 == 3 ? 1.0f : 0.0f) : number();
        // Any value where it is no part of a sum.
        if (k == 0 && columns == 12 && i % 4 != 3 && i % 4 != i / 4) value = number();
        c.values.push_back(value);
        if (k > 0) c.values[first + i] -= value;
      }
    }
    c.offsets.push_back(c.bindings.size());
  }
  return c;
}

Rig TubeWith(std::uint32_t columns) {
  RigSource source = testing::TubeSource(kChainTube);
  source.coefficients = RandomCoefficients(source.mesh.positions.size(), columns);
  return MakeRig(std::move(source));
}

template <class M>
std::vector<Vec3d> Run(const Rig& rig, std::span<const Affine> pose) {
  return RunMethod<M>(rig, {}, pose).points;
}

template <class M>
class Coefficients : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kColumns = std::is_same_v<M, AnimationSpace> ? 4 : 12;
};
using Methods = ::testing::Types<AnimationSpace, MultiWeight>;
TYPED_TEST_SUITE(Coefficients, Methods);

TYPED_TEST(Coefficients, MatchTheDefinition) {
  const Rig rig = TubeWith(this->kColumns);
  for (const auto& pose : {testing::BendPose(rig, 50), testing::TurnPose(rig, {1, 1, 0}, 25),
                           testing::StretchedPose(rig), testing::Shifted(testing::RestPose(rig))}) {
    const auto skin = testing::SkinMatrices(rig, pose);
    const auto want = reference::WithCoefficients(rig, skin);
    const auto lbs = reference::Lbs(testing::RestPoints(rig), rig.influences(), skin);
    // Multiplied by an inverse, so rounding grows with the stretch.
    EXPECT_LE(MaxDistance(want, Run<TypeParam>(rig, pose)), 2e-5 * rig.mesh().diagonal());
    EXPECT_GT(MaxDistance(want, lbs), 0.01 * rig.mesh().diagonal());
  }
}

TYPED_TEST(Coefficients, RestPoseIsExact) {
  const Rig rig = TubeWith(this->kColumns);
  EXPECT_LE(MaxDistance(testing::RestPoints(rig), Run<TypeParam>(rig, testing::RestPose(rig))),
            1e-6 * rig.mesh().diagonal());
}

TYPED_TEST(Coefficients, FollowTheWholeCharacter) {
  const Rig rig = TubeWith(this->kColumns);
  const auto pose = testing::BendPose(rig, 40);
  const AffineD motion = testing::RigidMotion({1, 2, 3}, 57, {1, -2, 3});
  EXPECT_LE(MaxDistance(testing::Transformed(motion, Run<TypeParam>(rig, pose)),
                        Run<TypeParam>(rig, testing::Moved(motion, pose))),
            1e-5 * rig.mesh().diagonal());
}

TYPED_TEST(Coefficients, EveryLevelHasTheSameBits) {
  const Rig rig = TubeWith(this->kColumns);
  const auto pose = testing::TurnPose(rig, {1, 2, 0}, 35);
  const auto want = Run<TypeParam>(rig, pose);
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    EXPECT_EQ(Run<TypeParam>(rig, pose), want) << IsaName(isa);
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
}

TYPED_TEST(Coefficients, WithoutThemItIsLinearBlend) {
  const Rig rig = testing::TubeRig(kChainTube);
  const auto pose = testing::TurnPose(rig, {1, 1, 0}, 60);
  const auto want =
      reference::Lbs(testing::RestPoints(rig), rig.influences(), testing::SkinMatrices(rig, pose));
  EXPECT_LE(MaxDistance(want, Run<TypeParam>(rig, pose)), 2e-6 * rig.mesh().diagonal());

  const std::string name(TypeParam::Params::kName);
  const auto warnings = WithoutCoefficients({typename TypeParam::Params{}}, 0);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].field, "stages[0]." + name);
  EXPECT_EQ(warnings[0].message, "the rig has no coefficients for " + name +
                                     ": the same as lbs; `sinew fit-weights --model " + name +
                                     "` makes them");
  EXPECT_TRUE(WithoutCoefficients({typename TypeParam::Params{}}, this->kColumns).empty());
}

TYPED_TEST(Coefficients, SingularMainJointStaysFinite) {
  const Rig rig = TubeWith(this->kColumns);
  const auto pose = testing::WithLast(testing::BendPose(rig, 30), testing::ScaleMotion({0, 0, 0}));
  for (const Vec3d& p : Run<TypeParam>(rig, pose)) {
    EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z));
  }
}

}  // namespace
}  // namespace sinew
