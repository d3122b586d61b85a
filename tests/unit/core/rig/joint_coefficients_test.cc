// Coefficients of a rig: what is refused, and what a rig makes of them.
#include "core/rig/joint_coefficients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "core/rig/coefficient_row.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::testing::ElementsAre;

// Two vertices: none, and two joints.
JointCoefficients Good(std::uint32_t columns) {
  JointCoefficients c{.columns = columns, .offsets = {0, 0, 2}, .bindings = {1, 0}, .values = {}};
  for (const float share : {0.75f, 0.25f}) {
    for (std::uint32_t i = 0; i < columns; ++i) {
      c.values.push_back(i % 4 == 3 ? share : share - 0.5f);
    }
  }
  return c;
}

TEST(JointCoefficients, BadOnesAreRefusedByField) {
  const struct {
    const char* message;
    std::function<void(JointCoefficients&)> harm;
  } cases[] = {
      {"rig.meshes.skin.coefficients.values: got 5 columns, need 4 or 12",
       [](auto& c) { c.columns = 5; }},
      {"rig.meshes.skin.coefficients.counts: got 3 rows with 2 joints and 8 values, need 2 rows "
       "whose counts add up to the joints",
       [](auto& c) { c.offsets.push_back(2); }},
      {"rig.meshes.skin.coefficients.counts: got 2 rows with 2 joints and 7 values, need 2 rows "
       "whose counts add up to the joints",
       [](auto& c) { c.values.pop_back(); }},
      {"rig.meshes.skin.coefficients.joints: vertex 1 names 2, need each joint once and less than "
       "2",
       [](auto& c) { c.bindings[1] = 2; }},
      {"rig.meshes.skin.coefficients.joints: vertex 1 names 1, need each joint once and less than "
       "2",
       [](auto& c) { c.bindings[1] = 1; }},
      {"rig.meshes.skin.coefficients.values: the weights of vertex 1 sum to 1.125, need 1 +- 0.001",
       [](auto& c) { c.values[3] += 0.125f; }},
      {"rig.meshes.skin.coefficients.values: the offsets of vertex 1 sum to 0.5, need 0 +- 0.002",
       [](auto& c) { c.values[1] += 0.5f; }},
      {"rig.meshes.skin.coefficients.values: the offsets of vertex 1 sum to inf, need 0 +- 0.002",
       [](auto& c) { c.values[0] = std::numeric_limits<float>::infinity(); }},
  };
  for (const auto& [message, harm] : cases) {
    JointCoefficients c = Good(4);
    EXPECT_TRUE(c.Check(2, 2, 2).ok());
    harm(c);
    EXPECT_EQ(c.Check(2, 2, 2).message(), message);
  }
  EXPECT_TRUE(JointCoefficients().Check(2, 2, 2).ok());
  // In rows of 12 values, components that are not along their own axis may be anything finite.
  JointCoefficients c = Good(12);
  c.values[1] = 7;
  EXPECT_TRUE(c.Check(2, 2, 2).ok());
  c.values[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(c.Check(2, 2, 2).ok());
}

RigSource SmallTube() {
  return testing::TubeSource({.rings = 2, .around = 3, .joints = 2});
}

TEST(JointCoefficients, RowsOfTheMainJointMakeUpTheSums) {
  RigSource source = SmallTube();
  source.coefficients = Good(4);
  source.coefficients.offsets.resize(source.mesh.positions.size() + 1, 2);
  source.coefficients.values[0] += 1e-4f;
  const Rig rig = testing::MakeRig(std::move(source));
  EXPECT_THAT(CoefficientBindings(rig, 4, 1), ElementsAre(1, 0));
  const auto values = CoefficientValues(rig, 4, 1);
  EXPECT_NEAR(values[0], 0.25, 1e-7);
  EXPECT_EQ(values[0] + values[4], 0);
  // Others are the weights.
  EXPECT_EQ(CoefficientBindings(rig, 12, 1).data(), rig.influences().bindings(1).data());
  EXPECT_EQ(CoefficientBindings(rig, 4, 0).data(), rig.influences().bindings(0).data());
  EXPECT_EQ(CoefficientValues(rig, 4, 0)[3], rig.influences().weights(0)[0]);
}

TEST(JointCoefficients, ArePartOfTheDigestAndTheBytes) {
  const Rig plain = testing::MakeRig(SmallTube());
  RigSource source = SmallTube();
  source.coefficients = Good(4);
  source.coefficients.offsets.resize(source.mesh.positions.size() + 1, 2);
  RigSource other = source;
  other.coefficients.values[3] += 1e-4f;
  const Rig rig = testing::MakeRig(std::move(source));
  EXPECT_NE(rig.digest(), plain.digest());
  EXPECT_NE(rig.digest(), testing::MakeRig(std::move(other)).digest());
  EXPECT_EQ(rig.bytes() - plain.bytes(), (plain.vertices() + 1) * 8 + 2 * 2 + 8 * 4);
}

TEST(JointCoefficients, MeshInOtherUnitsKeepsItsShape) {
  RigSource source = SmallTube();
  source.coefficients = Good(4);
  source.coefficients.offsets.resize(source.mesh.positions.size() + 1, 2);
  for (Vec3f& p : source.mesh.positions) p = {p.x * 100, p.y * 100, p.z * 100};
  for (Binding& binding : source.bindings) {
    for (std::size_t i = 0; i < 12; ++i) {
      if (i % 4 != 3) binding.inverse_bind.m[i] /= 100;
    }
  }
  const Rig rig = testing::MakeRig(std::move(source));
  EXPECT_NEAR(rig.coefficients().values[0], 0.0025f, 1e-7f);
  EXPECT_EQ(rig.coefficients().values[3], 0.75f);
}

}  // namespace
}  // namespace sinew
