#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "tests/unit/client/lib/fake_server.h"

namespace sinew::client {
namespace {

const Target kTarget{.rig = "rigs/a", .recipe = "lbs"};

std::vector<float> Positions(const FrameView& view) {
  std::vector<float> positions(view.vertices() * 3);
  EXPECT_TRUE(view.CopyPositions(positions).ok());
  return positions;
}

struct DeformCalls : testing::Test {
  FakeServer server;
  Client client = *Client::Connect(server.Options());
  DeformCalls() { server.rigs["rigs/a"] = ""; }

  // Frames 1 to `frames`, frame k a pose of the number k.
  absl::Status Clip(std::size_t frames, const ClipSink& sink, const OutputOptions& output = {}) {
    std::vector<float> poses;
    for (std::size_t f = 1; f <= frames; ++f) poses.insert(poses.end(), 12, static_cast<float>(f));
    return client.DeformClip(kTarget, {.joint_transforms = poses, .frames = frames},
                             {.output = output}, sink);
  }
};

TEST_F(DeformCalls, DeformReturnsFrame) {
  const OneNumberPose floats(5);
  Pose pose = floats;
  pose.frame = 44;
  pose.time = 1.25;
  server.faults.fail_next_call = grpc::Status(grpc::UNAVAILABLE, "away");
  const auto view = client.Deform(kTarget, {}, pose);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->frame(), 44u);
  EXPECT_EQ(view->time(), 1.25);
  EXPECT_EQ(Positions(*view), ExpectedPositions(5));
  EXPECT_TRUE(
      absl::IsNotFound(client.Deform({.rig = "rigs/b", .recipe = "lbs"}, {}, pose).status()));
}

TEST_F(DeformCalls, DeformRefusesWrongChecksum) {
  server.faults.wrong_checksum = true;
  const OneNumberPose pose(1);
  EXPECT_TRUE(absl::IsDataLoss(client.Deform(kTarget, {}, pose).status()));
  EXPECT_TRUE(client.Deform(kTarget, {}, pose, {.checksums = false}).ok());
}

TEST_F(DeformCalls, DeformRaisesReplyLimitOnlyIfNeeded) {
  using Sizes = std::vector<std::uint64_t>;
  const std::uint64_t most = (64 << 20) - (32 << 10);
  const OneNumberPose pose(1);
  EXPECT_TRUE(client.Deform(kTarget, {}, pose).ok());
  EXPECT_EQ(server.counts.max_response_bytes, Sizes{0});

  server.faults.largest_reply = 5 << 20;
  EXPECT_TRUE(client.Deform(kTarget, {}, pose).ok());
  EXPECT_EQ(server.counts.max_response_bytes, (Sizes{0, 0, most}));

  server.faults.largest_allowed = 16 << 20;
  EXPECT_EQ(Details(client.Deform(kTarget, {}, pose).status()).reason, "USE_STREAM");

  ClientOptions options = server.Options();
  options.max_receive_bytes = 1 << 20;
  client = *Client::Connect(options);
  server.counts.max_response_bytes.clear();
  EXPECT_EQ(Details(client.Deform(kTarget, {}, pose).status()).reason, "USE_STREAM");
  EXPECT_EQ(server.counts.max_response_bytes, Sizes{(1 << 20) - (32 << 10)});
}

TEST_F(DeformCalls, ClipReturnsEveryFrameInOrder) {
  std::uint64_t next = 1;
  const absl::Status status = Clip(300, [&](const StreamItem& item) {
    EXPECT_EQ(item.frame, next);
    EXPECT_EQ(Positions(item.view), ExpectedPositions(static_cast<float>(next)));
    ++next;
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(next, 301u);
  EXPECT_EQ(server.counts.streams, 1);
}

// The frames of a clip of 100 poses from frame 5 on of which three are wanted.
struct ClipOutputs : DeformCalls {
  std::vector<std::uint64_t> frames;
  std::vector<std::size_t> progress;

  absl::Status Run() {
    const std::vector<float> poses(100 * 12, 1);
    const std::vector<std::size_t> outputs = {0, 40, 77};
    return client.DeformClip(
        kTarget, {.joint_transforms = poses, .frames = 100, .first_frame = 5, .outputs = outputs},
        {.progress = [&](std::size_t done, std::size_t) { progress.push_back(done); }},
        [&](const StreamItem& item) {
          frames.push_back(item.frame);
          return absl::OkStatus();
        });
  }
};

TEST_F(ClipOutputs, ClipSendsOnlyWantedPoses) {
  EXPECT_TRUE(Run().ok());
  EXPECT_EQ(frames, (std::vector<std::uint64_t>{5, 45, 82}));
  EXPECT_EQ(server.counts.poses, 3u);
}

TEST_F(ClipOutputs, ClipRepeatsOnlyWantedPosesAfterBreak) {
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_after_frames = 2;
  const absl::Status status = Run();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(frames, (std::vector<std::uint64_t>{5, 45, 82}));
  EXPECT_EQ(server.counts.streams, 2);
  EXPECT_LE(server.counts.poses, 6u);
  EXPECT_EQ(progress, (std::vector<std::size_t>{1, 41, 78}));
}

TEST_F(ClipOutputs, RefusesIndicesThatDoNotRise) {
  const std::vector<float> poses(24, 1);
  const ClipSink sink = [](const StreamItem&) { return absl::OkStatus(); };
  for (const std::vector<std::size_t>& outputs : {std::vector<std::size_t>{1, 0}, {0, 0}, {0, 2}}) {
    const ClipPoses clip = {.joint_transforms = poses, .frames = 2, .outputs = outputs};
    EXPECT_TRUE(absl::IsInvalidArgument(client.DeformClip(kTarget, clip, {}, sink)));
  }
}

TEST_F(DeformCalls, ClipResumesAfterLastFrame) {
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_after_frames = 7;
  std::vector<std::uint64_t> frames;
  EXPECT_TRUE(Clip(20, [&](const StreamItem& item) {
                frames.push_back(item.frame);
                return absl::OkStatus();
              }).ok());
  ASSERT_EQ(frames.size(), 20u) << "no frame twice";
  EXPECT_EQ(frames.back(), 20u);
  EXPECT_EQ(server.counts.streams, 2);
}

// Refused at the first opening, or when its stream opens again after a break.
TEST_F(DeformCalls, RefusedClipReturnsEveryFrameOnce) {
  std::vector<std::uint64_t> expected(20);
  std::iota(expected.begin(), expected.end(), 1);
  for (const bool again : {false, true}) {
    server.RefuseStreamFor(std::chrono::milliseconds(40), again);
    std::vector<std::uint64_t> frames;
    const absl::Time before = absl::Now();
    const absl::Status status = Clip(20, [&](const StreamItem& item) {
      frames.push_back(item.frame);
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GE(absl::Now() - before, absl::Milliseconds(40));
    EXPECT_EQ(frames, expected);
    EXPECT_EQ(server.counts.streams, again ? 3 : 2);
  }
}

TEST_F(DeformCalls, RefusedClipWithoutATimeEnds) {
  server.faults.refuse_stream = Refused({});
  std::size_t frames = 0;
  const ClipSink count = [&](const StreamItem&) {
    ++frames;
    return absl::OkStatus();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(Clip(20, count)));
  EXPECT_EQ(server.counts.streams, 1);
  EXPECT_EQ(frames, 0u);
}

TEST_F(DeformCalls, ClipReportsInvalidPoseAndContinues) {
  std::vector<float> poses(36, 1);
  poses[12] = std::numeric_limits<float>::quiet_NaN();
  std::string seen;
  EXPECT_TRUE(client
                  .DeformClip(kTarget, {.joint_transforms = poses, .frames = 3}, {},
                              [&](const StreamItem& item) {
                                seen += item.problem.ok() ? 'f' : 'p';
                                return absl::OkStatus();
                              })
                  .ok());
  EXPECT_EQ(seen, "fpf");
}

TEST_F(DeformCalls, ClipReturnsErrorOfSink) {
  int taken = 0;
  // A code that would be worth another attempt if the network had said it.
  const absl::Status status = Clip(10, [&](const StreamItem&) {
    return ++taken == 3 ? absl::UnavailableError("disk full") : absl::OkStatus();
  });
  EXPECT_EQ(status, absl::UnavailableError("disk full"));
  EXPECT_EQ(taken, 3);
  EXPECT_EQ(server.counts.streams, 1);
}

TEST_F(DeformCalls, ClipRefusesInconsistentSizes) {
  const std::vector<float> poses(25, 1);
  const ClipSink sink = [](const StreamItem&) { return absl::OkStatus(); };
  const auto code = [&](const ClipPoses& clip, const ClipSink& to) {
    return client.DeformClip(kTarget, clip, {}, to).code();
  };
  EXPECT_EQ(code({.joint_transforms = poses, .frames = 2}, sink),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.joint_transforms = poses, .frames = 0}, sink),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.joint_transforms = {}, .frames = 0}, sink), absl::StatusCode::kOk);
  const std::vector<double> times(3);
  EXPECT_EQ(
      code({.joint_transforms = std::span(poses).first(24), .frames = 2, .times = times}, sink),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      code({.joint_transforms = std::span(poses).first(24), .frames = 2, .first_frame = 0}, sink),
      absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.joint_transforms = std::span(poses).first(24), .frames = 2}, {}),
            absl::StatusCode::kInvalidArgument);
}

