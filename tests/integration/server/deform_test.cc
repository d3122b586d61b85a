#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <cmath>
#include <limits>
#include <thread>

#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class DeformTest : public ServerTest {
 protected:
  v1::DeformRequest RequestFor(const std::string& rig, const std::string& recipe_text) {
    v1::DeformRequest request;
    request.mutable_target()->mutable_source()->set_rig(rig);
    request.mutable_target()->mutable_source()->set_recipe_text(recipe_text);
    *request.mutable_pose() = TubePose(1);
    return request;
  }
  std::string FailsAt(const v1::DeformRequest& request) {
    v1::DeformResponse response;
    const grpc::Status status = stubs().Deform(request, response);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << status.error_message();
    return FieldOf(status);
  }
};

TEST_F(DeformTest, MovedPoseMovesEveryVertex) {
  Start();
  const std::string rig = stubs().UploadTube();
  const std::vector<float> rest = FloatsOf(TubeRig().meshes(0).positions().data());
  for (const char* recipe_text : {"lbs", "dqs", "ddm"}) {
    v1::DeformRequest request = RequestFor(rig, recipe_text);
    *request.mutable_pose() = TubePose(7, 3);
    request.mutable_pose()->set_time(1.5);
    v1::DeformResponse response;
    EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
    const v1::Frame& frame = response.frame();
    EXPECT_EQ(frame.frame(), 7u);
    EXPECT_EQ(frame.time(), 1.5);
    EXPECT_EQ(frame.vertex_count(), 72u);
    EXPECT_TRUE(frame.last_chunk());
    EXPECT_EQ(frame.encoding(), v1::ENCODING_FLOAT32);
    EXPECT_EQ(frame.checksum(), XXH3_64bits(frame.positions().data(), frame.positions().size()));
    EXPECT_NEAR(frame.bounds().minimum(0), 2.75f, 1e-5);
    EXPECT_FALSE(response.determinism_digest().empty());
    const std::vector<float> posed = FloatsOf(frame.positions());
    ASSERT_EQ(posed.size(), rest.size());
    for (std::size_t i = 0; i < posed.size(); ++i) {
      EXPECT_NEAR(posed[i], rest[i] + (i % 3 == 0 ? 3 : 0), 2e-5) << recipe_text << " " << i;
    }
  }
}

TEST_F(DeformTest, SendsNormalsOnRequest) {
  Start();
  v1::DeformRequest request = RequestFor(stubs().UploadTube(), "lbs");
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_POSITIONS);
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_NORMALS);
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
  const std::vector<float> normals = FloatsOf(response.frame().normals());
  ASSERT_EQ(normals.size(), 72u * 3);
  EXPECT_EQ(response.frame().normal_encoding(), v1::ENCODING_FLOAT32);
  for (std::size_t v = 0; v < 72; ++v) {
    const float* n = &normals[v * 3];
    EXPECT_NEAR(std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 1, 1e-5);
  }
  const std::string bulk = response.frame().positions() + response.frame().normals();
  EXPECT_EQ(response.frame().checksum(), XXH3_64bits(bulk.data(), bulk.size()));
  request.mutable_output()->set_omit_checksums(true);
  v1::DeformResponse unchecked;
  EXPECT_CODE(stubs().Deform(request, unchecked), StatusCode::OK);
  EXPECT_EQ(unchecked.frame().checksum(), 0u);
}

TEST_F(DeformTest, WrongRequestErrorsNameField) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::DeformRequest request = RequestFor(rig, "lbs");
  request.clear_target();
  EXPECT_EQ(FailsAt(request), "target");
  request = RequestFor(rig, "dqs(blend=7)");
  EXPECT_EQ(FailsAt(request).rfind("target.source.", 0), 0u);
  request = RequestFor(rig, "lbs");
  request.mutable_pose()->mutable_joint_transforms()->pop_back();
  EXPECT_EQ(FailsAt(request), "pose.joint_transforms");
  request.clear_pose();
  EXPECT_EQ(FailsAt(request), "pose.joint_transforms");
  request = RequestFor(rig, "lbs");
  request.mutable_pose()->set_controls("1234");
  EXPECT_EQ(FailsAt(request), "pose.controls");
  request = RequestFor(rig, "lbs");
  std::vector<float> joints = FloatsOf(request.pose().joint_transforms());
  joints[5] = std::numeric_limits<float>::quiet_NaN();
  request.mutable_pose()->set_joint_transforms(FloatBytes(joints));
  EXPECT_EQ(FailsAt(request), "pose.joint_transforms");
  request = RequestFor(rig, "lbs");
  request.mutable_pose()->set_time(std::numeric_limits<double>::infinity());
  EXPECT_EQ(FailsAt(request), "pose.time");
  request = RequestFor(rig, "lbs");
  request.mutable_layout()->add_joints("unknown");
  EXPECT_EQ(FailsAt(request), "layout.joints[0]");
  request = RequestFor(rig, "lbs");
  request.mutable_output()->add_encodings(v1::ENCODING_OCT8);
  EXPECT_EQ(FailsAt(request), "output.encodings");
  request = RequestFor(rig, "lbs | delta_mush");
  request.mutable_output()->set_normal_rule(v1::NORMAL_RULE_CARRIED);
  EXPECT_EQ(FailsAt(request), "output.normal_rule");
  v1::DeformResponse response;
  EXPECT_THAT(stubs().Deform(request, response).error_message(),
              ::testing::HasSubstr("got CARRIED, but stage 2 (delta_mush) cannot carry normals"));
  request = RequestFor(rig, "lbs");
  v1::Pose& pose = *request.mutable_pose();
  pose.GetReflection()->MutableUnknownFields(&pose)->AddVarint(88, 1);
  EXPECT_EQ(FailsAt(request), "pose.88");
  EXPECT_EQ(ReasonOf(stubs().Deform(request, response)), "UNKNOWN_FIELD");
  request = RequestFor(rig, "lbs");
  request.mutable_target()->set_session("sessions/none");
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::NOT_FOUND);
}

