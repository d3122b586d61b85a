// The client library against the real server: a whole life, and what it survives.
#include <absl/time/clock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/digest.h"
#include "sinew/v1/rig_service.grpc.pb.h"
#include "tests/integration/client/options.h"
#include "tests/integration/client/test_character.h"
#include "tests/integration/server/sinewd_process.h"

namespace sinew::client {
namespace {

using sinew::testing::SinewdProcess;
using sinew::testing::TemporaryFolder;

using Frames = std::vector<std::vector<float>>;

std::vector<float> Positions(const FrameView& view) {
  std::vector<float> positions(view.vertices() * 3);
  EXPECT_TRUE(view.CopyPositions(positions).ok());
  return positions;
}

// Frames 1 to `count` by unary calls: what a stream must return, whatever happens to it.
Frames Expected(const Character& character, std::uint64_t count, const OutputOptions& output = {}) {
  Frames frames;
  for (std::uint64_t f = 1; f <= count; ++f) {
    const std::vector<float> pose = TubePose(f);
    const auto view = character.Deform({}, {.joint_transforms = pose}, output);
    EXPECT_TRUE(view.ok()) << view.status();
    frames.push_back(view.ok() ? Positions(*view) : std::vector<float>());
  }
  return frames;
}

// Streams the frames and compares; calls `disturb` once behind frame `when`.
template <class Disturb>
void StreamAll(Stream& stream, const Frames& expected, std::uint64_t when, const Disturb& disturb) {
  std::uint64_t sent = 0, taken = 0;
  while (taken < expected.size()) {
    while (sent < expected.size() && stream.room() > 0) {
      const std::vector<float> pose = TubePose(sent + 1);
      const auto frame = stream.Send({.joint_transforms = pose});
      ASSERT_TRUE(frame.ok()) << frame.status();
      ++sent;
    }
    const auto item = stream.Next(absl::Seconds(60));
    ASSERT_TRUE(item.ok()) << item.status() << " after " << taken;
    ASSERT_TRUE(item->has_value());
    ASSERT_TRUE((*item)->problem.ok()) << (*item)->problem;
    ++taken;
    ASSERT_EQ((*item)->frame, taken);
    ASSERT_EQ(Positions((*item)->view), expected[taken - 1]) << "frame " << taken;
    if (taken == when) disturb();
  }
}

struct CharacterTest : ::testing::Test {
  std::string rig = *EncodeRig(MakeTube(60, 32));
  std::unique_ptr<SinewdProcess> server = std::make_unique<SinewdProcess>();

  Character Bind(const std::string& deformer) {
    const auto client = Client::Connect(QuickOptions(server->address()));
    auto character = Character::Create(*client, rig, deformer);
    EXPECT_TRUE(character.ok()) << character.status();
    return *std::move(character);
  }

