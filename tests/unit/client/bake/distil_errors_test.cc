// What `sinew distil` reports of distances, and how it judges them.
#include "client/bake/distil/distil_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "client/bake/files/skinned_glb.h"

namespace sinew::bake {
namespace {

TEST(DistilMeter, ReportsPlacesOfTheLargestErrors) {
  const std::vector<std::uint32_t> carriers = {0, 0, 1};
  DistilMeter meter(carriers, 3);
  meter.Add(4, true, std::vector<float>{3, 0, 0});
  meter.Add(9, false, std::vector<float>{2, 2, 2.5F});
  const DistilErrors errors = meter.Errors();
  EXPECT_EQ(errors.worst_pose, 9u);
  EXPECT_EQ(errors.farthest_pose, 4u);
  EXPECT_EQ(errors.farthest_vertex, 0u);
  EXPECT_NEAR(errors.all.rms, std::sqrt((9 + 4 + 4 + 6.25) / 6), 1e-12);
  EXPECT_NEAR(errors.random.rms, std::sqrt(3), 1e-12);
  EXPECT_EQ(errors.clips.largest, 2.5);
  EXPECT_NEAR(errors.joints[0], std::sqrt(17.0 / 4), 1e-12);
  EXPECT_NEAR(errors.joints[1], 2.5 / std::sqrt(2), 1e-12);
  EXPECT_EQ(errors.joints[2], 0);
}

TEST(DistilMeter, PercentileIsWithinOnePercent) {
  std::vector<float> distances;
  for (int k = 1; k <= 1000; ++k) distances.push_back(static_cast<float>(k) * 1e-4F);
  const std::vector<std::uint32_t> carriers(distances.size());
  DistilMeter meter(carriers, 1);
  meter.Add(1, true, distances);
  EXPECT_NEAR(meter.Errors().all.p99, 0.099, 0.001);
}

// A report of errors, of a character of size 1.
DistilReport Report(double before, double after) {
  DistilReport report;
  report.diagonal = 1;
  report.own.all.rms = before;
  report.linear.all.rms = after;
  return report;
}

TEST(DistilReport, JudgesByTheHeldOutPoses) {
  const DistilReport gain = Report(0.01, 0.008);
  EXPECT_NEAR(gain.gain(), 0.2, 1e-12);
  EXPECT_FALSE(gain.no_gain() || gain.is_worse() || gain.is_exact());
  EXPECT_TRUE(Report(0.01, 0.0099).no_gain());
  EXPECT_FALSE(Report(0.01, 0.0099).is_worse());
  EXPECT_TRUE(Report(0.01, 0.0101).is_worse());
  EXPECT_TRUE(Report(1e-8, 1e-7).is_exact());
  EXPECT_FALSE(Report(1e-8, 1e-7).is_worse());
}

TEST(DistilReport, ShapesAndFewerInfluencesCount) {
  DistilReport report = Report(0.01, 0.02);
  report.own_cut.emplace().all.rms = 0.04;
  EXPECT_NEAR(report.gain(), 0.5, 1e-12);
  report.shapes.emplace().all.rms = 0.01;
  EXPECT_NEAR(report.gain(), 0.75, 1e-12);
}

TEST(SkinnedGlb, SumOfWeightsIsExact) {
  for (int k = 0; k < 1000; ++k) {
    std::vector<float> weights = {0.1F + 1e-4F * static_cast<float>(k), 1e-9F, 1.0F / 3, 0};
    weights[3] = 1 - weights[0] - weights[2];
    const std::vector<float> before = weights;
    MakeSumExact(weights);
    float sum = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      sum += weights[i];
      EXPECT_NEAR(weights[i], before[i], 3e-7);
    }
    EXPECT_EQ(sum, 1);
  }
}

// A triangle on one joint, with coefficients.
client::RigData Triangle() {
  const std::vector<float> identity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  client::RigData rig;
  rig.joints = {{.name = "root", .parent = -1}};
  rig.rest_local = identity;
  client::Mesh& mesh = rig.meshes.emplace_back();
  mesh.name = "leaf";
  mesh.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  mesh.face_vertices = {0, 1, 2};
  mesh.skin.joints = {0};
  mesh.skin.inverse_bind = identity;
  mesh.skin.influence_counts = {1, 1, 1};
  mesh.skin.influence_joints = {0, 0, 0};
  mesh.skin.influence_weights = {1, 1, 1};
  mesh.skin.coefficients = {
      .columns = 4, .counts = {1, 0, 1}, .joints = {0, 0}, .values = {0, 0, 0, 1, 0, 0, 0, 1}};
  return rig;
}

TEST(SkinnedGlb, CoefficientsThatDoNotFitAreRefused) {
  client::RigData rig = Triangle();
  const SkinnedScene scene{.rig = &rig, .clips = {}};
  const auto good = EncodeSkinnedGlb(scene);
  ASSERT_TRUE(good.ok()) << good.status();
  // The vertex without coefficients has its weight.
  EXPECT_NE(good->find("_SINEW_AS_0"), std::string::npos);
  client::Coefficients& given = rig.meshes[0].skin.coefficients;
  given.joints[1] = 1;
  EXPECT_EQ(EncodeSkinnedGlb(scene).status().message(),
            "mesh \"leaf\": vertex 2 has coefficients of a joint without weight");
  given.columns = 12;
  EXPECT_EQ(EncodeSkinnedGlb(scene).status().message(),
            "mesh \"leaf\": its coefficients have 12 values, need 4, those of animation space");
}

}  // namespace
}  // namespace sinew::bake
