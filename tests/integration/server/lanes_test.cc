// Short work passes long work, and work of ended calls leaves its queue. Long work here
// takes seconds and is cancelled in the end; tests compare the order of events, not times.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/server/server_fixture.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class LanesTest : public ServerTest {
 protected:
  LanesTest() {
    config.binds.memory_bytes = std::uint64_t{1} << 40;
    config.compute.threads = 2;
  }
};

TEST_F(LanesTest, ShortBindPassesWeightsAndLongBinds) {
  Start();
  const std::string tube = stubs().UploadTube(), slow = stubs().UploadTube(kSlowTube);
  grpc::ClientContext weighing;
  v1::ComputeWeightsRequest weights;
  weights.set_rig(slow);
  weights.set_method(v1::WEIGHT_METHOD_GEODESIC);
  weights.mutable_geodesic()->set_resolution(512);
  const auto progress = stubs().rigs->ComputeWeights(&weighing, weights);
  stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  std::vector<std::string> binding;
  for (int k = 0; k < 4; ++k) binding.push_back(stubs().Create(slow, SlowBind(k)).name());
  stubs().WaitFor(&v1::ServerStats::binds_running, 2);
  EXPECT_EQ(stubs().Watch(stubs().Create(tube, "lbs").name()).state(), v1::Session::STATE_READY);
  for (const std::string& name : binding) {
    v1::Session session;
    EXPECT_CODE(stubs().Get(name, &session), StatusCode::OK);
    EXPECT_EQ(session.state(), v1::Session::STATE_BINDING);
  }
  stubs().WaitFor(&v1::ServerStats::binds_running, 2);  // the short one has just ended
  weighing.TryCancel();
}

TEST_F(LanesTest, LookUpsPassEstimates) {
  Start();
  const std::string tube = stubs().UploadTube(), slow = stubs().UploadTube(kLongTube);
  const std::string session = stubs().Create(tube, "lbs").name();
  stubs().Watch(session);
  Calls estimates(stubs());
  for (int k = 0; k < 8; ++k) estimates.Estimate(slow, SlowEstimate(k));
  for (const std::string& rig : {tube, slow}) {
    grpc::ClientContext context;
    v1::GetRigRequest request;
    request.set_name(rig);
    v1::GetRigResponse response;
    EXPECT_CODE(stubs().rigs->GetRig(&context, request, &response), StatusCode::OK);
  }
  EXPECT_EQ(stubs().Create(tube, "lbs").state(), v1::Session::STATE_READY);
  Stream by_name(stubs(), OpenFor(session)), by_recipe(stubs(), OpenRecipe(tube, "lbs"));
  EXPECT_NE(by_name.Opened().session(), "");
  EXPECT_NE(by_recipe.Opened().session(), "");
  EXPECT_NE(stubs().UploadTube({.rings = 10}), "");
  EXPECT_EQ(estimates.finished(), 0u);
}

TEST_F(LanesTest, DeletedSessionsLeaveQueue) {
  config.binds.short_seconds = 0;  // one lane
  Start();
  const std::string slow = stubs().UploadTube(kSlowTube), tube = stubs().UploadTube();
  stubs().Create(slow, SlowBind(0));
  stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  for (int k = 0; k < 100; ++k) {  // more than may wait
    const std::string blend = "dqs(blend=0." + std::to_string(100 + k) + ")";
    EXPECT_CODE(stubs().DeleteSession(stubs().Create(tube, blend).name()), StatusCode::OK);
  }
  EXPECT_EQ(stubs().Stats().binds_queued(), 0u);
  EXPECT_EQ(stubs().Stats().binds_running(), 1u);
}

