// Metrics of deformed frames against closed forms of linear blending and dual quaternions on a
// tube, and against naive references.
#include "core/metrics/meter.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <random>
#include <stop_token>

#include "core/metrics/self_intersection.h"
#include "core/metrics/volume.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/metrics/measured.h"

namespace sinew::metrics {
namespace {

using ::sinew::testing::AllRigs;
using ::sinew::testing::BendPose;
using ::sinew::testing::MakeRig;
using ::sinew::testing::Moved;
using ::sinew::testing::RestPose;
using ::sinew::testing::TubeOptions;
using ::sinew::testing::TubeRig;
using ::sinew::testing::TubeSource;
using ::sinew::testing::TwistPose;

constexpr double kSmoothstep = 9.0 / 70;  // integral of s (1 - s) over the blend's length

double Radians(double degrees) {
  return degrees * std::numbers::pi / 180;
}

TEST(Volume, OpenTubeEqualsPrism) {
  for (const bool quads : {false, true}) {
    const Rig rig = TubeRig({.around = 12, .quads = quads});
    const double prism = 12 / 2.0 * 0.25 * std::sin(2 * std::numbers::pi / 12) * 4;
    const auto volume = EnclosedVolume(Surface::Create(rig)).rest();
    ASSERT_TRUE(volume.has_value());
    EXPECT_NEAR(*volume, prism, 1e-6);
  }
}

TEST(Volume, InvariantToWindingAndOrigin) {
  RigSource source = TubeSource({.origin = {300, 200, 200}});
  for (std::size_t c = 0; c < source.mesh.face_vertices.size(); c += 3) {
    std::swap(source.mesh.face_vertices[c], source.mesh.face_vertices[c + 1]);
  }
  const Rig inward = MakeRig(std::move(source));
  const double prism = 32 / 2.0 * 0.25 * std::sin(2 * std::numbers::pi / 32) * 4;
  EXPECT_NEAR(EnclosedVolume(Surface::Create(inward)).rest().value_or(0), prism, 1e-4);
}

TEST(Volume, IgnoresSeams) {
  EXPECT_NEAR(EnclosedVolume(Surface::Create(testing::HardCube())).rest().value_or(0), 1, 1e-12);
}

TEST(Volume, AbsentWithoutEnclosedVolume) {
  for (const Rig& rig : {testing::OneVertex(), testing::OneTriangle(), testing::TouchingLips()}) {
    EXPECT_FALSE(Measured(rig, rig.mesh().positions(), RestPose(rig)).volume_ratio.has_value());
  }
}

TEST(LinearBlendMetrics, BendVolumeMatchesClosedForm) {
  const Rig rig = TubeRig({.rings = 121, .around = 64});
  for (const double degrees : {30.0, 60.0, 90.0, 120.0, 150.0}) {
    const double expected = 1 - (1 - std::cos(Radians(degrees))) * kSmoothstep / 4;
    EXPECT_NEAR(*Measured(rig, "lbs", BendPose(rig, degrees)).volume_ratio, expected, 5e-4)
        << degrees;
  }
}

TEST(LinearBlendMetrics, TwistVolumeAndThicknessMatchClosedForm) {
  const Rig rig = TubeRig({.rings = 121, .around = 64});
  for (const double degrees : {45.0, 90.0, 135.0, 179.0}) {
    const FrameMetrics figures = Measured(rig, "lbs", TwistPose(rig, degrees));
    const double half = Radians(degrees) / 2;
    EXPECT_NEAR(*figures.volume_ratio, 1 - 4 * std::pow(std::sin(half), 2) * kSmoothstep / 4, 5e-4)
        << degrees;
    EXPECT_NEAR(*figures.minimum_thickness, std::cos(half), 1e-5) << degrees;
    EXPECT_NEAR(*figures.bulge, 0, 1e-5) << degrees;
  }
}

TEST(DualQuaternionMetrics, VolumeAndBulgeMatchClosedForm) {
  const Rig rig = TubeRig({.rings = 241, .around = 64});
  const double bulge[] = {.039, .067, .088, .102, .112};
  for (int k = 0; k < 5; ++k) {
    const FrameMetrics figures = Measured(rig, "dqs", BendPose(rig, 30.0 * (k + 1)));
    EXPECT_NEAR(*figures.volume_ratio, 1, 2e-3) << 30 * (k + 1);
    EXPECT_NEAR(*figures.bulge, bulge[k], 2e-3) << 30 * (k + 1);
  }
  EXPECT_NEAR(*Measured(rig, "dqs", TwistPose(rig, 135)).minimum_thickness, 1, 1e-4);
}

// The reference tube: length 10, radius 1, blend region 2, 81 x 32 vertices with alternating
// diagonals (here at half the size).
Rig ReferenceTube() {
  const TubeOptions options{.rings = 81, .around = 32, .length = 5, .radius = 0.5};
  RigSource source = TubeSource(options);
  auto& corners = source.mesh.face_vertices;
  corners.clear();
  const auto vertex = [](std::size_t i, std::size_t k) {
    return static_cast<std::uint32_t>(i * 32 + k % 32);
  };
  for (std::size_t i = 0; i + 1 < 81; ++i) {
    for (std::size_t k = 0; k < 32; ++k) {
      const std::uint32_t a = vertex(i, k), b = vertex(i, k + 1), c = vertex(i + 1, k + 1),
                          d = vertex(i + 1, k);
      if ((i + k) % 2 == 0) {
        corners.insert(corners.end(), {a, b, c, a, c, d});
      } else {
        corners.insert(corners.end(), {a, b, d, b, c, d});
      }
    }
  }
  return MakeRig(std::move(source));
}

TEST(EdgeDistortion, MatchesReferenceTable) {
  const Rig rig = ReferenceTube();
  const struct {
    double degrees, lbs, dqs;
  } bends[] = {{60, .121, .125}, {90, .135, .173}, {120, .134, .159}, {150, .154, .161}};
  for (const auto& row : bends) {
    EXPECT_NEAR(*Measured(rig, "lbs", BendPose(rig, row.degrees)).edge_distortion, row.lbs, 6e-3);
    EXPECT_NEAR(*Measured(rig, "dqs", BendPose(rig, row.degrees)).edge_distortion, row.dqs, 6e-3);
  }
  EXPECT_NEAR(*Measured(rig, "lbs", TwistPose(rig, 90)).edge_distortion, .116, 6e-3);
  EXPECT_NEAR(*Measured(rig, "dqs", TwistPose(rig, 90)).edge_distortion, .124, 6e-3);
}

// Metrics with shapes are still relative to the rest mesh.
TEST(Metrics, ShapeMatchesItsOffsets) {
  const Rig rig = testing::TubeWithShapes();
  const auto pose = RestPose(rig);
  const auto bulged = [&](const char* recipe_text, float value) {
    std::vector<float> controls(rig.controls().size(), 0.0f);
    controls[1] = value;
    return Measured(rig, Deformed(rig, recipe_text, pose, controls), pose);
  };
  EXPECT_NEAR(*bulged("shapes | lbs", 0).edge_distortion, 0, 1e-6);
  const FrameMetrics linear = bulged("shapes | lbs", 1), dual = bulged("shapes | dqs", 1);
  EXPECT_GT(*linear.edge_distortion, 0.01);
  EXPECT_NEAR(*linear.edge_distortion, *dual.edge_distortion, 1e-6) << "alike for every method";
  EXPECT_NEAR(*bulged("lbs", 1).edge_distortion, 0, 1e-6);
}

TEST(Metrics, ScaledCharacter) {
  const Rig rig = TubeRig();
  const AffineD twice = testing::ScaleMotion({2, 2, 2});
  const FrameMetrics figures =
      Measured(rig, MovedPoints(rig.mesh().positions(), twice), Moved(twice, RestPose(rig)));
  EXPECT_NEAR(*figures.volume_ratio, 8, 1e-5);
  EXPECT_NEAR(*figures.minimum_thickness, 2, 1e-5);
  EXPECT_NEAR(*figures.bulge, 0, 1e-5);
  EXPECT_NEAR(*figures.edge_distortion, std::log(2), 1e-5);
  EXPECT_NEAR(*figures.worst_edge, std::log(2), 1e-5);
  EXPECT_NEAR(*figures.area_distortion, 2 * std::log(2), 1e-5);
  EXPECT_EQ(*figures.flipped_fraction, 0);
}

TEST(Metrics, MirroredCharacter) {
  const Rig rig = TubeRig();
  const AffineD mirror = testing::ScaleMotion({1, -1, 1});
  const FrameMetrics figures =
      Measured(rig, MovedPoints(rig.mesh().positions(), mirror), Moved(mirror, RestPose(rig)));
  EXPECT_NEAR(*figures.volume_ratio, -1, 1e-5);
  EXPECT_NEAR(*figures.edge_distortion, 0, 1e-5);
  EXPECT_EQ(*figures.flipped_fraction, 0) << "faces follow the mirrored bones";
  const FrameMetrics inside_out =
      Measured(rig, MovedPoints(rig.mesh().positions(), mirror), RestPose(rig));
  EXPECT_NEAR(*inside_out.flipped_fraction, 0.5, 0.02)
      << "faces across the mirror are inverted as before";
}

TEST(Metrics, InvariantToRigidMotion) {
  const AffineD motion = testing::RigidMotion({1, 2, 3}, 77, {0.5, -1, 2});
  for (const auto& [name, rig] : AllRigs()) {
    SCOPED_TRACE(name);
    const FrameMetrics figures = Measured(rig, MovedPoints(rig.mesh().positions(), motion),
                                          Moved(motion, RestPose(rig)), true);
    const double tolerance = name == "tube_far_origin" ? 2e-3 : 1e-5;
    EXPECT_NEAR(figures.volume_ratio.value_or(1), 1, tolerance);
    EXPECT_NEAR(figures.minimum_thickness.value_or(1), 1, tolerance);
    EXPECT_NEAR(figures.bulge.value_or(0), 0, tolerance);
    EXPECT_NEAR(figures.edge_distortion.value_or(0), 0, tolerance);
    EXPECT_NEAR(figures.area_distortion.value_or(0), 0, tolerance);
    EXPECT_EQ(figures.flipped_fraction.value_or(0), 0);
    EXPECT_EQ(figures.self_intersections, std::optional<std::uint64_t>(0));
  }
}

TEST(Metrics, SameBitsForAnyThreadCount) {
  const Rig rig = TubeRig({.rings = 301, .around = 64});
  const auto pose = BendPose(rig, 140);
  const auto positions = Deformed(rig, "lbs", pose);
  Task parallel;
  const Task serial({.parallel = false});
  const auto meter = Meter::Create(rig, {.self_intersections = true}, parallel);
  ASSERT_TRUE(meter.ok());
  const FrameMetrics a = *meter->Measure(positions, pose, parallel);
  const FrameMetrics b = *meter->Measure(positions, pose, serial);
  EXPECT_EQ(a.volume_ratio, b.volume_ratio);
  EXPECT_EQ(a.minimum_thickness, b.minimum_thickness);
  EXPECT_EQ(a.edge_distortion, b.edge_distortion);
  EXPECT_EQ(a.area_distortion, b.area_distortion);
  EXPECT_EQ(a.self_intersections, b.self_intersections);
}

TEST(Metrics, Cancellable) {
  const Rig rig = TubeRig();
  std::stop_source stop;
  Task task({.stop = stop.get_token()});
  const auto meter = Meter::Create(rig, {.self_intersections = true}, task);
  ASSERT_TRUE(meter.ok());
  stop.request_stop();
  const auto figures = meter->Measure(rig.mesh().positions(), RestPose(rig), task);
  EXPECT_TRUE(absl::IsCancelled(figures.status()));
  EXPECT_TRUE(absl::IsCancelled(Meter::Create(rig, {.self_intersections = true}, task).status()));
}

TEST(SelfIntersections, BentTube) {
  const Rig rig = TubeRig();
  EXPECT_EQ(*Measured(rig, "lbs", BendPose(rig, 30), true).self_intersections, 0u);
  EXPECT_GT(*Measured(rig, "lbs", BendPose(rig, 150), true).self_intersections, 10u);
  EXPECT_FALSE(Measured(rig, "lbs", BendPose(rig, 150)).self_intersections.has_value());
}

// Two quads that touch along an edge at rest; the second one is moved.
TEST(SelfIntersections, CountsCrossingButNotTouching) {
  const Rig rig = testing::TouchingLips();
  auto pose = RestPose(rig);
  const auto count = [&](float dx, float dy, float dz) {
    std::vector<Vec3f> moved(rig.mesh().positions().begin(), rig.mesh().positions().end());
    for (std::size_t v = 4; v < 8; ++v) {
      moved[v] = {moved[v].x + dx, moved[v].y + dy, moved[v].z + dz};
    }
    return *Measured(rig, moved, pose, true).self_intersections;
  };
  EXPECT_EQ(count(0, 0, 0), 0u);
  EXPECT_EQ(count(0.25F, 0, 0), 0u) << "still touching";
  EXPECT_EQ(count(0.25F, 0.5F, 1e-4F), 0u) << "the edge hangs just over the other quad";
  EXPECT_EQ(count(0.1F, 0.5F, -0.25F), 1u);
  EXPECT_EQ(count(0.1F, 0.5F, 0.25F), 0u);
}

TEST(SelfIntersections, IgnoresRestPosePairs) {
  const Rig crossed = MakeRig(testing::RigidSource(
      {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2F, 0.2F, -1}, {0.3F, 0.2F, 1}, {0.2F, 0.3F, 1}},
      {{0, 1, 2}, {3, 4, 5}}));
  const Surface surface = Surface::Create(crossed);
  EXPECT_EQ((*CrossingFaces(crossed, surface, surface.rest, Task(), Budget::For(surface)))->size(),
            1u);
  EXPECT_EQ(
      *Measured(crossed, crossed.mesh().positions(), RestPose(crossed), true).self_intersections,
      0u);
}

// Whether edge ab passes through triangle t, as a linear system.
bool NaiveHit(const Vec3d& a, const Vec3d& b, const Vec3d t[3]) {
  const auto e = [](const Vec3d& v) { return Eigen::Vector3d(v.x, v.y, v.z); };
  Eigen::Matrix3d m;
  m << e(a) - e(b), e(t[1]) - e(t[0]), e(t[2]) - e(t[0]);
  const Eigen::Vector3d x = m.partialPivLu().solve(e(a) - e(t[0]));
  return x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[2] >= 0 && x[1] + x[2] <= 1;
}

TEST(SelfIntersections, TriangleSoupMatchesBruteForce) {
  constexpr std::uint32_t kTriangles = 300;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> place(0, 1), size(-0.2F, 0.2F);
  std::vector<Vec3f> positions;
  std::vector<std::vector<std::uint32_t>> faces;
  for (std::uint32_t f = 0; f < kTriangles; ++f) {
    const Vec3f at{place(random), place(random), place(random)};
    for (int k = 0; k < 3; ++k) {
      positions.push_back({at.x + size(random), at.y + size(random), at.z + size(random)});
    }
    faces.push_back({3 * f, 3 * f + 1, 3 * f + 2});
  }
  const Rig soup = MakeRig(testing::RigidSource(positions, faces));
  const Surface surface = Surface::Create(soup);
  std::vector<FacePair> expected;
  for (std::uint32_t f = 0; f < kTriangles; ++f) {
    for (std::uint32_t g = f + 1; g < kTriangles; ++g) {
      bool hit = false;
      const Vec3d* a = &surface.rest[3 * f];
      const Vec3d* b = &surface.rest[3 * g];
      for (int k = 0; k < 3; ++k) {
        hit |= NaiveHit(a[k], a[(k + 1) % 3], b) || NaiveHit(b[k], b[(k + 1) % 3], a);
      }
      if (hit) expected.emplace_back(f, g);
    }
  }
  EXPECT_GT(expected.size(), 50u);
  EXPECT_EQ(**CrossingFaces(soup, surface, surface.rest, Task(), Budget::For(surface)), expected);
}

// Two polygons of `corners` corners: one zigzags in y through the other, which zigzags in z, so
// that millions of their fan triangles cross.
Rig Zigzags(std::uint32_t corners) {
  std::vector<Vec3f> positions;
  std::vector<std::vector<std::uint32_t>> faces(2);
  for (std::uint32_t k = 0; k < 2 * corners; ++k) {
    const bool second = k >= corners;
    const float along = static_cast<float>(k % corners) / static_cast<float>(corners);
    const float side = k % 2 == 0 ? 1.0F : -1.0F;
    positions.push_back(second ? Vec3f{0.1F + 0.3F * along, 0.2F + 0.1F * along, side}
                               : Vec3f{0.4F * along, side, 0.05F * along});
    faces[second ? 1 : 0].push_back(k);
  }
  return MakeRig(testing::RigidSource(positions, faces));
}

TEST(SelfIntersections, TwoLargePolygonsAreOnePairWithinBudget) {
  const Rig rig = Zigzags(2000);
  const Surface surface = Surface::Create(rig);
  // Comparing every corner pair for every crossing would exceed this by far.
  const Budget budget{.pairs = 10'000, .steps = 50'000'000};
  const auto pairs = CrossingFaces(rig, surface, surface.rest, Task(), budget);
  ASSERT_TRUE(pairs.ok() && pairs->has_value());
  EXPECT_EQ(**pairs, (std::vector<FacePair>{{0, 1}}));
}

// Triangles that all cross each other.
Rig Needles(std::uint32_t count) {
  std::vector<Vec3f> positions;
  std::vector<std::vector<std::uint32_t>> faces;
  for (std::uint32_t f = 0; f < count; ++f) {
    const float angle = 3.0F * static_cast<float>(f) / static_cast<float>(count);
    const float c = std::cos(angle), s = std::sin(angle);
    positions.insert(positions.end(), {{c, s, -1}, {c, s, 1}, {-c, -s, 0.1F * c}});
    faces.push_back({3 * f, 3 * f + 1, 3 * f + 2});
  }
  return MakeRig(testing::RigidSource(positions, faces));
}

TEST(SelfIntersections, AbsentOverBudgetForAnyThreadCount) {
  const Rig rig = Needles(600);
  const Surface surface = Surface::Create(rig);
  Task parallel;
  const Task serial({.parallel = false});
  const auto found = [&](const Budget& budget) {
    const auto a = CrossingFaces(rig, surface, surface.rest, parallel, budget);
    const auto b = CrossingFaces(rig, surface, surface.rest, serial, budget);
    EXPECT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(*a, *b);
    return *a;
  };
  const std::size_t all = 600 * 599 / 2;
  const Budget enough = Budget::For(surface);
  ASSERT_TRUE(found(enough).has_value());
  EXPECT_EQ(found(enough)->size(), all);
  EXPECT_TRUE(found({.pairs = all, .steps = enough.steps}).has_value());
  EXPECT_FALSE(found({.pairs = all - 1, .steps = enough.steps}).has_value());
  EXPECT_FALSE(found({.pairs = all, .steps = all}).has_value());
}

TEST(SelfIntersections, AbsentIfRestPoseIsOverBudget) {
  const Rig rig = Needles(1100);  // 604'450 pairs
  EXPECT_FALSE(Measured(rig, rig.mesh().positions(), RestPose(rig), true).self_intersections);
  std::vector<Vec3f> apart(rig.vertices());
  for (std::size_t v = 0; v < apart.size(); ++v) {
    apart[v] = rig.mesh().positions()[v];
    apart[v].z += 5 * static_cast<float>(v / 3);
  }
  EXPECT_FALSE(Measured(rig, apart, RestPose(rig), true).self_intersections);
}

TEST(SelfIntersections, CostCoversMemory) {
  const Rig rig = Needles(1000);
  const std::size_t without = Meter::Cost(rig, {});
  EXPECT_GT(Meter::Cost(rig, {.self_intersections = true}),
            without + 3 * sizeof(FacePair) * 1000 * 999 / 2);
}

}  // namespace
}  // namespace sinew::metrics
