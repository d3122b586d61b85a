// The effect of bulge_free on bent limbs: the figures of the reference tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/reference/bulge_free_reference.h"
#include "tests/unit/core/deform/bulge_free/bulge_free_fixture.h"

namespace sinew {
namespace {

using reference::Bone;
using testing::BendPose;
using testing::Distance;
using testing::DqsCorrected;
using testing::EndedTube;
using testing::RestPoints;
using testing::RunMethod;
using testing::SkinMatrices;
using testing::TubeOptions;

struct Shape {
  double volume, bulge, collapse;  // relative to the rest volume and the radius
};

// For a tube of two bones: distances of its points from the nearer posed bone.
Shape Measure(const TubeOptions& options, const Rig& rig, std::span<const Affine> pose,
              const std::vector<Vec3d>& points) {
  std::vector<Bone> bones = reference::RestBones(rig);
  const auto skin = SkinMatrices(rig, pose);
  for (std::size_t e = 0; e < bones.size(); ++e) {
    bones[e] = {Apply(skin[e], bones[e].root), Apply(skin[e], bones[e].tip)};
  }
  double largest = 0, least = HUGE_VAL;
  for (const Vec3d& p : points) {
    double d = HUGE_VAL;
    for (const Bone& bone : bones) d = std::min(d, Distance(p, reference::Nearest(bone, p)));
    largest = std::max(largest, d);
    least = std::min(least, d);
  }
  return {testing::TubeVolume(options, points) / testing::TubeVolume(options, RestPoints(rig)),
          largest / options.radius, least / options.radius};
}

Shape Corrected(const Rig& rig, const BulgeFreeParams& params, double degrees) {
  const auto pose = BendPose(rig, degrees);
  return Measure({}, rig, pose, DqsCorrected(rig, params, pose));
}

BulgeFreeParams AtOnce(float sharpness, bool strongest = false) {
  return {.softness = 0, .sharpness = sharpness, .strongest = strongest};
}

// Bulge of dual quaternions on the bent tube, before and after correction.
TEST(BulgeFreeTable, BentTube) {
  const Rig rig = EndedTube();
  for (const auto& [degrees, bulge] : {std::pair{60, 0.065}, {90, 0.087}, {120, 0.102}}) {
    const auto pose = BendPose(rig, degrees);
    EXPECT_NEAR(Measure({}, rig, pose, RunMethod<Dqs>(rig, {}, pose).points).bulge, 1 + bulge, 1e-3)
        << degrees;
  }
  struct Row {
    BulgeFreeParams params;
    double bulge, volume;
  };
  for (const Row& row : {Row{AtOnce(1, true), 0.000, 0.987}, Row{AtOnce(1), 0.016, 0.989},
                         Row{AtOnce(4), 0.001, 0.988}}) {
    const Shape shape = Corrected(rig, row.params, 90);
    EXPECT_NEAR(shape.bulge, 1 + row.bulge, 1e-3);
    EXPECT_NEAR(shape.volume, row.volume, 1e-3);
  }
  // The soft onset leaves at most a quarter of its 2 %.
  EXPECT_NEAR(Corrected(rig, {.strongest = true}, 90).bulge, 1.005, 1e-3);
  EXPECT_NEAR(Corrected(rig, {}, 90).bulge, 1.006, 1e-3);
  EXPECT_NEAR(Corrected(rig, {}, 90).volume, 0.9885, 5e-4);
}

// The cylinder of radius 1, length 10, weights over a half-width of 1 (here at half the size).
TEST(BulgeFreeTable, BentCylinder) {
  const TubeOptions options = {.rings = 81, .length = 5, .radius = 0.5};
  const Rig rig = EndedTube(options);
  struct Row {
    double degrees;
    Shape dqs, bulge_free;
  };
  const Row rows[] = {{60, {0.9997, 1.067, 0.860}, {0.9933, 1, 0.860}},
                      {90, {0.9994, 1.088, 0.686}, {0.9900, 1, 0.686}},
                      {120, {0.9989, 1.102, 0.237}, {0.9869, 1, 0.237}},
                      {150, {0.9983, 1.109, 0.009}, {0.9841, 1, 0.009}}};
  for (const Row& row : rows) {
    const auto pose = BendPose(rig, row.degrees);
    const Shape dqs = Measure(options, rig, pose, RunMethod<Dqs>(rig, {}, pose).points);
    const Shape corrected = Measure(options, rig, pose, DqsCorrected(rig, AtOnce(1, true), pose));
    for (const auto& [got, want] : {std::pair{dqs, row.dqs}, {corrected, row.bulge_free}}) {
      EXPECT_NEAR(got.volume, want.volume, 5e-4) << row.degrees;
      EXPECT_NEAR(got.bulge, want.bulge, 1e-3) << row.degrees;
      EXPECT_NEAR(got.collapse, want.collapse, 1e-3) << row.degrees;
    }
  }
}

// The bisector on the bent tube removes most of the bulge and costs less volume.
TEST(BulgeFreeTable, BisectorOnBentTube) {
  const Rig rig = EndedTube();
  struct Row {
    double degrees, bulge, volume;
  };
  for (const Row& row : {Row{45, 0.0248, 0.9988}, Row{60, 0.0161, 0.9973}, Row{90, 0.0107, 0.9923},
                         Row{120, 0.0118, 0.9868}, Row{135, 0.0123, 0.9838}}) {
    for (const double sign : {1, -1}) {
      const Shape shape = Corrected(rig, {.method = BulgeMethod::kBisector}, sign * row.degrees);
      EXPECT_NEAR(shape.bulge, 1 + row.bulge, 2e-4) << row.degrees;
      EXPECT_NEAR(shape.volume, row.volume, 2e-4) << row.degrees;
    }
  }
}

// Two fingers 35 degrees to either side of x with skin between them, spread by another 30 degrees.
RigSource Fingers(std::size_t vertices) {
  RigSource source;
  source.joints = {{.name = "palm"},
                   {.name = "left", .parent = 0},
                   {.name = "left_end", .parent = 1},
                   {.name = "right", .parent = 0},
                   {.name = "right_end", .parent = 3}};
  const double angle = 35 * std::numbers::pi / 180, x = 2 * std::cos(angle),
               y = 2 * std::sin(angle);
  source.rest_local = {
      {}, {}, {{1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, 0}}, {}, {{1, 0, 0, x, 0, 1, 0, -y, 0, 0, 1, 0}}};
  source.bindings = {{1, {}}, {3, {}}};
  source.influences.offsets = {0};
  for (std::size_t i = 0; i < vertices; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(vertices - 1);
    source.mesh.positions.push_back({0.8f, static_cast<float>(0.6 * (t - 0.5)), 0.1f});
    const auto w = static_cast<float>(t * t * (3 - 2 * t));
    source.influences.bindings.insert(source.influences.bindings.end(), {0, 1});
    source.influences.weights.insert(source.influences.weights.end(), {w, 1 - w});
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  source.mesh.parts = {{"skin", 0, static_cast<std::uint32_t>(vertices), 0, 0}};
  source.mesh.face_offsets = {0};
  return source;
}

// Largest difference of the correction between neighbours, relative to their rest distance.
double Jump(std::size_t vertices, const BulgeFreeParams& params) {
  const Rig rig = testing::MakeRig(Fingers(vertices));
  auto pose = testing::RestPose(rig);
  for (const auto& [first, degrees] : {std::pair{1, 30.0}, {3, -30.0}}) {
    for (const int j : {first, first + 1}) {
      const auto joint = static_cast<std::size_t>(j);
      pose[joint] = ToFloat(
          Compose(testing::RigidMotion({0, 0, 1}, degrees), rig.skeleton().rest_model()[joint]));
    }
  }
  const auto before = RunMethod<Dqs>(rig, {}, pose);
  const auto after = testing::Correct(rig, params, pose, before);
  double largest = 0;
  for (std::size_t v = 0; v + 1 < vertices; ++v) {
    const Vec3d here = after[v] - before.points[v], next = after[v + 1] - before.points[v + 1];
    largest = std::max(largest, Distance(here, next));
  }
  return largest * static_cast<double>(vertices - 1) / 0.6;
}

// Where the weights of two fingers cross, the correction by the strongest bone jumps on any mesh;
// shared among bones it is continuous, and flatter for lower sharpness.
TEST(BulgeFreeTable, ContinuityBetweenFingers) {
  const double strongest = Jump(101, AtOnce(1, true)), sharp = Jump(101, AtOnce(4)),
               smooth = Jump(101, AtOnce(1));
  EXPECT_GT(strongest, 8 * sharp);
  EXPECT_GT(sharp, 1.4 * smooth);
  EXPECT_GT(Jump(401, AtOnce(1, true)), 3.5 * strongest);
  EXPECT_NEAR(Jump(401, AtOnce(4)), sharp, 0.05 * sharp);
  EXPECT_NEAR(Jump(401, AtOnce(1)), smooth, 0.05 * smooth);
}

}  // namespace
}  // namespace sinew
