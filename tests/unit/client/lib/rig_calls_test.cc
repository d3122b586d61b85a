#include <absl/time/clock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/client/lib/fake_server.h"
#include "tests/unit/client/lib/sample_rig.h"

namespace sinew::client {
namespace {

TEST(UploadRig, SendsPiecesOnceAndSkipsWhatIsStored) {
  FakeServer server;
  ClientOptions options = server.Options();
  options.piece_bytes = 100;
  const Client client = *Client::Connect(options);
  const std::string bytes = *EncodeRig(SampleRig());
  std::vector<std::uint64_t> steps;
  const auto first = client.UploadRig(bytes, [&](std::uint64_t done, std::uint64_t size) {
    steps.push_back(done);
    EXPECT_EQ(size, bytes.size());
  });
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->rig.name, RigName(bytes));
  EXPECT_FALSE(first->was_stored);
  EXPECT_EQ(first->sent_bytes, bytes.size());
  EXPECT_EQ(steps.size(), (bytes.size() + 99) / 100);
  EXPECT_EQ(steps.back(), bytes.size());
  const auto second = client.UploadRig(SampleRig());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->was_stored);
  EXPECT_EQ(server.counts.uploaded_bytes, bytes.size());
  EXPECT_EQ(*client.DownloadRig(first->rig.name), bytes);
}

TEST(UploadRig, ResumesAfterDisconnect) {
  FakeServer server;
  server.faults.upload_breaks_after = 450;
  ClientOptions options = server.Options();
  options.piece_bytes = 100;
  const Client client = *Client::Connect(options);
  const auto uploaded = client.UploadRig(SampleRig());
  ASSERT_TRUE(uploaded.ok()) << uploaded.status();
  const std::string bytes = *EncodeRig(SampleRig());
  EXPECT_EQ(server.counts.uploaded_bytes, bytes.size()) << "no byte twice";
  EXPECT_EQ(uploaded->sent_bytes, bytes.size() - 500);
  EXPECT_EQ(server.rigs[uploaded->rig.name], bytes);
}

TEST(UploadRig, RefusedForATimeSendsEveryByteOnce) {
  for (const int accepted : {0, 1}) {  // the first call asks what is stored, the next one sends
    FakeServer server;
    server.faults.fail_next_call = Refused(std::chrono::milliseconds(40));
    server.faults.calls_before_fault = accepted;
    const Client client = *Client::Connect(server.Options());
    const std::string bytes = *EncodeRig(SampleRig());
    const absl::Time before = absl::Now();
    const auto uploaded = client.UploadRig(bytes);
    ASSERT_TRUE(uploaded.ok()) << uploaded.status();
    EXPECT_GE(absl::Now() - before, absl::Milliseconds(40));
    EXPECT_EQ(server.counts.calls, accepted + 3) << "what was refused, then both calls";
    EXPECT_EQ(server.counts.uploaded_bytes, bytes.size());
    EXPECT_EQ(uploaded->sent_bytes, bytes.size());
    EXPECT_EQ(server.rigs[uploaded->rig.name], bytes);
  }
}

TEST(UploadRig, DoesNotRetryRejection) {
  FakeServer server;
  server.faults.fail_next_call = grpc::Status(grpc::INVALID_ARGUMENT, "rig: no joints");
  const Client client = *Client::Connect(server.Options());
  EXPECT_TRUE(absl::IsInvalidArgument(client.UploadRig("x").status()));
  EXPECT_EQ(server.counts.calls, 1);
  server.faults.fail_next_call = Refused({});
  EXPECT_TRUE(absl::IsResourceExhausted(client.UploadRig("x").status())) << "for no stated time";
  EXPECT_EQ(server.counts.calls, 2);
  EXPECT_TRUE(absl::IsInvalidArgument(client.UploadRig("").status()));
}

