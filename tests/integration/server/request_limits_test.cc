// Limits on one request, and on what it may use: its value is accepted, one more is refused.
// Waiting does not help, so these refusals have no RetryInfo.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/integration/server/http_get.h"
#include "tests/integration/server/limit_refusal.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class RequestLimits : public RefusalTest {
 protected:
  void StartWithTube(server::Clock& time = server::RealClock()) {
    Start(time);
    rig_ = stubs().UploadTube();
  }
  v1::CreateSessionRequest Create() { return CreateRequest(rig_, "lbs"); }
  grpc::Status Send(const v1::CreateSessionRequest& request) {
    return stubs().Create(request, session_);
  }
  grpc::Status Renew(const std::string& name, const google::protobuf::Duration& ttl) {
    grpc::ClientContext context;
    v1::RenewSessionRequest request;
    request.set_name(name);
    *request.mutable_ttl() = ttl;
    v1::RenewSessionResponse response;
    return stubs().sessions->RenewSession(&context, request, &response);
  }
  // Opens a stream, sends nothing more and reads all answers.
  grpc::Status OpenOnly(const v1::StreamOpen& open) {
    Stream stream(stubs(), open);
    stream.HalfClose();
    return stream.Finish();
  }
  grpc::Status Clip(int poses) {
    v1::DeformClipRequest request;
    *request.mutable_target() = OpenRecipe(rig_, "lbs").target();
    AddPoses(poses, *request.mutable_poses());
    grpc::ClientContext context;
    return ReadToEnd(*stubs().deforms->DeformClip(&context, request));
  }
  grpc::Status Compare(int targets, int poses) {
    v1::CompareDeformersRequest request;
    for (int k = 0; k < targets; ++k) *request.add_targets() = OpenRecipe(rig_, "lbs").target();
    AddPoses(poses, *request.mutable_poses());
    grpc::ClientContext context;
    return ReadToEnd(*stubs().deforms->CompareDeformers(&context, request));
  }

  std::string rig_;
  v1::Session session_;  // the last one created

 private:
  static void AddPoses(int count, v1::PoseBlock& block) {
    for (int k = 1; k <= count; ++k) *block.add_poses() = TubePose(static_cast<std::uint64_t>(k));
  }
};

TEST_F(RequestLimits, RecipeBytesAreExact) {
  config.sessions.recipe_bytes = 40;
  StartWithTube();
  EXPECT_EQ(Listed("max-recipe-bytes"), 40u);
  v1::CreateSessionRequest request = Create();
  request.mutable_source()->set_recipe_text("lbs" + std::string(37, ' '));
  EXPECT_CODE(Send(request), StatusCode::OK);
  request.mutable_source()->mutable_recipe_text()->push_back(' ');
  EXPECT_REFUSAL(Send(request), Refused("max-recipe-bytes"));
  EXPECT_REFUSAL(OpenOnly(OpenRecipe(rig_, "lbs" + std::string(38, ' '))),
                 Refused("max-recipe-bytes"));
}

TEST_F(RequestLimits, BytesOfSerialisedRecipeAreExact) {
  StartWithTube();
  const v1::Recipe recipe = stubs().Create(rig_, "ddm").recipe();  // with every default filled in
  for (const bool beyond : {false, true}) {
    config.sessions.recipe_bytes = recipe.ByteSizeLong() - (beyond ? 1 : 0);
    StartWithTube();
    v1::CreateSessionRequest request = Create();
    *request.mutable_source()->mutable_recipe() = recipe;
    if (beyond) {
      EXPECT_REFUSAL(Send(request), Refused("max-recipe-bytes"));
    } else {
      EXPECT_CODE(Send(request), StatusCode::OK);
    }
  }
}

TEST_F(RequestLimits, RequestIdBytesAreExact) {
  config.sessions.request_id_bytes = 6;
  StartWithTube();
  EXPECT_EQ(Listed("max-request-id-bytes"), 6u);
  v1::CreateSessionRequest request = Create();
  request.set_request_id("123456");
  EXPECT_CODE(Send(request), StatusCode::OK);
  request.set_request_id("1234567");
  EXPECT_REFUSAL(Send(request), Refused("max-request-id-bytes"));
}

