// Mean-value weights of one-rings: what they reproduce, and which rings they reject.
#include "core/surface/mean_value.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "tests/support/rounded_limb.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

using Faces = std::vector<std::vector<std::uint32_t>>;

struct Weighted {
  explicit Weighted(const Rig& r)
      : rig(r),
        welded(Weld(rig)),
        ring(TriangleNeighbours(rig.mesh(), welded)),
        weights(MeanValueWeights(rig.mesh(), welded, ring)) {}
  std::vector<double> row(std::size_t p) const {
    return {weights.begin() + static_cast<std::ptrdiff_t>(ring.offsets[p]),
            weights.begin() + static_cast<std::ptrdiff_t>(ring.offsets[p + 1])};
  }
  bool Rejected(std::size_t p) const {
    return std::ranges::all_of(row(p), [](double w) { return w == 0; });
  }
  // The mean of the neighbours of p.
  Vec3d Mean(std::size_t p) const {
    Vec3d mean;
    const auto values = row(p);
    for (std::size_t k = 0; k < values.size(); ++k) {
      mean = mean + values[k] * ToDouble(rig.mesh().positions()[welded.first[ring.row(p)[k]]]);
    }
    return mean;
  }

  const Rig& rig;
  WeldedPoints welded;
  Adjacency ring;
  std::vector<double> weights;
};

// Vertex 0 in the middle of a ring.
Rig Fan(const std::vector<Vec3f>& around, const Vec3f& centre = {}) {
  std::vector<Vec3f> positions = {centre};
  positions.insert(positions.end(), around.begin(), around.end());
  Faces faces;
  const auto n = static_cast<std::uint32_t>(around.size());
  for (std::uint32_t k = 0; k < n; ++k) faces.push_back({0, 1 + k, 1 + (k + 1) % n});
  return testing::MakeRig(testing::RigidSource(positions, faces));
}

std::vector<Vec3f> Circle(int n) {
  std::vector<Vec3f> points;
  for (int k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * k / n;
    points.push_back(ToFloat(Vec3d{std::cos(angle), std::sin(angle), 0}));
  }
  return points;
}

TEST(MeanValue, RegularHexagonHasEqualWeights) {
  const Rig rig = Fan(Circle(6));
  for (const double w : Weighted(rig).row(0)) EXPECT_NEAR(w, 1.0 / 6, 1e-7);
}

TEST(MeanValue, LargeFanInAnyOrder) {
  constexpr std::uint32_t kCount = 200'000;
  const auto circle = Circle(kCount);
  std::vector<Vec3f> positions(kCount + 1);
  Faces faces;
  // Steps by a coprime number, so that no order helps the walk.
  const auto place = [](std::uint64_t k) {
    return 1 + static_cast<std::uint32_t>(k * 76'543 % kCount);
  };
  for (std::uint32_t k = 0; k < kCount; ++k) {
    positions[place(k)] = circle[k];
    faces.push_back({0, place(k), place((k + 1) % kCount)});
  }
  const Rig rig = testing::MakeRig(testing::RigidSource(positions, faces));
  const Weighted weighted(rig);
  const std::span<const double> row = std::span(weighted.weights).first(kCount);
  EXPECT_GT(*std::ranges::min_element(row), 0.99 / kCount);
  EXPECT_LT(*std::ranges::max_element(row), 1.01 / kCount);
}

TEST(MeanValue, PlanarRingReproducesPoint) {
  const std::vector<Vec3f> ring = {
      {2, 0.5f, 0}, {0.5f, 1.5f, 0}, {-1, 1, 0}, {-1.5f, -1, 0}, {1, -0.75f, 0}};
  const Rig rig = Fan(ring, {0.25f, 0.125f, 0});
  const Weighted weighted(rig);
  double sum = 0;
  for (const double w : weighted.row(0)) {
    EXPECT_GT(w, 0);
    sum += w;
  }
  EXPECT_NEAR(sum, 1, 1e-15);
  const Vec3d mean = weighted.Mean(0);
  EXPECT_NEAR(mean.x, 0.25, 1e-12);
  EXPECT_NEAR(mean.y, 0.125, 1e-12);
  EXPECT_NEAR(mean.z, 0, 1e-12);
}

TEST(MeanValue, CurvedRingReproducesPointAlongSurface) {
  const Rig rig = testing::CanonicalCylinder();
  const Weighted weighted(rig);
  for (std::size_t p = 32 * 20; p < 32 * 21; ++p) {
    const Vec3d at = ToDouble(rig.mesh().positions()[p]);
    const Vec3d off = weighted.Mean(p) - at;
    const Vec3d radial = {0, at.y, at.z};
    // Alternating diagonals are symmetric, so the normal is radial.
    const Vec3d along = off - Dot(off, radial) * radial;
    EXPECT_LT(std::sqrt(Dot(along, along)), 1e-7);
  }
}

TEST(MeanValue, RejectsBordersFoldsAndPointsOutsideRing) {
  const Rig open = testing::TubeRig({.rings = 5, .around = 8});
  const Weighted tube(open);
  for (std::size_t p = 0; p < 40; ++p) EXPECT_EQ(tube.Rejected(p), p < 8 || p >= 32) << p;

  auto outside = Circle(6);
  for (Vec3f& p : outside) p.x += 2;  // the faces invert on the near side
  const Rig folded = Fan(outside);
  EXPECT_TRUE(Weighted(folded).Rejected(0));

  // Seen along the normal, an edge turns back further than the next one advances.
  auto back = Circle(8);
  const auto at = [](double degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    return ToFloat(Vec3d{std::cos(angle), std::sin(angle), 0});
  };
  back[1] = at(150);
  back[2] = at(20);
  const Rig turned = Fan(back);
  EXPECT_TRUE(Weighted(turned).Rejected(0));
}

TEST(MeanValue, RejectsRingsOfSeveralFans) {
  // Two fans with a common centre.
  std::vector<Vec3f> positions = {{0, 0, 0}};
  Faces faces;
  for (const float z : {1.0f, -1.0f}) {
    const auto first = static_cast<std::uint32_t>(positions.size());
    for (const Vec3f& p : Circle(4)) positions.push_back({p.x, p.y, z});
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::uint32_t a = first + k, b = first + (k + 1) % 4;
      faces.push_back(z > 0 ? std::vector<std::uint32_t>{0, a, b}
                            : std::vector<std::uint32_t>{0, b, a});
    }
  }
  const Rig hourglass = testing::MakeRig(testing::RigidSource(positions, faces));
  EXPECT_TRUE(Weighted(hourglass).Rejected(0));
  const Rig fan = testing::DegenerateFan();
  const Weighted degenerate(fan);
  for (std::size_t p = 0; p < degenerate.ring.points(); ++p) EXPECT_TRUE(degenerate.Rejected(p));
}

TEST(MeanValue, DuplicateFacesCountOnce) {
  Faces faces;
  const auto around = Circle(5);
  std::vector<Vec3f> positions = {{0, 0, 0}};
  positions.insert(positions.end(), around.begin(), around.end());
  for (std::uint32_t k = 0; k < 5; ++k) faces.push_back({0, 1 + k, 1 + (k + 1) % 5});
  faces.push_back(faces[2]);
  const Rig rig = testing::MakeRig(testing::RigidSource(positions, faces));
  for (const double w : Weighted(rig).row(0)) EXPECT_NEAR(w, 0.2, 1e-7);
}

}  // namespace
}  // namespace sinew
