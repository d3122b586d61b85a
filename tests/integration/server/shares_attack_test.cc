// One client that takes all it can get of what the server counts: another is served at once, and
// what is taken costs little memory.
#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <string>
#include <vector>

#include "tests/integration/server/attacked_server.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/raw_http2.h"
#include "tests/integration/server/resident_memory.h"
#include "tests/integration/server/stream_client.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class SharesAttack : public AttackTest {
 protected:
  v1::StreamOpen Open(const std::string& rig) {
    v1::StreamOpen open;
    open.mutable_target()->mutable_source()->set_rig(rig);
    open.mutable_target()->mutable_source()->set_recipe_text("lbs");
    return open;
  }
  void ExpectRefusedByLimit(const grpc::Status& status, const std::string& limit) {
    EXPECT_EQ(ReasonOf(status), "LIMIT") << status.error_message();
    EXPECT_NE(status.error_message().find("(" + limit + ")"), std::string::npos)
        << status.error_message();
  }
};

// They need no token.
TEST_F(SharesAttack, HealthWatchesLeaveRoom) {
  Start();
  const PeakGrowth growth(pid());
  std::list<RawHttp2> attackers;
  for (int c = 0; c < 3; ++c) {
    RawHttp2& attacker = attackers.emplace_back(address(), 65535);
    for (int k = 0; k < 200; ++k) attacker.Call("grpc.health.v1.Health/Watch", "");
  }
  // Half of max-watches; the others of these 600 calls are refused.
  WaitUntil([&] {
    return MetricOf(server().http(), "sinew_limit_used{limit=\"max-watches\"}") == "512" &&
           MetricOf(server().http(),
                    "sinew_rpcs_total{code=\"RESOURCE_EXHAUSTED\","
                    "method=\"grpc.health.v1.Health/Watch\"}") == "88";
  });
  EXPECT_LT(growth.megabytes(), 512u * 64 / 1024) << "64 KiB each";
  const std::string session = stubs().Create(stubs().UploadTube(), "lbs").name();
  EXPECT_EQ(stubs().Watch(session).state(), v1::Session::STATE_READY);
}

TEST_F(SharesAttack, IdleStreamsLeaveRoom) {
  Start();
  v1::StreamDeformRequest request;
  *request.mutable_open() = Open(stubs().UploadTube());
  const std::string message = RawHttp2::Framed(request.SerializeAsString());
  const PeakGrowth growth(pid());
  std::list<RawHttp2> attackers;
  std::vector<std::pair<RawHttp2*, std::uint32_t>> calls;
  for (int c = 0; c < 6; ++c) {
    RawHttp2& attacker = attackers.emplace_back(address(), 65535);
    for (int i = 0; i < 200; ++i) {
      calls.emplace_back(&attacker, attacker.Begin("sinew.v1.DeformService/StreamDeform"));
      attacker.Send(calls.back().second, message, false);
    }
  }
  stubs().WaitFor(&v1::ServerStats::streams, 512);  // half of max-streams
  EXPECT_LT(growth.megabytes(), 512u * 64 / 1024) << "64 KiB each";
  Stream stream(stubs(), request.open());
  EXPECT_NE(stream.Opened().session(), "");
  EXPECT_TRUE(stream.Send(TubePose(1)));
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
  EXPECT_EQ(stubs().Stats().streams(), 513u);
}

// Eight clients occupy all places for arriving messages, with calls that never send one.
TEST_F(SharesAttack, CallsWithoutMessageGiveWay) {
  Start({"--max-stall-seconds", "600"});
  std::list<RawHttp2> attackers;
  for (int source = 2; source < 10; ++source) {
    RawHttp2& attacker =
        attackers.emplace_back(address(), 65535, "127.0.0." + std::to_string(source));
    for (int i = 0; i < 40; ++i) attacker.Begin("sinew.v1.RigService/GetRig");
  }
  WaitUntil([&] { return std::stod(MetricOf(server().http(), "sinew_arrivals_queue")) > 200; });
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    v1::GetServerInfoResponse info;
    EXPECT_CODE(stubs().info->GetServerInfo(&context, {}, &info), StatusCode::OK);
  }
}

TEST_F(SharesAttack, BoundDataLeavesRoom) {
  Start({"--set", "max-bound-bytes=20000000"});
  Stubs attacker = Attacker();
  v1::CreateSessionRequest request;
  request.mutable_source()->set_rig(stubs().UploadTube({.rings = 500, .segments = 20}));
  v1::Session session;
  const auto create = [&](Stubs& client, int k) {
    request.mutable_source()->set_recipe_text("dqs(blend=0." + std::to_string(1000 + k) + ")");
    return client.Create(request, session);
  };
  const auto used = [&] {
    return std::stod(MetricOf(server().http(), "sinew_limit_used{limit=\"max-bound-bytes\"}"));
  };
  int created = 0;
  grpc::Status status = create(attacker, created);
  for (; status.ok() && created < 1000; status = create(attacker, created)) {
    ++created;
    EXPECT_EQ(attacker.Watch(session.name()).state(), v1::Session::STATE_READY);
    // A bind gives back what it had reserved beyond its result a moment after it has ended.
    WaitUntil([&] { return used() == static_cast<double>(stubs().Stats().bound_bytes()); });
  }
  ExpectRefusedByLimit(status, "max-bound-bytes");
  EXPECT_GT(created, 0);
  EXPECT_LE(used(), 10e6) << "half of it";
  EXPECT_CODE(create(stubs(), created), StatusCode::OK);
}

