#include "client/rig/rig_lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "client/models/models.h"
#include "client/rig/rig_traits.h"

namespace sinew::cli {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using Severity = LintFinding::Severity;

client::RigData Tube() {
  return client::Tube({.rings = 5, .segments = 4, .joints = 2, .influences = 2})->rig;
}

std::vector<std::string> Said(const client::RigData& rig, Severity severity) {
  std::vector<std::string> said;
  for (const LintFinding& finding : Lint(rig)) {
    if (finding.severity == severity) said.push_back(finding.what);
  }
  return said;
}

TEST(Lint, GoodRigHasNoErrorsAndNoWarnings) {
  EXPECT_THAT(Said(Tube(), Severity::kError), IsEmpty());
  EXPECT_THAT(Said(Tube(), Severity::kWarning), IsEmpty());
}

struct Damage {
  const char* words;  // that the finding contains
  Severity severity;
  std::function<void(client::RigData&)> apply;
};

TEST(Lint, FindsEachDamage) {
  const Damage rows[] = {
      {"not finite", Severity::kError, [](auto& rig) { rig.meshes[0].positions[4] = NAN; }},
      {"not finite", Severity::kError,
       [](auto& rig) { rig.meshes[0].skin.inverse_bind[0] = INFINITY; }},
      {"joints: none", Severity::kError, [](auto& rig) { rig.joints.clear(); }},
      {"rest_local", Severity::kError, [](auto& rig) { rig.rest_local.pop_back(); }},
      {"twice", Severity::kError, [](auto& rig) { rig.joints[1].name = rig.joints[0].name; }},
      {"parent", Severity::kError, [](auto& rig) { rig.joints[0].parent = 1; }},
      {"no vertex", Severity::kError, [](auto& rig) { rig.meshes.clear(); }},
      {"face_sizes", Severity::kError, [](auto& rig) { rig.meshes[0].face_sizes[0] = 1000; }},
      {"face_vertices", Severity::kError, [](auto& rig) { rig.meshes[0].face_vertices[0] = 1000; }},
      {"influence_counts", Severity::kError,
       [](auto& rig) { rig.meshes[0].skin.influence_counts.pop_back(); }},
      {"influence_weights", Severity::kError,
       [](auto& rig) { rig.meshes[0].skin.influence_counts[0] = 4'000'000'000U; }},
      {"influence_joints", Severity::kError,
       [](auto& rig) { rig.meshes[0].skin.influence_joints[0] = 9; }},
      {"skin.joints", Severity::kError, [](auto& rig) { rig.meshes[0].skin.joints[0] = 9; }},
      {"sum to 1", Severity::kError,
       [](auto& rig) { rig.meshes[0].skin.influence_weights[0] += 0.01F; }},
      {"below 0", Severity::kError,
       [](auto& rig) { rig.meshes[0].skin.influence_weights[0] *= -1; }},
      {"no weight", Severity::kError,
       [](auto& rig) {
         std::fill_n(rig.meshes[0].skin.influence_weights.begin(),
                     rig.meshes[0].skin.influence_counts[0], 0.F);
       }},
      {"vertex twice", Severity::kWarning,
       [](auto& rig) { rig.meshes[0].face_vertices[1] = rig.meshes[0].face_vertices[0]; }},
      {"without inverse", Severity::kWarning,
       [](auto& rig) { std::fill_n(rig.meshes[0].skin.inverse_bind.begin(), 12, 0.F); }},
      {"seams", Severity::kWarning,
       [](auto& rig) {
         auto& p = rig.meshes[0].positions;  // the first vertex onto one of the other end
         std::copy_n(p.end() - 3, 3, p.begin());
       }},
  };
  for (const Damage& row : rows) {
    client::RigData rig = Tube();
    row.apply(rig);
    EXPECT_THAT(Said(rig, row.severity), Contains(::testing::HasSubstr(row.words)));
    CountRig(rig);  // must survive the same arrays
  }
}

TEST(RigTraits, CountsTheTube) {
  const RigTraits facts = CountRig(Tube());
  ASSERT_EQ(facts.meshes.size(), 1U);
  EXPECT_EQ(facts.meshes[0].vertices, 22U);
  EXPECT_EQ(facts.meshes[0].max_influences, 2U);
  EXPECT_EQ(facts.meshes[0].triangles, 4U * 4 * 2 + 8);
  EXPECT_EQ(facts.bounds[1], 0);
  EXPECT_EQ(facts.bounds[4], 2);
  EXPECT_THAT(facts.joints_without_weights, IsEmpty());
}

}  // namespace
}  // namespace sinew::cli