TEST_F(LanesTest, StreamOpensAndRunsBesideLongFrames) {
  config.compute.inline_microseconds = 0;  // every frame is passed to a lane
  Start();
  const std::string tube = stubs().UploadTube(), heavy_tube = stubs().UploadTube(kHeavyTube);
  const std::string session = stubs().Create(heavy_tube, HeavyRecipe(10)).name();
  EXPECT_EQ(stubs().Watch(session).state(), v1::Session::STATE_READY);
  std::list<Stream> heavy;
  std::atomic<int> answered{0};
  std::vector<std::thread> readers;
  for (int k = 0; k < 4; ++k) {
    Stream& stream = heavy.emplace_back(stubs(), OpenFor(session));
    EXPECT_NE(stream.Opened().session(), "");
    EXPECT_TRUE(stream.Send(TubePose(1, 0, kHeavyTube)));
    readers.emplace_back([&] {
      v1::StreamDeformResponse response;
      if (stream.Read(response)) ++answered;
    });
  }
  Stream stream(stubs(), OpenRecipe(tube, "dqs"));
  EXPECT_NE(stream.Opened().session(), "");
  for (std::uint64_t frame = 1; frame <= 20; ++frame) {
    EXPECT_TRUE(stream.Send(TubePose(frame)));
    EXPECT_EQ(stream.ReadUntil(frame).size(), 1u);
  }
  EXPECT_EQ(answered, 0);
  for (Stream& one : heavy) one.Cancel();
  for (std::thread& reader : readers) reader.join();
}

TEST_F(LanesTest, CancelledDeformStopsEvaluation) {
  config.compute.deforms = 2;
  Start();
  const std::string tube = stubs().Create(stubs().UploadTube(), "lbs").name();
  const std::string heavy_tube =
      stubs().Create(stubs().UploadTube(kHeavyTube), HeavyRecipe(10)).name();
  EXPECT_EQ(stubs().Watch(heavy_tube).state(), v1::Session::STATE_READY);
  const auto deform = [&] {
    Calls short_call(stubs());
    short_call.Deform(tube, TubePose(1));
    return short_call.Codes().at(0);
  };
  Calls calls(stubs());
  // A long call is refused if the short one has its place, and is tried again.
  const auto keep_two = [&] {
    while (calls.size() - calls.finished() < 2) {
      calls.Deform(heavy_tube, TubePose(calls.size() + 1, 0, kHeavyTube));
    }
  };
  WaitUntil([&] { return deform() == StatusCode::RESOURCE_EXHAUSTED; }, keep_two);
  calls.Cancel(calls.size() - 1);  // began last, so the other would end first
  // A call has its place until its evaluation has returned.
  WaitUntil([&] { return deform() == StatusCode::OK; });
  EXPECT_EQ(calls.finished(), calls.size() - 1) << "the other call still evaluates";
}

TEST_F(LanesTest, DrainEndsCallsThatWait) {
  Start();
  const std::string slow = stubs().UploadTube(kSlowTube), long_tube = stubs().UploadTube(kLongTube);
  const std::string session = stubs().Create(slow, SlowBind(0)).name();
  stubs().WaitFor(&v1::ServerStats::binds_running, 1);
  Calls calls(stubs());
  for (int k = 0; k < 50; ++k) calls.Deform(session, TubePose(1, 0, kSlowTube));
  for (int k = 0; k < 8; ++k) calls.Estimate(long_tube, SlowEstimate(k));
  v1::DeformClipRequest request;
  request.mutable_target()->set_session(session);
  *request.mutable_poses()->add_poses() = TubePose(1, 0, kSlowTube);
  grpc::ClientContext context;
  const auto clip = stubs().deforms->DeformClip(&context, request);
  server().Drain();
  EXPECT_TRUE(server().WaitDrained(std::chrono::seconds(20)));
  for (const StatusCode code : calls.Codes()) EXPECT_EQ(code, StatusCode::UNAVAILABLE);
  v1::DeformClipResponse response;
  EXPECT_FALSE(clip->Read(&response));
  EXPECT_CODE(clip->Finish(), StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace sinew::testing
