#include "core/fit/embedding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "core/base/vectors.h"
#include "tests/support/run_method.h"

namespace sinew::fit {
namespace {

using sinew::testing::ValueOrDie;

// A graph of spheres at random places, joined where they are near.
SphereGraph RandomGraph(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<> place(-0.4, 0.4), size(0.03, 0.12);
  SphereGraph graph;
  for (std::size_t k = 0; k < count; ++k) {
    graph.centre.push_back({place(random), place(random), 0.2 * place(random)});
    graph.radius.push_back(size(random));
  }
  std::ranges::sort(graph.radius, std::greater<>());
  graph.neighbours.resize(count);
  graph.distance.assign(count * count, std::numeric_limits<double>::infinity());
  graph.before.assign(count * count, 0);
  for (std::size_t a = 0; a < count; ++a) {
    graph.distance[a * count + a] = 0;
    for (std::size_t b = 0; b < count; ++b) {
      const double apart = Length(graph.centre[a] - graph.centre[b]);
      if (a == b || apart > 0.45) continue;
      graph.neighbours[a].push_back(static_cast<std::uint32_t>(b));
      graph.distance[a * count + b] = apart;
      graph.before[a * count + b] = static_cast<std::uint16_t>(a);
    }
  }
  // Floyd and Warshall.
  for (std::size_t via = 0; via < count; ++via) {
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        const double length = graph.distance[a * count + via] + graph.distance[via * count + b];
        if (length >= graph.distance[a * count + b]) continue;
        graph.distance[a * count + b] = length;
        graph.before[a * count + b] = graph.before[via * count + b];
      }
    }
  }
  return graph;
}

// All joints are wide: any sphere of a small graph is a candidate.
ReducedSkeleton SmallSkeleton() {
  SkeletonTemplate skeleton{.name = "small", .joints = {}};
  skeleton.joints.push_back({.name = "root", .place = {0, 0, 0}, .wide = true});
  skeleton.joints.push_back({.name = "left",
                             .parent = 0,
                             .place = {0.3, -0.3, 0},
                             .wide = true,
                             .foot = true,
                             .partner = 2});
  skeleton.joints.push_back({.name = "right",
                             .parent = 0,
                             .place = {-0.3, -0.3, 0},
                             .wide = true,
                             .foot = true,
                             .partner = 1});
  skeleton.joints.push_back({.name = "top", .parent = 0, .place = {0, 0.4, 0}, .wide = true});
  std::vector<Vec3d> places;
  for (const TemplateJoint& joint : skeleton.joints) places.push_back(joint.place);
  return Reduce(skeleton, places);
}

// The search is optimal: no assignment, of all that are allowed, costs less.
TEST(Embed, FindsTheBestOfAllAssignments) {
  const ReducedSkeleton skeleton = SmallSkeleton();
  int compared = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const SphereGraph graph = RandomGraph(seed, 7);
    std::vector<std::vector<std::uint16_t>> only(skeleton.joints.size());
    EmbedReach reach;
    std::size_t effort = kMaxEffort;
    const auto best =
        ValueOrDie(Embed({skeleton, graph, {0, 1, 0}, only}, 1, Task(), reach, effort));
    double least = std::numeric_limits<double>::infinity();
    const auto n = static_cast<std::uint16_t>(graph.count());
    for (std::uint16_t a = 0; a < n; ++a) {
      for (std::uint16_t b = 0; b < n; ++b) {
        for (std::uint16_t c = 0; c < n; ++c) {
          for (std::uint16_t d = 0; d < n; ++d) {
            only = {{a}, {b}, {c}, {d}};
            EmbedReach reached;
            effort = kMaxEffort;
            const auto one =
                ValueOrDie(Embed({skeleton, graph, {0, 1, 0}, only}, 1, Task(), reached, effort));
            if (one) least = std::min(least, one->penalty);
          }
        }
      }
    }
    if (!best) {
      EXPECT_GT(least, 1) << seed;
      continue;
    }
    ++compared;
    EXPECT_EQ(least, best->penalty) << seed;
  }
  EXPECT_GE(compared, 3);
}

TEST(Embed, FindsNothingAboveTheLimit) {
  const ReducedSkeleton skeleton = SmallSkeleton();
  const SphereGraph graph = RandomGraph(3, 20);
  const std::vector<std::vector<std::uint16_t>> only(skeleton.joints.size());
  EmbedReach reach;
  std::size_t effort = kMaxEffort;
  const auto best = ValueOrDie(Embed({skeleton, graph, {0, 1, 0}, only}, 1, Task(), reach, effort));
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(reach.joints, skeleton.joints.size());
  EXPECT_FALSE(ValueOrDie(Embed({skeleton, graph, {0, 1, 0}, only}, 0.9 * best->penalty, Task(),
                                reach, effort))
                   .has_value());
}

TEST(Embed, StopsWhenItsEffortIsSpent) {
  const ReducedSkeleton skeleton = SmallSkeleton();
  const SphereGraph graph = RandomGraph(3, 20);
  const std::vector<std::vector<std::uint16_t>> only(skeleton.joints.size());
  EmbedReach reach;
  std::size_t effort = kMaxEffort;
  ASSERT_TRUE(
      ValueOrDie(Embed({skeleton, graph, {0, 1, 0}, only}, 1, Task(), reach, effort)).has_value());
  EXPECT_FALSE(reach.exhausted);
  const std::size_t needed = kMaxEffort - effort;
  EXPECT_LT(needed, 5000u);
  effort = needed - 1;
  EXPECT_FALSE(
      ValueOrDie(Embed({skeleton, graph, {0, 1, 0}, only}, 1, Task(), reach, effort)).has_value());
  EXPECT_TRUE(reach.exhausted);
  EXPECT_EQ(effort, 0u);
}

TEST(PointsOfPath, DividesByLength) {
  SphereGraph graph;
  graph.centre = {{0, 0, 0}, {1, 0, 0}, {1, 3, 0}};
  graph.radius = {1, 1, 1};
  const std::uint16_t path[] = {0, 1, 2};
  const double parts[] = {0, 0.125, 0.25, 0.5, 1};
  const std::vector<Vec3d> points = PointsOfPath(graph, path, parts);
  EXPECT_EQ(points, (std::vector<Vec3d>{{0, 0, 0}, {0.5, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 3, 0}}));
}

}  // namespace
}  // namespace sinew::fit
