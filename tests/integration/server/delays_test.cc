// How long one client waits for another that does all it may to be in the way. Unlike other tests
// these measure time: the bounds are promises, and the figures printed are far below them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/server/attacked_server.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/long_work.h"
#include "tests/integration/server/raw_http2.h"
#include "tests/integration/server/stream_client.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

// A sanitized server takes longer.
#ifndef SINEW_SLOWDOWN
#define SINEW_SLOWDOWN 1
#endif

struct Delays {
  double median, p99, longest;  // milliseconds
};

template <class Call>
Delays Measure(const char* what, int count, const Call& call) {
  std::vector<double> times;
  for (int k = 0; k < count; ++k) {
    const auto start = std::chrono::steady_clock::now();
    call(k);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count() / SINEW_SLOWDOWN);
  }
  std::ranges::sort(times);
  const Delays delays{times[times.size() / 2], times[times.size() * 99 / 100], times.back()};
  std::printf("%s: median %.2f ms, p99 %.2f ms, longest %.2f ms of %d\n", what, delays.median,
              delays.p99, delays.longest, count);
  return delays;
}

class DelaysTest : public AttackTest {
 protected:
  v1::StreamOpen Open(const std::string& rig, const std::string& recipe_text) {
    v1::StreamOpen open;
    open.mutable_target()->mutable_source()->set_rig(rig);
    open.mutable_target()->mutable_source()->set_recipe_text(recipe_text);
    return open;
  }
  Delays MeasureFrames(const char* what, int count) {
    const TubeShape shape{.rings = 100, .segments = 20};
    Stream stream(stubs(), Open(stubs().UploadTube(shape), "lbs"));
    stream.Opened();
    return Measure(what, count, [&](int k) {
      const auto frame = static_cast<std::uint64_t>(k) + 1;
      EXPECT_TRUE(stream.Send(TubePose(frame, 0, shape)));
      EXPECT_EQ(stream.ReadUntil(frame).size(), 1u);
    });
  }
  // The name of a session that binds for long.
  std::string Binding(Stubs& attacker) {
    return attacker.Create(attacker.UploadTube(kSlowTube), SlowBind(0)).name();
  }
};

TEST_F(DelaysTest, ShortBindWaitsAtMostASecond) {
  Start({"--threads", "2", "--set", "max-bind-bytes=1000000000000"});
  Stubs attacker = Attacker();
  const std::string slow = attacker.UploadTube(kSlowTube), tube = stubs().UploadTube();
  grpc::ClientContext weighing;
  v1::ComputeWeightsRequest weights;
  weights.set_rig(slow);
  weights.set_method(v1::WEIGHT_METHOD_GEODESIC);
  weights.mutable_geodesic()->set_resolution(512);
  const auto progress = attacker.rigs->ComputeWeights(&weighing, weights);
  attacker.WaitFor(&v1::ServerStats::binds_running, 1);
  for (int k = 0; k < 4; ++k) attacker.Create(slow, SlowBind(k));
  attacker.WaitFor(&v1::ServerStats::binds_running, 2);
  const Delays delays = Measure("short binds", 10, [&](int k) {
    const std::string session =
        stubs().Create(tube, "dqs(blend=0." + std::to_string(100 + k) + ")").name();
    EXPECT_EQ(stubs().Watch(session).state(), v1::Session::STATE_READY);
  });
  EXPECT_LT(delays.longest, 1000);
  EXPECT_EQ(stubs().Stats().binds_running(), 2u);
  weighing.TryCancel();
}

TEST_F(DelaysTest, SessionsCreatedAndDeletedDelayNoBind) {
  Start(
      {"--threads", "2", "--set", "max-bind-bytes=1000000000000", "--set", "short-bind-seconds=0"});
  Stubs attacker = Attacker();
  const std::string tube = attacker.UploadTube();
  Binding(attacker);  // all others wait for it in the only lane
  attacker.WaitFor(&v1::ServerStats::binds_running, 1);
  for (int k = 0; k < 200; ++k) {
    v1::CreateSessionRequest create;
    create.mutable_source()->set_rig(tube);
    create.mutable_source()->set_recipe_text("dqs(blend=0." + std::to_string(100 + k) + ")");
    v1::Session session;
    ASSERT_CODE(attacker.Create(create, session), StatusCode::OK);
    grpc::ClientContext context;
    v1::DeleteSessionRequest remove;
    remove.set_name(session.name());
    v1::DeleteSessionResponse removed;
    ASSERT_CODE(attacker.sessions->DeleteSession(&context, remove, &removed), StatusCode::OK);
  }
  EXPECT_EQ(stubs().Stats().binds_queued(), 0u);
  v1::Session session;
  v1::CreateSessionRequest create;
  create.mutable_source()->set_rig(tube);
  create.mutable_source()->set_recipe_text("lbs");
  EXPECT_CODE(stubs().Create(create, session), StatusCode::OK);
  EXPECT_EQ(stubs().Stats().binds_queued(), 1u);
}

