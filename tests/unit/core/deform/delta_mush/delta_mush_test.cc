// Delta Mush against its reference, and laws for any mesh.
#include "core/deform/delta_mush/delta_mush.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/deform/lbs/lbs.h"
#include "tests/reference/ddm_reference.h"
#include "tests/reference/delta_mush_reference.h"
#include "tests/reference/dqs_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/compare.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/deform/delta_mush/posed_stage.h"

namespace sinew {
namespace {

using testing::BendPose;
using testing::Distance;
using testing::MaxDistance;
using testing::Moved;
using testing::MushOf;
using testing::RestPoints;
using testing::RestPose;
using testing::RunMethod;
using testing::SameBits;
using testing::SkinMatrices;
using testing::TubeOptions;
using testing::TubeRig;
using testing::TubeWeights;
using testing::TwistPose;

using Points = std::vector<Vec3d>;

Points Skinned(const Rig& rig, std::span<const Affine> pose) {
  return reference::Lbs(RestPoints(rig), rig.influences(), SkinMatrices(rig, pose));
}

Points Mush(const Rig& rig, const DeltaMushParams& params, std::span<const Affine> pose) {
  return MushOf(rig, params, pose, Skinned(rig, pose));
}

Points Reference(const Rig& rig, const DeltaMushParams& params, std::span<const Affine> pose) {
  const auto smooth = [&](const Points& p) {
    return reference::SmoothExplicitly(rig, params, {}, p);
  };
  return reference::DeltaMush(
      rig, params.laplacian == MushLaplacian::kCotangent, smooth, params.displacement,
      Skinned(rig, pose),
      testing::PivotRotations(rig, SkinMatrices(rig, pose), reference::OrthogonalBySvd));
}

// Where face normals are undefined, detail rotates with the joint: continuous just above and below
// flat.
TEST(DeltaMush, DetailSurvivesFlatJoint) {
  const Rig rig = testing::DegenerateFan();
  const auto at = [&](double thickness) {
    return Mush(rig, {}, Moved(testing::ScaleMotion({1, 1, thickness}), RestPose(rig)));
  };
  EXPECT_LT(MaxDistance(at(1), RestPoints(rig)), 1e-5);
  EXPECT_LT(MaxDistance(at(-1e-4), at(1e-4)), 1e-3);
}

// A closed bumpy body of quads and triangles with two joints: a tube whose ends are points.
Rig Capsule() {
  RigSource source = testing::TubeSource(
      {.rings = 13, .around = 9, .weights = TubeWeights::kRigid, .quads = true});
  auto& mesh = source.mesh;
  const auto vertices = static_cast<std::uint32_t>(mesh.positions.size());
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const float bump = 1 + 0.2f * std::sin(7.0f * static_cast<float>(v));
    mesh.positions[v].y *= bump;
    mesh.positions[v].z *= bump;
  }
  for (const float end : {-2.3f, 2.3f}) {
    const auto pole = static_cast<std::uint32_t>(mesh.positions.size());
    mesh.positions.push_back({end, 0, 0});
    const std::uint32_t ring = end < 0 ? 0 : vertices - 9;
    for (std::uint32_t k = 0; k < 9; ++k) {
      const std::uint32_t a = ring + k, b = ring + (k + 1) % 9;
      mesh.face_vertices.insert(mesh.face_vertices.end(), {pole, end < 0 ? a : b, end < 0 ? b : a});
      mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
    }
    source.influences.bindings.push_back(end < 0 ? 0 : 1);
    source.influences.weights.push_back(1);
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  mesh.parts.front().vertex_count += 2;
  mesh.parts.front().face_count += 18;
  return testing::MakeRig(std::move(source));
}

std::vector<DeltaMushParams> Options() {
  return {{},
          {.iterations = 1, .step = 1, .laplacian = MushLaplacian::kUniform},
          {.iterations = 25, .pin_borders = false},
          {.iterations = 6, .laplacian = MushLaplacian::kUniform, .displacement = -1.5f},
          {.iterations = 12, .laplacian = MushLaplacian::kUniform, .keep_area = 0},
          {.iterations = 15, .laplacian = MushLaplacian::kUniform, .keep_area = 1},
          {.iterations = 12, .step = 0.75f, .laplacian = MushLaplacian::kInverseDistance}};
}

TEST(DeltaMush, MatchesReference) {
  const Rig rigs[] = {TubeRig({.rings = 21, .around = 12, .weights = TubeWeights::kRigid}),
                      TubeRig({.rings = 21, .around = 12, .joints = 5, .quads = true}), Capsule()};
  for (const Rig& rig : rigs) {
    for (const auto& pose :
         {BendPose(rig, 70), TwistPose(rig, 120),
          Moved(testing::RigidMotion({1, 2, 3}, 250, {3, -2, 1}), BendPose(rig, -50))}) {
      for (const DeltaMushParams& params : Options()) {
        EXPECT_LT(MaxDistance(Mush(rig, params, pose), Reference(rig, params, pose)),
                  2e-6 * rig.mesh().diagonal())
            << params.iterations;
      }
    }
  }
}

TEST(DeltaMush, SmoothingMatchesReference) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (DeltaMushParams params : Options()) {
      params.displacement = 0;
      const auto pose = BendPose(named.rig, 80);
      const Points posed = Skinned(named.rig, pose);
      EXPECT_LT(MaxDistance(MushOf(named.rig, params, pose, posed),
                            reference::SmoothExplicitly(named.rig, params, {}, posed)),
                2e-6 * named.rig.mesh().diagonal() + 1e-6 * Distance(posed[0], {}))
          << named.name;
    }
  }
}

