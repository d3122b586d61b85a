#include <gtest/gtest.h>
#include <xxhash.h>

#include <limits>
#include <random>
#include <set>
#include <thread>

#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

// With float32, and with quantised frames of which each builds on the one before.
class StreamTest : public ServerTest, public ::testing::WithParamInterface<bool> {
 protected:
  void StartWithTube(const TubeShape& shape = {}, server::Clock& time = server::RealClock()) {
    Start(time);
    rig_ = stubs().UploadTube(shape);
  }
  void Encode(v1::OutputOptions& output) const {
    if (!GetParam()) return;
    output.add_encodings(v1::ENCODING_Q16);
    output.add_normal_encodings(v1::ENCODING_OCT16);
    output.add_compressions(v1::COMPRESSION_ZSTD);
  }
  v1::StreamOpen OpenFrames(const std::string& rig, const std::string& recipe_text) {
    v1::StreamOpen open = OpenRecipe(rig, recipe_text);
    Encode(*open.mutable_output());
    return open;
  }
  std::string rig_;
};
INSTANTIATE_TEST_SUITE_P(All, StreamTest, ::testing::Bool(), [](const auto& encoded) {
  return std::string(encoded.param ? "compressed" : "float32");
});

TEST_P(StreamTest, SendsEveryFrameInOrder) {
  StartWithTube();
  Stream stream(stubs(), OpenFrames(rig_, "lbs"));
  const v1::StreamOpened opened = stream.Opened();
  EXPECT_EQ(opened.vertices(), 72u);
  EXPECT_EQ(opened.window(), 8u);
  EXPECT_EQ(opened.chunk_bytes(), 1u << 20);
  EXPECT_FALSE(opened.determinism_digest().empty());
  std::vector<Stream::Answer> answers;
  std::uint64_t sent = 0;
  while (answers.size() < 500) {
    while (sent < answers.size() + 8 && sent < 500) {
      ++sent;
      v1::Pose pose = TubePose(sent, static_cast<float>(sent));
      pose.set_time(0.25 * static_cast<double>(sent));
      ASSERT_TRUE(stream.Send(pose));
    }
    for (auto& answer : stream.ReadUntil(answers.size() + 1)) answers.push_back(std::move(answer));
  }
  for (std::size_t i = 0; i < 500; ++i) {
    const v1::Frame& frame = answers[i].frame;
    ASSERT_EQ(frame.frame(), i + 1);
    EXPECT_EQ(frame.time(), 0.25 * static_cast<double>(i + 1));
    EXPECT_EQ(frame.checksum(), XXH3_64bits(frame.positions().data(), frame.positions().size()));
    EXPECT_NEAR(frame.bounds().minimum(0), static_cast<float>(i + 1) - 0.25f, 1e-3);
    EXPECT_GT(frame.timing().evaluate_ns(), 0u);
  }
  stream.HalfClose();
  EXPECT_CODE(stream.Finish(), StatusCode::OK);
}

TEST_P(StreamTest, SplitFramesHaveSameBits) {
  const TubeShape shape{.rings = 600, .segments = 100};
  StartWithTube(shape);
  v1::DeformRequest request;
  *request.mutable_target() = OpenFrames(rig_, "dqs").target();
  *request.mutable_pose() = TubePose(3, 0.7f, shape);
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_POSITIONS);
  request.mutable_output()->add_attributes(v1::ATTRIBUTE_NORMALS);
  Encode(*request.mutable_output());
  request.mutable_output()->clear_compressions();
  v1::DeformResponse whole;
  EXPECT_CODE(stubs().Deform(request, whole), StatusCode::OK);
  for (const std::uint32_t chunk : {4096u, 100'000u, 0u, 8u << 20}) {
    v1::StreamOpen open = OpenFrames(rig_, "dqs");
    open.mutable_output()->mutable_attributes()->CopyFrom(request.output().attributes());
    open.mutable_output()->set_chunk_bytes(chunk);
    Stream stream(stubs(), open);
    EXPECT_EQ(stream.Opened().chunk_bytes(), chunk == 0 ? 1u << 20 : chunk);
    stream.Send(TubePose(3, 0.7f, shape));
    const auto answers = stream.ReadUntil(3);
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_SAME_BYTES(answers[0].frame.positions(), whole.frame().positions());
    EXPECT_SAME_BYTES(answers[0].frame.normals(), whole.frame().normals());
  }
}

