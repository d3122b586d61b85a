// CompareDeformers: what comes back, in which order, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

// The rest pose with the upper joints turned about x by `angle` (radians) in the middle of the
// tube's first bone.
v1::Pose BentPose(std::uint64_t frame, float angle) {
  v1::Pose pose = TubePose(frame);
  std::vector<float> joints = FloatsOf(pose.joint_transforms());
  const float c = std::cos(angle), s = std::sin(angle);
  for (std::size_t j = 12; j < joints.size(); j += 12) {
    const float y = joints[j + 7];
    const float turned[12] = {1, 0, 0, 0, 0, c, -s, c * y, 0, s, c, s * y};
    std::copy(turned, turned + 12, joints.begin() + static_cast<std::ptrdiff_t>(j));
  }
  pose.set_joint_transforms(FloatBytes(joints));
  return pose;
}

class CompareTest : public ServerTest {
 protected:
  struct Comparison {
    std::vector<v1::CompareDeformersResponse> targets;  // all messages about each, merged
    grpc::Status status;
  };

  static v1::CompareDeformersRequest RequestFor(const std::string& rig,
                                                const std::vector<std::string>& recipes,
                                                int poses) {
    v1::CompareDeformersRequest request;
    for (const std::string& recipe_text : recipes) {
      v1::SessionSource& target = *request.add_targets()->mutable_source();
      target.set_rig(rig);
      target.set_recipe_text(recipe_text);
    }
    for (int i = 1; i <= poses; ++i) {
      const auto number = static_cast<float>(i);
      *request.mutable_poses()->add_poses() =
          BentPose(static_cast<std::uint64_t>(i), 0.002F * number * number * number);
    }
    request.set_self_intersections(true);
    return request;
  }

  Comparison Run(const v1::CompareDeformersRequest& request) {
    Comparison all;
    grpc::ClientContext context;
    auto reader = stubs().deforms->CompareDeformers(&context, request);
    v1::CompareDeformersResponse response;
    while (reader->Read(&response)) {
      EXPECT_LE(response.target(), all.targets.size());
      EXPECT_GE(response.target() + 1, all.targets.size()) << "target after target";
      if (response.target() == all.targets.size()) {
        all.targets.emplace_back();
        EXPECT_NE(response.determinism_digest(), "");
      }
      EXPECT_FALSE(all.targets.back().has_summary()) << "the last message has it";
      all.targets.back().MergeFrom(response);
    }
    all.status = reader->Finish();
    return all;
  }
};

TEST_F(CompareTest, MeasuresEveryTargetOverAllPoses) {
  Start();
  const Comparison all = Run(RequestFor(stubs().UploadTube(), {"lbs", "dqs"}, 8));
  EXPECT_CODE(all.status, StatusCode::OK);
  ASSERT_EQ(all.targets.size(), 2u);
  for (const auto& target : all.targets) {
    ASSERT_EQ(target.frames_size(), 8);
    for (int i = 0; i < 8; ++i) {
      const v1::FrameMetrics& frame = target.frames(i);
      EXPECT_EQ(frame.frame(), static_cast<std::uint64_t>(i + 1));
      EXPECT_NEAR(frame.volume_ratio(), 1, 0.2);
      EXPECT_GT(frame.evaluate_seconds(), 0);
      EXPECT_EQ(frame.has_jerk(), i >= 3);
      EXPECT_TRUE(frame.has_self_intersections());
      EXPECT_TRUE(frame.has_roughness());
    }
    EXPECT_GT(target.frames(7).edge_distortion(), target.frames(0).edge_distortion());
    EXPECT_GT(target.summary().bound_bytes(), 0u);
  }
  const v1::FrameMetrics &linear = all.targets[0].frames(7), &dual = all.targets[1].frames(7);
  EXPECT_GT(linear.roughness(), 0);
  EXPECT_EQ(dual.roughness(), 0) << "the difference from dqs";
  EXPECT_LT(linear.volume_ratio(), dual.volume_ratio()) << "linear blending loses volume";
}

TEST_F(CompareTest, PrerollCountsForJerkOnly) {
  Start();
  v1::CompareDeformersRequest request = RequestFor(stubs().UploadTube(), {"lbs"}, 6);
  const Comparison all = Run(request);
  request.set_preroll(3);
  request.set_self_intersections(false);
  request.set_frames_per_second(48);
  const Comparison last = Run(request);
  EXPECT_CODE(last.status, StatusCode::OK);
  ASSERT_EQ(last.targets[0].frames_size(), 3);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(last.targets[0].frames(i).has_self_intersections());
    EXPECT_NEAR(last.targets[0].frames(i).jerk(), 8 * all.targets[0].frames(i + 3).jerk(), 1e-6)
        << "twice as fast";
  }
}

TEST_F(CompareTest, BadPoseIsProblemAndComparisonContinues) {
  Start();
  v1::CompareDeformersRequest request = RequestFor(stubs().UploadTube(), {"lbs", "dqs"}, 6);
  request.mutable_poses()->mutable_poses(3)->clear_joint_transforms();
  const Comparison all = Run(request);
  EXPECT_CODE(all.status, StatusCode::OK);
  ASSERT_EQ(all.targets.size(), 2u);
  for (const auto& target : all.targets) {
    EXPECT_EQ(target.frames_size(), 5);
    ASSERT_EQ(target.problems_size(), 1);
    EXPECT_EQ(target.problems(0).frame(), 4u);
    EXPECT_EQ(target.problems(0).problem().field(), "pose.joint_transforms");
    EXPECT_FALSE(target.frames(4).has_jerk()) << "a frame is missing before it";
  }
}