TEST(DeltaMush, DetailKeepsLength) {
  const Rig rig = Capsule();
  DeltaMushParams plain;
  plain.displacement = 0;
  const Points rest_detail = RestPoints(rig);
  const auto rest = RestPose(rig), pose = BendPose(rig, 60);
  const Points x0 = Mush(rig, plain, rest), x = Mush(rig, plain, pose), v = Mush(rig, {}, pose);
  double longest = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double length = Distance(rest_detail[i], x0[i]);
    EXPECT_NEAR(Distance(v[i], x[i]), length, 2e-6) << i;
    longest = std::max(longest, length);
  }
  EXPECT_GT(longest, 0.05);
}

TEST(DeltaMush, NoStepsKeepsInputBits) {
  const Rig rig = TubeRig();
  auto posed = RunMethod<Lbs>(rig, {}, BendPose(rig, 100));
  posed.blocks[0].x[3] = -0.0f;
  for (const DeltaMushParams& params : {DeltaMushParams{.iterations = 0},
                                        DeltaMushParams{.step = 0}, DeltaMushParams{.radius = 0}}) {
    const DeltaMush mush = testing::BindMush(rig, *posed.layout, params);
    EXPECT_TRUE(
        SameBits(posed.blocks, testing::RunBound(mush, *posed.layout, PosedRig(), posed.blocks)));
  }
}

// Points that are not smoothed keep their bits.
TEST(DeltaMush, PinnedAndUnpaintedPointsStay) {
  RigSource source = testing::TubeSource();
  std::vector<float> map(source.mesh.positions.size(), 1.0f);
  for (std::size_t v = 800; v < 900; ++v) map[v] = v % 2 == 0 ? 0.0f : -3.0f;
  source.maps.push_back({"soft", map});
  const Rig rig = testing::MakeRig(std::move(source));
  const auto pose = BendPose(rig, 90);
  const auto posed = RunMethod<Lbs>(rig, {}, pose);
  const DeltaMush mush = testing::BindMush(rig, *posed.layout, {.map = "soft"});
  const Points out = testing::RunMush(rig, *posed.layout, mush, pose, posed.blocks);
  std::size_t moved = 0;
  for (std::size_t v = 0; v < out.size(); ++v) {
    if (v < 32 || v >= out.size() - 32 || map[v] <= 0) {
      EXPECT_EQ(out[v], posed.points[v]) << v;
    } else if (!(out[v] == posed.points[v])) {
      ++moved;
    }
  }
  EXPECT_GT(moved, 800u);
}

TEST(DeltaMush, MapScalesStepWithinRange) {
  RigSource source = testing::TubeSource({.rings = 21, .around = 12});
  std::vector<float> map;
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    map.push_back(-0.5f + 0.25f * static_cast<float>(v % 9));  // -0.5 to 1.5
  }
  source.maps.push_back({"soft", map});
  const Rig rig = testing::MakeRig(std::move(source));
  const auto pose = BendPose(rig, 70);
  const DeltaMushParams params = {.displacement = 0, .map = "soft"};
  const Points posed = Skinned(rig, pose);
  EXPECT_LT(MaxDistance(MushOf(rig, params, pose, posed),
                        reference::SmoothExplicitly(rig, params, map, posed)),
            5e-6);
}