TEST_F(DelaysTest, StreamOpensWithinATenthOfASecond) {
  Start({"--threads", "2"});
  std::list<Stubs> attackers;
  std::list<Stream> heavy;
  const std::string heavy_tube = stubs().UploadTube(kHeavyTube), tube = stubs().UploadTube();
  const std::string session = stubs().Create(heavy_tube, HeavyRecipe(10)).name();
  EXPECT_EQ(stubs().Watch(session).state(), v1::Session::STATE_READY);
  std::atomic<int> answered{0};
  std::vector<std::thread> readers;
  for (int k = 0; k < 4; ++k) {
    v1::StreamOpen open;
    open.mutable_target()->set_session(session);
    Stream& stream = heavy.emplace_back(attackers.emplace_back(Attacker()), open);
    EXPECT_NE(stream.Opened().session(), "");
    EXPECT_TRUE(stream.Send(TubePose(1, 0, kHeavyTube)));
    readers.emplace_back([&] {
      v1::StreamDeformResponse response;
      if (stream.Read(response)) ++answered;
    });
  }
  const Delays delays = Measure("streams opened", 20, [&](int) {
    Stream stream(stubs(), Open(tube, "dqs"));
    EXPECT_NE(stream.Opened().session(), "");
  });
  EXPECT_LT(delays.longest, 100);
  EXPECT_LT(MeasureFrames("frames beside frames of seconds", 200).p99, 100);
  EXPECT_EQ(answered, 0);
  for (Stream& one : heavy) one.Cancel();
  for (std::thread& reader : readers) reader.join();
}

TEST_F(DelaysTest, LookUpsPassSixtyEstimates) {
  Start({"--threads", "2"});
  Stubs attacker = Attacker();
  const std::string slow = attacker.UploadTube(kLongTube), tube = stubs().UploadTube();
  Calls estimates(attacker);
  for (int k = 0; k < 60; ++k) estimates.Estimate(slow, SlowEstimate(k));
  const auto queued = [&] {
    return MetricOf(server().http(), "sinew_worker_queue{lane=\"estimates\"}");
  };
  WaitUntil([&] { return queued() == "59"; });
  const Delays delays = Measure("GetRig", 300, [&](int) {
    grpc::ClientContext context;
    v1::GetRigRequest request;
    request.set_name(tube);
    v1::GetRigResponse response;
    EXPECT_CODE(stubs().rigs->GetRig(&context, request, &response), StatusCode::OK);
  });
  EXPECT_LT(delays.p99, 20);
  EXPECT_EQ(estimates.finished(), 0u);
}

// Two million empty poses, 4 MB, again and again from four clients.
TEST_F(DelaysTest, FramesPassMessagesOfManyFields) {
  Start({"--threads", "2"});
  v1::DeformClipRequest request;
  request.mutable_target()->mutable_source()->set_rig(stubs().UploadTube());
  request.mutable_target()->mutable_source()->set_recipe_text("lbs");
  v1::PoseBlock& poses = *request.mutable_poses();
  for (int i = 0; i < 1'900'000; ++i) poses.add_poses();
  const std::string message = RawHttp2::Framed(request.SerializeAsString());
  std::atomic<bool> stop{false};
  std::atomic<int> refused{0};
  std::vector<std::thread> attackers;
  for (int k = 0; k < 4; ++k) {
    attackers.emplace_back([&] {
      while (!stop) {
        RawHttp2 client(address(), 65535);
        const std::uint32_t call = client.Begin("sinew.v1.DeformService/DeformClip");
        client.Send(call, message, true);
        EXPECT_EQ(client.Status(call), StatusCode::RESOURCE_EXHAUSTED);
        ++refused;
      }
    });
  }
  const Delays delays = MeasureFrames("frames beside large messages", 500);
  stop = true;
  for (std::thread& attacker : attackers) attacker.join();
  EXPECT_GT(refused, 8);
  // Not of p99: the attackers themselves take all cores, and other programs the rest.
  EXPECT_LT(delays.median, 100);
}

