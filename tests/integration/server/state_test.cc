// Recipes with state over the wire: whose state it is, and what frames say about their history.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

constexpr char kTracking[] = "dqs | implicit(tracking=true)";
constexpr TubeShape kShape{.rings = 41, .segments = 16};

// The upper half bent about z.
v1::Pose BentPose(std::uint64_t frame, double degrees) {
  const double angle = degrees * 3.14159265358979 / 180;
  const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
  std::vector<float> joints = Lift(0);
  Append(joints, {c, -s, 0, 0, s, c, 0, 1, 0, 0, 1, 0});
  Append(joints, {c, -s, 0, -s, s, c, 0, 1 + c, 0, 0, 1, 0});
  v1::Pose pose;
  pose.set_frame(frame);
  pose.set_joint_transforms(FloatBytes(joints));
  return pose;
}

class StateTest : public ServerTest {
 protected:
  void SetUp() override {
    Start();
    rig_ = stubs().UploadTube(kShape);
  }
  v1::Frame Next(Stream& stream, const v1::Pose& pose) {
    EXPECT_TRUE(stream.Send(pose));
    const auto answers = stream.ReadUntil(pose.frame());
    EXPECT_EQ(answers.size(), 1u);
    return answers.empty() ? v1::Frame() : answers.back().frame;
  }
  std::string rig_;
};

TEST_F(StateTest, FramesReportReplayedSteps) {
  Stream stream(stubs(), OpenRecipe(rig_, kTracking));
  EXPECT_TRUE(stream.Opened().stateful());
  EXPECT_EQ(Next(stream, BentPose(1, 10)).replayed_steps(), 5u);
  EXPECT_EQ(Next(stream, BentPose(2, 14)).replayed_steps(), 0u);
  EXPECT_EQ(Next(stream, BentPose(3, 60)).replayed_steps(), 0u);
  v1::Pose reset = BentPose(4, 60);
  reset.set_reset(true);
  EXPECT_EQ(Next(stream, reset).replayed_steps(), 30u);
  EXPECT_EQ(Next(stream, BentPose(5, 130)).replayed_steps(), 65u) << "too far";
  // The next frame reports what happened without output.
  reset = BentPose(6, 20);
  reset.set_reset(true);
  reset.set_no_output(true);
  EXPECT_TRUE(stream.Send(reset));
  EXPECT_EQ(Next(stream, BentPose(7, 22)).replayed_steps(), 10u);
  // A pose that cannot be used resets all the same.
  v1::Pose broken = BentPose(8, 24);
  broken.set_reset(true);
  broken.clear_joint_transforms();
  EXPECT_TRUE(stream.Send(broken));
  EXPECT_TRUE(stream.ReadUntil(8).back().problem.has_value());
  EXPECT_EQ(Next(stream, BentPose(9, 24)).replayed_steps(), 12u);
}

TEST_F(StateTest, StatelessRecipesReportNoReplay) {
  Stream stream(stubs(), OpenRecipe(rig_, "dqs"));
  EXPECT_FALSE(stream.Opened().stateful());
  EXPECT_EQ(Next(stream, BentPose(1, 90)).replayed_steps(), 0u);
}

TEST_F(StateTest, EveryStreamHasItsOwnState) {
  const std::vector<double> bends = {10, 40, 70, 120, 118};
  const auto run = [&](Stream& stream, std::size_t k) {
    return Next(stream, BentPose(k + 1, bends[k])).positions();
  };
  Stream alone(stubs(), OpenRecipe(rig_, kTracking)), one(stubs(), OpenRecipe(rig_, kTracking)),
      other(stubs(), OpenRecipe(rig_, kTracking));
  for (Stream* stream : {&alone, &one, &other}) stream->Opened();
  for (std::size_t k = 0; k < bends.size(); ++k) {
    const std::string expected = run(alone, k), got = run(one, k);
    EXPECT_TRUE(expected == got) << k;
    Next(other, BentPose(k + 1, -30.0 * static_cast<double>(k)));
  }
}

TEST_F(StateTest, SinglePoseIsProjectedWithoutState) {
  v1::DeformRequest request;
  v1::DeformResponse tracked, projected;
  *request.mutable_pose() = BentPose(1, 80);
  *request.mutable_target() = OpenRecipe(rig_, kTracking).target();
  EXPECT_CODE(stubs().Deform(request, tracked), StatusCode::OK);
  *request.mutable_target() = OpenRecipe(rig_, "dqs | implicit").target();
  EXPECT_CODE(stubs().Deform(request, projected), StatusCode::OK);
  EXPECT_TRUE(tracked.frame().positions() == projected.frame().positions());
  EXPECT_EQ(tracked.frame().replayed_steps(), 0u);
}

TEST_F(StateTest, PrerolledClipHasBitsOfWhole) {
  const auto run = [&](std::uint32_t preroll) {
    v1::DeformClipRequest request;
    *request.mutable_target() = OpenRecipe(rig_, kTracking).target();
    for (std::uint64_t k = 1; k <= 8; ++k) {
      *request.mutable_poses()->add_poses() = BentPose(k, 15.0 * static_cast<double>(k));
    }
    request.mutable_poses()->set_preroll(preroll);
    grpc::ClientContext context;
    const auto call = stubs().deforms->DeformClip(&context, request);
    std::map<std::uint64_t, v1::Frame> frames;
    v1::DeformClipResponse response;
    bool stateful = false;
    while (call->Read(&response)) {
      stateful = stateful || response.stateful();
      for (const v1::Frame& frame : response.frames()) frames[frame.frame()] = frame;
    }
    EXPECT_CODE(call->Finish(), StatusCode::OK);
    EXPECT_TRUE(stateful);
    return frames;
  };
  const auto whole = run(0), part = run(5);
  ASSERT_EQ(whole.size(), 8u);
  ASSERT_EQ(part.size(), 3u);
  for (const auto& [number, frame] : part) {
    EXPECT_TRUE(frame.positions() == whole.at(number).positions()) << number;
  }
  EXPECT_EQ(part.at(6).replayed_steps(), 8u) << "where its history begins";
  EXPECT_EQ(part.at(7).replayed_steps(), 0u);
}

}  // namespace
}  // namespace sinew::testing