TEST_P(StreamTest, LimitsUnacknowledgedFramesToWindow) {
  StartWithTube();
  v1::StreamOpen open = OpenFrames(rig_, "lbs");
  open.set_window(3);
  Stream stream(stubs(), open);
  EXPECT_EQ(stream.Opened().window(), 3u);
  for (std::uint64_t frame = 1; frame <= 10; ++frame) stream.Send(TubePose(frame));
  EXPECT_EQ(stream.ReadUntil(3, false).back().frame.frame(), 3u);
  for (std::uint64_t received = 1; received <= 6; ++received) {
    EXPECT_EQ(stubs().Stats().frames_sent(), received + 2);
    stream.Acknowledge(received);
    EXPECT_EQ(stream.ReadUntil(received + 3, false).back().frame.frame(), received + 3);
  }
  EXPECT_EQ(stubs().Stats().frames_sent(), 9u);
  stream.HalfClose();  // no more acknowledgements can come: the rest is answered
  EXPECT_EQ(stream.ReadUntil(10, false).back().frame.frame(), 10u);
  EXPECT_CODE(stream.Finish(), StatusCode::OK);
}

TEST_P(StreamTest, LatestModeSkipsOverduePoses) {
  StartWithTube();
  v1::StreamOpen open = OpenFrames(rig_, "lbs");
  open.set_mode(v1::ORDER_MODE_LATEST);
  Stream stream(stubs(), open);
  EXPECT_EQ(stream.Opened().window(), 2u);
  stream.Send(TubePose(1));
  stream.ReadUntil(1, false);
  stream.Send(TubePose(2));
  stream.ReadUntil(2, false);
  // The window is full: of these only the newest is left when it opens.
  for (std::uint64_t frame = 3; frame <= 200; ++frame) stream.Send(TubePose(frame));
  stream.Acknowledge(2);
  const auto answers = stream.ReadUntil(200, false);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].frame.frame(), 200u);
  EXPECT_EQ(answers[0].frame.skipped(), 197u);
}

TEST_P(StreamTest, LatestModeAnswersNewestAndCountsSkipped) {
  const TubeShape shape{.rings = 100, .segments = 20};
  config.compute.inline_microseconds = 0;  // poses arrive while others are evaluated
  StartWithTube(shape);
  v1::StreamOpen open = OpenFrames(rig_, "dqs");
  open.set_mode(v1::ORDER_MODE_LATEST);
  open.set_window(3);
  Stream stream(stubs(), open);
  stream.Opened();
  std::uint64_t frames = 0, last = 0;
  for (std::uint64_t sent = 1; sent <= 900; sent += 9) {
    for (std::uint64_t frame = sent; frame < sent + 9; ++frame)
      stream.Send(TubePose(frame, 0, shape));
    while (last < sent + 8) {
      for (const auto& answer : stream.ReadUntil(last + 1)) {
        ASSERT_GT(answer.frame.frame(), last);
        EXPECT_EQ(answer.frame.skipped(), answer.frame.frame() - last - 1);
        last = answer.frame.frame();
        ++frames;
      }
    }
  }
  EXPECT_EQ(last, 900u);
  EXPECT_LT(frames, 900u);
}

