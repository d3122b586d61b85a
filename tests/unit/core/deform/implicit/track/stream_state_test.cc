// Stateful recipes through the deformer: sequences, jumps, errors, no state.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <stop_token>
#include <vector>

#include "core/base/table_io.h"
#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/support/compare.h"
#include "tests/support/overlap.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::SameBits;

constexpr char kTracking[] = "dqs | implicit(tracking=true)";

const Rig& Limb() {
  static const auto* const kRig = new Rig(testing::CanonicalCylinder());
  return *kRig;
}

Deformer BindTo(const Rig& rig, const std::string& recipe_text) {
  Task task;
  return testing::ValueOrDie(Deformer::Bind(rig, *ParseRecipe(recipe_text), task));
}

const Deformer& Tracker() {
  static const auto* const kDeformer = new Deformer(BindTo(Limb(), kTracking));
  return *kDeformer;
}

struct Frame {
  absl::Status status;
  std::vector<Vec3f> points;
  std::uint32_t replayed_steps = 0;
};

Frame Evaluate(const Deformer& deformer, std::span<const Affine> pose, StreamState* state,
               const Task& task = Task()) {
  Frame frame;
  frame.points.resize(deformer.vertices());
  FrameOut out{.positions = std::as_writable_bytes(std::span(frame.points))};
  Workspace workspace;
  frame.status = deformer.Evaluate({.joints = pose}, out, workspace, state, task);
  frame.replayed_steps = out.replayed_steps;
  return frame;
}

Frame Bend(const Deformer& deformer, double degrees, StreamState* state) {
  return Evaluate(deformer, testing::BendPose(Limb(), degrees), state);
}

double Overlap(const Frame& frame) {
  std::vector<Vec3d> points;
  for (const Vec3f& p : frame.points) points.push_back(ToDouble(p));
  std::vector<std::array<std::uint32_t, 3>> triangles;
  const auto corners = Limb().mesh().face_vertices();
  for (std::size_t f = 0; f < corners.size(); f += 3) {
    triangles.push_back({corners[f], corners[f + 1], corners[f + 2]});
  }
  const auto volumes = testing::MeasureOverlap(triangles, points);
  return 100 * volumes.overlap / testing::CanonicalVolume();
}

TEST(StreamState, SequenceStartsAtRest) {
  EXPECT_FALSE(Tracker().frames_independent());
  StreamState state;
  const Frame first = Bend(Tracker(), 10, &state);
  ASSERT_TRUE(first.status.ok()) << first.status;
  EXPECT_EQ(first.replayed_steps, 5u);
  for (int degrees = 15; degrees <= 60; degrees += 5) {
    EXPECT_EQ(Bend(Tracker(), degrees, &state).replayed_steps, 0u);
  }
  // Twelve steps of five degrees are followed; more are not.
  EXPECT_EQ(Bend(Tracker(), 0, &state).replayed_steps, 0u);
  EXPECT_EQ(Bend(Tracker(), 100, &state).replayed_steps, 50u);
  EXPECT_EQ(Bend(Tracker(), 101, &state).replayed_steps, 0u);
}

TEST(StreamState, DeepBendsCloseWithoutOverlap) {
  StreamState stepped, jumped;
  Frame frame;
  for (int degrees = 1; degrees <= 150; ++degrees) frame = Bend(Tracker(), degrees, &stepped);
  const Frame jump = Bend(Tracker(), 150, &jumped);
  EXPECT_EQ(jump.replayed_steps, 75u);
  EXPECT_LE(Overlap(frame), 0.1);
  EXPECT_LE(Overlap(jump), 0.1);
}

