#include "core/weights/rig_weights.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

AffineD Lift(double y) {
  return {{1, 0, 0, 0, 0, 1, 0, y, 0, 0, 1, 0}};
}

Skeleton Chain(std::size_t joints, double step = 1) {
  std::vector<SkeletonJoint> names;
  std::vector<AffineD> local;
  for (std::size_t j = 0; j < joints; ++j) {
    names.push_back({.name = absl::StrCat("j", j),
                     .parent = j == 0 ? kNoParent : static_cast<std::uint32_t>(j - 1)});
    local.push_back(Lift(j == 0 ? 0 : step));
  }
  return *Skeleton::Create(names, local);
}

double Height(const AffineD& frame) {
  return frame.m[7];
}

TEST(BindFrames, NoBindingsGivesRestPose) {
  const Skeleton skeleton = Chain(3);
  const auto frames = BindFrames(skeleton, BindFrameList(3));
  ASSERT_EQ(frames.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(Height(frames[j]), static_cast<double>(j));
}

TEST(BindFrames, UnboundJointsFollowNearestBoundAncestor) {
  const Skeleton skeleton = Chain(4);
  // Joint 1 was bound 10 up and rotated by 90 degrees about z; singular matrices are ignored.
  const AffineD bound{{0, -1, 0, 0, 1, 0, 0, 10, 0, 0, 1, 0}};
  AffineD singular;
  singular.m.fill(0);
  const auto frames = BindFrames(
      skeleton, {std::nullopt, TryInverse(Inverse(bound)), std::nullopt, TryInverse(singular)});
  EXPECT_NEAR(frames[1].m[7], 10, 1e-12);
  // One above joint 1 at rest, so one along -x of its rotated frame.
  EXPECT_NEAR(frames[2].m[3], -1, 1e-12);
  EXPECT_NEAR(frames[2].m[7], 10, 1e-12);
  EXPECT_NEAR(frames[3].m[3], -2, 1e-12);
  // The root has no ancestor and follows the first bound joint.
  EXPECT_NEAR(frames[0].m[3], 1, 1e-12);
}

TEST(BonesToEachChild, BonesGoToNearestCarrierAncestor) {
  const Skeleton skeleton = Chain(4);
  const auto owners = [&](std::vector<std::uint8_t> carriers) {
    std::vector<std::uint32_t> joints;
    for (const Bone& bone : Bones(skeleton, 1, skeleton.rest_model(), {}).ToEachChild(carriers))
      joints.push_back(bone.joint);
    std::sort(joints.begin(), joints.end());
    return joints;
  };
  EXPECT_EQ(owners({1, 1, 1, 1}), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  // Joint 0 has no carrier ancestor; 2's bone goes to 1; the leaf's continuation is dropped.
  EXPECT_EQ(owners({0, 1, 0, 0}), (std::vector<std::uint32_t>{1, 1}));
  EXPECT_TRUE(owners({0, 0, 0, 0}).empty());
}

// The canonical tube twice; `apart` moves the second one together with its bind pose.
RigWeightsInput TwoTubes(double apart) {
  const RigSource tube = testing::TubeSource({.joints = 3});
  RigWeightsInput input{.mesh = tube.mesh,
                        .skeleton = *Skeleton::Create(tube.joints, tube.rest_local),
                        .bindings = {tube.bindings, tube.bindings},
                        .carriers = std::vector<std::uint8_t>(tube.joints.size(), 1)};
  const auto vertices = static_cast<std::uint32_t>(tube.mesh.positions.size());
  MeshPart part = tube.mesh.parts[0];
  part.name = "second";
  part.vertex_offset = vertices;
  part.face_offset = static_cast<std::uint32_t>(tube.mesh.face_offsets.size() - 1);
  input.mesh.parts.push_back(part);
  for (const Vec3f& point : tube.mesh.positions) {
    input.mesh.positions.push_back({point.x + static_cast<float>(apart), point.y, point.z});
  }
  const auto corners = static_cast<std::uint32_t>(tube.mesh.face_vertices.size());
  for (const std::uint32_t v : tube.mesh.face_vertices) {
    input.mesh.face_vertices.push_back(v + vertices);
  }
  for (std::size_t f = 1; f < tube.mesh.face_offsets.size(); ++f) {
    input.mesh.face_offsets.push_back(tube.mesh.face_offsets[f] + corners);
  }
  input.mesh.normals.clear();
  input.mesh.tangents.clear();
  input.mesh.weld.clear();
  AffineD back;
  back.m[3] = -apart;
  for (Binding& binding : input.bindings[1]) {
    binding.inverse_bind = Compose(binding.inverse_bind, back);
  }
  return input;
}

TEST(RigWeights, GroupsPartsByBindPose) {
  const WeightOptions options{.method = WeightMethod::kCapsule};
  for (const auto& [apart, groups] : {std::pair{0.0, 1u}, {100.0, 2u}}) {
    const RigWeightsInput input = TwoTubes(apart);
    double last = 0;
    const auto weights = ComputeRigWeights(input, options, {.progress = [&](double done) {
                                             EXPECT_GE(done, last - 1e-9);
                                             last = done;
                                           }});
    ASSERT_TRUE(weights.ok()) << weights.status();
    EXPECT_EQ(weights->inverse_bind.size(), groups);
    EXPECT_EQ(weights->group, (std::vector<std::uint32_t>{0, groups - 1}));
    const std::size_t vertices = input.mesh.positions.size();
    ASSERT_EQ(weights->influences.offsets.size(), vertices + 1);
    for (std::size_t v = 0; v < vertices; ++v) {
      const auto row = [&](std::size_t at) {
        const auto begin = static_cast<std::ptrdiff_t>(weights->influences.offsets[at]);
        const auto end = static_cast<std::ptrdiff_t>(weights->influences.offsets[at + 1]);
        return std::pair(std::vector(weights->influences.bindings.begin() + begin,
                                     weights->influences.bindings.begin() + end),
                         std::vector(weights->influences.weights.begin() + begin,
                                     weights->influences.weights.begin() + end));
      };
      const auto [joints, values] = row(v);
      EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 1, 1e-5) << v;
      // Each tube is bound in place, so both get the same weights except for rounding of the far
      // one.
      const bool tie = values.size() > 1 && values[0] - values[1] < 1e-3f;
      if (groups == 2 && v < vertices / 2 && !tie) {
        EXPECT_EQ(joints.front(), row(v + vertices / 2).first.front()) << v;
      }
    }
  }
}

TEST(RigWeights, ExcludedJointsGetNoWeight) {
  RigWeightsInput input = TwoTubes(0);
  input.carriers[1] = 0;
  const auto weights = ComputeRigWeights(input, {.method = WeightMethod::kCapsule}, {});
  ASSERT_TRUE(weights.ok()) << weights.status();
  for (const std::uint32_t joint : weights->influences.bindings) EXPECT_NE(joint, 1u);
  input.carriers.assign(input.carriers.size(), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(
      ComputeRigWeights(input, {.method = WeightMethod::kCapsule}, {}).status()));
}

TEST(RigWeights, NotesNameCoincidentJoints) {
  RigWeightsInput input = TwoTubes(0);
  const auto notes = [&] {
    return testing::ValueOrDie(ComputeRigWeights(input, {.method = WeightMethod::kCapsule}, {}))
        .report.notes;
  };
  const auto said = [](const std::vector<Problem>& all) {
    return std::ranges::count_if(
        all, [](const Problem& note) { return note.message.starts_with("1 joint has no bone"); });
  };
  EXPECT_EQ(said(notes()), 0);
  const AffineD along{{1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 1, 0}};
  input.skeleton = testing::ValueOrDie(Skeleton::Create({{.name = "root", .parent = kNoParent},
                                                         {.name = "tip", .parent = 0},
                                                         {.name = "end", .parent = 1}},
                                                        {AffineD{}, along, AffineD{}}));
  for (auto& bindings : input.bindings) bindings.clear();
  EXPECT_EQ(said(notes()), 1);
}

TEST(RigWeights, Cancellable) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(
      absl::IsCancelled(ComputeRigWeights(TwoTubes(0), {}, {.stop = stop.get_token()}).status()));
}

}  // namespace
}  // namespace sinew
