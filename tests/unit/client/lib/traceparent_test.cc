#include "client/lib/rpc/traceparent.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/client/lib/fake_server.h"

namespace sinew::client {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Truly;

TEST(IsTraceparent, AcceptsOnlyTheW3cForm) {
  const struct {
    const char* what;
    const char* text;
    bool valid;
  } rows[] = {
      {"sampled", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true},
      {"not sampled", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true},
      {"later version", "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff", true},
      {"ids almost zero", "00-00000000000000000000000000000001-1000000000000000-01", true},
      {"nothing", "", false},
      {"version ff", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false},
      {"too short", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", false},
      {"without flags", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false},
      {"too long", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011", false},
      {"more fields", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", true},
      {"more fields of version 00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
       false},
      {"longer flags", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x", false},
      {"line break in more fields", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-\n",
       false},
      {"line break", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n", false},
      {"upper-case version", "AA-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false},
      {"upper-case trace", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false},
      {"upper-case parent", "00-0af7651916cd43dd8448eb211c80319c-B7AD6B7169203331-01", false},
      {"upper-case flags", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0A", false},
      {"not hexadecimal", "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", false},
      {"trace of zeros", "00-00000000000000000000000000000000-b7ad6b7169203331-01", false},
      {"parent of zeros", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false},
      {"first separator", "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false},
      {"second separator", "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01", false},
      {"third separator", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01", false},
      {"other lengths", "00-0af7651916cd43dd8448eb211c80319-0b7ad6b7169203331-01", false},
  };
  for (const auto& row : rows) EXPECT_EQ(IsTraceparent(row.text), row.valid) << row.what;
}

// The parent id of each traceparent is the number of those made before, plus 1.
std::string Numbered(int number) {
  return absl::StrCat("00-0af7651916cd43dd8448eb211c80319c-", absl::Hex(number, absl::kZeroPad16),
                      "-01");
}

struct Traceparents : testing::Test {
  using Headers = std::vector<std::string>;

  FakeServer server;
  int made = 0;

  Client Connect() {
    ClientOptions options = server.Options();
    options.traceparent = [this, caller = std::this_thread::get_id()] {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      return Numbered(++made);
    };
    return *Client::Connect(options);
  }
  Headers Of(const std::string& method) {
    const std::lock_guard lock(server.mutex);
    return server.counts.traceparents[method];
  }
};

TEST_F(Traceparents, EveryKindOfCallSendsThem) {
  const Client client = Connect();
  EXPECT_TRUE(client.GetServerInfo().ok());
  const std::string rig = client.UploadRig("rig")->rig.name;
  EXPECT_TRUE(client.DownloadRig(rig).ok());
  EXPECT_TRUE(client.ComputeWeights({.rig = rig}).ok());
  EXPECT_TRUE(client.FitSkeleton({.rig = rig, .built_in = "human"}).ok());
  const Target target{.session = client.CreateSession({.rig = rig, .recipe = "lbs"})->name};
  EXPECT_TRUE(client.WaitSession(target.session).ok());
  const OneNumberPose pose(1);
  const ClipPoses clip{.joint_transforms = pose.floats, .frames = 1};
  const ClipSink sink = [](const StreamItem&) { return absl::OkStatus(); };
  EXPECT_TRUE(client.Deform(target, {}, pose).ok());
  EXPECT_TRUE(client.DeformClip(target, clip, {}, sink).ok());
  EXPECT_TRUE(client.Compare({&target, 1}, clip).ok());
  EXPECT_TRUE(client.DeleteSession(target.session).ok());
  const std::lock_guard lock(server.mutex);
  std::vector<std::string> methods;
  for (const auto& [method, headers] : server.counts.traceparents) {
    methods.push_back(method);
    EXPECT_THAT(headers, Each(Truly(IsTraceparent))) << method;
  }
  EXPECT_THAT(methods, ElementsAre("CompareDeformers", "ComputeWeights", "CreateSession", "Deform",
                                   "DeleteSession", "DownloadRig", "FitSkeleton", "GetServerInfo",
                                   "StreamDeform", "UploadRig", "WatchSession"));
}

TEST_F(Traceparents, EveryAttemptOfACallHasItsOwn) {
  const Client client = Connect();
  server.faults.fail_next_call = grpc::Status(grpc::UNAVAILABLE, "away");
  EXPECT_TRUE(client.GetServerInfo().ok());
  EXPECT_EQ(Of("GetServerInfo"), (Headers{Numbered(1), Numbered(2)}));
}

TEST_F(Traceparents, StreamSendsTheSameAtEveryOpening) {
  const Client client = Connect();
  server.rigs["rigs/a"] = "";
  server.faults.refuse_stream = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_stream_with = grpc::Status(grpc::UNAVAILABLE, "away");
  server.faults.break_after_frames = 2;
  auto stream = client.OpenStream({.rig = "rigs/a", .recipe = "lbs"}, {});
  ASSERT_TRUE(stream.ok()) << stream.status();
  for (int f = 1; f <= 5; ++f) ASSERT_TRUE(stream->Send(OneNumberPose(1)).ok());
  for (int f = 1; f <= 5; ++f) ASSERT_TRUE(stream->Next(absl::Seconds(20)).ok());
  EXPECT_EQ(stream->info().resumed, 1u);
  EXPECT_EQ(Of("StreamDeform"), Headers(3, Numbered(1)));
}

TEST_F(Traceparents, InvalidOnesAreNotSent) {
  ClientOptions options = server.Options();
  EXPECT_TRUE(Client::Connect(options)->GetServerInfo().ok()) << "without a source";
  for (const char* text : {"", "a line\nbreak", "00-0-0-01"}) {
    options.traceparent = [text] { return std::string(text); };
    EXPECT_TRUE(Client::Connect(options)->GetServerInfo().ok()) << text;
  }
  EXPECT_EQ(Of("GetServerInfo"), Headers(4, ""));
}

}  // namespace
}  // namespace sinew::client