TEST(StreamState, SamePosesAfterResetGiveSameBits) {
  const auto run = [](StreamState& state, const Deformer& deformer) {
    state = {};
    Frame frame;
    for (const double degrees : {20, 24, 50, 52, 130, 125}) {
      frame = Bend(deformer, degrees, &state);
    }
    return frame;
  };
  StreamState state;
  const Frame first = run(state, Tracker());
  EXPECT_TRUE(SameBits(first.points, run(state, Tracker()).points));
  for (const int threads : {1, 3}) {
    tbb::task_arena arena(threads);
    arena.execute(
        [&] { EXPECT_TRUE(SameBits(first.points, run(state, Tracker()).points)) << threads; });
  }
  TableWriter writer;
  Tracker().Save(writer);
  const std::string file = writer.Finish();
  const auto reader = TableReader::Open(file);
  ASSERT_TRUE(reader.ok());
  const auto loaded = Deformer::Load(*reader);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(SameBits(first.points, run(state, *loaded).points));
}

// Reaching a pose in one call by sub-steps differs from reaching it pose by pose: the sub-steps of
// a call are defined, other poses are not.
TEST(StreamState, WithoutStatePosesAreIndependent) {
  const Deformer plain = BindTo(Limb(), "dqs | implicit");
  StreamState untouched;
  for (const double degrees : {90.0, 30.0, 90.0}) {
    const Frame stateless = Bend(Tracker(), degrees, nullptr);
    EXPECT_EQ(stateless.replayed_steps, 0u);
    EXPECT_TRUE(SameBits(stateless.points, Bend(plain, degrees, nullptr).points));
    EXPECT_TRUE(SameBits(stateless.points, Bend(plain, degrees, &untouched).points));
  }
  EXPECT_TRUE(untouched.empty()) << "a stateless recipe ignores it";
}

TEST(StreamState, RejectsStateOfOtherDeformer) {
  StreamState state;
  ASSERT_TRUE(Bend(Tracker(), 20, &state).status.ok());
  for (StreamState wrong : {state, state, state}) {
    static int kind = 0;
    if (kind == 0) wrong.floats.pop_back();
    if (kind == 1) wrong.joints.pop_back();
    if (kind == 2) wrong.controls.push_back(0);
    ++kind;
    const Frame frame = Bend(Tracker(), 25, &wrong);
    EXPECT_EQ(frame.status.code(), absl::StatusCode::kInvalidArgument) << frame.status;
    EXPECT_FALSE(wrong.empty()) << "rejected before evaluation";
  }
}

