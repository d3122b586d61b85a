// Limits that no other file tests, at their value and one past it.
#include <gtest/gtest.h>

#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <optional>
#include <set>
#include <string>

#include "server/convert/field_count.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/limit_refusal.h"
#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class LimitsTest : public RefusalTest {
 protected:
  static void ExpectEnded(const grpc::Status& status, const std::string& reason,
                          const std::string& limit) {
    EXPECT_EQ(RefusalOf(status), (Refusal{StatusCode::UNAVAILABLE, reason, {}, false}));
    EXPECT_NE(status.error_message().find("(" + limit + ")"), std::string::npos)
        << status.error_message();
  }
};

TEST_F(LimitsTest, LimitsRowsOfPage) {
  config.sessions.page = 2;
  Start();
  const std::string rig = stubs().UploadTube();
  std::set<std::string> created;
  for (int i = 0; i < 3; ++i) created.insert(stubs().Create(rig, "lbs").name());
  for (const int asked : {2, 3}) {
    v1::ListSessionsRequest request;
    request.set_page_size(asked);
    v1::ListSessionsResponse page;
    grpc::ClientContext first;
    EXPECT_CODE(stubs().sessions->ListSessions(&first, request, &page), StatusCode::OK);
    EXPECT_EQ(page.sessions_size(), 2) << "asked for " << asked;
    std::set<std::string> seen;
    for (const v1::Session& session : page.sessions()) seen.insert(session.name());
    request.set_page_token(page.next_page_token());
    grpc::ClientContext second;
    EXPECT_CODE(stubs().sessions->ListSessions(&second, request, &page), StatusCode::OK);
    for (const v1::Session& session : page.sessions()) seen.insert(session.name());
    EXPECT_EQ(seen, created);
    EXPECT_EQ(page.next_page_token(), "");
  }
}

TEST_F(LimitsTest, OneClientLeavesRoomForOthers) {
  config.access.client_share = 0.5;
  config.streams.count = 4;
  const std::string socket = ::testing::TempDir() + "/sinew_share_test.sock";
  std::filesystem::remove(socket);
  config.network.listen.push_back("unix:" + socket);
  Start();
  const std::string session = stubs().Create(stubs().UploadTube(), "lbs").name();
  std::list<Stream> greedy;
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(greedy.emplace_back(stubs(), OpenFor(session)).Opened().session(), "");
  }
  const grpc::Status refused = Stream(stubs(), OpenFor(session)).Finish();
  EXPECT_EQ(ReasonOf(refused), "LIMIT");
  EXPECT_NE(
      refused.error_message().find("limit 0.5 of what other clients leave of 4 (max-streams)"),
      std::string::npos)
      << refused.error_message();
  // A client with another address, and calls within the process, find room.
  Stubs other(grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()));
  Stream second(other, OpenFor(session));
  EXPECT_NE(second.Opened().session(), "");
  Stubs within(server().InProcessChannel().value());
  Stream third(within, OpenFor(session));
  EXPECT_NE(third.Opened().session(), "");
}

