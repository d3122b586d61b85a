#include "core/rig/bind_pose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/vectors.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

AffineD Shift(double x, double y) {
  return {{1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, 0}};
}

RigSource ThreeJoints() {
  RigSource source = testing::TubeSource({.rings = 6, .around = 6, .joints = 3, .length = 6});
  source.rest_local[1] = Compose(source.rest_local[1], {{0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0}});
  return source;
}

TEST(BindPose, InvertsInverseBindMatrices) {
  const Rig rig = testing::MakeRig(ThreeJoints());
  const std::vector<AffineD> pose = BindPose(rig);
  ASSERT_EQ(pose.size(), 3u);
  for (const Binding& binding : rig.bindings()) {
    const AffineD one = Compose(pose[binding.joint], binding.inverse_bind);
    for (const Vec3d& p : {Vec3d{0, 0, 0}, Vec3d{1, 2, 3}})
      EXPECT_LT(Length(Apply(one, p) - p), 1e-9);
  }
}

TEST(BindPose, UnboundJointsKeepRestRelativeToParent) {
  RigSource source = ThreeJoints();
  source.joints.push_back({.name = "tip", .parent = 2});
  source.rest_local.push_back(Shift(0.5, 0.25));
  const Rig rig = testing::MakeRig(source);
  const std::vector<AffineD> pose = BindPose(rig);
  ASSERT_EQ(pose.size(), 4u);
  const Vec3d expected = Apply(pose[2], {0.5, 0.25, 0});
  EXPECT_LT(Length(Translation(pose[3]) - expected), 1e-12);
}

// Two meshes bind one joint in different bind spaces; both map to that of the first.
TEST(BindPose, BindingsOfOneJointCoincide) {
  RigSource source = ThreeJoints();
  source.bindings.push_back({1, Compose(source.bindings[1].inverse_bind, Shift(-7, 3))});
  const Rig rig = testing::MakeRig(source);
  const std::vector<AffineD> to = ToBindPose(rig, BindPose(rig));
  ASSERT_EQ(to.size(), 4u);
  EXPECT_LT(Length(Apply(to[1], {1, 2, 3}) - Vec3d{1, 2, 3}), 1e-9);
  EXPECT_LT(Length(Apply(to[3], {1, 2, 3}) - Vec3d{-6, 5, 3}), 1e-9);
}

// The last third is its own part, bound ten units higher, and is the only part bound to the last
// joint.
TEST(BindPose, PartsWithOwnBindSpacesAlign) {
  RigSource source = testing::TubeSource({.rings = 6, .around = 6, .joints = 3, .length = 6});
  const std::vector<AffineD> expected = BindPose(testing::MakeRig(source));
  constexpr std::uint32_t kFrom = 24;
  source.bindings[2].inverse_bind = Compose(source.bindings[2].inverse_bind, Shift(0, -10));
  MeshSource& mesh = source.mesh;
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::uint32_t v = 0; v < mesh.positions.size(); ++v) {
    if (v >= kFrom) mesh.positions[v].y += 10;
    rows.bindings.push_back(v >= kFrom ? 2 : v < 12 ? 0 : 1);
    rows.weights.push_back(1);
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = rows;
  const MeshSource whole = mesh;
  mesh.face_offsets = {0};
  mesh.face_vertices.clear();
  mesh.parts.clear();
  for (const bool back : {false, true}) {
    MeshPart part = whole.parts[0];
    part.name = back ? "tail" : "body";
    part.vertex_offset = back ? kFrom : 0;
    part.vertex_count = back ? static_cast<std::uint32_t>(mesh.positions.size()) - kFrom : kFrom;
    part.face_offset = static_cast<std::uint32_t>(mesh.face_offsets.size() - 1);
    for (std::size_t f = 0; f + 1 < whole.face_offsets.size(); ++f) {
      const auto corners =
          std::span(whole.face_vertices)
              .subspan(whole.face_offsets[f], whole.face_offsets[f + 1] - whole.face_offsets[f]);
      const auto behind = [&](std::uint32_t v) { return (v >= kFrom) == back; };
      if (!std::ranges::all_of(corners, behind)) continue;
      mesh.face_vertices.insert(mesh.face_vertices.end(), corners.begin(), corners.end());
      mesh.face_offsets.push_back(static_cast<std::uint32_t>(mesh.face_vertices.size()));
    }
    part.face_count = static_cast<std::uint32_t>(mesh.face_offsets.size() - 1) - part.face_offset;
    mesh.parts.push_back(part);
  }
  const std::vector<AffineD> pose = BindPose(testing::MakeRig(source));
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_LT(Length(Translation(pose[j]) - Translation(expected[j])), 1e-6) << j;
  }
}

TEST(BindPose, RespectsScaleCompensation) {
  RigSource source = testing::TubeSource({.rings = 6, .around = 6, .joints = 3, .length = 6});
  source.rest_local[1] = Compose(source.rest_local[1], {{2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0}});
  source.joints.push_back({.name = "tip", .parent = 1, .compensates_scale = true});
  source.rest_local.push_back(Shift(1, 0));
  const Rig rig = testing::MakeRig(source);
  const std::vector<AffineD> pose = BindPose(rig);
  const AffineD plain = Compose(pose[1], Shift(1, 0));
  const AffineD expected = rig.skeleton().ToModel(3, pose[1], rig.skeleton().rest_local()[1],
                                                  rig.skeleton().rest_local()[3]);
  EXPECT_LT(Length(Apply(pose[3], {1, 1, 1}) - Apply(expected, {1, 1, 1})), 1e-12);
  EXPECT_GT(Length(Apply(pose[3], {1, 1, 1}) - Apply(plain, {1, 1, 1})), 0.1);
}

}  // namespace
}  // namespace sinew
