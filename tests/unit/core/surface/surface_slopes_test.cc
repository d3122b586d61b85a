// Slopes of weights on surfaces that are not smooth tubes.
#include "core/surface/surface_slopes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rig/weight_table.h"
#include "core/surface/rig_surface.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

// A grid of n x n points in the xy plane, one apart, with two joints; the second one's weight.
template <class Weight>
RigSource Grid(std::size_t n, Weight&& weight) {
  RigSource source = testing::TubeSource({.rings = 2, .around = 3});
  source.mesh = {};
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}, .fallback = {}};
  source.mesh.face_offsets = {0};
  for (std::uint32_t j = 0; j < n; ++j) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto x = static_cast<float>(i), y = static_cast<float>(j);
      source.mesh.positions.push_back({x, y, 0});
      const float w = weight(x, y);
      for (const auto& [binding, value] : {std::pair(0u, 1 - w), {1u, w}}) {
        source.influences.bindings.push_back(binding);
        source.influences.weights.push_back(value);
      }
      source.influences.offsets.push_back(source.influences.bindings.size());
      if (i + 1 == n || j + 1 == n) continue;
      const auto at = static_cast<std::uint32_t>(j * n + i),
                 up = at + static_cast<std::uint32_t>(n);
      for (const std::uint32_t v : {at, at + 1, up + 1, up}) source.mesh.face_vertices.push_back(v);
      source.mesh.face_offsets.push_back(
          static_cast<std::uint32_t>(source.mesh.face_vertices.size()));
    }
  }
  return source;
}

RigSource Finished(RigSource source) {
  source.mesh.parts = {{"grid", 0, static_cast<std::uint32_t>(source.mesh.positions.size()), 0,
                        static_cast<std::uint32_t>(source.mesh.face_offsets.size() - 1)}};
  return source;
}

// The gradient of the second joint's weight at every vertex.
std::vector<Vec3d> Gradients(const Rig& rig, double least = 0) {
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const WeightTable table = testing::ValueOrDie(WeightTable::Create(rig, *layout, 0, Task()));
  const RigSurface surface(rig, *layout);
  const SurfaceSlopes& slopes = surface.slopes(Task());
  const AlignedVector<float> all =
      slopes.OfWeights(*layout, table.joints, table.weights, least, Task());
  std::vector<Vec3d> gradients;
  for (const std::uint32_t lane : layout->lane) {
    const std::size_t block = lane / kLanes;
    Vec3d gradient;
    double sum[2] = {};
    for (std::size_t p = table.joints.offset[block]; p < table.joints.offset[block + 1]; ++p) {
      for (std::size_t k = 0; k < 2; ++k) {
        const double slope = double{all[(p * 2 + k) * kLanes + lane % kLanes]};
        sum[k] += slope;
        if (table.joints.entry[p] != 1) continue;
        gradient = gradient + slope * ToDouble(slopes.tangents()[block * 2 + k].At(lane % kLanes));
      }
    }
    EXPECT_NEAR(sum[0], 0, 1e-7);
    EXPECT_NEAR(sum[1], 0, 1e-7);
    gradients.push_back(gradient);
  }
  return gradients;
}

float Linear(float x, float y) {
  return 0.2f + 0.1f * x - 0.02f * y;
}

void ExpectLinear(const Rig& rig) {
  for (const Vec3d& g : Gradients(rig)) EXPECT_LT(testing::Distance(g, {0.1, -0.02, 0}), 1e-6);
}

TEST(SurfaceSlopes, LinearWeightsHaveTheirGradientAlsoOnBorders) {
  ExpectLinear(testing::MakeRig(Finished(Grid(6, Linear))));
}

// The faces of both sides of a leaf cancel.
TEST(SurfaceSlopes, SheetWithTwoSidesHasGradient) {
  RigSource source = Grid(5, Linear);
  const std::vector<std::uint32_t> corners = source.mesh.face_vertices;
  for (std::size_t f = 0; f < corners.size(); f += 4) {
    for (const std::size_t k : {3, 2, 1, 0}) source.mesh.face_vertices.push_back(corners[f + k]);
    source.mesh.face_offsets.push_back(
        static_cast<std::uint32_t>(source.mesh.face_vertices.size()));
  }
  ExpectLinear(testing::MakeRig(Finished(std::move(source))));
}

TEST(SurfaceSlopes, PointsWithoutPlaneHaveNone) {
  RigSource source = Grid(3, Linear);
  source.mesh.face_vertices = {0, 1, 2, 1};  // on one line; all other points are isolated
  source.mesh.face_offsets = {0, 4};
  for (const Vec3d& g : Gradients(testing::MakeRig(Finished(std::move(source))))) {
    EXPECT_EQ(g, Vec3d{});
  }
}

TEST(SurfaceSlopes, TracesOfWeightAreFlatWhereRowsDiffer) {
  const Rig rig =
      testing::MakeRig(Finished(Grid(4, [](float x, float) { return x < 2 ? 0.0005f : 0.4f; })));
  const std::vector<Vec3d> gradients = Gradients(rig, 1e-3);
  EXPECT_EQ(gradients[1], Vec3d{});          // a trace beside a large weight
  EXPECT_GT(std::abs(gradients[2].x), 0.1);  // the large weight itself
}

}  // namespace
}  // namespace sinew