  // Another server on the same port.
  void Restart(std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--listen", server->address()});
    server.reset();
    server = std::make_unique<SinewdProcess>(std::move(flags));
    EXPECT_FALSE(server->address().empty());
  }
};

struct Form {
  const char* name;
  bool compact, compressed;
};

// With float32 and with compact frames, as they are and compressed.
struct EncodedFrames : CharacterTest, ::testing::WithParamInterface<Form> {
  OutputOptions output() const {
    OutputOptions output;
    output.attributes = {Attribute::kPositions, Attribute::kNormals};
    if (GetParam().compact) output.MakeCompact();
    if (GetParam().compressed) output.MakeCompressed();
    return output;
  }
};
INSTANTIATE_TEST_SUITE_P(All, EncodedFrames,
                         ::testing::Values(Form{"float32", false, false},
                                           Form{"compact", true, false},
                                           Form{"compressed", false, true},
                                           Form{"compact_compressed", true, true}),
                         [](const auto& form) { return std::string(form.param.name); });

TEST_P(EncodedFrames, StreamUnaryAndClipGiveSameBits) {
  for (const char* deformer : {"lbs", "dqs", "ddm"}) {
    const Character character = Bind(deformer);
    const Frames expected = Expected(character, 40, output());
    EXPECT_NE(expected[0], expected[39]);
    EXPECT_EQ(expected == Expected(character, 40), !GetParam().compact);
    auto stream = character.OpenStream({.output = output()});
    ASSERT_TRUE(stream.ok()) << stream.status();
    StreamAll(*stream, expected, 0, [] {});
    stream->Finish();
    EXPECT_EQ(*stream->Next(absl::Seconds(60)), std::nullopt);
    std::vector<float> poses;
    for (std::uint64_t f = 1; f <= 40; ++f) {
      const std::vector<float> pose = TubePose(f);
      poses.insert(poses.end(), pose.begin(), pose.end());
    }
    std::size_t index = 0;
    const absl::Status status =
        character.DeformClip({.joint_transforms = poses, .frames = 40}, {.output = output()},
                             [&](const StreamItem& item) {
                               EXPECT_EQ(Positions(item.view), expected[index++]);
                               return absl::OkStatus();
                             });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(index, 40u);
  }
}

// Deep folds in contact, where neither the poses before nor the call may matter.
TEST_F(CharacterTest, FramesOfFoldsDependOnTheirPosesAlone) {
  constexpr std::uint64_t kFrames = 24;
  constexpr float kFold = 2.4f;
  const auto client = Client::Connect(QuickOptions(server->address()));
  const auto character =
      Character::Create(*client, *EncodeRig(MakeTube(40, 16)), "implicit_skinning");
  ASSERT_TRUE(character.ok()) << character.status();
  std::vector<float> poses;
  Frames expected;
  auto stream = character->OpenStream({});
  ASSERT_TRUE(stream.ok()) << stream.status();
  for (std::uint64_t f = 1; f <= kFrames; ++f) {
    const std::vector<float> pose = TubePose(f, kFold);
    poses.insert(poses.end(), pose.begin(), pose.end());
    ASSERT_TRUE(stream->Send({.joint_transforms = pose}).ok());
    const auto item = stream->Next(absl::Seconds(60));
    ASSERT_TRUE(item.ok() && item->has_value()) << item.status();
    expected.push_back(Positions((*item)->view));
  }
  for (const std::uint64_t f : {24, 1, 17}) {
    const std::vector<float> pose = TubePose(f, kFold);
    const auto alone = character->Deform({}, {.joint_transforms = pose});
    ASSERT_TRUE(alone.ok()) << alone.status();
    EXPECT_EQ(Positions(*alone), expected[f - 1]) << f;
  }

  const ClipPoses clip = {.joint_transforms = poses, .frames = kFrames, .first_frame = 5};
  std::uint64_t index = 0;
  const ClipSink sink = [&](const StreamItem& item) {
    EXPECT_EQ(item.frame, 5 + index);
    EXPECT_EQ(Positions(item.view), expected[index]) << "frame " << index;
    ++index;
    return absl::OkStatus();
  };
  absl::Status status = character->DeformClip(clip, {}, sink);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(index, kFrames);
  index = 0;
  status = client->DeformClip({.session = character->session().name}, clip, {}, sink);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(index, kFrames);
  // What the sink says ends a clip within the stream too.
  index = 0;
  status = character->DeformClip(clip, {}, [&](const StreamItem&) {
    return ++index < 15 ? absl::OkStatus() : absl::AbortedError("enough");
  });
  EXPECT_EQ(status, absl::AbortedError("enough"));
  EXPECT_EQ(index, 15u);
}

TEST_P(EncodedFrames, JoinsSmallChunks) {
  const Character character = Bind("lbs");
  const Frames expected = Expected(character, 5, output());
  OutputOptions chunked = output();
  chunked.chunk_bytes = 4096;
  auto stream = character.OpenStream({.output = chunked});
  ASSERT_TRUE(stream.ok()) << stream.status();
  const std::vector<float> pose = TubePose(1);
  ASSERT_TRUE(stream->Send({.joint_transforms = pose}).ok());
  const auto item = stream->Next(absl::Seconds(60));
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_GT((*item)->view.chunks(), 1u);
  EXPECT_EQ(Positions((*item)->view), expected[0]);
}

TEST_F(CharacterTest, SendsNormalsOnRequest) {
  const Character character = Bind("lbs");
  const std::vector<float> pose = TubePose(1);
  const auto view = character.Deform({}, {.joint_transforms = pose},
                                     {.attributes = {Attribute::kPositions, Attribute::kNormals}});
  ASSERT_TRUE(view.ok()) << view.status();
  std::vector<float> normals(view->vertices() * 3);
  ASSERT_TRUE(view->CopyNormals(normals).ok());
  const float length = std::hypot(normals[0], normals[1], normals[2]);
  EXPECT_NEAR(length, 1, 1e-5);
}

TEST_P(EncodedFrames, StreamSurvivesRestartedServer) {
  const Character character = Bind("ddm");
  auto stream = character.OpenStream({.output = output()});
  const Frames expected = Expected(character, 300, output());
  ASSERT_TRUE(stream.ok()) << stream.status();
  StreamAll(*stream, expected, 50, [&] {
    server->Signal(SIGTERM);
    Restart();  // ends what still drains
  });
  EXPECT_GE(stream->info().resumed, 1u);
}

TEST_F(CharacterTest, StreamSurvivesKilledServerWithDataDir) {
  const TemporaryFolder data;
  Restart({"--data-dir", data.path().string()});
  const Character character = Bind("ddm");
  auto stream = character.OpenStream({});
  const Frames expected = Expected(character, 300);
  ASSERT_TRUE(stream.ok()) << stream.status();
  StreamAll(*stream, expected, 50, [&] {
    server->Signal(SIGKILL);
    Restart({"--data-dir", data.path().string()});
  });
  EXPECT_GE(stream->info().resumed, 1u);
  server.reset();
}

TEST_F(CharacterTest, UnaryCallSurvivesLostSession) {
  const Character character = Bind("lbs");
  const Frames expected = Expected(character, 1);
  server->Signal(SIGKILL);
  Restart();
  EXPECT_EQ(Expected(character, 1), expected);
}

TEST_F(CharacterTest, DeadlineIsForAllAttemptsWhereTheServerIsGone) {
  const auto client = Client::Connect({.address = server->address()});
  const auto character = Character::Create(*client, rig, "lbs");
  ASSERT_TRUE(character.ok()) << character.status();
  const std::vector<float> pose = TubePose(1);
  server->Signal(SIGKILL);
  server->Wait();
  for (const absl::Duration deadline : {absl::Milliseconds(400), absl::Seconds(1)}) {
    const absl::Time begun = absl::Now();
    const absl::Status status =
        character->Deform({}, {.joint_transforms = pose}, {}, {.deadline = deadline}).status();
    EXPECT_LT(absl::Now() - begun, deadline + absl::Milliseconds(300)) << status;
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    EXPECT_NE(status.message().find("the last failure: failed to connect"), std::string::npos)
        << status;
    const absl::Status opening =
        character->OpenStream({}, {.deadline = absl::Milliseconds(50)}).status();
    EXPECT_NE(opening.message().find("the last failure: failed to connect"), std::string::npos)
        << opening;
  }
}

TEST_F(CharacterTest, DeadlineShorterThanAWaitSurvivesABrokenConnection) {
  const TemporaryFolder data;
  Restart({"--data-dir", data.path().string()});
  ClientOptions options{.address = server->address()};
  options.retry.initial_backoff = absl::Seconds(5);
  const auto client = Client::Connect(options);
  const auto character = Character::Create(*client, rig, "lbs");
  ASSERT_TRUE(character.ok()) << character.status();
  server->Signal(SIGKILL);
  Restart({"--data-dir", data.path().string()});
  const std::vector<float> pose = TubePose(1);
  const auto view =
      character->Deform({}, {.joint_transforms = pose}, {}, {.deadline = absl::Seconds(3)});
  EXPECT_TRUE(view.ok()) << view.status();
  server.reset();
}

TEST_F(CharacterTest, DeadlineIsForTheSessionThatIsMadeAgain) {
  const Character character = Bind("lbs");
  ASSERT_TRUE(character.Release().ok());
  server->Signal(SIGSTOP);
  // The second call waits for the first, which makes the session.
  std::thread first([&] {
    EXPECT_TRUE(absl::IsDeadlineExceeded(
        character.OpenStream({}, {.deadline = absl::Seconds(5)}).status()));
  });
  absl::SleepFor(absl::Milliseconds(200));
  const absl::Time begun = absl::Now();
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      character.OpenStream({}, {.deadline = absl::Milliseconds(300)}).status()));
  EXPECT_LT(absl::Now() - begun, absl::Seconds(2));
  first.join();
}

