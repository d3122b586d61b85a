#include <grpc/grpc.h>
#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>

#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class DrainTest : public ServerTest {};

// gRPC's last shutdown may take 10 s.
TEST_F(DrainTest, ServersEndWithoutTheLastShutdownOfGrpc) {
  Start();
  stubs().UploadTube();
  stubs_.reset();
  channel_.reset();
  server_.reset();
  EXPECT_EQ(grpc_is_initialized(), 1);
}

TEST_F(DrainTest, NotifiesAnswersAndEndsStreams) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::StreamOpen open = OpenRecipe(rig, "lbs");
  open.set_window(2);
  Stream stream(stubs(), open);
  stream.Opened();
  for (std::uint64_t frame = 1; frame <= 6; ++frame) stream.Send(TubePose(frame));
  stream.ReadUntil(2, false);
  stream.Acknowledge(1);
  stream.ReadUntil(3, false);  // so the server has read what was sent before the 1
  server().Drain();
  EXPECT_FALSE(server().WaitDrained(std::chrono::milliseconds(0)));
  stream.Send(TubePose(7));  // too late: the notice named the last frame
  stream.Acknowledge(3);
  const auto answers = stream.ReadUntil(6);
  EXPECT_EQ(answers.back().frame.frame(), 6u);
  ASSERT_EQ(stream.notices.size(), 1u);
  EXPECT_EQ(stream.notices[0].kind(), v1::Notice::KIND_DRAINING);
  EXPECT_EQ(stream.notices[0].last_frame(), 6u);
  const grpc::Status status = stream.Finish();
  EXPECT_CODE(status, StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(status), "DRAINING");
  EXPECT_TRUE(server().WaitDrained(std::chrono::seconds(10)));
}

TEST_F(DrainTest, HalfClosedStreamEndsOkAfterAllFrames) {
  Start();
  const std::string rig = stubs().UploadTube();
  v1::StreamOpen open = OpenRecipe(rig, "lbs");
  open.set_window(2);
  Stream stream(stubs(), open);
  stream.Opened();
  for (std::uint64_t frame = 1; frame <= 5; ++frame) stream.Send(TubePose(frame));
  stream.ReadUntil(2, false);
  stream.Acknowledge(1);
  stream.ReadUntil(3, false);  // so the server has read what was sent before the 1
  server().Drain();
  stream.HalfClose();
  EXPECT_EQ(stream.ReadUntil(5, false).size(), 2u);
  EXPECT_CODE(stream.Finish(), StatusCode::OK);
}

TEST_F(DrainTest, RejectsNewWorkButAnswersQueries) {
  Start();
  const std::string rig = stubs().UploadTube();
  const v1::Session session = stubs().Create(rig, "lbs");
  server().Drain();
  server().Drain();
  v1::CreateSessionRequest create;
  create.mutable_source()->set_rig(rig);
  create.mutable_source()->set_recipe_text("dqs");
  v1::Session ignored;
  const grpc::Status refused = stubs().Create(create, ignored);
  EXPECT_CODE(refused, StatusCode::UNAVAILABLE);
  EXPECT_EQ(ReasonOf(refused), "DRAINING");
  EXPECT_CODE(stubs().Upload(TubeRig({.rings = 4}).SerializeAsString()), StatusCode::UNAVAILABLE);
  v1::DeformRequest deform;
  deform.mutable_target()->set_session(session.name());
  v1::DeformResponse response;
  EXPECT_CODE(stubs().Deform(deform, response), StatusCode::UNAVAILABLE);
  Stream stream(stubs(), OpenFor(session.name()));
  EXPECT_CODE(stream.Finish(), StatusCode::UNAVAILABLE);
  EXPECT_CODE(stubs().Get(session.name()), StatusCode::OK);
  // The client may see the end of a call before the server does.
  EXPECT_TRUE(server().WaitDrained(std::chrono::seconds(10)));
}

TEST_F(DrainTest, LoadedStreamsAnswerOrReportReason) {
  Start();
  const std::string rig = stubs().UploadTube();
  std::counting_semaphore answered(0);
  std::atomic<int> clean{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 6; ++c) {
    clients.emplace_back([&] {
      Stream stream(stubs(), OpenRecipe(rig, "lbs"));
      stream.Opened();
      std::uint64_t last = 0;
      for (std::uint64_t frame = 1;; ++frame) {
        if (!stream.Send(TubePose(frame))) break;
        const auto answers = stream.ReadUntil(frame);
        if (answers.empty()) break;
        EXPECT_EQ(answers.back().frame.frame(), frame);
        last = frame;
        answered.release();
      }
      const grpc::Status status = stream.Finish();
      EXPECT_CODE(status, StatusCode::UNAVAILABLE);
      EXPECT_EQ(ReasonOf(status), "DRAINING");
      ASSERT_EQ(stream.notices.size(), 1u);
      EXPECT_EQ(stream.notices[0].last_frame(), last);
      ++clean;
    });
  }
  for (int i = 0; i < 300; ++i) answered.acquire();
  server().Drain();
  EXPECT_TRUE(server().WaitDrained(std::chrono::seconds(20)));
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(clean, 6);
}

TEST_F(DrainTest, StopEndsRunningCalls) {
  Start();
  const std::string rig = stubs().UploadTube(kSlowTube);
  Stream idle(stubs(), OpenRecipe(rig, "lbs"));
  idle.Opened();
  Stream binding(stubs(), OpenRecipe(rig, kSlowRecipe));
  stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  server().Stop();
  EXPECT_EQ(ReasonOf(idle.Finish()), "DRAINING");
  EXPECT_EQ(ReasonOf(binding.Finish()), "DRAINING");
  server().Stop();
}

}  // namespace
}  // namespace sinew::testing
