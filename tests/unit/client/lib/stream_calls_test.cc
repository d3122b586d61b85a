#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#include "tests/unit/client/lib/fake_server.h"

namespace sinew::client {
namespace {

const Target kTarget{.rig = "rigs/a", .recipe = "lbs"};

struct StreamCalls : testing::Test {
  FakeServer server;
  Client client = *Client::Connect(server.Options());
  StreamCalls() { server.rigs["rigs/a"] = ""; }

  // Sends poses 1 to `count`, frame k of the number k, taking frames when there is no room; expects
  // all in order.
  void SendAndTake(Stream& stream, std::uint64_t count) {
    std::uint64_t sent = 0, taken = 0;
    while (taken < count) {
      while (sent < count && stream.room() > 0) {
        const auto frame = stream.Send(OneNumberPose(static_cast<float>(sent + 1)));
        ASSERT_TRUE(frame.ok()) << frame.status();
        ++sent;
      }
      const auto item = stream.Next(absl::Seconds(20));
      ASSERT_TRUE(item.ok()) << item.status();
      ASSERT_TRUE(item->has_value());
      ++taken;
      ASSERT_EQ((*item)->frame, taken);
      std::vector<float> positions(kFakeVertices * 3);
      ASSERT_TRUE((*item)->view.CopyPositions(positions).ok());
      ASSERT_EQ(positions, ExpectedPositions(static_cast<float>(taken)));
    }
  }
};

TEST_F(StreamCalls, OrderedStreamReturnsEveryFrame) {
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  EXPECT_EQ(stream->info().vertices, kFakeVertices);
  EXPECT_EQ(stream->info().window, 8u);
  SendAndTake(*stream, 500);
  stream->Finish();
  EXPECT_EQ(*stream->Next(absl::Seconds(20)), std::nullopt);
  EXPECT_TRUE(absl::IsFailedPrecondition(stream->Send(OneNumberPose(1)).status()));
  EXPECT_EQ(server.counts.streams, 1);
  EXPECT_LE(server.counts.most_unacknowledged, 8u + 64u);
}

TEST_F(StreamCalls, ResumesAfterEveryKindOfBreak) {
  const grpc::Status breaks[] = {
      {grpc::UNAVAILABLE, "connection lost"},
      {grpc::CANCELLED, "RST_STREAM with error code 8"},
      {grpc::INTERNAL, "Received RST_STREAM with error code 2"},
      {grpc::UNKNOWN, "Stream removed"},
      grpc::Status::OK,  // ended although poses have no answer
  };
  for (const grpc::Status& broken : breaks) {
    for (const std::size_t after : {0, 1, 7, 8, 30}) {
      server.faults.break_stream_with = broken;
      server.faults.break_after_frames = after;
      auto stream = client.OpenStream(kTarget, {});
      ASSERT_TRUE(stream.ok()) << stream.status();
      SendAndTake(*stream, 60);
      EXPECT_EQ(stream->info().resumed, 1u) << broken.error_message() << " after " << after;
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(StreamCalls, NotifiesOncePerBreak) {
  std::vector<std::string> reasons;  // complete before the frames after the break arrive
  ClientOptions options = server.Options();
  options.on_wait = [&](const absl::Status& why, absl::Duration max_wait) {
    reasons.emplace_back(why.message());
    EXPECT_EQ(max_wait, options.retry.resume_for);
  };
  client = *Client::Connect(options);
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  SendAndTake(*stream, 20);
  EXPECT_TRUE(reasons.empty());
  for (std::size_t breaks = 1; breaks <= 2; ++breaks) {
    server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "connection lost");
    server.faults.break_after_frames = 7;
    stream = client.OpenStream(kTarget, {});
    ASSERT_TRUE(stream.ok()) << stream.status();
    SendAndTake(*stream, 60);
    EXPECT_EQ(reasons, std::vector<std::string>(breaks, "connection lost"));
  }
}

TEST_F(StreamCalls, ResumesWhenServerDrains) {
  for (const std::size_t after : {1, 5, 8, 20}) {
    server.faults.drain_after_frames = after;
    auto stream = client.OpenStream(kTarget, {});
    ASSERT_TRUE(stream.ok()) << stream.status();
    SendAndTake(*stream, 40);
    EXPECT_EQ(stream->info().resumed, 1u);
  }
}

TEST_F(StreamCalls, EndsOnOtherErrors) {
  server.faults.break_stream_with = grpc::Status(grpc::RESOURCE_EXHAUSTED, "too many");
  server.faults.break_after_frames = 3;
  auto stream = client.OpenStream(kTarget, {});
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(stream->Next(absl::Seconds(20)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(stream->Next(absl::Seconds(20)).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(stream->Send(OneNumberPose(1)).status()));
  EXPECT_EQ(server.counts.streams, 1);
}

// Refused at the first opening, or when it opens again after a break.
TEST_F(StreamCalls, RefusedForATimeReturnsEveryFrameOnce) {
  for (const bool again : {false, true}) {
    server.RefuseStreamFor(std::chrono::milliseconds(40), again);
    const absl::Time before = absl::Now();
    auto stream = client.OpenStream(kTarget, {});
    ASSERT_TRUE(stream.ok()) << stream.status();
    SendAndTake(*stream, 60);
    if (HasFatalFailure()) return;
    EXPECT_GE(absl::Now() - before, absl::Milliseconds(40));
    EXPECT_EQ(server.counts.streams, again ? 3 : 2);
    EXPECT_EQ(stream->info().resumed, again ? 1u : 0u);
  }
}

TEST_F(StreamCalls, RefusedWithoutATimeEnds) {
  server.faults.refuse_stream = Refused({});
  EXPECT_TRUE(absl::IsResourceExhausted(client.OpenStream(kTarget, {}).status()));
  EXPECT_EQ(server.counts.streams, 1);
  server.faults.refuse_stream = Refused({});
  server.faults.streams_before_refusal = 2;
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(stream->Next(absl::Seconds(20)).status()));
  EXPECT_EQ(server.counts.streams, 3);
}

TEST_F(StreamCalls, RefusesChangedDeterminismDigest) {
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_after_frames = 2;
  auto stream = client.OpenStream(kTarget, {});
  {
    const std::lock_guard lock(server.mutex);
    server.determinism_digest = "digest-2";
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(stream->Next(absl::Seconds(20)).ok());
  const absl::Status status = stream->Next(absl::Seconds(20)).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(Details(status).reason, "DETERMINISM_MISMATCH");
}

TEST_F(StreamCalls, ReportsInvalidPoseInOrder) {
  auto stream = client.OpenStream(kTarget, {});
  for (const float number : {1.f, std::numeric_limits<float>::infinity(), 3.f}) {
    ASSERT_TRUE(stream->Send(OneNumberPose(number)).ok());
  }
  EXPECT_TRUE((*stream->Next())->problem.ok());
  const StreamItem bad = **stream->Next();
  EXPECT_EQ(bad.frame, 2u);
  EXPECT_TRUE(absl::IsInvalidArgument(bad.problem));
  EXPECT_TRUE(bad.view.empty());
  EXPECT_TRUE((*stream->Next())->problem.ok());
}

TEST_F(StreamCalls, EndsOnWrongChecksum) {
  server.faults.wrong_checksum = true;
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  EXPECT_TRUE(absl::IsDataLoss(stream->Next(absl::Seconds(20)).status()));
  auto unchecked = client.OpenStream(kTarget, {.output = {.checksums = false}});
  SendAndTake(*unchecked, 10);
}

TEST_F(StreamCalls, EndsOnUnrequestedFrame) {
  server.faults.repeat_frames = true;
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  EXPECT_TRUE(stream->Next(absl::Seconds(20)).ok());
  EXPECT_TRUE(absl::IsInternal(stream->Next(absl::Seconds(20)).status()));
}

TEST_F(StreamCalls, WindowLimitsFramesToSlowConsumer) {
  auto stream = client.OpenStream(kTarget, {.window = 4, .max_queued = 16});
  int taken = 0;
  absl::Status full;
  for (int i = 0; i < 1000 && full.ok(); ++i) {
    full = stream->Send(OneNumberPose(1)).status();
    taken += full.ok();
  }
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_LE(taken, 16 + 4 + 48) << "what is kept is bounded";
  absl::SleepFor(absl::Milliseconds(50));
  const std::lock_guard lock(server.mutex);
  EXPECT_TRUE(server.counts.acknowledged.empty());
  EXPECT_LE(server.counts.most_unacknowledged, 4u + 64u);
}

// Takes the rest of a LATEST stream whose poses 1 to `count` have been sent: each frame says how
// many poses between the frame before and itself have no answer.
void TakeLatest(Stream& stream, std::uint64_t count) {
  stream.Finish();
  std::uint64_t last = 0, answered = 0;
  while (true) {
    const auto item = stream.Next(absl::Seconds(20));
    ASSERT_TRUE(item.ok()) << item.status();
    if (!item->has_value()) break;
    const std::uint64_t frame = (*item)->frame;
    ASSERT_GT(frame, last + answered);
    if (!(*item)->problem.ok()) {
      ++answered;
      continue;
    }
    EXPECT_EQ((*item)->view.skipped(), frame - last - 1 - answered);
    last = frame;
    answered = 0;
    std::vector<float> positions(kFakeVertices * 3);
    ASSERT_TRUE((*item)->view.CopyPositions(positions).ok());
    EXPECT_EQ(positions, ExpectedPositions(static_cast<float>(last)));
  }
  EXPECT_EQ(last, count) << "the newest pose is always answered";
}

TEST_F(StreamCalls, LatestCountsSkippedPoses) {
  auto stream = client.OpenStream(kTarget, {.mode = OrderMode::kLatest});
  ASSERT_TRUE(stream.ok()) << stream.status();
  constexpr std::uint64_t kPoses = 2000;
  for (std::uint64_t f = 1; f <= kPoses; ++f) {
    const bool bad = f % 3 == 0 && f < kPoses;
    const float number = bad ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(f);
    ASSERT_TRUE(stream->Send(OneNumberPose(number)).ok());
  }
  TakeLatest(*stream, kPoses);
}

TEST_F(StreamCalls, LatestResumesWithNewestPose) {
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_after_frames = 1;
  auto stream = client.OpenStream(kTarget, {.mode = OrderMode::kLatest});
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(stream->Send(OneNumberPose(static_cast<float>(i))).ok());
  }
  TakeLatest(*stream, 50);
}

TEST_F(StreamCalls, NextRespectsTimeout) {
  auto stream = client.OpenStream(kTarget, {});
  EXPECT_TRUE(absl::IsDeadlineExceeded(stream->Next(absl::Milliseconds(5)).status()));
  SendAndTake(*stream, 3);
}

// One pose at a time: Next serves the call itself, and the stream's thread takes over while no
// caller waits, or when more poses are in flight.
TEST_F(StreamCalls, OnePoseAtATimeWithAnyPause) {
  auto stream = client.OpenStream(kTarget, {});
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
    if (i % 10 == 1) absl::SleepFor(absl::Milliseconds(i / 10));
    ASSERT_TRUE(stream->Next(absl::Seconds(20)).ok());
    if (i % 10 == 2) absl::SleepFor(absl::Milliseconds(i / 10));
    if (i % 50 != 3) continue;
    for (int k = 0; k < 12; ++k) ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
    for (int k = 0; k < 12; ++k) ASSERT_TRUE(stream->Next(absl::Seconds(20)).ok());
  }
  stream->Finish();
  EXPECT_FALSE(stream->Next(absl::Seconds(20))->has_value());
}

// The server does not read: the write of a large pose does not end.
TEST_F(StreamCalls, NeitherSendNorNextWaitsForAWrite) {
  auto stream = client.OpenStream(kTarget, {});
  SendAndTake(*stream, 3);
  server.stops_reading = true;
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());  // the last that is read
  ASSERT_TRUE(stream->Next(absl::Seconds(20)).ok());
  const std::vector<float> large(900'000, 1.0f);
  absl::Time start = absl::Now();
  ASSERT_TRUE(stream->Send({.joint_transforms = large}).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(stream->Next(-absl::InfiniteDuration()).status()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(stream->Next(absl::Milliseconds(50)).status()));
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  server.stops_reading = false;
}

TEST_F(StreamCalls, AFrameArrivesWhileNobodyWaits) {
  auto stream = client.OpenStream(kTarget, {});
  SendAndTake(*stream, 3);
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  absl::SleepFor(absl::Milliseconds(200));
  EXPECT_TRUE(stream->Next(absl::ZeroDuration()).ok());
}

TEST_F(StreamCalls, PollingFindsTheFrame) {
  auto stream = client.OpenStream(kTarget, {});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
    const absl::Time end = absl::Now() + absl::Seconds(20);
    absl::Status status;
    do {
      status = stream->Next(absl::ZeroDuration()).status();
    } while (absl::IsDeadlineExceeded(status) && absl::Now() < end);
    ASSERT_TRUE(status.ok()) << status;
  }
}

// The pose in flight gets no answer. gRPC would wait for the next full millisecond.
TEST_F(StreamCalls, ZeroTimeoutDoesNotWait) {
  auto stream = client.OpenStream(kTarget, {});
  SendAndTake(*stream, 3);
  server.stops_reading = true;
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());  // the last that is read
  ASSERT_TRUE(stream->Next(absl::Seconds(20)).ok());
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  std::vector<absl::Duration> looks(101);
  for (absl::Duration& look : looks) {
    const absl::Time start = absl::Now();
    EXPECT_TRUE(absl::IsDeadlineExceeded(stream->Next(absl::ZeroDuration()).status()));
    look = absl::Now() - start;
  }
  std::sort(looks.begin(), looks.end());
  EXPECT_LT(looks[50], absl::Microseconds(200));
  server.stops_reading = false;
}

TEST_F(StreamCalls, ResumesBetweenSinglePoses) {
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_after_frames = 3;
  auto stream = client.OpenStream(kTarget, {});
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
    ASSERT_TRUE(stream->Next(absl::Seconds(20)).ok());
  }
  EXPECT_EQ(stream->info().resumed, 1u);
}

// Longer ago than resume_for, without a frame between the breaks.
TEST_F(StreamCalls, IdleStreamResumesAfterLaterBreaks) {
  ClientOptions options = server.Options();
  options.retry.resume_for = absl::Milliseconds(200);
  int notices = 0;  // complete before the stream opens again
  options.on_wait = [&](const absl::Status&, absl::Duration) { ++notices; };
  for (const absl::Duration longest : {absl::Milliseconds(20), absl::Seconds(10)}) {
    options.retry.max_backoff = longest;  // above: the calls between count as short
    notices = 0;
    client = *Client::Connect(options);
    auto stream = client.OpenStream(kTarget, {});
    ASSERT_TRUE(stream.ok()) << stream.status();
    for (std::uint32_t breaks = 1; breaks <= 3; ++breaks) {
      server.BreakStreams();
      const absl::Time end = absl::Now() + absl::Seconds(20);
      while (stream->info().resumed < breaks && absl::Now() < end) {
        absl::SleepFor(absl::Milliseconds(5));
      }
      ASSERT_EQ(stream->info().resumed, breaks);
      EXPECT_EQ(notices, static_cast<int>(breaks));
      absl::SleepFor(absl::Milliseconds(300));
    }
    SendAndTake(*stream, 20);
  }
}

// Waits rise from break to break: 5, 10, ... ms. The sixth is longer than resume_for.
TEST_F(StreamCalls, IdleStreamTriesOnceMoreWhereWaitsAreTooLong) {
  ClientOptions options = server.Options();
  options.retry.resume_for = absl::Milliseconds(110);
  options.retry.max_backoff = absl::Seconds(10);
  client = *Client::Connect(options);
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  for (std::uint32_t breaks = 1; breaks <= 6; ++breaks) {
    server.BreakStreams();
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (stream->info().resumed < breaks && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(5));
    }
    ASSERT_EQ(stream->info().resumed, breaks);
  }
  SendAndTake(*stream, 20);
}

// A pose that has waited since a call before; what it waited while the server held does not count.
TEST_F(StreamCalls, OwedPoseSurvivesServerThatHeldLong) {
  ClientOptions options = server.Options();
  options.retry.resume_for = absl::Milliseconds(200);
  client = *Client::Connect(options);
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  server.stops_reading = true;
  do {  // the server may have begun to read one
    ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  } while (stream->Next(absl::Milliseconds(200)).ok());
  for (std::uint32_t breaks = 1; breaks <= 2; ++breaks) {
    server.BreakStreams();
    const absl::Time end = absl::Now() + absl::Seconds(20);
    while (stream->info().resumed < breaks && absl::Now() < end) {
      ASSERT_TRUE(absl::IsDeadlineExceeded(stream->Next(absl::Milliseconds(5)).status()));
    }
    ASSERT_EQ(stream->info().resumed, breaks);
    absl::SleepFor(absl::Milliseconds(300));
  }
  server.stops_reading = false;
  EXPECT_TRUE(stream->Next(absl::Seconds(20)).ok());
}

TEST_F(StreamCalls, EndsWhenPoseBreaksEveryCall) {
  ClientOptions options = server.Options();
  options.retry.resume_for = absl::Milliseconds(200);
  client = *Client::Connect(options);
  auto stream = client.OpenStream(kTarget, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  {
    const std::lock_guard lock(server.mutex);
    server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "crash");
    server.faults.breaks_again = true;
  }
  ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  EXPECT_TRUE(absl::IsUnavailable(stream->Next(absl::Seconds(20)).status()));
  EXPECT_GE(server.counts.streams, 3);
}

TEST_F(StreamCalls, CancelWakesNext) {
  auto stream = client.OpenStream(kTarget, {});
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(20));
    stream->Cancel();
  });
  EXPECT_TRUE(absl::IsCancelled(stream->Next().status()));
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled(stream->Next().status()));
}

TEST_F(StreamCalls, DestructorCancelsAtAnyTime) {
  for (int i = 0; i < 100; ++i) {
    auto stream = client.OpenStream(kTarget, {});
    ASSERT_TRUE(stream.ok()) << stream.status();
    for (int k = 0; k < i % 20; ++k) ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
    if (i % 3 == 0) stream->Finish();
    if (i % 20 < 3) continue;
    EXPECT_TRUE(stream->Next(absl::Seconds(20)).ok());
  }
}

TEST_F(StreamCalls, OpenStreamReportsErrors) {
  EXPECT_TRUE(absl::IsNotFound(client.OpenStream({.session = "sessions/none"}, {}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(client.OpenStream({}, {}).status()));
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_TRUE(
      absl::IsCancelled(client.OpenStream(kTarget, {}, {.stop = stopped.get_token()}).status()));
}

}  // namespace
}  // namespace sinew::client