TEST_F(CharacterTest, DrainDoesNotWaitForIdleCaller) {
  const Character character = Bind("lbs");
  auto stream = character.OpenStream({});
  const Frames expected = Expected(character, 100);
  int exit_code = -1;
  StreamAll(*stream, expected, 20, [&] {
    exit_code = server->Stop();
    Restart();
  });
  EXPECT_EQ(exit_code, 0);
}

TEST_P(EncodedFrames, LatestModeAnswersNewestPose) {
  const Character character = Bind("lbs");
  const Frames expected = Expected(character, 200, output());
  auto stream = character.OpenStream({.output = output(), .mode = OrderMode::kLatest});
  ASSERT_TRUE(stream.ok()) << stream.status();
  for (std::uint64_t f = 1; f <= 200; ++f) {
    const std::vector<float> pose = TubePose(f);
    ASSERT_TRUE(stream->Send({.joint_transforms = pose}).ok());
  }
  stream->Finish();
  std::uint64_t last = 0;
  while (true) {
    const auto item = stream->Next(absl::Seconds(60));
    ASSERT_TRUE(item.ok()) << item.status();
    if (!item->has_value()) break;
    EXPECT_EQ((*item)->view.skipped(), (*item)->frame - last - 1);
    last = (*item)->frame;
    EXPECT_EQ(Positions((*item)->view), expected[last - 1]);
  }
  EXPECT_EQ(last, 200u);
}