// Two targets, frames 1 to `frames`; frame `bad` is no pose.
absl::StatusOr<std::vector<TargetMetrics>> Compared(const Client& client, std::size_t frames,
                                                    std::size_t bad = 0,
                                                    const CompareProgress& progress = {}) {
  std::vector<float> poses;
  for (std::size_t f = 1; f <= frames; ++f) {
    poses.insert(poses.end(), 12,
                 f == bad ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(f));
  }
  const Target targets[] = {kTarget, {.rig = "rigs/a", .recipe = "dqs"}};
  return client.Compare(targets, {.joint_transforms = poses, .frames = frames},
                        {.progress = progress});
}

TEST_F(DeformCalls, CompareInBlocksMatchesWhole) {
  ClientOptions options = server.Options();
  options.compare_block_bytes = 1000;  // ten poses
  client = *Client::Connect(options);
  std::vector<std::size_t> done;
  const auto all = Compared(client, 25, 9, [&](std::size_t measured, std::size_t total) {
    done.push_back(measured);
    EXPECT_EQ(total, 50u);
  });
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2u);
  const TargetMetrics& second = (*all)[1];
  ASSERT_EQ(second.frames.size(), 24u);
  EXPECT_EQ(second.frames[8].frame, 10u);
  EXPECT_EQ(*second.frames[8].volume_ratio, 100);
  EXPECT_EQ(second.problems.size(), 1u) << "also where it is pre-rolled";
  EXPECT_EQ(second.problems[0].frame, 9u);
  EXPECT_TRUE(absl::IsInvalidArgument(second.problems[0].problem));
  EXPECT_EQ(*second.worst.volume_ratio, 10);
  EXPECT_DOUBLE_EQ(*second.mean.volume_ratio, 10 * (25 * 13 - 9) / 24.0);
  EXPECT_EQ(*second.worst.self_intersections, 25u);
  EXPECT_FALSE(second.mean.jerk.has_value());
  EXPECT_EQ(second.bound_bytes, 77u);
  EXPECT_EQ(second.determinism_digest, "digest-1");
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 50u);
  ASSERT_EQ(server.counts.compared.size(), 4u) << "pre-rolled poses fill a block too";
  for (const v1::CompareDeformersRequest& request : server.counts.compared) {
    EXPECT_LE(request.poses().poses_size(), 10);
  }
  EXPECT_EQ(server.counts.compared[1].preroll(), 3u);
  EXPECT_EQ(server.counts.compared[1].poses().poses(0).frame(), 8u);
}

TEST_F(DeformCalls, CompareSurvivesBreakAndPoseLimit) {
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_after_frames = 7;
  server.faults.most_compare_poses = 8;
  const auto all = Compared(client, 12);
  ASSERT_TRUE(all.ok()) << all.status();
  for (const TargetMetrics& target : *all) EXPECT_EQ(target.frames.size(), 12u);
  EXPECT_TRUE(absl::IsInvalidArgument(client.Compare({}, {}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Compared(client, 0).status()));
}

TEST_F(DeformCalls, CompareRefusesChangedDeterminismDigest) {
  ClientOptions options = server.Options();
  options.compare_block_bytes = 1000;  // ten poses
  client = *Client::Connect(options);
  const auto all = Compared(client, 25, 0, [&](std::size_t measured, std::size_t) {
    if (measured != 20) return;  // the first block is whole, the second not yet asked for
    const std::lock_guard lock(server.mutex);
    server.determinism_digest = "digest-2";
  });
  EXPECT_TRUE(absl::IsFailedPrecondition(all.status())) << all.status();
  EXPECT_NE(all.status().message().find("digest-2"), std::string::npos);
}

}  // namespace
}  // namespace sinew::client
