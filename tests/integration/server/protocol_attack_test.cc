// What is not gRPC, or lies: on the port of the calls and on that of the probes. Nothing of it
// costs memory or another client's service, and none of it gets into the log as a line of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <list>
#include <string>
#include <thread>
#include <utility>
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
using server::Descriptor;

constexpr std::uint32_t kUsualWindow = 65535;
constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

class ProtocolAttack : public AttackTest {};

TEST_F(ProtocolAttack, OtherProtocolsAreCutOff) {
  Start();
  const std::string preface(kPreface, sizeof kPreface - 1);
  std::string noise;
  for (unsigned i = 0; i < 65536; ++i) noise += static_cast<char>(i * 2654435761u >> 24);
  const std::vector<std::string> kinds = {
      noise,
      std::string(65536, '\0'),
      "GET / HTTP/1.1\r\nHost: sinew\r\n\r\n",
      std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + noise.substr(0, 500),
      preface + std::string("\xff\xff\xff\x00\x00\x00\x00\x00\x01", 9) + noise,  // a frame of 16 MB
      preface + std::string("\x00\x00\x05\x04\x00\x00\x00\x00\x00", 9) + "12345",  // SETTINGS
      preface + std::string("\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00", 13),  // by zero
      preface + noise};
  const PeakGrowth growth(pid());
  std::list<Descriptor> open;
  for (const std::string& bytes : kinds) {
    for (int i = 0; i < 20; ++i) SendBare(open.emplace_back(ConnectBare(address())), bytes);
    stubs().Stats();
  }
  EXPECT_LT(growth.megabytes(), 16u);
}

