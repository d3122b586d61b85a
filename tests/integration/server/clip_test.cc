#include <gtest/gtest.h>
#include <xxhash.h>

#include <limits>
#include <map>

#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class ClipTest : public ServerTest {
 protected:
  v1::DeformClipRequest RequestFor(const std::string& rig, int poses, const TubeShape& shape = {}) {
    v1::DeformClipRequest request;
    request.mutable_target()->mutable_source()->set_rig(rig);
    request.mutable_target()->mutable_source()->set_recipe_text("lbs");
    for (int i = 1; i <= poses; ++i) {
      *request.mutable_poses()->add_poses() =
          TubePose(static_cast<std::uint64_t>(i), static_cast<float>(i), shape);
    }
    return request;
  }
  struct Clip {
    std::map<std::uint64_t, std::string> positions;
    std::vector<v1::FrameProblem> problems;
    std::string determinism_digest;
    grpc::Status status;
  };
  Clip Run(const v1::DeformClipRequest& request) {
    Clip clip;
    grpc::ClientContext context;
    auto reader = stubs().deforms->DeformClip(&context, request);
    v1::DeformClipResponse response;
    std::uint64_t last = 0;
    while (reader->Read(&response)) {
      if (!response.determinism_digest().empty())
        clip.determinism_digest = response.determinism_digest();
      for (const auto& frame : response.frames()) {
        EXPECT_GE(frame.frame(), last);
        last = frame.frame();
        EXPECT_EQ(frame.vertex_offset() * 12, clip.positions[last].size());
        clip.positions[last] += frame.positions();
      }
      for (const auto& problem : response.problems()) clip.problems.push_back(problem);
    }
    clip.status = reader->Finish();
    return clip;
  }
};

TEST_F(ClipTest, SendsAllFramesInOrder) {
  Start();
  const std::string rig = stubs().UploadTube();
  const Clip clip = Run(RequestFor(rig, 100));
  EXPECT_CODE(clip.status, StatusCode::OK);
  ASSERT_EQ(clip.positions.size(), 100u);
  EXPECT_FALSE(clip.determinism_digest.empty());
  v1::DeformRequest one;
  one.mutable_target()->mutable_source()->set_rig(rig);
  one.mutable_target()->mutable_source()->set_recipe_text("lbs");
  for (const std::uint64_t frame : {1u, 50u, 100u}) {
    *one.mutable_pose() = TubePose(frame, static_cast<float>(frame));
    v1::DeformResponse response;
    EXPECT_CODE(stubs().Deform(one, response), StatusCode::OK);
    EXPECT_SAME_BYTES(clip.positions.at(frame), response.frame().positions());
  }
}

TEST_F(ClipTest, SplitsLargeFrames) {
  Start();
  const TubeShape shape{.rings = 600, .segments = 100};
  v1::DeformClipRequest request = RequestFor(stubs().UploadTube(shape), 5, shape);
  request.mutable_output()->set_chunk_bytes(100'000);
  const Clip clip = Run(request);
  EXPECT_CODE(clip.status, StatusCode::OK);
  ASSERT_EQ(clip.positions.size(), 5u);
  for (const auto& [frame, positions] : clip.positions) {
    EXPECT_EQ(positions.size(), shape.vertices() * 12u);
  }
}

TEST_F(ClipTest, BadPoseIsProblemAndClipContinues) {
  Start();
  v1::DeformClipRequest request = RequestFor(stubs().UploadTube(), 5);
  request.mutable_poses()->mutable_poses(2)->clear_joint_transforms();
  const Clip clip = Run(request);
  EXPECT_CODE(clip.status, StatusCode::OK);
  EXPECT_EQ(clip.positions.size(), 4u);
  ASSERT_EQ(clip.problems.size(), 1u);
  EXPECT_EQ(clip.problems[0].frame(), 3u);
  EXPECT_EQ(clip.problems[0].problem().field(), "pose.joint_transforms");
}

TEST_F(ClipTest, WrongRequestErrorsNameField) {
  Start();
  const std::string rig = stubs().UploadTube();
  EXPECT_EQ(FieldOf(Run(RequestFor(rig, 0)).status), "poses");
  v1::DeformClipRequest request = RequestFor(rig, 3);
  request.mutable_poses()->mutable_poses(2)->set_frame(2);
  EXPECT_EQ(FieldOf(Run(request).status), "poses.poses[2].frame");
  request = RequestFor(rig, 3);
  request.clear_target();
  EXPECT_EQ(FieldOf(Run(request).status), "target");
  request = RequestFor(rig, 3);
  request.mutable_output()->set_chunk_bytes(1);
  EXPECT_EQ(FieldOf(Run(request).status), "output.chunk_bytes");
}

TEST_F(ClipTest, StalledReaderEndsCall) {
  config.streams.stall_seconds = 0.5;
  Start(clock);
  const TubeShape shape{.rings = 600, .segments = 100};
  const v1::DeformClipRequest request = RequestFor(stubs().UploadTube(shape), 200, shape);
  grpc::ClientContext context;
  auto reader = stubs().deforms->DeformClip(&context, request);
  const auto clips = [&] {
    return RunningCalls(server().http_address(), "DeformService/DeformClip");
  };
  WaitUntil([&] { return stubs().Stats().frames_sent() > 0; });
  WaitUntil([&] { return clips() == 0; }, [&] { clock.Advance(std::chrono::milliseconds(300)); });
  EXPECT_LT(stubs().Stats().frames_sent(), 30u);  // 144 MB were never made
  v1::DeformClipResponse response;
  while (reader->Read(&response)) {
  }
  EXPECT_CODE(reader->Finish(), StatusCode::RESOURCE_EXHAUSTED);
}

}  // namespace
}  // namespace sinew::testing