TEST_P(StreamTest, BadPoseIsProblemAndStreamContinues) {
  StartWithTube();
  Stream stream(stubs(), OpenFrames(rig_, "lbs"));
  stream.Opened();
  v1::Pose short_pose = TubePose(1);
  short_pose.mutable_joint_transforms()->pop_back();
  std::vector<float> joints = FloatsOf(TubePose(1).joint_transforms());
  joints[4] = std::numeric_limits<float>::quiet_NaN();
  v1::Pose not_a_number = TubePose(2);
  not_a_number.set_joint_transforms(FloatBytes(joints));
  v1::Pose controls = TubePose(3);
  controls.set_controls("1234");
  v1::Pose unknown = TubePose(4);
  unknown.GetReflection()->MutableUnknownFields(&unknown)->AddVarint(70, 1);
  joints = FloatsOf(TubePose(1).joint_transforms());
  joints[3] = 3e38f;
  joints[15] = -3e38f;
  v1::Pose overflow = TubePose(5);
  overflow.set_joint_transforms(FloatBytes(joints));
  for (const v1::Pose& pose :
       {short_pose, not_a_number, controls, unknown, overflow, TubePose(6)}) {
    stream.Send(pose);
  }
  const auto answers = stream.ReadUntil(6);
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(answers[0].problem->field(), "pose.joint_transforms");
  EXPECT_EQ(answers[0].problem->code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(answers[1].problem->field(), "pose.joint_transforms");
  EXPECT_EQ(answers[2].problem->field(), "pose.controls");
  EXPECT_EQ(answers[3].problem->reason(), v1::REASON_UNKNOWN_FIELD);
  EXPECT_EQ(answers[3].problem->field(), "pose.70");
  EXPECT_FALSE(answers[5].problem.has_value());
  EXPECT_EQ(answers[5].frame.vertex_count(), 72u);
}

TEST_P(StreamTest, ProblemsCountTowardsWindow) {
  StartWithTube();
  v1::StreamOpen open = OpenFrames(rig_, "lbs");
  open.set_window(2);
  Stream stream(stubs(), open);
  stream.Opened();
  for (std::uint64_t frame = 1; frame <= 3; ++frame) {
    v1::Pose pose;
    pose.set_frame(frame);
    stream.Send(pose);
  }
  EXPECT_EQ(stream.ReadUntil(2, false).size(), 2u);
  stream.Acknowledge(1);
  EXPECT_EQ(stream.ReadUntil(3, false).size(), 1u);
}

TEST_P(StreamTest, FrameNumbersMustIncrease) {
  StartWithTube();
  for (const std::uint64_t second : {0u, 3u, 2u}) {
    Stream stream(stubs(), OpenFrames(rig_, "lbs"));
    stream.Opened();
    stream.Send(TubePose(3));
    stream.ReadUntil(3);
    stream.Send(TubePose(second));
    const grpc::Status status = stream.Finish();
    EXPECT_CODE(status, StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(FieldOf(status), "poses.frame");
  }
}

TEST_P(StreamTest, ResumeStartsAfterReceived) {
  StartWithTube();
  Stream stream(stubs(), OpenFrames(rig_, "lbs"));
  stream.Opened();
  v1::StreamDeformRequest request;
  request.set_received(41);
  *request.add_poses() = TubePose(42);
  stream.Send(request);
  EXPECT_EQ(stream.ReadUntil(42).size(), 1u);
  stream.Acknowledge(99);
  EXPECT_EQ(FieldOf(stream.Finish()), "received");
}

TEST_P(StreamTest, WrongOpenErrorsNameField) {
  StartWithTube();
  const auto fails = [&](const v1::StreamOpen& open) {
    Stream stream(stubs(), open);
    const grpc::Status status = stream.Finish();
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << status.error_message();
    return FieldOf(status);
  };
  EXPECT_EQ(fails(v1::StreamOpen()), "open.target");
  v1::StreamOpen open = OpenFrames(rig_, "lbs");
  open.set_mode(static_cast<v1::OrderMode>(9));
  EXPECT_EQ(fails(open), "open.mode");
  open = OpenFrames(rig_, "lbs");
  open.mutable_output()->add_attributes(static_cast<v1::Attribute>(4));  // once velocities
  EXPECT_EQ(fails(open), "open.output.attributes[0]");
  open = OpenFrames(rig_, "lbs");
  open.mutable_output()->add_attributes(v1::ATTRIBUTE_POSITIONS);
  open.mutable_output()->add_attributes(v1::ATTRIBUTE_TANGENTS);  // which this rig lacks
  EXPECT_EQ(fails(open), "open.output.attributes");
  open = OpenFrames(rig_, "dqs(blend=9)");
  EXPECT_EQ(fails(open).rfind("open.target.source", 0), 0u);
  open = OpenFrames(rig_, "lbs");
  open.GetReflection()->MutableUnknownFields(&open)->AddVarint(60, 1);
  EXPECT_EQ(fails(open), "open.60");
  Stream lost(stubs(), OpenFor("sessions/gone"));
  EXPECT_CODE(lost.Finish(), StatusCode::NOT_FOUND);
}

TEST_P(StreamTest, OnlyFirstMessageOpens) {
  StartWithTube();
  grpc::ClientContext context;
  auto call = stubs().deforms->StreamDeform(&context);
  v1::StreamDeformRequest request;
  *request.add_poses() = TubePose(1);
  call->Write(request);
  EXPECT_EQ(FieldOf(call->Finish()), "open");
  grpc::ClientContext empty_context;
  auto empty = stubs().deforms->StreamDeform(&empty_context);
  empty->WritesDone();
  EXPECT_EQ(FieldOf(empty->Finish()), "open");
  Stream twice(stubs(), OpenFrames(rig_, "lbs"));
  v1::StreamDeformRequest again;
  *again.mutable_open() = OpenFrames(rig_, "lbs");
  twice.Send(again);
  EXPECT_EQ(FieldOf(twice.Finish()), "open");
}

TEST_P(StreamTest, AcceptsPosesWhileBinding) {
  const TubeShape shape{.rings = 200, .segments = 50};
  StartWithTube(shape);
  Stream stream(stubs(), OpenFrames(rig_, "ddm(iterations=20)"));
  for (std::uint64_t frame = 1; frame <= 20; ++frame) stream.Send(TubePose(frame, 0, shape));
  EXPECT_EQ(stream.Opened().vertices(), shape.vertices());
  EXPECT_EQ(stream.ReadUntil(20).size(), 20u);
}

TEST_P(StreamTest, IdleStreamWithRoomContinues) {
  config.streams.stall_seconds = 0.3;
  StartWithTube({}, clock);
  Stream stream(stubs(), OpenFrames(rig_, "lbs"));
  stream.Opened();
  stream.Send(TubePose(1));
  stream.ReadUntil(1);
  WaitForWrites(server().http_address(), 2);
  clock.Advance(std::chrono::milliseconds(1200));
  stream.Send(TubePose(2));
  EXPECT_EQ(stream.ReadUntil(2).size(), 1u);
}

TEST_P(StreamTest, UnopenedStreamEnds) {
  config.streams.stall_seconds = 0.3;
  StartWithTube({}, clock);
  grpc::ClientContext context;
  auto call = stubs().deforms->StreamDeform(&context);
  v1::StreamDeformResponse response;
  stubs().WaitFor(&v1::ServerStats::streams, 1);
  WaitUntil([&] { return stubs().Stats().streams() == 0; },
            [&] { clock.Advance(std::chrono::milliseconds(400)); });
  EXPECT_FALSE(call->Read(&response));
  EXPECT_EQ(ReasonOf(call->Finish()), "WINDOW_STALLED");
}

TEST_P(StreamTest, SilentReaderDoesNotSlowOthers) {
  config.streams.stall_seconds = 1;
  // 720 kB a frame; compressed ones need more vertices, else the transport holds all 64, unread.
  const TubeShape shape{.rings = GetParam() ? 4800U : 600U, .segments = 100};
  StartWithTube(shape, clock);
  v1::StreamOpen open = OpenFrames(rig_, "lbs");
  open.set_window(64);
  Stream silent(stubs(), open);
  for (std::uint64_t frame = 1; frame <= 64; ++frame) silent.Send(TubePose(frame, 0, shape));
  Stream other(stubs(), OpenFrames(rig_, "lbs"));
  other.Opened();
  std::uint64_t frame = 0;
  const auto exchange = [&] {
    other.Send(TubePose(++frame, 0, shape));
    EXPECT_EQ(other.ReadUntil(frame).size(), 1u);
  };
  while (frame < 20) exchange();
  // The transport holds a few megabytes; what it cannot hold of the 64 frames was never made.
  EXPECT_LT(stubs().Stats().frames_sent(), 20u + (GetParam() ? 48 : 16));
  // Only the write that is not read becomes as old as the limit.
  while (stubs().Stats().streams() != 1) {
    clock.Advance(std::chrono::milliseconds(300));
    exchange();
  }
  EXPECT_CODE(silent.Finish(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_P(StreamTest, RandomCancelsLeaveNothingBehind) {
  StartWithTube({.rings = 100, .segments = 50});
  const TubeShape shape{.rings = 100, .segments = 50};
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    Stream stream(stubs(), OpenFrames(rig_, round % 2 == 0 ? "lbs" : "dqs"));
    const auto poses = random() % 12;
    for (std::uint64_t frame = 1; frame <= poses; ++frame) stream.Send(TubePose(frame, 0, shape));
    if (random() % 2 == 0) stream.Opened();
    for (auto calls = random() % 6; calls > 0; --calls) stubs().Stats();  // a random time
    stream.Cancel();
  }
  stubs().WaitFor(&v1::ServerStats::streams, 0);
}

TEST_P(StreamTest, ManyStreamsShareOneSession) {
  StartWithTube();
  const v1::Session session = stubs().Create(rig_, "dqs");
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&] {
      Stream stream(stubs(), OpenFor(session.name()));
      stream.Opened();
      for (std::uint64_t frame = 1; frame <= 50; ++frame) {
        stream.Send(TubePose(frame, 1));
        ASSERT_EQ(stream.ReadUntil(frame).size(), 1u);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(stubs().Stats().frames_sent(), 400u);
}

TEST_P(StreamTest, InlineAndArenaGiveSameBits) {
  const TubeShape shape{.rings = 100, .segments = 20};
  std::set<std::string> results;
  for (const double microseconds : {0.0, 10'000.0}) {
    config.compute.inline_microseconds = microseconds;
    StartWithTube(shape);
    Stream stream(stubs(), OpenFrames(rig_, "ddm"));
    stream.Opened();
    for (std::uint64_t frame = 1; frame <= 5; ++frame) {
      stream.Send(TubePose(frame, 0.1f, shape));
      results.insert(stream.ReadUntil(frame)[0].frame.positions());
    }
  }
  EXPECT_EQ(results.size(), 1u);
}

}  // namespace
}  // namespace sinew::testing
