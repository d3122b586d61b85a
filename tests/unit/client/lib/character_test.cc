#include <gtest/gtest.h>

#include <utility>

#include "client/lib/rpc/channel.h"
#include "tests/unit/client/lib/fake_server.h"
#include "tests/unit/client/lib/sample_rig.h"

namespace sinew::client {
namespace {

struct Characters : testing::Test {
  FakeServer server;
  Client client = *Client::Connect(server.Options());
  Character character = *Character::Create(client, *EncodeRig(SampleRig()), "lbs");

  // Leaves the server like one that was restarted without --data-dir.
  void ForgetEverything() {
    const std::lock_guard lock(server.mutex);
    server.rigs.clear();
    server.sessions.clear();
    server.requests.clear();
  }
};

TEST_F(Characters, CreateUploadsAndBinds) {
  EXPECT_EQ(character.session().state, SessionState::kReady);
  EXPECT_EQ(character.rig_name(), RigName(*EncodeRig(SampleRig())));
  EXPECT_TRUE(character.Deform({}, OneNumberPose(2)).ok());
}

TEST_F(Characters, RestoreLostSession) {
  const std::string before = character.session().name;
  ForgetEverything();
  const auto view = character.Deform({}, OneNumberPose(2));
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_NE(character.session().name, before);
  EXPECT_EQ(server.rigs.size(), 1u);
  EXPECT_EQ(server.sessions.size(), 1u);
}

TEST_F(Characters, StreamSurvivesLostSession) {
  for (const std::size_t after : {0, 3, 12}) {
    auto stream = character.OpenStream({});
    ASSERT_TRUE(stream.ok()) << stream.status();
    {
      const std::lock_guard lock(server.mutex);
      server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "killed");
      server.faults.break_after_frames = after;
    }
    ForgetEverything();
    for (int f = 1; f <= 30; ++f) {
      ASSERT_TRUE(stream->Send(OneNumberPose(static_cast<float>(f))).ok());
    }
    for (std::uint64_t f = 1; f <= 30; ++f) {
      const auto item = stream->Next(absl::Seconds(20));
      ASSERT_TRUE(item.ok()) << item.status();
      ASSERT_EQ((*item)->frame, f);
    }
  }
}

// Behind a proxy the next call may reach a server that does not know the session that has just been
// made.
TEST_F(Characters, SurviveSessionsThatAreLostWhileTheyAreMadeAgain) {
  for (const int unknown : {1, 3, 5}) {
    ForgetEverything();
    {
      const std::lock_guard lock(server.mutex);
      server.faults.unknown_sessions = unknown;
    }
    const auto view = character.Deform({}, OneNumberPose(2));
    EXPECT_TRUE(view.ok()) << unknown << ": " << view.status();
    EXPECT_EQ(server.faults.unknown_sessions, 0);
  }
}

TEST_F(Characters, CompareSurvivesLostSession) {
  const std::vector<Character> both = {character,
                                       *Character::Create(client, *EncodeRig(SampleRig()), "dqs")};
  const std::vector<float> poses(12 * 20, 1);
  ForgetEverything();
  const auto all = Character::Compare(both, {.joint_transforms = poses, .frames = 20});
  ASSERT_TRUE(all.ok()) << all.status();
  const std::string kept = both[1].session().name;
  {
    const std::lock_guard lock(server.mutex);
    server.sessions.erase(both[0].session().name);
  }
  const auto again = Character::Compare(both, {.joint_transforms = poses, .frames = 20});
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->size(), 2u);
  for (const TargetMetrics& target : *again) EXPECT_EQ(target.frames.size(), 20u);
  EXPECT_EQ(both[1].session().name, kept) << "was not lost";
  EXPECT_EQ(server.sessions.size(), 2u);
}

// The server is killed between two replies of a call and comes back knowing nothing.
TEST_F(Characters, CompareSurvivesLossDuringCall) {
  const std::vector<Character> both = {character,
                                       *Character::Create(client, *EncodeRig(SampleRig()), "dqs")};
  const std::vector<float> poses(12 * 20, 1);
  server.faults.most_compare_poses = 8;  // blocks, each with what jerk looks back
  for (const std::size_t after : {1, 7, 8, 12, 15}) {
    {
      const std::lock_guard lock(server.mutex);
      server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "killed");
      server.faults.break_after_frames = after;
      server.faults.break_forgets = true;
      server.counts.sessions_made = 0;
    }
    std::size_t last = 0;
    const auto progress = [&](std::size_t done, std::size_t) { last = done; };
    const auto all =
        Character::Compare(both, {.joint_transforms = poses, .frames = 20}, {.progress = progress});
    ASSERT_TRUE(all.ok()) << after << ": " << all.status();
    EXPECT_FALSE(server.faults.break_stream_with.has_value()) << after << ": was never lost";
    EXPECT_EQ(server.counts.sessions_made, 2) << after;
    EXPECT_EQ(last, 40u) << after;
    ASSERT_EQ(all->size(), 2u);
    for (std::size_t t = 0; t < 2; ++t) {
      ASSERT_EQ((*all)[t].frames.size(), 20u) << after;
      for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ((*all)[t].frames[i].frame, i + 1);
        EXPECT_EQ((*all)[t].frames[i].volume_ratio, static_cast<double>(i + 1) * (t == 0 ? 1 : 10));
      }
      EXPECT_EQ((*all)[t].mean.volume_ratio, 10.5 * (t == 0 ? 1 : 10));
    }
  }
}

TEST_F(Characters, ClipSurvivesLostSession) {
  std::vector<float> poses(12 * 20, 1);
  std::vector<std::uint64_t> frames;
  const absl::Status status = character.DeformClip(
      {.joint_transforms = poses, .frames = 20}, {}, [&](const StreamItem& item) {
        frames.push_back(item.frame);
        if (item.frame == 5) {
          const std::lock_guard lock(server.mutex);
          server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "killed");
          server.rigs.clear();
          server.sessions.clear();
        }
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_EQ(frames.size(), 20u);
  EXPECT_EQ(frames.back(), 20u);
}

TEST_F(Characters, RefuseChangedDeterminismDigest) {
  ForgetEverything();
  {
    const std::lock_guard lock(server.mutex);
    server.determinism_digest = "digest-2";
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(character.Deform({}, OneNumberPose(2)).status()));
}

TEST_F(Characters, NextCallAfterReleaseRestores) {
  EXPECT_TRUE(character.Release().ok());
  EXPECT_TRUE(server.sessions.empty());
  EXPECT_TRUE(character.Release().ok());
  EXPECT_TRUE(character.OpenStream({}).ok());
  EXPECT_EQ(server.sessions.size(), 1u);
}

TEST_F(Characters, CreateReportsFailedBind) {
  EXPECT_TRUE(absl::IsResourceExhausted(
      Character::Create(client, *EncodeRig(SampleRig()), "never").status()));
}

TEST(FromChannel, RequiresChannel) {
  EXPECT_TRUE(absl::IsInvalidArgument(FromChannel(nullptr, {}).status()));
}

}  // namespace
}  // namespace sinew::client