TEST_F(DeformTest, EqualSourcesShareSession) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::DeformResponse response;
  for (int i = 0; i < 3; ++i) {
    EXPECT_CODE(stubs().Deform(RequestFor(rig, "lbs"), response), StatusCode::OK);
  }
  EXPECT_CODE(stubs().Deform(RequestFor(rig, "dqs"), response), StatusCode::OK);
  EXPECT_EQ(stubs().Stats().sessions(), 2u);
}

TEST_F(DeformTest, ReplyOverFourMebibytesIsUseStream) {
  Start();
  // With normals, 24 bytes a vertex: 174,741 is the most that fits beside the header.
  const TubeShape shape{.rings = 1750, .segments = 100};
  const std::string rig = stubs().UploadTube(shape);
  v1::DeformRequest request = RequestFor(rig, "lbs");
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);  // 2.1 MB without normals
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_POSITIONS);
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_NORMALS);
  const grpc::Status refused = stubs().Deform(request, response);
  EXPECT_CODE(refused, StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ReasonOf(refused), "USE_STREAM");
  request.set_max_response_bytes(5 << 20);
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
  EXPECT_EQ(response.frame().normals().size(), 175'000u * 12);
}

TEST_F(DeformTest, WaitsForBindWithinDeadline) {
  Start();
  const std::string rig = stubs().UploadTube(kSlowTube);
  v1::DeformRequest request = RequestFor(rig, kSlowRecipe);
  *request.mutable_pose() = TubePose(1, 0, kSlowTube);
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(request, response, std::chrono::milliseconds(150)),
              StatusCode::DEADLINE_EXCEEDED);
  const auto running = [&] {
    return RunningCalls(server().http_address(), "DeformService/Deform");
  };
  WaitUntil([&] { return running() == 0; });
  // Waiting calls hold no thread: others are answered beside many of them.
  constexpr int kCalls = 20;
  std::vector<grpc::ClientContext> contexts(kCalls);
  std::vector<std::thread> waiting;
  for (grpc::ClientContext& context : contexts) {
    waiting.emplace_back([&] {
      v1::DeformResponse ignored;
      EXPECT_CODE(stubs().deforms->Deform(&context, request, &ignored), StatusCode::CANCELLED);
    });
  }
  WaitUntil([&] { return running() == kCalls; });
  stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  for (grpc::ClientContext& context : contexts) context.TryCancel();
  for (std::thread& thread : waiting) thread.join();
}

TEST_F(DeformTest, AnswersOnceBindIsDone) {
  Start();
  const TubeShape shape{.rings = 200, .segments = 50};
  const std::string rig = stubs().UploadTube(shape);
  v1::DeformRequest request = RequestFor(rig, "ddm(iterations=30)");
  *request.mutable_pose() = TubePose(1, 0, shape);
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
  EXPECT_EQ(response.frame().vertex_count(), shape.vertices());
}

TEST_F(DeformTest, InProcessChannelGivesSameBits) {
  config.network.listen.push_back("127.0.0.1:0");
  Start();
  EXPECT_EQ(server().addresses().size(), 2u);
  Stubs local(server().InProcessChannel().value());
  const std::string rig = local.UploadTube();
  v1::DeformRequest request = RequestFor(rig, "ddm");
  *request.mutable_pose() = TubePose(1, 0.3f);
  v1::DeformResponse over_socket, in_process;
  EXPECT_CODE(stubs().Deform(request, over_socket), StatusCode::OK);
  EXPECT_CODE(local.Deform(request, in_process), StatusCode::OK);
  EXPECT_SAME_BYTES(over_socket.frame().positions(), in_process.frame().positions());
}

}  // namespace
}  // namespace sinew::testing