TEST(DownloadRig, ResumesAndChecksHash) {
  FakeServer server;
  const Client client = *Client::Connect(server.Options());
  const std::string bytes = *EncodeRig(SampleRig());
  const std::string name = client.UploadRig(bytes)->rig.name;
  server.faults.fail_next_call = grpc::Status(grpc::UNAVAILABLE, "away");
  EXPECT_EQ(*client.DownloadRig(name), bytes);
  server.faults.download_lies = true;
  EXPECT_TRUE(absl::IsDataLoss(client.DownloadRig(name).status()));
  EXPECT_TRUE(absl::IsNotFound(client.DownloadRig("rigs/sha256-0").status()));
}

TEST(ForEachRig, WalksAllPages) {
  FakeServer server;
  for (const char* name : {"rigs/a", "rigs/b", "rigs/c", "rigs/d", "rigs/e"})
    server.rigs[name] = "";
  const Client client = *Client::Connect(server.Options());
  std::string names;
  EXPECT_TRUE(client
                  .ForEachRig([&](const RigSummary& rig) {
                    names += rig.name.back();
                    return true;
                  })
                  .ok());
  EXPECT_EQ(names, "abcde");
  EXPECT_TRUE(client
                  .ForEachRig([&](const RigSummary& rig) {
                    names += rig.name.back();
                    return rig.name != "rigs/c";
                  })
                  .ok());
  EXPECT_EQ(names, "abcdeabc");
}

TEST(DeleteRig, TreatsNotFoundOnRetryAsDone) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  server.faults.fail_next_call = grpc::Status(grpc::UNAVAILABLE, "answer lost");
  const Client client = *Client::Connect(server.Options());
  EXPECT_TRUE(client.DeleteRig("rigs/a").ok());
  EXPECT_TRUE(absl::IsNotFound(client.DeleteRig("rigs/a")));
}

TEST(ComputeWeights, SendsSetOptionsAndReadsReport) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  std::vector<double> seen;
  const auto weighted = client.ComputeWeights({.rig = "rigs/a",
                                               .method = WeightMethod::kGeodesic,
                                               .prune = 0.25f,
                                               .resolution = 64,
                                               .joints = {"hip", "knee"}},
                                              [&](double part) { seen.push_back(part); });
  ASSERT_TRUE(weighted.ok()) << weighted.status();
  EXPECT_EQ(weighted->rig.name, "rigs/a+weights");
  EXPECT_EQ(weighted->report.unseen_count, 3u);
  EXPECT_EQ(weighted->report.unseen_vertices, (std::vector<std::uint64_t>{4, 7}));
  EXPECT_EQ(weighted->report.idle_joints, (std::vector<std::uint32_t>{1}));
  ASSERT_EQ(weighted->report.warnings.size(), 1u);
  EXPECT_EQ(weighted->report.warnings[0].message, "a warning");
  EXPECT_EQ(seen, (std::vector<double>{0, 0.5, 1}));
  ASSERT_EQ(server.counts.weights_requests.size(), 1u);
  const v1::ComputeWeightsRequest& request = server.counts.weights_requests[0];
  EXPECT_EQ(request.method(), v1::WEIGHT_METHOD_GEODESIC);
  EXPECT_EQ(request.prune(), 0.25f);
  EXPECT_FALSE(request.has_max_influences() || request.has_smooth() || request.has_heat() ||
               request.has_capsule() || request.geodesic().has_smoothness());
  EXPECT_EQ(request.geodesic().resolution(), 64u);
  EXPECT_EQ(request.joints_size(), 2);
}

TEST(ComputeWeights, RetriesDisconnectsButNotRejections) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  server.faults.break_weights = grpc::Status(grpc::UNAVAILABLE, "broken off");
  EXPECT_TRUE(client.ComputeWeights({.rig = "rigs/a"}).ok());
  EXPECT_EQ(server.counts.weights_requests.size(), 2u);
  server.faults.break_weights = grpc::Status(grpc::INVALID_ARGUMENT, "prune: got 1");
  EXPECT_TRUE(absl::IsInvalidArgument(client.ComputeWeights({.rig = "rigs/a"}).status()));
  EXPECT_EQ(server.counts.weights_requests.size(), 3u);
  EXPECT_TRUE(absl::IsNotFound(client.ComputeWeights({.rig = "rigs/b"}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      client.ComputeWeights({.rig = "rigs/a", .joints = {"\xff"}}).status()));
  EXPECT_EQ(server.counts.weights_requests.size(), 4u);
}