TEST(StreamState, EarlyErrorsKeepStateLaterErrorsClearIt) {
  StreamState state;
  ASSERT_TRUE(Bend(Tracker(), 20, &state).status.ok());
  auto pose = testing::BendPose(Limb(), 25);
  pose[1].m[0] = std::nanf("");
  EXPECT_FALSE(Evaluate(Tracker(), pose, &state).status.ok());
  EXPECT_EQ(Bend(Tracker(), 25, &state).replayed_steps, 0u) << "continued from 20";

  std::stop_source stop;
  stop.request_stop();
  const Task cancelled({.stop = stop.get_token()});
  const Frame frame = Evaluate(Tracker(), testing::BendPose(Limb(), 30), &state, cancelled);
  EXPECT_EQ(frame.status.code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(state.empty());
  EXPECT_EQ(Bend(Tracker(), 30, &state).replayed_steps, 15u);
}

TEST(StreamState, StepsPerPoseAreBounded) {
  StreamState state;
  auto pose = testing::BendPose(Limb(), 20);
  pose[1].m[3] += 1e5f;
  const Frame frame = Evaluate(Tracker(), pose, &state);
  EXPECT_TRUE(frame.status.ok()) << frame.status;
  EXPECT_EQ(frame.replayed_steps, kMaxReplaySteps);
}

TEST(StreamState, CommonRigidMotionIsOneStep) {
  StreamState state, moved;
  for (int degrees = 4; degrees <= 132; degrees += 4) {
    const auto pose = testing::BendPose(Limb(), degrees);
    const AffineD motion = testing::RigidMotion({0, 1, 0}, 30.0 * degrees, {5.0 * degrees, 0, 0});
    const Frame a = Evaluate(Tracker(), pose, &state);
    const Frame b = Evaluate(Tracker(), testing::Moved(motion, pose), &moved);
    EXPECT_EQ(b.replayed_steps, degrees == 4 ? 2u : 0u);
    double largest = 0;
    for (std::size_t v = 0; v < a.points.size(); ++v) {
      largest = std::max(
          largest, testing::Distance(Apply(motion, ToDouble(a.points[v])), ToDouble(b.points[v])));
    }
    // Up to 200 radii away, where float rounds by 1.5e-5, accumulated over ten frames.
    EXPECT_LE(largest, 2e-3) << degrees;
  }
}

// Two parallel limbs, the second attached to the first one's root: their ends are not adjacent.
RigSource TwoLimbs() {
  const testing::TubeOptions one = {.rings = 41, .around = 24};
  testing::TubeOptions other = one;
  other.origin = {0, 0, 1.6};
  RigSource both = testing::TubeSource(one);
  const RigSource beside = testing::TubeSource(other);
  MeshSource& mesh = both.mesh;
  const auto vertices = static_cast<std::uint32_t>(mesh.positions.size());
  const auto corners = static_cast<std::uint32_t>(mesh.face_vertices.size());
  mesh.positions.insert(mesh.positions.end(), beside.mesh.positions.begin(),
                        beside.mesh.positions.end());
  for (const std::uint32_t v : beside.mesh.face_vertices)
    mesh.face_vertices.push_back(vertices + v);
  for (std::size_t f = 1; f < beside.mesh.face_offsets.size(); ++f) {
    mesh.face_offsets.push_back(corners + beside.mesh.face_offsets[f]);
  }
  mesh.parts[0].vertex_count *= 2;
  mesh.parts[0].face_count *= 2;
  both.joints.push_back({.name = "other root", .parent = 0});
  both.joints.push_back({.name = "other end", .parent = 2});
  both.rest_local.push_back(testing::RigidMotion({1, 0, 0}, 0, other.origin));
  both.rest_local.push_back(beside.rest_local[1]);
  for (Binding binding : beside.bindings) {
    binding.joint += 2;
    both.bindings.push_back(binding);
  }
  InfluenceSource& influences = both.influences;
  const auto entries = influences.offsets.back();
  for (std::size_t v = 1; v < beside.influences.offsets.size(); ++v) {
    influences.offsets.push_back(entries + beside.influences.offsets[v]);
  }
  for (auto binding : beside.influences.bindings) influences.bindings.push_back(binding + 2);
  influences.weights.insert(influences.weights.end(), beside.influences.weights.begin(),
                            beside.influences.weights.end());
  return both;
}

// A penetrating part does not drag the skin of a limb.
TEST(StreamState, PenetratingPartDoesNotDragSkin) {
  const Rig rig = testing::MakeRig(TwoLimbs());
  const Deformer tracker = BindTo(rig, kTracking), skinned = BindTo(rig, "dqs");
  const auto rest = testing::RestPose(rig);
  StreamState state;
  for (int step = 0; step <= 64; ++step) {
    auto pose = rest;
    pose[3].m[11] -= 0.05f * static_cast<float>(step);  // the other end moves through the first
    const Frame tracked = Evaluate(tracker, pose, &state), want = Evaluate(skinned, pose, nullptr);
    ASSERT_TRUE(tracked.status.ok()) << tracked.status;
    double farthest = 0;
    for (std::size_t v = 0; v < tracked.points.size() / 2; ++v) {
      farthest = std::max(farthest,
                          testing::Distance(ToDouble(tracked.points[v]), ToDouble(want.points[v])));
    }
    EXPECT_LT(farthest, step == 64 ? 0.2 : 0.6) << step;  // the limb's radius is 0.5
  }
}

}  // namespace
}  // namespace sinew
