// Voxels, distances through them, and the resulting weights.
#include "core/weights/geodesic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/support/bodies.h"

namespace sinew::weights {
namespace {

using ::sinew::testing::Append;
using ::sinew::testing::Body;
using ::sinew::testing::Canonical;
using ::sinew::testing::Cylinder;
using ::sinew::testing::Legs;
using ::sinew::testing::MeshOf;
using ::sinew::testing::SkinOf;
using ::sinew::testing::ValueOrDie;
using ::sinew::testing::WeightsOf;

// A box with corners low and high, faces outward.
Body Box(const Vec3d& low, const Vec3d& high) {
  Body body;
  for (std::uint32_t k = 0; k < 8; ++k) {
    body.points.push_back({(k & 1) != 0 ? high.x : low.x, (k & 2) != 0 ? high.y : low.y,
                           (k & 4) != 0 ? high.z : low.z});
  }
  body.faces = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  body.bones = {{0, low, high}};
  return body;
}

Voxels VoxelsOf(const Skin& skin, std::uint32_t resolution) {
  const Task task;
  return ValueOrDie(MakeVoxels(skin.points, skin.triangles, resolution, 0, task));
}

// Volume of the voxels in the body's units.
double Volume(const Body& body, std::uint32_t resolution) {
  const Skin skin = SkinOf(body);
  const Voxels voxels = VoxelsOf(skin, resolution);
  const double size = voxels.size * MeshOf(body).diagonal() / skin.diagonal;
  return size * size * size * static_cast<double>(voxels.count());
}

double CylinderVolume(std::uint32_t around) {
  return 10 * 0.5 * around * std::sin(2 * std::numbers::pi / around);
}

Body WithBone(Body body) {
  body.bones = {{0, {-5, 0, 0}, {5, 0, 0}}};
  return body;
}

TEST(Voxels, FillClosedBody) {
  EXPECT_NEAR(Volume(Canonical(), 128) / CylinderVolume(32), 1, 0.03);
  EXPECT_NEAR(Volume(Box({0, 0, 0}, {4, 2, 1}), 64) / 8, 1, 0.08);
}

TEST(Voxels, FillOpenTube) {
  Body body = Canonical();
  std::erase_if(body.faces, [](const auto& f) { return f[0] >= 81 * 32; });
  body.points.resize(81 * 32);
  EXPECT_NEAR(Volume(body, 128) / CylinderVolume(32), 1, 0.03);
}

TEST(Voxels, FillBodyWithHole) {
  Body body = Canonical();
  std::erase_if(body.faces, [&](const auto& f) {
    return body.points[f[0]].z > 0.7 && std::abs(body.points[f[0]].x) < 1;
  });
  EXPECT_NEAR(Volume(body, 128) / CylinderVolume(32), 1, 0.03);
}

TEST(Voxels, FillOverlappingAndInvertedParts) {
  Body body = WithBone(Cylinder(-5, 1, 1, 31, 32));
  Append(body, Cylinder(-1, 5, 1, 31, 32));
  EXPECT_NEAR(Volume(body, 128) / CylinderVolume(32), 1, 0.03);
  Body turned = Canonical();
  for (auto& face : turned.faces) std::ranges::reverse(face);
  EXPECT_NEAR(Volume(turned, 128) / CylinderVolume(32), 1, 0.03);
}

TEST(Voxels, SheetHasNoVoxels) {
  Body body = Box({0, 0, 0}, {1, 1, 1});
  body.faces = {{0, 2, 3, 1}};
  EXPECT_EQ(VoxelsOf(SkinOf(body), 64).count(), 0u);
}

TEST(Voxels, SubVoxelGapBlocksPaths) {
  Body body = Box({0, 0, 0}, {4, 1, 1});
  Append(body, Box({0, 1.001, 0}, {4, 2.001, 1}));
  const Skin skin = SkinOf(body);
  const Voxels voxels = VoxelsOf(skin, 32);
  const double unit = skin.diagonal / MeshOf(body).diagonal();
  const double gap = (1.0005 - 2.001 / 2) * unit;  // relative to the middle
  std::vector<MarchSource> sources;
  for (std::uint32_t v = 0; v < voxels.count(); ++v) {
    if (voxels.Middle(v).y < gap) sources.push_back({v, 0});
  }
  ASSERT_FALSE(sources.empty());
  const auto distance = March(voxels, sources, Task());
  for (std::uint32_t v = 0; v < voxels.count(); ++v) {
    EXPECT_EQ(std::isinf(distance[v]), voxels.Middle(v).y > gap);
  }
}

TEST(March, StraightDistancesInConvexBody) {
  const Body body = Box({0, 0, 0}, {1, 1, 1});
  const Skin skin = SkinOf(body);
  double last = 1;
  for (const std::uint32_t resolution : {32u, 64u}) {
    const Voxels voxels = VoxelsOf(skin, resolution);
    // One source, exact distances around it.
    const auto centre = static_cast<std::uint32_t>(voxels.At(voxels.CellOf({0.01, 0.02, -0.01})));
    std::vector<MarchSource> sources;
    for (std::uint32_t v = 0; v < voxels.count(); ++v) {
      const double d = Length(voxels.Middle(v) - voxels.Middle(centre)) / voxels.size;
      if (d < 3) sources.push_back({v, d});
    }
    const auto distance = March(voxels, sources, Task());
    double most = 0;
    for (std::uint32_t v = 0; v < voxels.count(); ++v) {
      const double d = Length(voxels.Middle(v) - voxels.Middle(centre)) / voxels.size;
      EXPECT_GE(distance[v], d - 1e-9);  // never too short
      if (d > 0.4 * resolution) most = std::max(most, distance[v] / d - 1);
    }
    EXPECT_LT(most, 0.08);  // paths over 26 neighbours: 0.128 on any grid
    EXPECT_LT(most, 0.8 * last);
    last = most;
  }
}

TEST(March, IndependentOfSourceOrder) {
  const Skin skin = SkinOf(Canonical());
  const Voxels voxels = VoxelsOf(skin, 48);
  bool outside = false;
  auto sources = SourcesOf(skin.BonesOf(1), voxels, Task(), outside);
  EXPECT_FALSE(outside);
  const auto once = March(voxels, sources, Task());
  std::ranges::reverse(sources);
  EXPECT_EQ(once, March(voxels, sources, Task()));
}

Computed DistancesOf(const Skin& skin, std::uint32_t resolution) {
  Task task;
  return ValueOrDie(BodyDistances(skin, skin.bones, VoxelsOf(skin, resolution), 0, {task, 1}));
}

TEST(BodyDistances, CylinderDistancesStraightWithinOneVoxel) {
  const Skin skin = SkinOf(Canonical());
  const Computed computed = DistancesOf(skin, 128);
  EXPECT_TRUE(computed.unseen.empty());
  const double voxel = VoxelsOf(skin, 128).size;
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t p = 0; p < skin.points.size(); ++p) {
      const double straight = ClosestOn(skin.bones[j], skin.points[p]).distance;
      const double ours = computed.columns.of(j)[p];
      EXPECT_GT(ours, straight - 1e-6);  // link distances are stored as float
      EXPECT_LT(ours, 1.03 * straight + 1.2 * voxel);
    }
  }
}

