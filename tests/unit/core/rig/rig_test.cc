#include "core/rig/rig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <utility>

#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::testing::HasSubstr;

TEST(Rig, DigestCoversDeformationInputs) {
  const Rig a = testing::TubeRig(), b = testing::TubeRig();
  EXPECT_EQ(a.digest(), b.digest());
  EXPECT_EQ(a.digest().size(), 64u);
  RigSource moved = testing::TubeSource();
  moved.mesh.positions[3].x += 1e-6f;
  EXPECT_NE(testing::MakeRig(std::move(moved)).digest(), a.digest());
  RigSource named = testing::TubeSource();
  named.joints[0].name = "another name";
  EXPECT_EQ(testing::MakeRig(std::move(named)).digest(), a.digest());
}

TEST(Rig, RejectsInconsistentParts) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    std::function<void(RigSource&)> spoil;
    const char* message;
  } cases[] = {
      {[](RigSource& s) { s.bindings.clear(); }, "rig.meshes.skin.joints: got 0"},
      {[](RigSource& s) { s.bindings[1].joint = 9; }, "got 9, need less than 2"},
      {[](RigSource& s) { s.bindings[0].inverse_bind.m[3] = 1.0 / 0.0; }, "row 0 is not finite"},
      {[](RigSource& s) { s.influences.offsets.pop_back(); }, "add up to"},
      {[&](RigSource& s) { s.mesh.positions[7].y = nan; }, "finite"},
      {[](RigSource& s) { s.mesh.positions.clear(); }, "position"},
      {[](RigSource& s) { s.mesh.face_vertices[5] = 1u << 30; }, "face_vertices"},
      {[](RigSource& s) {
         s.controls = {{.name = "k", .minimum = 1, .maximum = 0, .default_value = 0}};
       },
       "rig.controls[0]"},
      {[](RigSource& s) {
         s.controls = {{.name = "k"}, {.name = "k"}};
       },
       "unique"},
      {[](RigSource& s) { s.shapes = {{.control = 0, .targets = {{}}}}; }, "].control"},
      {[](RigSource& s) {
         s.controls = {{.name = "k"}};
         s.shapes = {
             {.control = 0,
              .targets = {
                  {.weight = 1, .vertices = {5, 5}, .offsets = {{}, {}}, .normal_offsets = {}}}}};
       },
       "].vertices"},
      {[](RigSource& s) {
         s.maps = {{"paint", {1, 2, 3}}};
       },
       "got 3 values"},
  };
  for (const auto& bad : cases) {
    RigSource source = testing::TubeSource();
    bad.spoil(source);
    const auto rig = Rig::Create(std::move(source));
    EXPECT_EQ(rig.status().code(), absl::StatusCode::kInvalidArgument) << bad.message;
    EXPECT_THAT(std::string(rig.status().message()), HasSubstr(bad.message));
  }
}

TEST(Rig, StrongestBindingDoesNotDependOnTheirOrder) {
  const RigSource source = testing::TubeSource({.weights = testing::TubeWeights::kRigid});
  RigSource turned = source;
  std::swap(turned.bindings[0], turned.bindings[1]);
  for (std::uint32_t& binding : turned.influences.bindings) binding = 1 - binding;
  const Rig a = testing::MakeRig(source), b = testing::MakeRig(turned);
  std::size_t ties = 0;
  for (std::size_t v = 0; v < a.vertices(); ++v) {
    const std::uint16_t joint = a.bindings()[StrongestBinding(a, v)].joint;
    EXPECT_EQ(b.bindings()[StrongestBinding(b, v)].joint, joint) << v;
    const auto weights = a.influences().weights(v);
    if (weights.size() < 2 || weights[0] != weights[1]) continue;
    EXPECT_EQ(joint, 0) << v;
    ++ties;
  }
  EXPECT_EQ(ties, 32u);  // the ring at the joint
}

// Bytes 4 apart, which are stored as floats, are a tie whatever rounding makes of their difference.
TEST(Rig, StrongestBindingIsTheSameForAllBytesFourApart) {
  RigSource source = testing::TubeSource({.joints = 3});
  InfluenceSource& influences = source.influences;
  const std::size_t vertices = source.mesh.positions.size();
  influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto byte = static_cast<float>(84 + v % 42);
    influences.bindings.insert(influences.bindings.end(), {0, 1, 2});
    for (const float weight : {byte, byte + 4, 251 - 2 * byte}) {
      influences.weights.push_back(weight / 255);
    }
    influences.offsets.push_back(3 * (v + 1));
  }
  const Rig rig = testing::MakeRig(std::move(source));
  for (std::size_t v = 0; v < vertices; ++v) {
    EXPECT_EQ(rig.bindings()[StrongestBinding(rig, v)].joint, 0) << v;
  }
}

}  // namespace
}  // namespace sinew
