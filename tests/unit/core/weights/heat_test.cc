// Heat weights against closed forms, a naive dense solution, Blender's results, and hostile
// surfaces.
#include "core/weights/heat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/reference/weights_reference.h"
#include "tests/support/bodies.h"
#include "tests/support/fixture_files.h"
#include "tests/support/paths.h"

namespace sinew::weights {
namespace {

using ::sinew::testing::Body;
using ::sinew::testing::Canonical;
using ::sinew::testing::Cylinder;
using ::sinew::testing::HeatReference;
using ::sinew::testing::Legs;
using ::sinew::testing::MaxDifference;
using ::sinew::testing::MeshOf;
using ::sinew::testing::SharedData;
using ::sinew::testing::SkinOf;

// Rows before pruning and normalisation, per vertex.
std::vector<std::vector<double>> RawHeat(const Body& body, const WeightOptions& options) {
  const Skin skin = SkinOf(body);
  Task task;
  const auto computed = HeatWeights(skin, options, {task, 1});
  EXPECT_TRUE(computed.ok()) << computed.status();
  std::vector<std::vector<double>> rows;
  for (const std::uint32_t p : skin.welded.point) {
    auto& row = rows.emplace_back(testing::JointsOf(body), 0.0);
    for (std::size_t j = 0; j < skin.joints.size(); ++j) {
      row[skin.joints[j]] = computed->columns.of(j)[p];
    }
  }
  return rows;
}

testing::Triangles TrianglesOf(const Body& body) {
  testing::Triangles triangles;
  for (const auto& f : body.faces) triangles.push_back({f[0], f[1], f[2]});
  return triangles;
}

// Positions rounded to float, as the mesh stores them.
std::vector<Vec3d> Rounded(const Body& body) {
  std::vector<Vec3d> points;
  for (const Vec3d& p : body.points) points.push_back(ToDouble(ToFloat(p)));
  return points;
}

double WorstSum(const std::vector<std::vector<double>>& rows) {
  double worst = 0;
  for (const auto& row : rows) {
    double sum = 0;
    for (const double w : row) sum += w;
    worst = std::max(worst, std::abs(sum - 1));
  }
  return worst;
}

class TubeDecay : public ::testing::TestWithParam<std::pair<double, double>> {};
TEST_P(TubeDecay, MatchesClosedForm) {
  // w of the far bone = 1/2 exp(-x sqrt(c) / R): the decay length over the first radii.
  const auto [c, length] = GetParam();
  const Body body = Canonical();
  const auto rows = RawHeat(body, {.heat = static_cast<float>(c), .facing = false});
  const auto weight = [&](std::size_t ring) { return rows[ring * 32 + 5][1]; };
  EXPECT_NEAR(weight(40), 0.5, 1e-3);
  const std::size_t away = 8;  // rings of 1/8
  EXPECT_NEAR(1 / std::log(weight(40) / weight(40 - away)), length, 0.012);
}
INSTANTIATE_TEST_SUITE_P(Codes, TubeDecay,
                         ::testing::Values(std::pair(1.0, 1.000), std::pair(3.0, 0.578),
                                           std::pair(4.0, 0.500)));

TEST(Heat, MatchesDenseSolution) {
  Body knee = Cylinder(-2, 2, 0.5, 17, 12);
  knee.bones = {
      {0, {-2, 0, 0}, {0, 0, 0}}, {1, {0, 0, 0}, {1, 0.1, 0}}, {2, {1, 0.1, 0}, {2, 0, 0}}};
  Body legs = Cylinder(0, 3, 1, 13, 10, {0, 1.1, 0});
  legs.bones = {{0, {-1, 0, 0}, {0, 1.1, 0}}, {1, {0, 1.1, 0}, {3, 1.1, 0.2}}};
  Body other = Cylinder(0, 3, 1, 13, 10, {0, -1.1, 0});
  other.bones = {{0, {-1, 0, 0}, {0, -1.1, 0}}, {2, {0, -1.1, 0}, {3, -1.1, 0}}};
  testing::Append(legs, other);
  for (const Body& body : {knee, legs}) {
    for (const bool facing : {false, true}) {
      const WeightOptions options = {.heat = 2, .facing = facing};
      const auto reference = HeatReference(Rounded(body), TrianglesOf(body), body.bones,
                                           testing::JointsOf(body), 2, facing);
      EXPECT_LT(MaxDifference(RawHeat(body, options), reference), 1e-9) << facing;
    }
  }
}

TEST(Heat, RowsSumToOne) {
  EXPECT_LT(WorstSum(RawHeat(Canonical(), {})), 1e-10);
  EXPECT_LT(WorstSum(RawHeat(Legs(), {})), 1e-10);
}

TEST(Heat, NonNegativeCotangentsBoundWeights) {
  // Ring distance 1/8 and chords of 1/5: no obtuse corners except in the thin cap fans.
  for (const auto& row : RawHeat(Canonical(), {})) {
    for (const double w : row) {
      EXPECT_GT(w, -1e-12);
      EXPECT_LT(w, 1 + 1e-12);
    }
  }
}

TEST(Heat, LegsStaySeparate) {
  const Body body = Legs();
  const auto rows = RawHeat(body, {});
  for (std::size_t v = 0; v < rows.size(); ++v) {
    EXPECT_LT(rows[v][v < rows.size() / 2 ? 2 : 1], 1e-12) << v;
  }
}

TEST(Heat, FacingReducesWeightOfBoneInGap) {
  Body body = Legs();
  body.bones.push_back({3, {0, 0, 0}, {6, 0, 0}});  // a control between the legs
  const auto mean = [&](const WeightOptions& options) {
    double sum = 0;
    for (const auto& row : RawHeat(body, options)) sum += row[3];
    return sum / static_cast<double>(body.points.size());
  };
  const double with = mean({}), without = mean({.facing = false});
  EXPECT_GT(without, 0.15);
  EXPECT_LT(with, 0.4 * without);
}

TEST(Heat, ComponentWithoutVisibleBoneFollowsNearest) {
  // A closed component around the body: lines from it to the bones re-enter the body's skin.
  Body body = Canonical();
  body.bones = {{0, {-4, 0, 0}, {0, 0, 0}}, {1, {0, 0, 0}, {4, 0, 0}}};
  testing::Append(body, Cylinder(-5.2, 5.2, 1.2, 21, 16));
  const Skin skin = SkinOf(body);
  Task task;
  const auto computed = HeatWeights(skin, {}, {task, 1});
  ASSERT_TRUE(computed.ok()) << computed.status();
  EXPECT_EQ(computed->unseen.size(), 21u * 16 + 2);
  EXPECT_EQ(computed->notes.size(), 1u);
  EXPECT_LT(WorstSum(RawHeat(body, {})), 1e-10);
}

TEST(Heat, IgnoresDuplicateAndDegenerateFaces) {
  const Body body = Canonical();
  Body worse = body;
  for (std::size_t f = 0; f < body.faces.size(); f += 3) {
    auto face = body.faces[f];
    worse.faces.push_back(face);
    std::ranges::reverse(face);
    worse.faces.push_back(face);
    worse.faces.push_back({face[0], face[0], face[1]});
    worse.faces.push_back({face[0], face[1], face[1]});
  }
  EXPECT_LT(MaxDifference(RawHeat(body, {}), RawHeat(worse, {})), 1e-12);
}

TEST(Heat, ZeroAreaFacesAreHarmless) {
  // Degenerate faces whose corners lie on a line along the tube.
  Body body = Canonical();
  for (std::uint32_t k = 0; k < 32; ++k) body.faces.push_back({k, k + 32, k + 64});
  const auto rows = RawHeat(body, {});
  EXPECT_LT(WorstSum(rows), 1e-9);
  EXPECT_LT(MaxDifference(rows, RawHeat(Canonical(), {})), 0.02);
}

TEST(Heat, SolvesTinyAndFarComponents) {
  Body body = Canonical();
  testing::Append(body, testing::Mapped(Cylinder(-1, 1, 1, 5, 8), [](const Vec3d& p) {
                    return 1e-4 * p + Vec3d{0, 4000, 0};
                  }));
  EXPECT_LT(WorstSum(RawHeat(body, {})), 1e-6);
}

TEST(Heat, RejectsSurfaceTooCostlyToFactor) {
  // Random triangles give a nearly dense factor.
  std::mt19937 random(5);
  Body body;
  constexpr std::uint32_t kPoints = 20000;
  std::uniform_int_distribution<std::uint32_t> pick(0, kPoints - 1);
  std::uniform_real_distribution<double> place(-1, 1);
  for (std::uint32_t i = 0; i < kPoints; ++i) {
    body.points.push_back({place(random), place(random), place(random)});
  }
  for (std::uint32_t i = 0; i < 2 * kPoints; ++i) {
    const std::uint32_t a = pick(random), b = pick(random), c = pick(random);
    body.faces.push_back({a, b, c});
  }
  body.bones = {{0, {0, 0, 0}, {0, 0, 0}}};
  const Skin skin = SkinOf(body);
  Task task;
  const auto computed = HeatWeights(skin, {}, {task, 1});
  EXPECT_TRUE(absl::IsResourceExhausted(computed.status())) << computed.status();
}

// Blender's post-processing: 0 below 0.025, then a ramp up to 0.05.
double BlenderRamp(double w) {
  return w < 0.025 ? 0 : w < 0.05 ? 2 * w - 0.05 : w;
}

struct Difference {
  double mean = 0, most = 0;
};

Difference Compared(const std::vector<std::vector<double>>& ours,
                    const std::vector<double>& blender) {
  Difference d;
  const std::size_t joints = blender.size() / ours.size();
  for (std::size_t v = 0; v < ours.size(); ++v) {
    for (std::size_t j = 0; j < joints; ++j) {
      const double off = std::abs(BlenderRamp(ours[v][j]) - blender[v * joints + j]);
      d.mean += off / static_cast<double>(blender.size());
      d.most = std::max(d.most, off);
    }
  }
  return d;
}

TEST(Heat, CloseToBlenderAutomaticWeights) {
  const auto folder = SharedData() / "fixtures" / "blender";
  if (!std::filesystem::exists(folder / "manifest.json")) {
    GTEST_SKIP() << "no Blender fixtures in " << folder;
  }
  const auto rig = folder / "tube2_closed_heat";
  Body body;
  body.points = testing::ReadPoints(rig / "rest.f64");
  const auto corners = testing::ReadArray<std::int32_t>(rig / "triangles.i32");
  for (std::size_t k = 0; k < corners.size(); k += 3) {
    body.faces.push_back({static_cast<std::uint32_t>(corners[k]),
                          static_cast<std::uint32_t>(corners[k + 1]),
                          static_cast<std::uint32_t>(corners[k + 2])});
  }
  const auto manifest = nlohmann::json::parse(std::ifstream(folder / "manifest.json"));
  for (const auto& entry : manifest.at("rigs")) {
    if (entry.at("name") != "tube2_closed_heat") continue;
    for (const auto& bone : entry.at("bones")) {
      const auto point = [&](const char* key) {
        return Vec3d{bone.at(key)[0], bone.at(key)[1], bone.at(key)[2]};
      };
      body.bones.push_back(
          {static_cast<std::uint32_t>(body.bones.size()), point("head"), point("tail")});
    }
  }
  const auto blender = testing::ReadArray<double>(rig / "weights.f64");
  const Difference with = Compared(RawHeat(body, {}), blender);
  const Difference without = Compared(RawHeat(body, {.facing = false}), blender);
  const Difference paper = Compared(RawHeat(body, {.heat = 1, .facing = false}), blender);
  std::printf("from Blender's: mean %.1e, largest %.1e; without facing %.1e, %.1e\n", with.mean,
              with.most, without.mean, without.most);
  EXPECT_LT(with.mean, 2e-6);
  EXPECT_LT(with.most, 2e-5);
  EXPECT_GT(without.mean, 5 * with.mean);  // so the option matches Blender's behaviour
  EXPECT_LT(without.most, 2e-4);
  EXPECT_GT(paper.mean, 0.02);
}

}  // namespace
}  // namespace sinew::weights