TEST(BodyDistances, EdgeDifferenceBoundedByLengthPlusVoxel) {
  const Skin skin = SkinOf(Legs());
  const Computed computed = DistancesOf(skin, 96);
  const double voxel = VoxelsOf(skin, 96).size;
  for (const auto& t : skin.triangles) {
    for (std::size_t j = 0; j < skin.joints.size(); ++j) {
      const double a = computed.columns.of(j)[t[0]], b = computed.columns.of(j)[t[1]];
      if (std::isinf(a) && std::isinf(b)) continue;
      EXPECT_LT(std::abs(a - b), Length(skin.points[t[0]] - skin.points[t[1]]) * 1.13 + voxel);
    }
  }
}

// Two parallel boxes joined by a third at their far ends.
Body Horseshoe(double gap) {
  Body body;
  Append(body, Box({0, 0, 0}, {6, 1, 1}));
  Append(body, Box({0, 1 + gap, 0}, {6, 2 + gap, 1}));
  Append(body, Box({5, 0.01, 0.01}, {5.99, 1.99 + gap, 0.99}));
  body.bones = {{0, {0, 0.5, 0.5}, {5.5, 0.5, 0.5}},
                {1, {0, 1.5 + gap, 0.5}, {5.5, 1.5 + gap, 0.5}}};
  return body;
}