TEST_P(EncodedFrames, WatchesGetThePublishersFrames) {
  const Character character = Bind("ddm");
  const Frames expected = Expected(character, 20, output());
  EXPECT_TRUE(absl::IsNotFound(character.client().WatchStream("hero").status()));
  auto stream = character.OpenStream({.output = output(), .publish = "hero"});
  ASSERT_TRUE(stream.ok()) << stream.status();
  std::vector<Watch> watches;
  for (int i = 0; i < 2; ++i) {
    auto watch = character.client().WatchStream("hero");
    ASSERT_TRUE(watch.ok()) << watch.status();
    EXPECT_EQ(watch->info().rig, character.rig_name());
    EXPECT_EQ(watch->info().session, character.session().name);
    EXPECT_EQ(watch->info().recipe, "ddm");
    EXPECT_TRUE(absl::IsDeadlineExceeded(watch->Next(absl::Milliseconds(10)).status()));
    watches.push_back(*std::move(watch));
  }
  for (std::uint64_t f = 1; f <= expected.size(); ++f) {
    const std::vector<float> pose = TubePose(f);
    ASSERT_TRUE(stream->Send({.joint_transforms = pose}).ok());
    ASSERT_TRUE(stream->Next(absl::Seconds(60)).ok());
    for (Watch& watch : watches) {
      const auto frame = watch.Next(absl::Seconds(60));
      ASSERT_TRUE(frame.ok()) << frame.status();
      EXPECT_EQ(frame->frame(), f);
      EXPECT_EQ(Positions(*frame), expected[f - 1]);
    }
  }
  // A caller that was busy gets the newest frame.
  for (std::uint64_t f = 21; f <= 30; ++f) {
    const std::vector<float> pose = TubePose(f);
    ASSERT_TRUE(stream->Send({.joint_transforms = pose}).ok());
    ASSERT_TRUE(stream->Next(absl::Seconds(60)).ok());
  }
  std::uint64_t last = 20, calls = 0;
  for (; last < 30; ++calls) {
    if (calls == 0) absl::SleepFor(absl::Seconds(1));
    const auto frame = watches[1].Next(absl::Seconds(60));
    ASSERT_TRUE(frame.ok()) << frame.status();
    EXPECT_EQ(frame->frame(), last + 1 + frame->skipped());
    last = frame->frame();
  }
  EXPECT_LT(calls, 10u);
  watches[0].Cancel();
  EXPECT_TRUE(absl::IsCancelled(watches[0].Next().status()));
  stream->Cancel();
  const absl::Status ended = watches[1].Next(absl::Seconds(60)).status();
  EXPECT_TRUE(absl::IsUnavailable(ended)) << ended;
  EXPECT_EQ(Details(ended).reason, "PUBLISHER_ENDED");
  EXPECT_EQ(watches[1].Next().status(), ended);
}