TEST_F(RequestLimits, LeaseIsExact) {
  config.sessions.max_ttl_seconds = 700;
  StartWithTube();
  EXPECT_EQ(Listed("max-session-ttl-seconds"), 700u);
  v1::CreateSessionRequest request = Create();
  request.mutable_ttl()->set_seconds(700);
  EXPECT_CODE(Send(request), StatusCode::OK);
  EXPECT_CODE(Renew(session_.name(), request.ttl()), StatusCode::OK);
  const std::string name = session_.name();
  for (const bool whole : {true, false}) {
    request.mutable_ttl()->set_seconds(whole ? 701 : 700);
    request.mutable_ttl()->set_nanos(whole ? 0 : 1);
    const grpc::Status refused = Send(request);
    EXPECT_EQ(RefusalOf(refused), Refused("max-session-ttl-seconds"));
    EXPECT_EQ(refused.error_message(), "ttl: got 701 seconds, limit 700 (max-session-ttl-seconds)");
    EXPECT_REFUSAL(Renew(name, request.ttl()), Refused("max-session-ttl-seconds"));
  }
}

// Renewing the lease does not make a session older than its limit.
TEST_F(RequestLimits, SessionEndsAtItsAge) {
  config.sessions.seconds = 100;
  StartWithTube(clock);
  EXPECT_EQ(Listed("max-session-seconds"), 100u);
  EXPECT_CODE(Send(Create()), StatusCode::OK);
  google::protobuf::Duration minute;
  minute.set_seconds(60);
  clock.Advance(std::chrono::seconds(50));
  EXPECT_CODE(Renew(session_.name(), minute), StatusCode::OK);
  clock.Advance(std::chrono::milliseconds(49'900));
  EXPECT_CODE(Renew(session_.name(), minute), StatusCode::OK);
  EXPECT_CODE(stubs().Get(session_.name()), StatusCode::OK);
  clock.Advance(std::chrono::milliseconds(100));
  EXPECT_CODE(stubs().Get(session_.name()), StatusCode::NOT_FOUND);
  EXPECT_CODE(Renew(session_.name(), minute), StatusCode::NOT_FOUND);
}

TEST_F(RequestLimits, WindowAndPiecesOfStreamAreExact) {
  config.streams.window = 16;
  config.streams.chunk_bytes = 5000;
  StartWithTube();
  EXPECT_EQ(Listed("max-window"), 16u);
  EXPECT_EQ(Listed("max-chunk-bytes"), 5000u);
  v1::StreamOpen open = OpenRecipe(rig_, "lbs");
  open.set_window(16);
  open.mutable_output()->set_chunk_bytes(5000);
  EXPECT_CODE(OpenOnly(open), StatusCode::OK);
  open.set_window(17);
  EXPECT_REFUSAL(OpenOnly(open), Refused("max-window"));
  open.set_window(16);
  open.mutable_output()->set_chunk_bytes(5001);
  EXPECT_REFUSAL(OpenOnly(open), Refused("max-chunk-bytes"));
}

TEST_F(RequestLimits, PosesBeyondWindowAreExact) {
  config.streams.backlog = 3;
  StartWithTube();
  EXPECT_EQ(Listed("max-backlog"), 3u);
  v1::StreamOpen open = OpenRecipe(rig_, "lbs");
  open.set_window(2);
  Stream stream(stubs(), open);
  EXPECT_EQ(stream.Opened().backlog(), 3u);
  for (std::uint64_t frame = 1; frame <= 5; ++frame) stream.Send(TubePose(frame));
  EXPECT_EQ(stream.ReadUntil(2, false).size(), 2u);
  stream.Acknowledge(1);
  stream.Send(TubePose(6));
  EXPECT_EQ(stream.ReadUntil(3, false).size(), 1u) << "five are not acknowledged";
  stream.Send(TubePose(7));
  EXPECT_REFUSAL(stream.Finish(), Refused("max-backlog", "BACKLOG"));
}

TEST_F(RequestLimits, BytesOfPosesBeforeSessionIsFoundAreExact) {
  config.streams.waiting_pose_bytes = 2000;
  StartWithTube();
  EXPECT_EQ(Listed("max-waiting-pose-bytes"), 2000u);
  int problems = 0;
  const auto send = [&](std::size_t second_bytes) {
    v1::StreamDeformRequest request;
    *request.mutable_open() = OpenRecipe(rig_, "lbs");
    for (const std::size_t bytes : {std::size_t{900}, second_bytes}) {
      v1::Pose& pose = *request.add_poses();
      pose.set_frame(static_cast<std::uint64_t>(request.poses_size()));
      pose.set_joint_transforms(std::string(bytes, 'x'));
      pose.mutable_joint_transforms()->resize(2 * bytes - pose.ByteSizeLong());
      EXPECT_EQ(pose.ByteSizeLong(), bytes);
    }
    grpc::ClientContext context;
    const auto call = stubs().deforms->StreamDeform(&context);
    call->Write(request);
    call->WritesDone();
    v1::StreamDeformResponse response;
    problems = 0;
    while (call->Read(&response)) problems += response.problems_size();
    return call->Finish();
  };
  EXPECT_CODE(send(1100), StatusCode::OK);
  EXPECT_EQ(problems, 2) << "both are read, and are no poses of this rig";
  EXPECT_REFUSAL(send(1101), Refused("max-waiting-pose-bytes"));
}

TEST_F(RequestLimits, PosesOfClipAreExact) {
  config.streams.clip_poses = 4;
  StartWithTube();
  EXPECT_EQ(Listed("max-clip-poses"), 4u);
  EXPECT_CODE(Clip(4), StatusCode::OK);
  EXPECT_REFUSAL(Clip(5), Refused("max-clip-poses"));
}

TEST_F(RequestLimits, TargetsAndPosesOfComparisonAreExact) {
  config.compare.targets = 2;
  config.compare.poses = 4;
  StartWithTube();
  EXPECT_EQ(Listed("max-compare-targets"), 2u);
  EXPECT_EQ(Listed("max-compare-poses"), 4u);
  EXPECT_CODE(Compare(2, 4), StatusCode::OK);
  EXPECT_REFUSAL(Compare(3, 4), Refused("max-compare-targets"));
  EXPECT_REFUSAL(Compare(2, 5), Refused("max-compare-poses"));
}

TEST_F(RequestLimits, DataOfUploadMessageIsExact) {
  config.network.message_bytes = 1 << 20;
  Start();
  EXPECT_EQ(Listed("max-message-bytes"), 1u << 20);
  const auto send = [&](char digit, std::size_t bytes) {
    return UploadPart(stubs(), std::string(64, digit), 2'000'000, std::string(bytes, 'x'));
  };
  EXPECT_CODE(send('a', 1 << 20), StatusCode::OK);
  EXPECT_REFUSAL(send('b', (1 << 20) + 1), Refused("max-message-bytes"));
}

TEST_F(RequestLimits, MemoryOfBindIsExact) {
  config.binds.short_seconds = 1e7;
  Start();
  v1::CreateSessionRequest request =
      CreateRequest(stubs().UploadTube({.rings = 100, .segments = 20}), "ddm");
  request.set_validate_only(true);
  ASSERT_CODE(Send(request), StatusCode::OK);
  const std::uint64_t needed = session_.estimate().peak_bytes();
  ASSERT_GT(needed, 1u << 20) << "the lowest limit";
  for (const bool beyond : {false, true}) {
    config.binds.memory_bytes = needed - (beyond ? 1 : 0);
    Start();
    EXPECT_EQ(Listed("max-bind-bytes"), config.binds.memory_bytes);
    stubs().UploadTube({.rings = 100, .segments = 20});
    for (const bool dry : {true, false}) {
      request.set_validate_only(dry);
      if (beyond) {
        EXPECT_REFUSAL(Send(request), Refused("max-bind-bytes"));
      } else {
        EXPECT_CODE(Send(request), StatusCode::OK);
      }
    }
    if (!beyond) {
      EXPECT_EQ(stubs().Watch(session_.name()).state(), v1::Session::STATE_READY);
    }
  }
}

// A bind is not a call: the limit that stopped it is in the problem of its session.
TEST_F(RequestLimits, BindEndsAtItsTime) {
  config.binds.seconds = 5;
  config.sessions.ttl_seconds = config.sessions.max_ttl_seconds;
  Start(clock);
  EXPECT_EQ(Listed("max-bind-seconds"), 5u);
  const std::string name = stubs().Create(stubs().UploadTube(kSlowTube), kSlowRecipe).name();
  v1::Session session;
  const auto runs_on = [&] {
    const float before = session.progress();
    WaitUntil([&] {
      EXPECT_CODE(stubs().Get(name, &session), StatusCode::OK);
      return session.progress() > before || session.state() != v1::Session::STATE_BINDING;
    });
    return session.state() == v1::Session::STATE_BINDING;
  };
  ASSERT_TRUE(runs_on());
  clock.Advance(std::chrono::milliseconds(4'900));
  EXPECT_TRUE(runs_on()) << session.problem().message();
  clock.Advance(std::chrono::milliseconds(100));
  WaitUntil([&] {
    EXPECT_CODE(stubs().Get(name, &session), StatusCode::OK);
    return session.state() != v1::Session::STATE_BINDING;
  });
  EXPECT_EQ(session.state(), v1::Session::STATE_FAILED);
  EXPECT_EQ(session.problem().code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(session.problem().reason(), v1::REASON_LIMIT);
  EXPECT_TRUE(session.problem().message().ends_with("(max-bind-seconds)"))
      << session.problem().message();
}

TEST_F(RequestLimits, StreamMayWaitForAcknowledgementUpToLimit) {
  config.streams.stall_seconds = 10;
  StartWithTube(clock);
  EXPECT_EQ(Listed("max-stall-seconds"), 10u);
  v1::StreamOpen open = OpenRecipe(rig_, "lbs");
  open.set_window(1);
  Stream stream(stubs(), open);
  stream.Opened();
  stream.Send(TubePose(1));
  EXPECT_EQ(stream.ReadUntil(1, false).size(), 1u);
  WaitForWrites(server().http_address(), 2);
  // In steps, because the server takes a longer one for a pause of the machine.
  for (int k = 0; k < 3; ++k) clock.Advance(std::chrono::milliseconds(3'300));
  EXPECT_EQ(stubs().Stats().streams(), 1u);
  clock.Advance(std::chrono::milliseconds(500));
  EXPECT_REFUSAL(stream.Finish(), Refused("max-stall-seconds", "WINDOW_STALLED"));
  EXPECT_EQ(MetricOf(server().http_address(), "sinew_refusals_total{limit=\"max-stall-seconds\"}"),
            "1");
}

TEST_F(RequestLimits, CallsPerSecondSayWhenToCallAgain) {
  config.network.calls_per_second = 4;
  Start();
  const auto call = [&] {
    grpc::ClientContext context;
    v1::GetServerInfoResponse info;
    return stubs().info->GetServerInfo(&context, {}, &info);
  };
  EXPECT_EQ(Listed("max-calls-per-second"), 4u);
  for (int k = 1; k < 4; ++k) EXPECT_CODE(call(), StatusCode::OK);
  grpc::Status refused;
  WaitUntil([&] {
    refused = call();
    return !refused.ok();
  });
  EXPECT_EQ(RefusalOf(refused), RefusedForNow("max-calls-per-second")) << refused.error_message();
  WaitUntil([&] { return call().ok(); });
}

}  // namespace
}  // namespace sinew::testing