TEST(BodyDistances, PathsGoAroundThinGap) {
  for (const double gap : {1.0, 0.2, 0.01}) {
    const Body body = Horseshoe(gap);
    const Skin skin = SkinOf(body);
    const Computed computed = DistancesOf(skin, 64);
    const double unit = skin.diagonal / MeshOf(body).diagonal();
    // From the open end of the first arm to the other arm's bone: along the arm, then across.
    const double d = computed.columns.of(1)[0] / unit;
    EXPECT_GT(d, 5) << gap;
    EXPECT_LT(d, 8) << gap;
    EXPECT_LT(computed.columns.of(0)[0] / unit, 1.2) << gap;
  }
}

TEST(Geodesic, LegsStaySeparate) {
  const Body body = Legs();
  const auto weights = WeightsOf(body, {.method = WeightMethod::kGeodesic, .resolution = 64});
  for (std::size_t v = 0; v < weights.size(); ++v) {
    EXPECT_EQ(weights[v][v < weights.size() / 2 ? 2 : 1], 0) << v;
  }
}

TEST(Geodesic, DistanceLaw) {
  EXPECT_DOUBLE_EQ(DistanceLaw(0.1, 0.1, 0.5), 1);
  EXPECT_DOUBLE_EQ(DistanceLaw(0.2, 0.1, 0), 1.0 / 64);
  EXPECT_DOUBLE_EQ(DistanceLaw(0.2, 0.1, 1), 1.0 / 4096);
  EXPECT_DOUBLE_EQ(DistanceLaw(0.2, 0.1, 0.5), 1.0 / 729);
  EXPECT_EQ(DistanceLaw(std::numeric_limits<double>::infinity(), 0.1, 0.5), 0);
  EXPECT_EQ(DistanceLaw(0, 0, 0.5), 1);
  EXPECT_EQ(DistanceLaw(2e-4, 0, 0), DistanceLaw(2e-4, 1e-4, 0));
}

TEST(Geodesic, TubeFallOffMatchesClosedForm) {
  const Body body = Canonical();
  const auto weights = WeightsOf(body, {.method = WeightMethod::kGeodesic});
  for (std::size_t v = 0; v < 81 * 32; ++v) {
    const double x = std::abs(body.points[v].x), r = std::sqrt(1 + x * x);
    const double far = std::pow(0.5 * r + 0.5 * r * r, -6), other = far / (1 + far);
    if (x > 1.5) continue;  // pruning affects the weights from there on
    EXPECT_NEAR(weights[v][body.points[v].x > 0 ? 0 : 1], other, 0.01) << x;
  }
}

