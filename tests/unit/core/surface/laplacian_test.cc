// Welding, neighbours and neighbour weights.
#include "core/surface/laplacian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using ::sinew::testing::MakeRig;
using ::sinew::testing::RigidSource;

TEST(Weld, JoinsOnlySeams) {
  const WeldedPoints welded = Weld(testing::SeamDuplicateVertices());
  EXPECT_EQ(welded.points(), 6u);
  EXPECT_EQ(welded.point, (std::vector<std::uint32_t>{0, 1, 2, 3, 1, 4, 5, 2}));
  EXPECT_EQ(welded.first, (std::vector<std::uint32_t>{0, 1, 2, 3, 5, 6}));
}

TEST(Weld, SeparatesDifferentWeights) {
  EXPECT_EQ(Weld(testing::TouchingLips()).points(), 8u);
}

TEST(Weld, JoinsAcrossParts) {
  RigSource source = RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}},
                                 {{0, 1, 2}, {3, 5, 4}});
  source.mesh.parts = {{"a", 0, 3, 0, 1}, {"b", 3, 3, 1, 1}};
  EXPECT_EQ(Weld(MakeRig(std::move(source))).points(), 4u);
}

TEST(Weld, DistanceIsRelativeToDiagonal) {
  const auto points = [](float gap) {
    return Weld(MakeRig(RigidSource({{0, 0, 0}, {gap, 0, 0}, {1000, 0, 0}}, {}))).points();
  };
  EXPECT_EQ(points(0.9e-3f), 2u);
  EXPECT_EQ(points(3e-3f), 3u);
}

TEST(Weld, JoinsAcrossGridCells) {
  // Pairs 0.5e-6 apart at random positions: some straddle a grid cell border.
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<Vec3f> positions = {{0, 0, 0}, {4096, 0, 0}};
  for (int k = 0; k < 200; ++k) {
    const float x = std::round(unit(random) * 4e5f) / 1024 + 1, y = 64 * unit(random);
    positions.push_back({x, y, 0});
    positions.push_back({x + 1.0f / 1024, y, 0});
  }
  EXPECT_EQ(Weld(MakeRig(RigidSource(positions, {}))).points(), 202u);
}

TEST(Weld, SeparatesDifferentShapeOffsets) {
  RigSource source = RigidSource({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {1, 0, 0}}, {});
  source.controls = {{.name = "smile"}};
  ShapeTarget target;
  target.vertices = {1, 2};
  target.offsets = {{0, 1, 0}, {0, 0, 0}};  // a zero offset equals none
  source.shapes = {{.control = 0, .targets = {target}}};
  const WeldedPoints welded = Weld(MakeRig(std::move(source)));
  EXPECT_EQ(welded.point, (std::vector<std::uint32_t>{0, 1, 0, 2}));
}

TEST(Weld, UsesGivenWeldNumbers) {
  RigSource source = RigidSource({{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {});
  source.mesh.weld = {7, 3, 9, 7};
  EXPECT_EQ(Weld(MakeRig(std::move(source))).point, (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

TEST(Weld, HandlesCoincidentMeshes) {
  EXPECT_EQ(Weld(MakeRig(RigidSource({{1, 1, 1}, {1, 1, 1}}, {}))).points(), 1u);
  EXPECT_EQ(Weld(testing::OneVertex()).points(), 1u);
}

Adjacency Polygons(const Rig& rig) {
  return PolygonNeighbours(rig.mesh(), Weld(rig));
}

TEST(Adjacency, FollowsPolygonEdgesAcrossSeams) {
  const Adjacency a = Polygons(testing::SeamDuplicateVertices());
  const auto row = [&](std::size_t p) { return std::vector(a.row(p).begin(), a.row(p).end()); };
  EXPECT_EQ(row(0), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(row(1), (std::vector<std::uint32_t>{0, 2, 4}));
  EXPECT_EQ(row(2), (std::vector<std::uint32_t>{1, 3, 5}));
}

TEST(Adjacency, RowsAreSymmetricSortedAndIrreflexive) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const WeldedPoints welded = Weld(named.rig);
    for (const Adjacency& a : {PolygonNeighbours(named.rig.mesh(), welded),
                               TriangleNeighbours(named.rig.mesh(), welded)}) {
      ASSERT_EQ(a.points(), welded.points()) << named.name;
      for (std::uint32_t p = 0; p < a.points(); ++p) {
        const auto row = a.row(p);
        EXPECT_TRUE(std::is_sorted(row.begin(), row.end())) << named.name;
        EXPECT_EQ(std::adjacent_find(row.begin(), row.end()), row.end()) << named.name;
        for (const std::uint32_t q : row) {
          EXPECT_NE(p, q);
          EXPECT_TRUE(std::binary_search(a.row(q).begin(), a.row(q).end(), p)) << named.name;
        }
      }
    }
  }
}

TEST(Adjacency, MeanEdge) {
  const Rig rig = MakeRig(RigidSource({{0, 0, 0}, {3, 0, 0}, {3, 4, 0}}, {{0, 1, 2}}));
  EXPECT_NEAR(RmsEdge(rig.mesh(), Weld(rig), Polygons(rig)), std::sqrt(50.0 / 3), 1e-12);
  const Rig alone = testing::OneVertex();
  EXPECT_EQ(RmsEdge(alone.mesh(), Weld(alone), Polygons(alone)), 0);
}

std::vector<std::uint8_t> Borders(const Rig& rig) {
  return BorderPoints(rig.mesh(), Weld(rig));
}

TEST(BorderPoints, EndsOfEdgesWithOneFace) {
  const auto tube = Borders(testing::TubeRig({.rings = 5, .around = 8}));
  for (std::size_t v = 0; v < tube.size(); ++v) EXPECT_EQ(tube[v], v < 8 || v >= 32) << v;
  EXPECT_EQ(Borders(testing::OneTriangle()), (std::vector<std::uint8_t>{1, 1, 1}));
  EXPECT_EQ(Borders(testing::HardCube()), std::vector<std::uint8_t>(8, 0));  // closed when welded
  EXPECT_EQ(Borders(testing::IsolatedVertex()), (std::vector<std::uint8_t>{1, 1, 1, 0}));
  const Rig fan = MakeRig(RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}},
                                      {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 1}}));
  EXPECT_EQ(Borders(fan), (std::vector<std::uint8_t>{0, 1, 1, 1, 1}));
}