TEST(DeltaMush, SeamsStayClosedAndLipsSeparate) {
  const Rig seam = testing::SeamDuplicateVertices();
  const DeltaMushParams params = {.pin_borders = false};
  const Points closed = Mush(seam, params, BendPose(seam, 40));
  EXPECT_EQ(closed[1], closed[4]);
  EXPECT_EQ(closed[2], closed[7]);
  const Rig lips = testing::TouchingLips();
  auto pose = RestPose(lips);
  pose[1].m[7] -= 1;
  const Points open = Mush(lips, params, pose);
  EXPECT_GT(Distance(open[0], open[7]), 0.9);
}

// Where the first neighbour's edge becomes perpendicular to the surface, the second defines the
// frame.
TEST(DeltaMush, SecondNeighbourGivesSameFrame) {
  const Rig rig = Capsule();
  const auto pose = BendPose(rig, 50);
  const auto posed = RunMethod<Lbs>(rig, {}, pose);
  DeltaMush mush = testing::BindMush(rig, *posed.layout, {});
  const auto rest = RunMethod<Lbs>(rig, {}, RestPose(rig));
  const auto run = [&](const auto& in, std::span<const Affine> at) {
    return testing::RunMush(rig, *posed.layout, mush, at, in.blocks);
  };
  const Points first = run(posed, pose);
  for (std::size_t p = 0; p < mush.points(); ++p) mush.frame_least[p * 3 + 1] = 1e30f;
  const Points second = run(posed, pose);
  EXPECT_LT(MaxDistance(run(rest, RestPose(rig)), RestPoints(rig)),
            1e-5);  // the stored angle is right
  EXPECT_LT(MaxDistance(first, second), 0.1);
  EXPECT_GT(MaxDistance(first, second), 1e-4);  // the substitute was used
}

TEST(DeltaMush, WithoutFrameDetailFollowsJoint) {
  const Rig rig = Capsule();
  const auto pose = Moved(testing::RigidMotion({1, 2, 3}, 100, {1, 0, 0}), RestPose(rig));
  const auto posed = RunMethod<Lbs>(rig, {}, pose);
  DeltaMush mush = testing::BindMush(rig, *posed.layout, {});
  const Points framed = testing::RunMush(rig, *posed.layout, mush, pose, posed.blocks);
  std::ranges::fill(mush.frame_points, -1);
  EXPECT_LT(MaxDistance(testing::RunMush(rig, *posed.layout, mush, pose, posed.blocks), framed),
            1e-5);
}

struct TubeRow {
  const char* name;
  std::vector<Affine> pose;
  double volume, radius;
};

// Published behaviour of Delta Mush with rigid weights and implicit smoothing; the reference uses
// the method's frames.
TEST(DeltaMushTable, TubeWithImplicitSmoothing) {
  const TubeOptions options = {.weights = TubeWeights::kRigid};
  const Rig rig = TubeRig(options);
  DdmParams implicit;
  implicit.laplacian = Laplacian::kUniform;
  implicit.keep_area = 0;
  implicit.lambda = 1;
  implicit.iterations = 16;
  const reference::DdmSmoother smoother(reference::MeshOf(rig),
                                        reference::DdmReferenceParams(implicit));
  const auto smooth = [&](const Points& points) {
    Eigen::MatrixXd columns(static_cast<Eigen::Index>(points.size()), 3);
    for (std::size_t v = 0; v < points.size(); ++v) {
      columns.row(static_cast<Eigen::Index>(v)) << points[v].x, points[v].y, points[v].z;
    }
    const Eigen::MatrixXd smoothed = smoother.Apply(columns, 1);
    Points result;
    for (Eigen::Index v = 0; v < smoothed.rows(); ++v) {
      result.push_back({smoothed(v, 0), smoothed(v, 1), smoothed(v, 2)});
    }
    return result;
  };
  const TubeRow rows[] = {{"bend 90", BendPose(rig, 90), 0.955, 0.491},
                          {"bend 135", BendPose(rig, 135), 0.927, 0.270},
                          {"twist 90", TwistPose(rig, 90), 0.984, 0.907},
                          {"twist 179", TwistPose(rig, 179), 0.917, 0.397}};
  for (const TubeRow& row : rows) {
    const std::vector<Mat3d> turn(rig.vertices());
    const Points posed = reference::DeltaMush(rig, false, smooth, 1, Skinned(rig, row.pose), turn);
    EXPECT_NEAR(testing::TubeVolume(options, posed) / testing::TubeVolume(options, RestPoints(rig)),
                row.volume, 2e-3)
        << row.name;
    EXPECT_NEAR(testing::TubeMinRadius(options, posed), row.radius, 2e-3) << row.name;
  }
}

}  // namespace
}  // namespace sinew
