// What one client can make sinewd hold: each test attacks the program and bounds the memory it
// takes, while another client, over a Unix socket, is served.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/integration/server/attacked_server.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/long_work.h"
#include "tests/integration/server/raw_http2.h"
#include "tests/integration/server/resident_memory.h"
#include "tests/integration/server/stream_client.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

constexpr std::uint32_t kNoWindow = 0, kUsualWindow = 65535;

class MemoryTest : public AttackTest {
 protected:
  v1::DeformRequest DeformOf(const std::string& rig, const TubeShape& shape) {
    v1::DeformRequest request;
    request.mutable_target()->mutable_source()->set_rig(rig);
    request.mutable_target()->mutable_source()->set_recipe_text("lbs");
    *request.mutable_pose() = TubePose(1, 0, shape);
    return request;
  }
};

// So many zeros in a thousandth of the size.
std::string GzippedZeros(std::size_t bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string block(1 << 20, '\0'), zipped(1 << 16, '\0'), all;
  for (std::size_t done = 0; done <= bytes; done += block.size()) {
    stream.next_in = reinterpret_cast<Bytef*>(block.data());
    stream.avail_in = done < bytes ? static_cast<uInt>(block.size()) : 0;
    int state = Z_OK;
    do {
      stream.next_out = reinterpret_cast<Bytef*>(zipped.data());
      stream.avail_out = static_cast<uInt>(zipped.size());
      state = deflate(&stream, done < bytes ? Z_NO_FLUSH : Z_FINISH);
      all.append(zipped, 0, zipped.size() - stream.avail_out);
    } while (stream.avail_out == 0 && state == Z_OK);
  }
  deflateEnd(&stream);
  return all;
}

TEST_F(MemoryTest, CompressedMessageIsRefusedWithoutDecompressing) {
  Start();
  const std::string bomb = GzippedZeros(std::size_t{512} << 20);
  EXPECT_LT(bomb.size(), 1u << 20);
  const PeakGrowth growth(pid());
  RawHttp2 client(address(), kUsualWindow);
  const std::uint32_t stream = client.Begin("sinew.v1.InfoService/GetServerInfo", "gzip");
  client.Send(stream, RawHttp2::Framed(bomb, true), true);
  EXPECT_EQ(client.Status(stream), StatusCode::UNIMPLEMENTED);
  EXPECT_LT(growth.megabytes(), 16u);
}