TEST(BorderPoints, CountsFacesNotCorners) {
  // A face using an edge twice is still one face; two identical faces are two.
  EXPECT_EQ(Borders(MakeRig(RigidSource({{0, 0, 0}, {1, 0, 0}, {2, 1, 0}}, {{0, 1, 2, 1}}))),
            (std::vector<std::uint8_t>{1, 1, 1}));
  EXPECT_EQ(
      Borders(MakeRig(RigidSource({{0, 0, 0}, {1, 0, 0}, {2, 1, 0}}, {{0, 1, 2}, {2, 1, 0}}))),
      (std::vector<std::uint8_t>{0, 0, 0}));
}

TEST(PointOrder, OrdersByLowestLane) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const auto layout = BlockLayout::Create(named.rig);
    ASSERT_TRUE(layout.ok());
    const WeldedPoints welded = Weld(named.rig);
    const PointOrder order = OrderPoints(welded, **layout);
    for (std::size_t v = 0; v < welded.point.size(); ++v) {
      EXPECT_LE(order.lane[welded.point[v]], (*layout)->lane[v]) << named.name;
    }
    for (std::uint32_t i = 0; i < order.point.size(); ++i) {
      EXPECT_EQ(order.number[order.point[i]], i) << named.name;
      if (i == 0) continue;
      EXPECT_LT(order.lane[order.point[i - 1]], order.lane[order.point[i]]);
    }
  }
}

NeighbourWeights InverseDistances(const Rig& rig) {
  const WeldedPoints welded = Weld(rig);
  return InverseDistanceWeights(rig.mesh(), welded, PolygonNeighbours(rig.mesh(), welded));
}

NeighbourWeights Cotangents(const Rig& rig, NegativeWeights negative) {
  const WeldedPoints welded = Weld(rig);
  return CotangentWeights(rig.mesh(), welded, TriangleNeighbours(rig.mesh(), welded), negative);
}

double EdgeWeight(const NeighbourWeights& n, std::uint32_t a, std::uint32_t b) {
  for (std::uint64_t k = n.offsets[a]; k < n.offsets[a + 1]; ++k) {
    if (n.neighbours[k] == b) return n.weights[k] * n.degree[a];
  }
  return 0;
}

TEST(NeighbourWeights, RowsSumToOneAndAreSelfAdjoint) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (const NeighbourWeights& n :
         {UniformWeights(Polygons(named.rig)), Cotangents(named.rig, NegativeWeights::kClamp),
          InverseDistances(named.rig)}) {
      for (std::uint32_t p = 0; p < n.points(); ++p) {
        double sum = 0;
        ASSERT_GT(n.offsets[p + 1], n.offsets[p]) << named.name;
        for (std::uint64_t k = n.offsets[p]; k < n.offsets[p + 1]; ++k) {
          EXPECT_GT(n.weights[k], 0) << named.name;
          sum += n.weights[k];
          EXPECT_NEAR(EdgeWeight(n, n.neighbours[k], p), n.weights[k] * n.degree[p],
                      1e-12 * n.degree[p])
              << named.name;
        }
        EXPECT_NEAR(sum, 1, 1e-14) << named.name;
      }
    }
  }
}