// Warnings about muscles look at every vertex; a list must not compute them for every row.
TEST_F(DelaysTest, ListsOfSessionsAreShort) {
  Start({"--threads", "2", "--max-message-bytes", "64000000"});
  v1::Rig rig = TubeRig({.rings = 3000, .segments = 100});
  v1::Muscle& muscle = *rig.add_muscles();
  muscle.set_name("muscle");
  for (v1::MusclePoint* point : {muscle.mutable_origin(), muscle.mutable_insertion()}) {
    for (const float x : {0.05f, 0.1f, 0.0f}) point->add_at(x);
  }
  muscle.mutable_insertion()->set_joint(1);
  muscle.set_width(0.03f);
  muscle.set_depth(0.03f);
  std::string name;
  ASSERT_CODE(stubs().Upload(rig.SerializeAsString(), &name), StatusCode::OK);
  for (int k = 0; k < 200; ++k) stubs().Create(name, "lbs");
  const Delays delays = Measure("ListSessions", 20, [&](int) {
    grpc::ClientContext context;
    v1::ListSessionsRequest request;
    request.set_page_size(1000);
    v1::ListSessionsResponse page;
    EXPECT_CODE(stubs().sessions->ListSessions(&context, request, &page), StatusCode::OK);
    EXPECT_EQ(page.sessions_size(), 200);
  });
  EXPECT_LT(delays.median, 25);  // 1.5 ms a row if each looked at the mesh
}

TEST_F(DelaysTest, DeformsThatWaitLeaveRoom) {
  Start({"--threads", "2", "--set", "max-bind-bytes=1000000000000"});
  std::list<Stubs> attackers;
  for (int k = 0; k < 5; ++k) attackers.push_back(Attacker());  // of 256 calls each
  const std::string binding = Binding(attackers.front()), tube = stubs().UploadTube();
  std::list<Calls> waiting;
  for (Stubs& attacker : attackers) {
    Calls& calls = waiting.emplace_back(attacker);
    for (int i = 0; i < 220; ++i) calls.Deform(binding, TubePose(1, 0, kSlowTube));
  }
  const auto refused = [&] {
    std::size_t count = 0;
    for (const Calls& calls : waiting) count += calls.finished();
    return count;
  };
  WaitUntil([&] { return refused() >= 1100 - 512; });
  v1::DeformRequest request;
  *request.mutable_target() = Open(tube, "lbs").target();
  *request.mutable_pose() = TubePose(1);
  const Delays delays = Measure("Deform beside those that wait", 20, [&](int) {
    v1::DeformResponse response;
    EXPECT_CODE(stubs().Deform(request, response), StatusCode::OK);
  });
  EXPECT_LT(delays.longest, 1000);
  EXPECT_EQ(refused(), 1100u - 512u) << "half of max-deforms, and no more";
}

// One that has never sent a byte, one that is idle, and one with an open call.
TEST_F(DelaysTest, ConnectionsThatAnswerNoPingAreClosed) {
  Start();
  const std::string hello("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  const server::Descriptor silent = ConnectBare(address()), idle = ConnectBare(address());
  SendBare(idle, hello);
  RawHttp2 calling(address(), 65535);
  calling.Begin("sinew.v1.DeformService/StreamDeform");
  const auto connections = [&] {
    return MetricOf(server().http(), "sinew_limit_used{limit=\"max-connections\"}");
  };
  WaitUntil([&] { return connections() == "4"; });
  // A PING after 60 s, 20 s for its answer.
  const Delays delays = Measure("closed", 1, [&](int) {
    for (const server::Descriptor* socket : {&silent, &idle}) ReadBare(*socket, 100'000);
    for (int waits = 0; waits < 300 && connections() != "1"; ++waits) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  EXPECT_EQ(connections(), "1") << "that of the other client";
  EXPECT_LT(delays.longest, 100'000);
}

TEST_F(DelaysTest, EndsSoonWithFullQueues) {
  Start({"--threads", "2", "--set", "max-bind-bytes=1000000000000"});
  Stubs attacker = Attacker();
  const std::string binding = Binding(attacker), slow = attacker.UploadTube(kLongTube);
  attacker.WaitFor(&v1::ServerStats::binds_running, 1);
  Calls calls(attacker);
  for (int i = 0; i < 150; ++i) calls.Deform(binding, TubePose(1, 0, kSlowTube));
  for (int k = 0; k < 60; ++k) calls.Estimate(slow, SlowEstimate(k));
  WaitUntil(
      [&] { return MetricOf(server().http(), "sinew_worker_queue{lane=\"estimates\"}") == "59"; });
  const Delays delays = Measure("SIGTERM to exit", 1, [&](int) { EXPECT_EQ(server().Stop(), 0); });
  EXPECT_LT(delays.longest, 10'000);
}

}  // namespace
}  // namespace sinew::testing