// proto/README.md documents this limit.
TEST_F(ProtocolAttack, ThirdPingThatComesTooEarlyEndsTheConnection) {
  Start();
  const std::string ping(
      "\x00\x00\x08\x06\x00\x00\x00\x00\x00"
      "12345678",
      17);
  const Descriptor socket = ConnectBare(address());
  SendBare(socket, std::string(kPreface, sizeof kPreface - 1) +
                       std::string("\x00\x00\x00\x04\x00\x00\x00\x00\x00", 9) + ping);
  std::string answered;
  for (int early = 1; early <= 3; ++early) {
    answered += ReadBare(socket, 300);
    EXPECT_EQ(answered.find("too_many_pings"), answered.npos) << early;
    EXPECT_EQ(CountOf(answered, "12345678"), static_cast<std::size_t>(early));
    SendBare(socket, ping);
  }
  EXPECT_NE(ReadBare(socket, 60'000).find("too_many_pings"), std::string::npos);
  stubs().Stats();
}

TEST_F(ProtocolAttack, MessagesThatLieAreRefused) {
  Start();
  const std::string message(10, '\x08');
  const auto framed = [&](char flag, const char* length) {
    return std::string(1, flag) + std::string(length, 4) + message;
  };
  const std::string nested(10'000, '\x0b');  // groups
  std::string inside;                        // messages of field 1
  for (int depth = 0; depth < 60; ++depth) {
    inside = std::string("\x0a") + static_cast<char>(inside.size()) + inside;
  }
  struct Case {
    const char* what;
    std::string bytes;
    int code;  // -1: any, or a reset
  };
  const std::vector<Case> cases = {
      {"shorter than its length", framed(0, "\0\0\0\x64"), -1},
      {"4 GB long", framed(0, "\xff\xff\xff\xff"), -1},
      {"compressed with nothing", framed(1, "\0\0\0\x0a"), -1},
      {"unknown flags", framed(7, "\0\0\0\x0a"), -1},
      {"half a header", std::string("\0\0", 2), -1},
      {"nothing", "", -1},
      {"10,000 groups", RawHttp2::Framed(nested), StatusCode::INVALID_ARGUMENT},
      {"messages in messages", RawHttp2::Framed(inside), -1},
      {"not protobuf", RawHttp2::Framed(std::string(100, '\xff')), StatusCode::INVALID_ARGUMENT}};
  const PeakGrowth growth(pid());
  for (const char* method : {"RigService/GetRig", "DeformService/Deform",
                             "DeformService/StreamDeform", "RigService/UploadRig"}) {
    RawHttp2 client(address(), kUsualWindow);
    for (const Case& each : cases) {
      const std::uint32_t stream = client.Begin(std::string("sinew.v1.") + method);
      client.Send(stream, each.bytes, true);
      const int code = client.Status(stream);
      EXPECT_NE(code, StatusCode::OK) << method << ": " << each.what;
      EXPECT_NE(code, StatusCode::UNKNOWN) << method << ": " << each.what;
      if (each.code >= 0) {
        EXPECT_EQ(code, each.code) << method << ": " << each.what;
      }
    }
    stubs().Stats();
  }
  EXPECT_LT(growth.megabytes(), 16u);
}

// CVE-2023-1428: an older gRPC aborted on some.
TEST_F(ProtocolAttack, HeadersThatLieAreRefused) {
  Start();
  const std::string method = "sinew.v1.InfoService/GetServerInfo";
  const RawHttp2::Headers usual = {{"content-type", "application/grpc"}, {"te", "trailers"}};
  const auto with = [&](RawHttp2::Headers more) {
    more.insert(more.begin(), usual.begin(), usual.end());
    return more;
  };
  const std::vector<RawHttp2::Headers> all = {
      {},
      {{"content-type", "application/grpc"}},
      {{"content-type", "application/grpc"}, {"te", "gzip"}},
      {{"content-type", "application/grpc"}, {"te", ""}},
      {{"content-type", "application/grpc"}, {"te", "trailers, deflate"}},
      {{"te", "trailers"}, {"te", "trailers"}, {"content-type", "application/grpc"}},
      {{"content-type", "text/plain"}, {"te", "trailers"}},
      with({{"grpc-encoding", "zz"}}),
      with({{"grpc-timeout", "99999999999999999999H"}}),
      with({{"grpc-timeout", "-1S"}}),
      with({{"grpc-status", "0"}}),
      with({{":path", "/other"}}),
      with({{"x-bin", "%%%"}}),
      with({{"", ""}}),
      with({{"authorization", "Bearer \r\nx"}}),
      with({{"x-forwarded-for", std::string(100, ',')}}),
      with(RawHttp2::Headers(120, {"x", std::string(100, 'y')}))};
  for (const RawHttp2::Headers& headers : all) {
    RawHttp2 client(address(), kUsualWindow);
    const std::uint32_t stream = client.BeginWith(method, headers);
    client.Send(stream, RawHttp2::Framed(""), true);
    EXPECT_NE(stubs().Stats().uptime_seconds() + 1, 0u);  // it serves others
  }
  EXPECT_FALSE(server().HasEnded()) << server().err();
}

TEST_F(ProtocolAttack, TextOfClientForgesNoLine) {
  Start({"--log-level", "debug"});
  const std::string forged = "\n2026-11-23T09:09:09 err FORGED\r\n";
  RawHttp2 client(address(), kUsualWindow);
  v1::UploadRigRequest upload;  // of the wrong digest
  upload.mutable_header()->set_sha256(std::string(64, '0'));
  upload.mutable_header()->set_size_bytes(1);
  upload.set_data("x");
  v1::GetRigRequest get;
  get.set_name("rigs/" + forged);
  v1::CreateSessionRequest create;
  create.mutable_source()->set_rig("rigs/sha256-" + std::string(64, '0'));
  create.mutable_source()->set_recipe_text("lbs" + forged);
  create.set_request_id(forged);
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"RigService/UploadRig", upload.SerializeAsString()},
      {"RigService/GetRig", get.SerializeAsString()},
      {"SessionService/CreateSession", create.SerializeAsString()}};
  for (const char* header : {"traceparent", "x-forwarded-for", "authorization", "user-agent"}) {
    for (const std::string& value :
         {forged, "00-" + forged.substr(0, 32) + "-0123456789abcdef-01"}) {
      for (const auto& [method, message] : calls) {
        RawHttp2 one(address(), kUsualWindow);
        const std::uint32_t stream = one.BeginWith(
            "sinew.v1." + method,
            {{"content-type", "application/grpc"}, {"te", "trailers"}, {header, value}});
        one.Send(stream, RawHttp2::Framed(message), true);
      }
    }
  }
  for (const auto& [method, message] : calls) {
    client.Status(client.Call("sinew.v1." + method, message));
  }
  EXPECT_EQ(server().Stop(), 0);
  const std::string log = server().err();
  EXPECT_NE(log.find("GetRig"), std::string::npos) << log;
  EXPECT_EQ(log.find("\n2026-11-23T09:09:09"), std::string::npos) << log;
  EXPECT_EQ(log.find('\r'), std::string::npos);
}

TEST_F(ProtocolAttack, WrongUploadsDoNotFillTheLog) {
  Start();
  Stubs attacker = Attacker();
  v1::UploadRigRequest request;
  request.mutable_header()->set_sha256(std::string(64, '0'));
  request.mutable_header()->set_size_bytes(10);
  request.set_data("0123456789");
  for (int i = 0; i < 2000; ++i) {
    grpc::ClientContext context;
    v1::UploadRigResponse response;
    const auto upload = attacker.rigs->UploadRig(&context, &response);
    upload->Write(request);
    upload->WritesDone();
    ASSERT_CODE(upload->Finish(), StatusCode::DATA_LOSS);
  }
  EXPECT_EQ(server().Stop(), 0);
  const std::string log = server().err();
  EXPECT_LE(CountOf(log, "UploadRig DATA_LOSS"), 100u) << "ten in ten seconds";
  EXPECT_LT(log.size(), 32u << 10);
  EXPECT_EQ(log.find(" error "), std::string::npos) << log;
  EXPECT_NE(log.find("peer=127.0.0.1"), std::string::npos) << log;
}

TEST_F(ProtocolAttack, SilentConnectionsAreCheap) {
  Start();
  constexpr int kMost = 2000;
  const PeakGrowth growth(pid());
  std::list<Descriptor> silent;
  while (silent.size() < kMost && silent.emplace_back(ConnectBare(address())).ok()) {
  }
  ASSERT_GT(silent.size(), 500u) << "this process may open too few files";
  v1::ServerStats stats;
  for (int i = 0; i < 100; ++i) stats = stubs().Stats();
  EXPECT_LT(growth.megabytes() * 1024 / silent.size(), 16u) << "KiB each";
}

TEST_F(ProtocolAttack, ProbePortRefusesWhatIsLarge) {
  Start();
  const auto status = [&](const std::string& request) {
    const Descriptor socket = ConnectBare(server().http());
    SendBare(socket, request);
    const std::string reply = ReadBare(socket, 10'000);
    return reply.substr(0, reply.find('\r'));
  };
  const std::string host = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
  const std::string bulk(20 << 20, 'x'), chunked = "Transfer-Encoding: chunked\r\n\r\n";
  std::string headers, chunks;
  while (headers.size() < bulk.size()) headers += "x-" + std::to_string(headers.size()) + ": y\r\n";
  while (chunks.size() < bulk.size()) chunks += "2710\r\n" + bulk.substr(0, 10'000) + "\r\n";
  const std::vector<std::pair<const char*, std::string>> requests = {
      {"URL", "GET /" + bulk + host + "\r\n"},
      {"header", "GET /livez" + host + "x: " + bulk + "\r\n\r\n"},
      {"headers", "GET /livez" + host + headers + "\r\n"},
      {"body", "POST /metrics" + host + "Content-Length: 20971520\r\n\r\n" + bulk},
      {"chunk", "POST /metrics" + host + chunked + "1400000\r\n" + bulk},
      {"chunks", "POST /metrics" + host + chunked + chunks},
      {"file", "GET /../../../../etc/passwd" + host + "\r\n"},
      {"encoded file", "GET /%2e%2e/%2e%2e/etc/passwd" + host + "\r\n"}};
  const PeakGrowth growth(pid());
  for (const auto& [what, request] : requests) {
    EXPECT_EQ(status(request).find(" 200 "), std::string::npos) << what;
    EXPECT_EQ(HttpGet(server().http(), "/livez").status, 200) << what;
  }
  EXPECT_LT(growth.megabytes(), 8u);
}

// Connections that send a byte now and then, and are opened again when they are closed.
TEST_F(ProtocolAttack, SlowRequestsDoNotBlockProbes) {
  Start();
  std::atomic<bool> over = false;
  std::thread attacker([&] {
    std::list<Descriptor> slow;
    while (!over) {
      while (slow.size() < 100) {
        slow.emplace_back(ConnectBare(server().http()));
        SendBare(slow.back(), "GET /livez HTTP/1.1\r\nHost: x\r\n");
      }
      for (const Descriptor& socket : slow) SendBare(socket, "x: y\r\n");
      std::erase_if(slow, [](const Descriptor& socket) { return IsClosed(socket); });
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  for (int i = 0; i < 10; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(HttpGet(server().http(), i % 2 == 0 ? "/livez" : "/metrics").status, 200);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  }
  over = true;
  attacker.join();
}

TEST_F(ProtocolAttack, RecipeBombsAreRefused) {
  Start();
  const std::string rig = stubs().UploadTube();
  const auto repeated = [](const std::string& text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
  };
  std::vector<std::string> texts = {repeated("|", 4096),
                                    repeated("lbs|", 1000) + "lbs",
                                    repeated("lbs|", 100'000) + "lbs",
                                    repeated("(", 4000),
                                    "lbs(" + repeated("a=1,", 1000) + "a=1)",
                                    std::string("lbs\0x", 5),
                                    repeated("x", 4097)};
  for (const char* value : {"nan", "inf", "-inf", "1e999", "-1e999", "0x10", "1e", ""}) {
    texts.push_back("delta_mush(lambda=" + std::string(value) + ")");
  }
  const PeakGrowth growth(pid());
  for (const std::string& text : texts) {
    v1::CreateSessionRequest request;
    request.mutable_source()->set_rig(rig);
    request.mutable_source()->set_recipe_text(text);
    v1::Session session;
    const grpc::Status status = stubs().Create(request, session);
    EXPECT_TRUE(status.error_code() == StatusCode::INVALID_ARGUMENT || ReasonOf(status) == "LIMIT")
        << text.substr(0, 40) << ": " << status.error_message();
  }
  for (const int stages : {1'000, 2'000}) {
    v1::CreateSessionRequest request;
    request.mutable_source()->set_rig(rig);
    for (int i = 0; i < stages; ++i) {
      v1::Stage& stage = *request.mutable_source()->mutable_recipe()->add_stages();
      if (stages == 1'000) stage.mutable_lbs();
    }
    v1::Session session;
    const grpc::Status status = stubs().Create(request, session);
    EXPECT_TRUE(status.error_code() == StatusCode::INVALID_ARGUMENT || ReasonOf(status) == "LIMIT")
        << stages << ": " << status.error_message();
  }
  EXPECT_EQ(stubs().Stats().sessions(), 0u);
  EXPECT_LT(growth.megabytes(), 16u);
}

}  // namespace
}  // namespace sinew::testing