TEST_F(CompareTest, WrongRequestErrorsNameField) {
  Start();
  const std::string rig = stubs().UploadTube();
  const std::string other = stubs().UploadTube({.rings = 7});
  EXPECT_EQ(FieldOf(Run(RequestFor(rig, {}, 3)).status), "targets");
  EXPECT_EQ(FieldOf(Run(RequestFor(rig, {"lbs"}, 0)).status), "poses");
  EXPECT_EQ(FieldOf(Run(RequestFor(rig, {"lbs", "nonsense"}, 3)).status),
            "targets[1].source.recipe_text");
  v1::CompareDeformersRequest request = RequestFor(rig, {"lbs", "dqs"}, 3);
  request.mutable_targets(1)->mutable_source()->set_rig(other);
  EXPECT_EQ(FieldOf(Run(request).status), "targets[1]");
  request = RequestFor(rig, {"lbs", "dqs"}, 3);
  request.mutable_targets(1)->clear_target();
  EXPECT_EQ(FieldOf(Run(request).status), "targets[1]");
  request = RequestFor(rig, {"lbs"}, 3);
  request.set_frames_per_second(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(FieldOf(Run(request).status), "frames_per_second");
  request = RequestFor(rig, {"lbs"}, 3);
  request.set_preroll(4);
  EXPECT_EQ(FieldOf(Run(request).status), "preroll");
  request = RequestFor(rig, {"lbs"}, 3);
  request.mutable_layout()->add_joints("unknown");
  EXPECT_EQ(FieldOf(Run(request).status), "layout.joints[0]");
  request = RequestFor(rig, {"lbs"}, 3);
  request.mutable_targets(0)->set_session("sessions/none");
  EXPECT_CODE(Run(request).status, StatusCode::NOT_FOUND);
}

TEST_F(CompareTest, EndsWithDeadlineAndSession) {
  Start();
  const TubeShape shape{.rings = 500, .segments = 60};
  const std::string rig = stubs().UploadTube(shape);
  const std::string session = stubs().Create(rig, "lbs").name();
  v1::CompareDeformersRequest request;
  request.add_targets()->set_session(session);
  request.set_self_intersections(true);
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    *request.mutable_poses()->add_poses() = TubePose(i, 0, shape);
  }
  grpc::ClientContext hurried;
  hurried.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  v1::CompareDeformersResponse response;
  auto reader = stubs().deforms->CompareDeformers(&hurried, request);
  while (reader->Read(&response)) {
  }
  EXPECT_CODE(reader->Finish(), StatusCode::DEADLINE_EXCEEDED);

  grpc::ClientContext context;
  reader = stubs().deforms->CompareDeformers(&context, request);
  ASSERT_TRUE(reader->Read(&response));
  v1::DeleteSessionRequest remove;
  remove.set_name(session);
  v1::DeleteSessionResponse removed;
  grpc::ClientContext removing;
  EXPECT_CODE(stubs().sessions->DeleteSession(&removing, remove, &removed), StatusCode::OK);
  while (reader->Read(&response)) {
  }
  const grpc::Status gone = reader->Finish();
  EXPECT_CODE(gone, StatusCode::NOT_FOUND);
  EXPECT_NE(gone.error_message().find(session), std::string::npos) << gone.error_message();
}

TEST_F(CompareTest, FramesDoNotCountAsFramesOfStreams) {
  config.compute.frame_bytes = 1 << 20;
  config.compare.bytes = 1 << 25;
  Start();
  const TubeShape large{.rings = 200, .segments = 60};
  v1::CompareDeformersRequest request = RequestFor(stubs().UploadTube(large), {"lbs"}, 0);
  *request.mutable_poses()->add_poses() = TubePose(1, 0, large);
  request.set_self_intersections(false);
  EXPECT_CODE(Run(request).status, StatusCode::OK);
}

TEST_F(CompareTest, EndsWhenServerDrains) {
  Start();
  const TubeShape shape{.rings = 500, .segments = 60};
  v1::CompareDeformersRequest request = RequestFor(stubs().UploadTube(shape), {"lbs"}, 0);
  for (std::uint64_t i = 1; i <= 5000; ++i) {
    *request.mutable_poses()->add_poses() = TubePose(i, 0, shape);
  }
  grpc::ClientContext context;
  auto reader = stubs().deforms->CompareDeformers(&context, request);
  v1::CompareDeformersResponse response;
  ASSERT_TRUE(reader->Read(&response));
  server().Drain();
  while (reader->Read(&response)) {
  }
  const grpc::Status status = reader->Finish();
  EXPECT_CODE(status, StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_TRUE(server().WaitDrained(std::chrono::seconds(10)));
}

TEST_F(CompareTest, FailedBindNamesTarget) {
  config.binds.seconds = 5;
  config.sessions.shared_ttl_seconds = config.sessions.max_ttl_seconds;
  Start(clock);
  const std::string rig = stubs().UploadTube(kSlowTube);
  v1::CompareDeformersRequest request = RequestFor(rig, {kSlowRecipe}, 0);
  *request.mutable_poses()->add_poses() = TubePose(1, 0, kSlowTube);
  Comparison all;
  std::thread comparing([&] { all = Run(request); });
  ExceedBindTime();
  comparing.join();
  EXPECT_CODE(all.status, StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(all.status), "NOT_READY");
  EXPECT_NE(all.status.error_message().find("targets[0]"), std::string::npos);
}

}  // namespace
}  // namespace sinew::testing
