#include "client/rig/rig_lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "client/models/models.h"
#include "client/rig/rig_traits.h"

namespace sinew::client {
namespace {

using client::Severity;
using ::testing::Contains;
using ::testing::IsEmpty;

client::RigData Tube() {
  return client::Tube({.rings = 5, .segments = 4, .joints = 2, .influences = 2}).rig;
}

std::vector<std::string> Messages(const client::RigData& rig, Severity severity) {
  std::vector<std::string> messages;
  for (const client::Problem& problem : Lint(rig)) {
    if (problem.severity == severity) messages.push_back(problem.message);
  }
  return messages;
}

TEST(Lint, GoodRigHasNoWarnings) {
  EXPECT_THAT(Messages(Tube(), Severity::kWarning), IsEmpty());
}

struct Row {
  const char* words;  // that the message contains
  Severity severity;
  std::function<void(client::RigData&)> apply;
};

TEST(Lint, FindsEachProblem) {
  const Row rows[] = {
      {"vertex twice", Severity::kWarning,
       [](auto& rig) { rig.meshes[0].face_vertices[1] = rig.meshes[0].face_vertices[0]; }},
      {"singular", Severity::kWarning,
       [](auto& rig) { std::fill_n(rig.meshes[0].skin.inverse_bind.begin(), 12, 0.F); }},
      {"fallback", Severity::kInfo,
       [](auto& rig) {
         std::fill_n(rig.meshes[0].skin.influence_weights.begin(),
                     rig.meshes[0].skin.influence_counts[0], 0.F);
       }},
      {"seams", Severity::kWarning,
       [](auto& rig) {
         auto& p = rig.meshes[0].positions;  // the first vertex onto one of the other end
         std::copy_n(p.end() - 3, 3, p.begin());
       }},
  };
  for (const Row& row : rows) {
    client::RigData rig = Tube();
    row.apply(rig);
    EXPECT_THAT(Messages(rig, row.severity), Contains(::testing::HasSubstr(row.words)));
  }
}

TEST(Lint, SeamsMayDifferByRounding) {
  const auto warnings = [](float difference) {
    client::RigData rig = Tube();
    client::Mesh& mesh = rig.meshes[0];
    std::copy_n(mesh.positions.begin() + 3, 3, mesh.positions.begin());  // one ring, equal weights
    mesh.skin.influence_weights[0] -= difference;
    return Messages(rig, Severity::kWarning);
  };
  EXPECT_THAT(warnings(0.9e-3F), IsEmpty());
  EXPECT_THAT(warnings(2e-3F), Contains(::testing::HasSubstr("1 vertex coincides")));
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
}  // namespace sinew::client