TEST(NeighbourWeights, CotangentsOfRightTriangle) {
  const Rig rig = testing::OneTriangle();  // right angle at 0
  const NeighbourWeights n = Cotangents(rig, NegativeWeights::kKeep);
  EXPECT_NEAR(EdgeWeight(n, 0, 1), 0.5, 1e-12);
  EXPECT_NEAR(EdgeWeight(n, 0, 2), 0.5, 1e-12);
  EXPECT_NEAR(EdgeWeight(n, 1, 2), 0, 1e-12);
}

TEST(NeighbourWeights, InverseDistancesOfRightTriangle) {
  const NeighbourWeights n =
      InverseDistances(MakeRig(RigidSource({{0, 0, 0}, {3, 0, 0}, {3, 4, 0}}, {{0, 1, 2}})));
  EXPECT_NEAR(EdgeWeight(n, 0, 1), 1.0 / 3, 1e-12);
  EXPECT_NEAR(EdgeWeight(n, 1, 2), 1.0 / 4, 1e-12);
  EXPECT_NEAR(EdgeWeight(n, 0, 2), 1.0 / 5, 1e-12);
  EXPECT_FALSE(n.even);
}

TEST(NeighbourWeights, InverseDistancesFiniteForCoincidentPoints) {
  RigSource source = RigidSource({{0, 0, 0}, {0, 0, 0}, {2, 0, 0}}, {{0, 1, 2}});
  source.mesh.weld = {0, 1, 2};
  const NeighbourWeights n = InverseDistances(MakeRig(std::move(source)));
  EXPECT_NEAR(EdgeWeight(n, 0, 1), 1 / 2e-9, 1);
  EXPECT_NEAR(EdgeWeight(n, 0, 2), 0.5, 1e-6);
  RigSource one = RigidSource({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, {{0, 1, 2}});
  one.mesh.weld = {0, 1, 2};
  EXPECT_EQ(EdgeWeight(InverseDistances(MakeRig(std::move(one))), 0, 1), 1);
}

TEST(NeighbourWeights, ClampRemovesNegativeCotangents) {
  const Rig rig = MakeRig(RigidSource({{0, 0, 0}, {4, 0, 0}, {2, 0.2f, 0}}, {{0, 1, 2}}));
  EXPECT_LT(EdgeWeight(Cotangents(rig, NegativeWeights::kKeep), 0, 1), -1);
  const NeighbourWeights clamped = Cotangents(rig, NegativeWeights::kClamp);
  const double mean = EdgeWeight(clamped, 0, 2);
  EXPECT_GT(mean, 1);
  EXPECT_NEAR(EdgeWeight(clamped, 0, 1), 1e-3 * mean, 1e-6);
}

// Blender makes such corners when it subdivides the sides of an n-gon: the fan of the first corner
// has triangles without area but for rounding.
TEST(NeighbourWeights, CollinearCornersOfPolygonsAddNothing) {
  constexpr int kSides = 5, kPieces = 7;
  std::vector<Vec3f> points;
  std::vector<std::uint32_t> face;
  for (int k = 0; k < kSides * kPieces; ++k) {
    const double part = k % kPieces / static_cast<double>(kPieces);
    const auto corner = [](int side) { return 2 * M_PI * (side + 0.1) / kSides; };
    const double a = corner(k / kPieces), b = corner(k / kPieces + 1);
    points.push_back({static_cast<float>((1 - part) * std::cos(a) + part * std::cos(b)),
                      static_cast<float>((1 - part) * std::sin(a) + part * std::sin(b)), 0.3f});
    face.push_back(static_cast<std::uint32_t>(k));
  }
  const NeighbourWeights n =
      Cotangents(MakeRig(RigidSource(points, {face})), NegativeWeights::kClamp);
  EXPECT_LT(*std::ranges::max_element(n.degree), 100);
}

TEST(NeighbourWeights, InvariantToTranslation) {
  const NeighbourWeights near = Cotangents(testing::TubeRig(), NegativeWeights::kClamp);
  const NeighbourWeights far =
      Cotangents(testing::TubeRig({.origin = {64, 32, 16}}), NegativeWeights::kClamp);
  for (std::size_t k = 0; k < near.weights.size(); ++k) {
    EXPECT_NEAR(near.weights[k], far.weights[k], 1e-3);
  }
}

}  // namespace
}  // namespace sinew
