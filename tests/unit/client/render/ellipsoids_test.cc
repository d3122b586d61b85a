#include "client/render/ellipsoids.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sinew::client {
namespace {

// Length along y, width along z, depth along x; centre (1, 2, 3).
PosedMuscle Muscle() {
  return {.frame = {0, 0, 1, 1, 1, 0, 0, 2, 0, 1, 0, 3}, .radii = {2, 0.5f, 0.25f}};
}

TEST(DrawMuscles, PointsAreOnEllipsoid) {
  const PosedMuscle muscles[] = {Muscle()};
  const Ellipsoids drawn = DrawMuscles(muscles);
  const std::size_t vertices = drawn.positions.size() / 3;
  ASSERT_GT(vertices, 100u);
  float low = 1e9f, high = -1e9f;
  for (std::size_t v = 0; v < vertices; ++v) {
    const float* p = drawn.positions.data() + v * 3;
    const float* n = drawn.normals.data() + v * 3;
    const float x = (p[0] - 1) / 0.25f, y = (p[1] - 2) / 2, z = (p[2] - 3) / 0.5f;
    EXPECT_NEAR(x * x + y * y + z * z, kDrawnPart * kDrawnPart, 1e-5);
    EXPECT_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1, 1e-5);
    // The gradient of the quadric.
    const float g[3] = {x / 0.25f, y / 2, z / 0.5f};
    const float length = std::hypot(g[0], g[1], g[2]);
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(n[c], g[c] / length, 1e-5);
    low = std::min(low, p[1]);
    high = std::max(high, p[1]);
  }
  EXPECT_NEAR(low, 2 - 2 * kDrawnPart, 1e-6);
  EXPECT_NEAR(high, 2 + 2 * kDrawnPart, 1e-6);
}

TEST(DrawMuscles, TurnsFacesOutwards) {
  PosedMuscle muscle = Muscle();
  const PosedMuscle muscles[] = {muscle, muscle};
  const Ellipsoids drawn = DrawMuscles(muscles);
  double volume = 0;
  for (std::size_t c = 0; c < drawn.face_vertices.size(); c += 3) {
    const float* p[3];
    for (std::size_t k = 0; k < 3; ++k) {
      p[k] = drawn.positions.data() + std::size_t{drawn.face_vertices[c + k]} * 3;
    }
    volume += (p[0][0] * (double{p[1][1]} * p[2][2] - double{p[1][2]} * p[2][1]) +
               p[0][1] * (double{p[1][2]} * p[2][0] - double{p[1][0]} * p[2][2]) +
               p[0][2] * (double{p[1][0]} * p[2][1] - double{p[1][1]} * p[2][0])) /
              6;
  }
  const double whole = std::pow(double{kDrawnPart}, 3) * 2 * 4.0 / 3 * 3.14159265 * 2 * 0.5 * 0.25;
  EXPECT_GT(volume, 0.97 * whole);
  EXPECT_LT(volume, whole);
}

TEST(DrawMuscles, OmitsUndrawableMuscles) {
  PosedMuscle muscles[] = {Muscle(), Muscle(), Muscle()};
  const std::size_t one = DrawMuscles(std::span(muscles).first(1)).positions.size();
  muscles[0].radii[1] = 0;
  muscles[1].frame[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(DrawMuscles(muscles).positions.size(), one);
  EXPECT_TRUE(DrawMuscles({}).positions.empty());
}

}  // namespace
}  // namespace sinew::client