TEST_F(CharacterTest, PublishedStreamKeepsItsNameOverARestart) {
  const Character character = Bind("lbs");
  const Frames expected = Expected(character, 60);
  auto stream = character.OpenStream({.publish = "hero"});
  StreamAll(*stream, expected, 20, [&] {
    server->Signal(SIGKILL);
    Restart();
  });
  EXPECT_GE(stream->info().resumed, 1u);
  auto watch = character.client().WatchStream("hero");
  ASSERT_TRUE(watch.ok()) << watch.status();
  const auto frame = watch->Next(absl::Seconds(60));
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_EQ(Positions(*frame), expected.back());
}

TEST_F(CharacterTest, BadPoseIsProblemAndStreamContinues) {
  const Character character = Bind("lbs");
  auto stream = character.OpenStream({});
  const std::vector<float> good = TubePose(1), tooShort(7, 1.f);
  ASSERT_TRUE(stream->Send({.joint_transforms = good}).ok());
  ASSERT_TRUE(stream->Send({.joint_transforms = tooShort}).ok());
  ASSERT_TRUE(stream->Send({.joint_transforms = good}).ok());
  EXPECT_TRUE((*stream->Next(absl::Seconds(60)))->problem.ok());
  const auto bad = stream->Next(absl::Seconds(60));
  ASSERT_TRUE(bad.ok()) << bad.status();
  EXPECT_TRUE(absl::IsInvalidArgument((*bad)->problem)) << (*bad)->problem;
  EXPECT_TRUE((*stream->Next(absl::Seconds(60)))->problem.ok());
}

TEST_F(CharacterTest, ServerDescribesItself) {
  const auto client = Client::Connect(QuickOptions(server->address()));
  const auto info = client->GetServerInfo();
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_FALSE(info->version.empty());
  EXPECT_FALSE(info->limits.empty());
  const auto methods = client->ListMethods();
  ASSERT_TRUE(methods.ok()) << methods.status();
  EXPECT_FALSE(methods->methods.empty());
  const auto uploaded = client->UploadRig(rig);
  ASSERT_TRUE(uploaded.ok()) << uploaded.status();
  EXPECT_EQ(uploaded->rig.vertices, 60u * 32u);
  EXPECT_EQ(*client->DownloadRig(uploaded->rig.name), rig);
  const auto session =
      client->CreateSession({.rig = uploaded->rig.name, .recipe = "{\"stages\":[{\"lbs\":{}}]}"});
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ(client->WaitSession(session->name)->state, SessionState::kReady);
  EXPECT_TRUE(client->RenewSession(session->name, absl::Minutes(1)).ok());
  int sessions = 0;
  EXPECT_TRUE(client->ForEachSession([&](const Session&) { return ++sessions > 0; }).ok());
  EXPECT_EQ(sessions, 1);
  EXPECT_TRUE(client->DeleteSession(session->name).ok());
  EXPECT_TRUE(absl::IsNotFound(client->GetSession(session->name).status()));
  EXPECT_TRUE(client->DeleteRig(uploaded->rig.name).ok());
  EXPECT_TRUE(absl::IsNotFound(client->GetRig(uploaded->rig.name).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(client->UploadRig("not a rig").status()));
}

TEST_F(CharacterTest, UploadStartsAgainAfterWrongBytes) {
  // An earlier call from this address sent other bytes under the same digest.
  const auto stub = v1::RigService::NewStub(
      grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::UploadRigRequest request;
  v1::UploadRigResponse response;
  request.mutable_header()->set_sha256(Sha256Hex(rig));
  request.mutable_header()->set_size_bytes(rig.size());
  request.set_data("wrong");
  const auto writer = stub->UploadRig(&context, &response);
  writer->Write(request);
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(response.committed_bytes(), 5u);
  const auto uploaded = Client::Connect(QuickOptions(server->address()))->UploadRig(rig);
  ASSERT_TRUE(uploaded.ok()) << uploaded.status();
}

}  // namespace
}  // namespace sinew::client