TEST(Geodesic, LeafBoneExtendsHalfwayToSkin) {
  struct Case {
    Vec3d root, tip, end;
  };
  const Case cases[] = {{{-5, 0, 0}, {0, 0, 0}, {0, 0, 0}},  // the next bone starts there
                        {{0, 0, 0}, {1, 0, 0}, {3, 0, 0}},
                        {{0, 0, 0}, {0, 0.1, 0}, {0, 0.5, 0}},  // at most four times its length
                        {{0, 0, 0}, {0, 0, -0.5}, {0, 0, -0.75}},
                        {{2, 3, 0}, {2, 2, 0}, {2, 2, 0}},  // from outside
                        {{3, 0, 0}, {3, 2, 0}, {3, 2, 0}},  // the line leaves the body at its end
                        {{-2, 0, 0}, {-2, 0, 0}, {-2, 0, 0}}};  // no direction
  Body body = Canonical();
  body.bones.clear();
  std::uint32_t joint = 0;
  for (const Case& c : cases) body.bones.push_back({joint++, c.root, c.tip});
  const Skin skin = SkinOf(body);
  std::vector<Bone> bones = skin.bones;
  ExtendLeafBones(skin.points, skin.triangles, skin.side, Task(), bones);
  ASSERT_EQ(bones.size(), std::size(cases));
  const double unit = skin.diagonal / MeshOf(body).diagonal();
  for (std::size_t k = 0; k < bones.size(); ++k) {
    // The body's centre is the origin; facets of the tube are up to 0.5 % inside its radius.
    EXPECT_LT(Length((1 / unit) * bones[k].tip - cases[k].end), 0.005) << k;
    EXPECT_EQ(Length(bones[k].root - skin.bones[k].root), 0) << k;
  }
}

TEST(Geodesic, DoubledResolutionChangesLessThanFivePercent) {
  for (const Body& body : {Canonical(), Horseshoe(0.3)}) {
    const auto coarse = WeightsOf(body, {.method = WeightMethod::kGeodesic, .resolution = 128});
    const auto fine = WeightsOf(body, {.method = WeightMethod::kGeodesic, .resolution = 256});
    EXPECT_LT(testing::MaxDifference(coarse, fine), 0.05);
  }
}

TEST(Geodesic, OutsideBonesStartFromNearestVoxel) {
  Body body = Canonical();
  body.bones.push_back({2, {5, 1.4, 0}, {5, 9, 0}});
  Task task;
  const auto computed =
      ComputeWeights(MeshOf(body), body.bones, {.method = WeightMethod::kGeodesic}, task);
  ASSERT_TRUE(computed.ok()) << computed.status();
  EXPECT_TRUE(std::ranges::any_of(computed->report.notes, [](const Problem& note) {
    return note.message.find("1 joint has no bone inside") != std::string::npos;
  }));
  const auto weights = testing::Dense(computed->influences, 3);
  EXPECT_GT(weights[80 * 32][2], 0.05);  // the end near it
  EXPECT_LT(weights[0][2], 0.05);
}

TEST(Geodesic, ThinPartsUseEdgeDistances) {
  // A fin of zero thickness connected to the cylinder's ridge.
  Body body = Canonical();
  for (std::uint32_t i = 0; i < 81; ++i) {
    body.points.push_back({body.points[i * 32].x, 3, 0});
    if (i == 0) continue;
    const std::uint32_t top = 81 * 32 + 2 + i;
    body.faces.push_back({(i - 1) * 32, i * 32, top, top - 1});
  }
  Task task;
  const auto computed =
      ComputeWeights(MeshOf(body), body.bones, {.method = WeightMethod::kGeodesic}, task);
  ASSERT_TRUE(computed.ok()) << computed.status();
  EXPECT_TRUE(computed->report.unseen.empty());
  const auto weights = testing::Dense(computed->influences, 2);
  EXPECT_GT(weights[81 * 32 + 2][0], 0.6);
  EXPECT_GT(weights.back()[1], 0.6);
}

TEST(Geodesic, OpenMeshUsesStraightLines) {
  Body body = Box({0, 0, 0}, {1, 1, 1});
  body.faces = {{0, 2, 3, 1}};
  body.points.resize(4);
  body.bones = {{0, {0, 0, 0.1}, {0, 1, 0.1}}, {1, {1, 0, 0.1}, {1, 1, 0.1}}};
  Task task;
  const auto computed =
      ComputeWeights(MeshOf(body), body.bones, {.method = WeightMethod::kGeodesic}, task);
  ASSERT_TRUE(computed.ok()) << computed.status();
  EXPECT_EQ(computed->report.unseen.size(), 4u);
  EXPECT_EQ(computed->report.notes.size(), 1u);
  EXPECT_GT(testing::Dense(computed->influences, 2)[0][0], 0.9);
}

}  // namespace
}  // namespace sinew::weights