// Messages of 4 MB whose last byte never arrives, on 180 calls.
TEST_F(MemoryTest, UnfinishedMessagesAreBounded) {
  Start({"--set", "max-arriving-messages=16", "--max-stall-seconds", "60"});
  const std::string message = RawHttp2::Framed(std::string(4 << 20, 'x'));
  const std::string_view unfinished(message.data(), message.size() - 1);
  const std::string rig = stubs().UploadTube();
  struct Attack {
    RawHttp2* client;
    std::uint32_t stream;
    std::size_t sent = 0;
  };
  std::list<RawHttp2> clients;
  std::vector<Attack> attacks;
  const PeakGrowth growth(pid());
  for (const char* method : {"sinew.v1.InfoService/GetServerInfo", "sinew.v1.RigService/UploadRig",
                             "sinew.v1.DeformService/StreamDeform"}) {
    RawHttp2& client = clients.emplace_back(address(), kUsualWindow);
    for (int i = 0; i < 60; ++i) attacks.push_back({&client, client.Begin(method)});
  }
  // Sends as much as the server lets through.
  int idle_rounds = 0;
  for (std::size_t before = 0; idle_rounds < 10;) {
    std::size_t sent = 0;
    for (Attack& attack : attacks) {
      attack.sent += attack.client->SendSome(attack.stream, unfinished.substr(attack.sent), false);
      sent += attack.sent;
    }
    idle_rounds = sent == before ? idle_rounds + 1 : 0;
    before = sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto whole = std::count_if(attacks.begin(), attacks.end(), [&](const Attack& attack) {
    return attack.sent == unfinished.size();
  });
  EXPECT_EQ(whole, 8);  // the client's share
  // Another client is served meanwhile, by calls of each kind.
  v1::DeformResponse frame;
  EXPECT_CODE(stubs().Deform(DeformOf(rig, {}), frame), StatusCode::OK);
  std::string other;
  EXPECT_CODE(stubs().Upload(TubeRig({.rings = 7}).SerializeAsString(), &other), StatusCode::OK);
  EXPECT_LT(growth.megabytes(), 64u);
}

// Messages without a pose, while the session is being found.
TEST_F(MemoryTest, EmptyMessagesBeforeTheSessionAreNotKept) {
  Start();
  const std::string slow = stubs().UploadTube(kLongTube);
  Stubs same_client = Attacker();  // whose estimates wait for each other
  Calls estimates(same_client);
  for (int k = 0; k < 40; ++k) estimates.Estimate(slow, SlowEstimate(k));
  WaitUntil([&] {  // the stream comes behind them
    return MetricOf(server().http(),
                    "sinew_rpcs_in_flight{method=\"sinew.v1.SessionService/CreateSession\"}") ==
           "40";
  });
  v1::StreamDeformRequest request;
  request.mutable_open()->mutable_target()->mutable_source()->set_rig(slow);
  request.mutable_open()->mutable_target()->mutable_source()->set_recipe_text(SlowEstimate(40));
  RawHttp2 attacker(address(), kUsualWindow);
  const std::uint32_t stream = attacker.Begin("sinew.v1.DeformService/StreamDeform");
  EXPECT_TRUE(attacker.Send(stream, RawHttp2::Framed(request.SerializeAsString()), false));
  std::string empty;
  for (int k = 0; k < 10'000; ++k) empty += RawHttp2::Framed("");
  EXPECT_TRUE(attacker.Send(stream, empty, false));
  const PeakGrowth growth(pid());
  int sent = 0;
  while (sent < 60 && estimates.finished() + 2 < estimates.size() &&
         attacker.Send(stream, empty, false)) {
    ++sent;
  }
  EXPECT_GE(sent, 20) << "times 10,000 messages";  // 60, unless the server is slow
  EXPECT_LT(growth.megabytes(), 24u);
}

TEST_F(MemoryTest, UnfinishedMessagesAreCutOff) {
  Start({"--set", "max-arriving-messages=2", "--max-stall-seconds", "1"});
  RawHttp2 client(address(), kUsualWindow);
  const std::uint32_t unfinished = client.Begin("sinew.v1.InfoService/GetServerInfo");
  client.SendSome(unfinished, RawHttp2::Framed("half").substr(0, 7), false);
  // Waits for its turn behind it, and is answered.
  const std::uint32_t whole = client.Call("sinew.v1.InfoService/GetServerInfo", "");
  EXPECT_EQ(client.Status(whole), StatusCode::OK);
  EXPECT_EQ(client.Status(unfinished), StatusCode::RESOURCE_EXHAUSTED);
}

// Rigs of few megabytes whose vertex maps would take 800 MB and 16 GB.
TEST_F(MemoryTest, MapsOfFewVerticesAreNotWidened) {
  Start();
  for (const auto& [maps, rings] : {std::pair{2'000, 1'000u}, {20'000, 2'000u}}) {
    v1::Rig rig = TubeRig({.rings = 2, .segments = 3});
    for (int i = 0; i < maps; ++i) {
      v1::VertexMap& map = *rig.mutable_meshes(0)->add_maps();
      map.set_name("map" + std::to_string(i));
      *map.mutable_values() = FloatArray(std::vector<float>(6, 0.5f), 1);
    }
    *rig.add_meshes() = TubeMesh({.rings = rings, .segments = 100});
    const std::string bytes = rig.SerializeAsString();
    const PeakGrowth growth(pid());
    const grpc::Status status = stubs().Upload(bytes);
    EXPECT_EQ(ReasonOf(status), "LIMIT") << status.error_message();
    EXPECT_LT(growth.megabytes(), 10 * (bytes.size() >> 20) + 16);
  }
}

// Replies of 3 MB on connections that let none of it through.
TEST_F(MemoryTest, UnreadRepliesAreBounded) {
  Start({"--set", "max-held-bytes=256000000", "--max-stall-seconds", "3"});
  v1::Rig rig = TubeRig({.joints = 800});
  for (v1::Joint& joint : *rig.mutable_joints()) joint.mutable_name()->resize(3'500, 'x');
  for (int j = 0; j < rig.joints_size(); ++j) {
    rig.mutable_joints(j)->set_name(std::to_string(j) + rig.joints(j).name());
  }
  std::string name;
  ASSERT_CODE(stubs().Upload(rig.SerializeAsString(), &name), StatusCode::OK);
  v1::GetRigRequest request;
  request.set_name(name);
  const PeakGrowth growth(pid());
  std::list<RawHttp2> clients;
  std::vector<std::pair<RawHttp2*, std::uint32_t>> calls;
  for (int c = 0; c < 4; ++c) {
    RawHttp2& client = clients.emplace_back(address(), kNoWindow);
    for (int i = 0; i < 200; ++i) {
      calls.emplace_back(&client,
                         client.Call("sinew.v1.RigService/GetRig", request.SerializeAsString()));
    }
  }
  grpc::ClientContext context;
  v1::GetRigResponse reply;
  EXPECT_CODE(stubs().rigs->GetRig(&context, request, &reply), StatusCode::OK);
  EXPECT_EQ(reply.rig().joints_size(), 800);
  // Refused at once, or cut off after the stall limit: all for the same reason.
  for (const auto& [client, stream] : calls) {
    EXPECT_EQ(client->Status(stream), StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_LT(growth.megabytes(), 256u);
}

TEST_F(MemoryTest, UnreadFramesAreBounded) {
  Start({"--set", "max-frame-bytes=256000000", "--max-stall-seconds", "3"});
  const TubeShape shape{.rings = 2000, .segments = 100};  // 2.4 MB a frame
  const v1::DeformRequest request = DeformOf(stubs().UploadTube(shape), shape);
  v1::DeformResponse frame;
  ASSERT_CODE(stubs().Deform(request, frame), StatusCode::OK);
  const PeakGrowth growth(pid());
  std::list<RawHttp2> clients;
  std::vector<std::pair<RawHttp2*, std::uint32_t>> calls;
  for (int c = 0; c < 4; ++c) {
    RawHttp2& client = clients.emplace_back(address(), kNoWindow);
    for (int i = 0; i < 250; ++i) {
      calls.emplace_back(&client,
                         client.Call("sinew.v1.DeformService/Deform", request.SerializeAsString()));
    }
  }
  EXPECT_CODE(stubs().Deform(request, frame), StatusCode::OK);
  Stream stream(stubs(), [&] {
    v1::StreamOpen open;
    *open.mutable_target() = request.target();
    return open;
  }());
  stream.Send(request.pose());
  EXPECT_EQ(stream.ReadUntil(1).size(), 1u);
  for (const auto& [client, call] : calls) {
    EXPECT_EQ(client->Status(call), StatusCode::RESOURCE_EXHAUSTED);
  }
  EXPECT_LT(growth.megabytes(), 320u);
}

TEST_F(MemoryTest, LargeOpenersAreRefused) {
  Start();
  v1::StreamDeformRequest request;
  request.mutable_open()->mutable_target()->mutable_source()->set_rig(stubs().UploadTube());
  request.mutable_open()->mutable_target()->mutable_source()->set_recipe_text("lbs");
  auto& attributes = *request.mutable_open()->mutable_output()->mutable_attributes();
  for (int i = 0; i < 3'900'000; ++i) attributes.Add(v1::ATTRIBUTE_POSITIONS);
  const std::string packed = request.SerializeAsString();
  // Few enough to be parsed.
  attributes.Truncate(1'000'000);
  const std::string fewer = request.SerializeAsString();
  const PeakGrowth growth(pid());
  RawHttp2 client(address(), kUsualWindow);
  for (int i = 0; i < 20; ++i) {
    for (const auto& [bytes, code] : {std::pair{packed, StatusCode::RESOURCE_EXHAUSTED},
                                      {fewer, StatusCode::INVALID_ARGUMENT}}) {
      const std::uint32_t stream = client.Begin("sinew.v1.DeformService/StreamDeform");
      client.Send(stream, RawHttp2::Framed(bytes), false);
      EXPECT_EQ(client.Status(stream), code);
    }
  }
  EXPECT_LT(growth.megabytes(), 48u);
}

// Two million elements of two bytes.
TEST_F(MemoryTest, MessagesOfManyFieldsAreNotParsed) {
  Start();
  std::string empty;
  for (int i = 0; i < 1'900'000; ++i) empty += std::string("\x0a\0", 2);  // field 1, empty
  const auto nested = [&](int field) {
    std::string bytes{static_cast<char>(field << 3 | 2)};
    for (std::size_t size = empty.size(); size > 0; size >>= 7) {
      bytes += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
    }
    return bytes + empty;
  };
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"DeformService/DeformClip", nested(v1::DeformClipRequest::kPosesFieldNumber)},
      {"DeformService/CompareDeformers", empty},
      {"DeformService/StreamDeform", empty},
      {"DeformService/Deform", empty},
      {"RigService/ComputeWeights", empty},
      {"RigService/FitSkeleton", nested(v1::FitSkeletonRequest::kHintsFieldNumber)},
      {"RigService/GetRig", empty},
      {"SessionService/CreateSession", empty}};
  const PeakGrowth growth(pid());
  RawHttp2 client(address(), kUsualWindow);
  for (const auto& [method, message] : calls) {
    const std::uint32_t stream = client.Call("sinew.v1." + method, message);
    EXPECT_EQ(client.Status(stream), StatusCode::RESOURCE_EXHAUSTED) << method;
  }
  EXPECT_LT(growth.megabytes(), 48u);
}

TEST_F(MemoryTest, MemoryOfAPeakIsGivenBack) {
  if (!kMemoryIsJudged) GTEST_SKIP() << "the sanitizer keeps what is freed";
  Start({"--set", "trim-seconds=0.5"});
  const TubeShape shape{.rings = 20, .joints = 200};
  v1::StreamDeformRequest request;
  v1::StreamOpen& open = *request.mutable_open();
  open.mutable_target()->mutable_source()->set_rig(stubs().UploadTube(shape));
  open.mutable_target()->mutable_source()->set_recipe_text("lbs");
  open.set_window(1);
  for (std::uint64_t frame = 1; frame <= 64; ++frame) {
    *request.add_poses() = TubePose(frame, 0, shape);  // 10 kB each
  }
  const std::string message = RawHttp2::Framed(request.SerializeAsString());
  const std::uint64_t before = ResidentBytes(pid());
  const PeakGrowth growth(pid());
  {
    RawHttp2 client(address(), kUsualWindow);
    for (int i = 0; i < 200; ++i) {
      client.Send(client.Begin("sinew.v1.DeformService/StreamDeform"), message, false);
    }
    stubs().WaitFor(&v1::ServerStats::streams, 200);
    WaitUntil([&] { return growth.megabytes() > 100; });
  }
  WaitUntil([&] {
    stubs().UploadTube();  // the server never rests
    return ResidentBytes(pid()) < before + (std::uint64_t{50} << 20);
  });
}

TEST_F(MemoryTest, UnreadProblemsAreBounded) {
  Start();
  v1::DeformClipRequest request;
  request.mutable_target()->mutable_source()->set_rig(stubs().UploadTube());
  request.mutable_target()->mutable_source()->set_recipe_text("lbs");
  for (std::uint64_t frame = 1; frame <= 10'000; ++frame) {
    request.mutable_poses()->add_poses()->set_frame(frame);  // without joints
  }
  const std::string message = request.SerializeAsString();
  const PeakGrowth growth(pid());
  constexpr int kCalls = 100;
  RawHttp2 client(address(), kNoWindow);
  for (int i = 0; i < kCalls; ++i) client.Call("sinew.v1.DeformService/DeformClip", message);
  // Another client's call takes turns with them.
  v1::DeformResponse frame;
  EXPECT_CODE(stubs().Deform(DeformOf(request.target().source().rig(), {}), frame), StatusCode::OK);
  EXPECT_LT(growth.megabytes(), kCalls * 2u);  // poses of 128 bytes each, and their message
}

}  // namespace
}  // namespace sinew::testing