TEST(FitSkeleton, SendsTemplateAndHintsAndReadsReport) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  std::vector<double> seen;
  const auto fitted = client.FitSkeleton(
      {.rig = "rigs/a",
       .skeleton = {{.name = "root", .wide = true},
                    {.name = "foot", .parent = 0, .place = {1, 2, 3}, .foot = true, .partner = 2},
                    {.name = "other", .parent = 0, .place = {-1, 2, 3}, .partner = 1}},
       .scale = 0.5,
       .hints = {{.joint = "foot", .place = {4, 5, 6}}},
       .faces_forward = true},
      [&](double part) { seen.push_back(part); });
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_EQ(fitted->rig.name, "rigs/a+skeleton");
  EXPECT_EQ(fitted->report.facing.residual, 0.25f);
  EXPECT_EQ(fitted->report.facing.forward, (std::array<float, 3>{0, 0, 1}));
  ASSERT_TRUE(fitted->report.other.has_value());
  EXPECT_EQ(fitted->report.other->forward, (std::array<float, 3>{0, 0, -1}));
  ASSERT_EQ(fitted->report.warnings.size(), 1u);
  EXPECT_EQ(seen, (std::vector<double>{0, 1}));
  ASSERT_EQ(server.counts.fit_requests.size(), 1u);
  const v1::FitSkeletonRequest& request = server.counts.fit_requests[0];
  EXPECT_FALSE(request.has_built_in() || request.has_resolution());
  EXPECT_EQ(request.scale(), 0.5);
  EXPECT_TRUE(request.faces_forward());
  ASSERT_EQ(request.skeleton().joints_size(), 3);
  EXPECT_FALSE(request.skeleton().joints(0).has_parent());
  const v1::TemplateJoint& foot = request.skeleton().joints(1);
  EXPECT_TRUE(foot.has_parent() && foot.foot() && !foot.wide());
  EXPECT_EQ(foot.partner(), 2u);
  EXPECT_EQ(foot.z(), 3);
  ASSERT_EQ(request.hints_size(), 1);
  EXPECT_EQ(request.hints(0).y(), 5);
}

TEST(FitSkeleton, RetriesDisconnectsButNotRejections) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  server.faults.break_weights = grpc::Status(grpc::UNAVAILABLE, "broken off");
  EXPECT_TRUE(client.FitSkeleton({.rig = "rigs/a", .built_in = "human"}).ok());
  EXPECT_EQ(server.counts.fit_requests.size(), 2u);
  const auto refused = [&](const FitRequest& request) {
    return client.FitSkeleton(request).status();
  };
  EXPECT_TRUE(absl::IsNotFound(refused({.rig = "rigs/b", .built_in = "human"})));
  EXPECT_EQ(server.counts.fit_requests.size(), 3u);
  EXPECT_TRUE(absl::IsInvalidArgument(
      refused({.rig = "rigs/a", .built_in = "human", .skeleton = {{.name = "root"}}})));
  EXPECT_TRUE(absl::IsInvalidArgument(refused({.rig = "rigs/a", .built_in = "\xff"})));
  EXPECT_EQ(server.counts.fit_requests.size(), 3u);
}

TEST(ComputeWeights, EndsOnStop) {
  FakeServer server;
  server.rigs["rigs/a"] = "";
  const Client client = *Client::Connect(server.Options());
  std::stop_source stop;
  const auto weighted = client.ComputeWeights(
      {.rig = "rigs/a"}, [&](double) { stop.request_stop(); }, {.stop = stop.get_token()});
  EXPECT_TRUE(absl::IsCancelled(weighted.status())) << weighted.status();
}

}  // namespace
}  // namespace sinew::client