TEST_F(LimitsTest, StreamWithoutPosesEnds) {
  config.streams.idle_seconds = 10;
  Start(clock);
  Stream stream(stubs(), OpenRecipe(stubs().UploadTube(), "lbs"));
  stream.Opened();
  stream.Send(TubePose(1));
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
  WaitForWrites(server().http_address(), 2);
  clock.Advance(std::chrono::milliseconds(9'900));
  stream.Send(TubePose(2));
  EXPECT_EQ(stream.ReadUntil(2).size(), 1u) << "before the limit, and from here it counts again";
  WaitForWrites(server().http_address(), 3);
  clock.Advance(std::chrono::milliseconds(9'900));
  EXPECT_EQ(stubs().Stats().streams(), 1u);
  clock.Advance(std::chrono::milliseconds(500));
  ExpectEnded(stream.Finish(), "IDLE", "max-idle-seconds");
}

TEST_F(LimitsTest, StreamEndsAtItsAge) {
  config.streams.seconds = 20;
  Start(clock);
  Stream stream(stubs(), OpenRecipe(stubs().UploadTube(), "lbs"));
  stream.Opened();
  // In steps, because the server takes a longer one for a pause of the machine.
  for (int k = 0; k < 5; ++k) clock.Advance(std::chrono::milliseconds(3'980));
  stream.Send(TubePose(1));
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
  WaitForWrites(server().http_address(), 2);
  clock.Advance(std::chrono::milliseconds(500));
  ExpectEnded(stream.Finish(), "TOO_OLD", "max-stream-seconds");
}

TEST_F(LimitsTest, UploadEndsAtItsAgeAndResumes) {
  config.streams.seconds = 20;
  Start(clock);
  const std::string rig = TubeRig().SerializeAsString();
  const auto part = [&](std::size_t from, std::size_t count) {
    v1::UploadRigRequest request;
    if (from == 0) {
      request.mutable_header()->set_sha256(Sha256Hex(rig));
      request.mutable_header()->set_size_bytes(rig.size());
    }
    request.set_offset(from);
    request.set_data(rig.substr(from, count));
    return request;
  };
  grpc::ClientContext context;
  v1::UploadRigResponse response;
  const auto upload = stubs().rigs->UploadRig(&context, &response);
  upload->Write(part(0, 1000));
  WaitForUse("max-upload-bytes", rig.size());
  // In steps, because the server takes a longer one for a pause of the machine.
  for (int k = 0; k < 5; ++k) clock.Advance(std::chrono::milliseconds(3'980));
  upload->Write(part(1000, 1000));
  clock.Advance(std::chrono::milliseconds(500));
  ExpectEnded(upload->Finish(), "TOO_OLD", "max-stream-seconds");
  EXPECT_CODE(stubs().Upload(rig), StatusCode::OK);
}

TEST_F(LimitsTest, ConnectionOfGreatestAgeTakesNoNewCalls) {
  config.network.connection_seconds = 1;
  Start();
  Stream stream(stubs(), OpenRecipe(stubs().UploadTube(), "lbs"));
  stream.Opened();
  // gRPC opens another connection for new calls; none fails, and the stream keeps the first.
  WaitUntil([&] { return Used("max-connections") == 2; }, [&] { stubs().Stats(); });
  EXPECT_TRUE(stream.Send(TubePose(1)));
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
  stream.HalfClose();
  EXPECT_CODE(stream.Finish(), StatusCode::OK);
}

TEST_F(LimitsTest, LimitsStreamsOfConnection) {
  config.network.streams_per_connection = 2;
  Start();
  const std::string session = stubs().Create(stubs().UploadTube(), "lbs").name();
  const auto get = [&](std::optional<std::chrono::milliseconds> deadline = {}) {
    grpc::ClientContext context;
    if (deadline) context.set_deadline(std::chrono::system_clock::now() + *deadline);
    v1::GetSessionRequest request;
    request.set_name(session);
    v1::GetSessionResponse response;
    return stubs().sessions->GetSession(&context, request, &response);
  };
  Stream one(stubs(), OpenFor(session));
  EXPECT_NE(one.Opened().session(), "");
  EXPECT_CODE(get(), StatusCode::OK);
  {
    Stream two(stubs(), OpenFor(session));
    EXPECT_NE(two.Opened().session(), "");
    // A third call waits.
    EXPECT_CODE(get(std::chrono::milliseconds(100)), StatusCode::DEADLINE_EXCEEDED);
  }
  EXPECT_CODE(get(), StatusCode::OK);
}

TEST_F(LimitsTest, LimitsBytesOfMessage) {
  Start();
  const std::string session = stubs().Create(stubs().UploadTube(), "lbs").name();
  const std::size_t limit = config.network.message_bytes + (64 << 10);  // bulk and its wrapping
  for (const bool past : {false, true}) {
    Stream stream(stubs(), OpenFor(session));
    EXPECT_NE(stream.Opened().session(), "");
    v1::StreamDeformRequest request;
    v1::Pose& pose = *request.add_poses();
    pose.set_frame(1);
    pose.mutable_joint_transforms()->assign(limit, 'x');
    const std::size_t wrapping = request.ByteSizeLong() - limit;
    pose.mutable_joint_transforms()->resize(limit - wrapping + (past ? 1 : 0));
    ASSERT_EQ(request.ByteSizeLong(), limit + (past ? 1 : 0));
    stream.Send(request);
    if (past) {
      EXPECT_EQ(stream.Finish().error_code(), StatusCode::RESOURCE_EXHAUSTED);
    } else {
      const auto answers = stream.ReadUntil(1);
      ASSERT_EQ(answers.size(), 1u);
      EXPECT_TRUE(answers[0].problem.has_value()) << "read, and found to be no pose of this rig";
    }
  }
}

TEST_F(LimitsTest, LimitsFieldsOfMessage) {
  v1::ComputeWeightsRequest request;
  request.set_rig("rigs/sha256-" + std::string(64, 'a'));
  request.set_method(v1::WEIGHT_METHOD_HEAT);
  while (request.joints_size() < 1200) request.add_joints("joint");
  const std::string bytes = request.SerializeAsString();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  const std::uint64_t fields = server::CountFields(*request.GetDescriptor(), stream, 1'000'000);
  EXPECT_GE(fields, 1200u);
  for (const std::uint64_t limit : {fields, fields - 1}) {
    config.network.message_fields = limit;
    Start();
    grpc::ClientContext context;
    const auto reader = stubs().rigs->ComputeWeights(&context, request);
    v1::ComputeWeightsResponse response;
    EXPECT_FALSE(reader->Read(&response));
    const grpc::Status status = reader->Finish();
    if (limit == fields) {
      EXPECT_CODE(status, StatusCode::NOT_FOUND);
      continue;
    }
    EXPECT_REFUSAL(status, Refused("max-message-fields"));
  }
}

TEST_F(LimitsTest, ReplyOverServerLimitIsUseStream) {
  const TubeShape shape{.rings = 1000, .segments = 100};
  const std::uint64_t reply = 512 + shape.vertices() * 12u;  // what is not vertices counts as 512
  for (const bool past : {false, true}) {
    config.streams.response_bytes = reply - (past ? 1 : 0);
    Start();
    v1::DeformRequest request;
    request.mutable_target()->mutable_source()->set_rig(stubs().UploadTube(shape));
    request.mutable_target()->mutable_source()->set_recipe_text("lbs");
    *request.mutable_pose() = TubePose(1, 0, shape);
    request.set_max_response_bytes(1 << 30);  // more than the server has: its own limit counts
    v1::DeformResponse response;
    const grpc::Status status = stubs().Deform(request, response);
    if (past) {
      EXPECT_EQ(RefusalOf(status),
                (Refusal{StatusCode::FAILED_PRECONDITION, "USE_STREAM", {}, false}));
      EXPECT_NE(status.error_message().find("(max-response-bytes)"), std::string::npos)
          << status.error_message();
    } else {
      EXPECT_CODE(status, StatusCode::OK);
    }
  }
}

TEST_F(LimitsTest, WrongNameIsReportedBeforeLimit) {
  config.rigs.transfers = 1;
  Start();
  grpc::ClientContext context;
  v1::UploadRigResponse response;
  const auto upload = stubs().rigs->UploadRig(&context, &response);
  const auto download = [&](const std::string& name) {
    grpc::ClientContext own;
    v1::DownloadRigRequest request;
    request.set_name(name);
    return ReadToEnd(*stubs().rigs->DownloadRig(&own, request));
  };
  WaitForUse("max-transfers", 1);
  EXPECT_REFUSAL(download("rigs/sha256-" + std::string(64, '0')), RefusedForNow("max-transfers"));
  EXPECT_CODE(download("rigs/none"), StatusCode::INVALID_ARGUMENT);
  context.TryCancel();
}

}  // namespace
}  // namespace sinew::testing