TEST_F(SharesAttack, SessionsLeaveRoom) {
  Start();
  Stubs attacker = Attacker();
  v1::CreateSessionRequest request;
  request.mutable_source()->set_rig(stubs().UploadTube());
  request.mutable_source()->set_recipe_text("lbs");
  request.mutable_ttl()->set_seconds(86'400);
  v1::Session session;
  const PeakGrowth growth(pid());
  int created = 0;
  grpc::Status status = attacker.Create(request, session);
  for (; status.ok() && created < 4096; ++created) status = attacker.Create(request, session);
  EXPECT_EQ(created, 2048) << "half of max-sessions";
  ExpectRefusedByLimit(status, "max-sessions");
  EXPECT_CODE(stubs().Create(request, session), StatusCode::OK);
  EXPECT_LT(growth.megabytes(), 2048u * 8 / 1024) << "8 KiB each";
}

TEST_F(SharesAttack, UploadsOfOneByteLeaveRoom) {
  Start();
  Stubs attacker = Attacker();
  grpc::Status status;
  int kept = 0;
  for (; kept < 64; ++kept) {
    v1::UploadRigRequest request;
    request.mutable_header()->set_sha256(std::string(62, '0') + std::to_string(10 + kept));
    request.mutable_header()->set_size_bytes(1000);
    request.set_data("x");
    grpc::ClientContext context;
    v1::UploadRigResponse response;
    const auto upload = attacker.rigs->UploadRig(&context, &response);
    upload->Write(request);
    upload->WritesDone();
    status = upload->Finish();
    if (!status.ok()) break;
    EXPECT_EQ(response.committed_bytes(), 1u);
  }
  EXPECT_EQ(kept, 32) << "half of max-uploads";
  ExpectRefusedByLimit(status, "max-uploads");
  EXPECT_NE(stubs().UploadTube(), "");
}

// A call keeps its connection open; another connection without one, which began later, is closed.
TEST_F(SharesAttack, ConnectionsWithoutCallsAreClosed) {
  Start({"--max-connection-idle-seconds", "1"});
  Stubs client = Attacker();
  Stream stream(client, Open(stubs().UploadTube()));
  EXPECT_NE(stream.Opened().session(), "");
  const server::Descriptor idle = ConnectBare(address());
  SendBare(idle, std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33));
  ReadBare(idle, 30'000);  // until its end
  char more = 0;
  EXPECT_EQ(::recv(idle.fd(), &more, 1, MSG_DONTWAIT), 0) << "closed";
  EXPECT_TRUE(stream.Send(TubePose(1)));
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
}

// Frames of 120 kB that are not read, as many as the window allows.
TEST_F(SharesAttack, StreamsThatStopReadingLeaveRoom) {
  Start({"--set", "max-frame-bytes=256000000", "--max-stall-seconds", "3"});
  const TubeShape shape{.rings = 100, .segments = 100};
  v1::StreamDeformRequest request;
  *request.mutable_open() = Open(stubs().UploadTube(shape));
  request.mutable_open()->set_window(256);
  for (std::uint64_t frame = 1; frame <= 64; ++frame) {
    *request.add_poses() = TubePose(frame, 0, shape);
  }
  const std::string message = RawHttp2::Framed(request.SerializeAsString());
  const PeakGrowth growth(pid());
  std::list<RawHttp2> attackers;
  std::vector<std::pair<RawHttp2*, std::uint32_t>> calls;
  for (int c = 0; c < 4; ++c) {
    RawHttp2& attacker = attackers.emplace_back(address(), 0);
    for (int i = 0; i < 125; ++i) {
      calls.emplace_back(&attacker, attacker.Begin("sinew.v1.DeformService/StreamDeform"));
      attacker.Send(calls.back().second, message, false);
    }
  }
  Stream stream(stubs(), request.open());
  EXPECT_NE(stream.Opened().session(), "");
  for (std::uint64_t frame = 1; frame <= 100; ++frame) {
    EXPECT_TRUE(stream.Send(TubePose(frame, 0, shape)));
    EXPECT_EQ(stream.ReadUntil(frame).size(), 1u);
  }
  for (const auto& [attacker, call] : calls) {
    EXPECT_EQ(attacker->Status(call), StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_LT(growth.megabytes(), 320u);
}

}  // namespace
}  // namespace sinew::testing
