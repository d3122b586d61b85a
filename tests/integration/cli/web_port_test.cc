// The port behind `sinew view`, with a server, by a plain HTTP client.
#include "server/web/web_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/lib/rpc/channel.h"
#include "client/lib/rpc/connection.h"
#include "client/models/models.h"
#include "server/process/server.h"
#include "server/web/grpc_web.h"
#include "sinew/client.h"
#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/info_service.pb.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace sinew::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kPage(32, 'a');

std::uint32_t BigEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes.substr(0, 4)) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// The endless response of a page, read on a thread.
class Frames {
 public:
  Frames(int port, const httplib::Headers& headers) : client_("127.0.0.1", port) {
    client_.set_read_timeout(std::chrono::seconds(20));
    thread_ = std::thread([this, headers] {
      httplib::Request request;
      request.method = "POST";
      request.path = "/frames?page=" + kPage;
      request.headers = headers;
      request.content_receiver = [this](const char* data, std::size_t size, std::uint64_t,
                                        std::uint64_t) {
        const std::lock_guard lock(mutex_);
        bytes_.append(data, size);
        changed_.notify_all();
        return !closed_;
      };
      client_.send(request);
      const std::lock_guard lock(mutex_);
      ended_ = true;
      changed_.notify_all();
    });
  }
  ~Frames() {
    Close();
    thread_.join();
  }

  // The browser leaves.
  void Close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    client_.stop();
  }

  struct Item {
    int flags = -1;  // no item
    std::uint32_t call = 0;
    std::string bytes;
  };
  Item Next() {
    std::unique_lock lock(mutex_);
    const auto whole = [this] {
      return bytes_.size() >= 9 && bytes_.size() >= 9 + BigEndian(bytes_.substr(1));
    };
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return whole() || ended_; });
    if (!whole()) return {};
    const std::uint32_t size = BigEndian(bytes_.substr(1));
    Item item = {static_cast<unsigned char>(bytes_[0]), BigEndian(bytes_.substr(5)),
                 bytes_.substr(9, size)};
    bytes_.erase(0, 9 + size);
    return item;
  }
  bool WaitForEnd() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return ended_; });
  }

 private:
  httplib::Client client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string bytes_;
  bool closed_ = false, ended_ = false;
  std::thread thread_;
};

struct WebPortTest : ::testing::Test {
  testing::TemporaryFolder folder;
  std::unique_ptr<Server> server;
  std::optional<client::Client> client;
  std::unique_ptr<WebPort> port;
  client::Model model = client::Tube({.rings = 20, .segments = 16, .joints = 4, .frames = 8});
  std::string rig;
  std::unique_ptr<httplib::Client> http;
  const httplib::Headers token{{"Authorization", "Bearer secret"}};

  void SetUp() override {
    Config config;
    config.network.listen.clear();
    config.network.http = "off";
    config.log.level = "error";
    auto started = Server::Start(config);
    ASSERT_TRUE(started.ok()) << started.status();
    server = *std::move(started);
    client = *client::FromChannel(*server->InProcessChannel(), {});
    const auto uploaded = client->UploadRig(*client::EncodeRig(model.rig));
    ASSERT_TRUE(uploaded.ok()) << uploaded.status();
    rig = uploaded->rig.name;
    testing::WriteAll(folder / "index.html", "<p>page</p>");
    const auto connection = client::ConnectionOf(*client);
    auto opened = WebPort::Start(
        {.page_folder = folder.path().string(),
         .token = "secret",
         .upstream = {.channel = connection->channel(),
                      .context =
                          [connection](const WebCaller&) {
                            return connection->NewContext(absl::InfiniteFuture(), {}, {});
                          }},
         .document = [](const std::string& path) -> absl::StatusOr<WebPort::Document> {
           if (path == "/view.json") return WebPort::Document{"application/json", "{}"};
           return absl::NotFoundError(path + ": none");
         }});
    ASSERT_TRUE(opened.ok()) << opened.status();
    port = *std::move(opened);
    http = std::make_unique<httplib::Client>("127.0.0.1", port->port());
    http->set_read_timeout(std::chrono::seconds(20));
  }
  void TearDown() override {
    port.reset();
    client.reset();
    if (server != nullptr) server->Stop();
  }

  int Get(const std::string& path, httplib::Headers headers) {
    const auto reply = http->Get(path, headers);
    return reply ? reply->status : 0;
  }
  // The body of a gRPC-Web call.
  std::string Call(const std::string& method, const std::string& message) {
    const std::string body = Framed({.bytes = ToByteBuffer(message)}, false);
    const auto reply = http->Post("/sinew.v1." + method, token, body, "application/grpc-web+proto");
    return reply && reply->status == 200 ? reply->body : "";
  }
  int Send(std::uint32_t call, const v1::StreamDeformRequest& request) {
    const auto reply = http->Post("/poses?page=" + kPage + "&call=" + std::to_string(call), token,
                                  request.SerializeAsString(), "application/x-protobuf");
    return reply ? reply->status : 0;
  }
  v1::StreamDeformRequest Opener(const std::string& recipe) const {
    v1::StreamDeformRequest request;
    v1::StreamOpen& open = *request.mutable_open();
    auto& source = *open.mutable_target()->mutable_source();
    source.set_rig(rig);
    source.set_recipe_text(recipe);
    open.mutable_layout()->set_joint_format(v1::JOINT_FORMAT_MATRIX_3X4);
    open.mutable_layout()->set_space(v1::SPACE_MODEL);
    open.mutable_output()->set_chunk_bytes(16 << 20);
    open.set_mode(v1::ORDER_MODE_ORDERED);
    return request;
  }
  void AddPose(std::uint64_t frame, v1::StreamDeformRequest& request) const {
    const std::size_t bytes = model.rig.joints.size() * 48;
    v1::Pose& pose = *request.add_poses();
    pose.set_frame(frame);
    pose.set_joint_transforms(reinterpret_cast<const char*>(model.clip.joint_transforms.data()) +
                                  (frame - 1) % model.clip.frames * bytes,
                              bytes);
  }
  // The page may not have opened its response yet.
  void StartCall(std::uint32_t call, const std::string& recipe) {
    testing::WaitUntil([&] { return Send(call, Opener(recipe)) == 204; });
  }
  // Waits for a number of open streams at the server.
  void Streams(std::uint64_t count) {
    testing::WaitUntil([&] {
      const auto info = client->GetServerInfo();
      return info.ok() && info->stats.streams == count;
    });
  }
};

TEST_F(WebPortTest, ServesItsPageOnly) {
  const auto page = http->Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->body, "<p>page</p>");
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"), StartsWith("default-src 'none'"));
  EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
  EXPECT_FALSE(page->has_header("Access-Control-Allow-Origin"));
  const auto unpacked = http->Get("/", httplib::Headers{{"Accept-Encoding", "br, gzip"}});
  ASSERT_TRUE(unpacked);
  EXPECT_FALSE(unpacked->has_header("Content-Encoding"));
  EXPECT_EQ(unpacked->get_header_value_count("Content-Type"), 1);
  EXPECT_EQ(Get("/none.js", {}), 404);
  EXPECT_EQ(Get("/../" + folder.path().filename().string() + "/index.html", {}), 404);
  EXPECT_EQ(Get("/view.json", token), 200);
  EXPECT_EQ(Get("/clips/0", token), 404);
}

TEST_F(WebPortTest, NeedsTokenHostAndOrigin) {
  const std::string here = "127.0.0.1:" + std::to_string(port->port());
  EXPECT_EQ(Get("/view.json", {}), 401);
  EXPECT_EQ(Get("/view.json", {{"Authorization", "Bearer secreT"}}), 401);
  EXPECT_EQ(Get("/view.json", {{"Authorization", "Bearer "}}), 401);
  EXPECT_EQ(Get("/", {{"Host", "evil.example:80"}}), 403);
  EXPECT_EQ(Get("/", {{"Host", here}, {"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(Get("/", {{"Host", here}, {"Origin", "http://" + here}}), 200);
  const auto call = http->Post("/sinew.v1.InfoService/GetServerInfo", std::string(5, '\0'), "x");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->status, 401);
  for (const char* path : {"/frames", "/poses"}) {
    const auto reply = http->Post(path, "", "x");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 401) << path;
  }
}

TEST_F(WebPortTest, RefusesWhatTheLibraryWouldUnpack) {
  EXPECT_EQ(Get("/", {{"Range", "bytes=0-,0-,0-"}}), 416);
  httplib::Headers packed = token;
  packed.emplace("Content-Encoding", "gzip");
  const auto reply = http->Post("/poses?page=" + kPage + "&call=1", packed, "x", "x");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 415);
  const auto chunked = http->Post(
      "/poses?page=" + kPage + "&call=1", token,
      [](std::size_t, httplib::DataSink& sink) {
        sink.done();
        return true;
      },
      "x");
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->status, 501);
}

// A page elsewhere can send a body of its choice; it must not become a request.
TEST_F(WebPortTest, DoesNotAnswerTheBodyOfARefusedRequest) {
  const std::string here = "127.0.0.1:" + std::to_string(port->port());
  const std::string body = "GET / HTTP/1.1\r\nHost: " + here + "\r\n\r\n";
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string chunks = "Transfer-Encoding: chunked\r\n";
  const struct {
    std::string method, headers, status;
  } rows[] = {{"POST", length, " 401 "},
              {"GET", length, " 400 "},
              {"DELETE", length, " 400 "},
              {"DELETE", chunks, " 501 "},
              {"POST", "Content-Length: 0\r\n" + chunks, " 501 "}};
  for (const auto& [method, headers, status] : rows) {
    const Descriptor socket = testing::ConnectBare(here);
    testing::SendBare(
        socket, method + " /poses HTTP/1.1\r\nHost: " + here + "\r\n" + headers + "\r\n" + body);
    const std::string all = testing::ReadBare(socket, 3000);
    EXPECT_THAT(all, HasSubstr(status)) << method << headers;
    EXPECT_THAT(all, ::testing::Not(HasSubstr("<p>page</p>"))) << method << headers;
  }
}

TEST_F(WebPortTest, ForwardsCallsAndErrors) {
  const std::string reply = Call("InfoService/GetServerInfo", "");
  ASSERT_GT(reply.size(), 5u);
  EXPECT_EQ(reply[0], 0);
  v1::GetServerInfoResponse info;
  EXPECT_TRUE(info.ParseFromString(reply.substr(5, BigEndian(reply.substr(1)))));
  EXPECT_FALSE(info.version().empty());
  EXPECT_THAT(reply, HasSubstr("grpc-status: 0\r\n"));
  const std::string error = Call("RigService/GetRig", "\n\1x");
  EXPECT_EQ(static_cast<unsigned char>(error[0]), kTrailer);
  EXPECT_THAT(error, HasSubstr("grpc-status: 3\r\ngrpc-message: name: got \"x\""));
  EXPECT_THAT(error, HasSubstr("grpc-status-details-bin: "));
  EXPECT_THAT(Call("RigService/None", ""), HasSubstr("grpc-status: 12"));
  for (const std::string& body : {std::string(), std::string("\0\0\0\0\1", 5),
                                  std::string("\1\0\0\0\0", 5), std::string("\0\0\0\0\0\0", 6)}) {
    const auto bad = http->Post("/sinew.v1.InfoService/GetServerInfo", token, body, "x");
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->status, 400) << body.size();
  }
  const auto other = http->Post("/grpc.reflection.v1alpha.ServerReflection/X", token, "", "x");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, 404);
}

TEST_F(WebPortTest, StreamsSeveralCallsOfAPage) {
  EXPECT_EQ(Send(1, Opener("lbs")), 409);  // before /frames is open
  Frames frames(port->port(), token);
  StartCall(1, "lbs");
  StartCall(2, "dqs");
  std::string eighth[3];
  for (std::uint64_t frame = 1; frame <= 20; ++frame) {
    for (const std::uint32_t call : {1u, 2u}) {
      v1::StreamDeformRequest request;
      if (frame > 1) request.set_received(frame - 1);
      AddPose(frame, request);
      EXPECT_EQ(Send(call, request), 204);
    }
    for (int answers = 0; answers < 2;) {
      const Frames::Item item = frames.Next();
      ASSERT_EQ(item.flags, 0) << item.bytes;
      v1::StreamDeformResponse response;
      ASSERT_TRUE(response.ParseFromString(item.bytes));
      for (const v1::Frame& each : response.frames()) {
        EXPECT_EQ(each.frame(), frame);
        if (frame == 8) eighth[item.call] = each.positions();
        ++answers;
      }
    }
  }
  const auto character = client::Character::Create(*client, *client::EncodeRig(model.rig), "dqs");
  const auto direct = character->Deform({}, client::PoseOf(model.clip, 7));
  ASSERT_TRUE(direct.ok()) << direct.status();
  std::vector<float> positions(model.rig.vertices() * 3);
  ASSERT_TRUE(direct->CopyPositions(positions).ok());
  EXPECT_EQ(eighth[2], std::string(reinterpret_cast<const char*>(positions.data()),
                                   positions.size() * sizeof(float)));
  EXPECT_NE(eighth[1], eighth[2]);
}

TEST_F(WebPortTest, EndsCallsWithTheirStatus) {
  Frames frames(port->port(), token);
  StartCall(1, "no_method");
  Frames::Item item = frames.Next();
  EXPECT_EQ(item.flags, kTrailer);
  EXPECT_EQ(item.call, 1u);
  EXPECT_THAT(item.bytes, HasSubstr("grpc-status: 3\r\n"));
  EXPECT_EQ(Send(1, Opener("lbs")), 410);  // numbers are not used twice
  StartCall(2, "lbs");
  EXPECT_EQ(frames.Next().flags, 0);  // opened
  const auto ended = http->Delete("/poses?page=" + kPage + "&call=2", token);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->status, 204);
  item = frames.Next();
  EXPECT_EQ(item.flags, kTrailer);
  EXPECT_THAT(item.bytes, HasSubstr("grpc-status: 1\r\n"));
  Streams(0);
}

TEST_F(WebPortTest, BoundsPagesAndCalls) {
  Frames frames(port->port(), token);
  StartCall(1, "lbs");
  const auto second = http->Post("/frames?page=" + kPage, token, "", "x");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 409);
  for (const std::string& page : {std::string(), std::string("abc"), std::string(32, 'A')}) {
    const auto bad = http->Post("/frames?page=" + page, token, "", "x");
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->status, 400) << page;
  }
  for (const char* call : {"0", "-1", "x", "", "12345678901"}) {
    const auto bad = http->Post("/poses?page=" + kPage + "&call=" + call, token, "", "x");
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->status, 400) << call;
  }
  for (std::uint32_t call = 2; call <= 8; ++call) EXPECT_EQ(Send(call, Opener("lbs")), 204);
  EXPECT_EQ(Send(9, Opener("lbs")), 429);
  (void)http->Post("/poses?page=" + kPage + "&call=1", token, std::string((4 << 20) + 65, 'x'),
                   "x");
  EXPECT_EQ(Get("/view.json", token), 200);  // the port is there still
}

TEST_F(WebPortTest, EndsStreamsWhenTheBrowserLeaves) {
  {
    Frames frames(port->port(), token);
    StartCall(1, "lbs");
    Streams(1);
  }
  Streams(0);
  Frames again(port->port(), token);  // the id is free
  StartCall(1, "lbs");
  EXPECT_EQ(again.Next().flags, 0);
}

TEST_F(WebPortTest, StopsWithOpenResponses) {
  Frames frames(port->port(), token);
  StartCall(1, "lbs");
  http->set_keep_alive(true);
  EXPECT_EQ(Get("/", {}), 200);  // its connection stays
  const auto start = std::chrono::steady_clock::now();
  port.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  EXPECT_TRUE(frames.WaitForEnd());
  Streams(0);
}

TEST_F(WebPortTest, TellsThePageThatTheServerIsGone) {
  Frames frames(port->port(), token);
  StartCall(1, "lbs");
  EXPECT_EQ(frames.Next().flags, 0);
  server->Stop();
  Frames::Item item = frames.Next();
  while (item.flags == 0) item = frames.Next();  // a notice
  EXPECT_EQ(item.flags, kTrailer);
  EXPECT_THAT(item.bytes, HasSubstr("grpc-status: 1"));  // 1 or 14
  EXPECT_THAT(Call("InfoService/GetServerInfo", ""), HasSubstr("grpc-status: 14"));
}

TEST(WebPort, NeedsAPageAndAFreePort) {
  WebPort::Options options;
  options.page_folder = "/none";
  EXPECT_TRUE(absl::IsNotFound(WebPort::Start(options).status()));
  const testing::TemporaryFolder folder;
  testing::WriteAll(folder / "index.html", "");
  options.page_folder = folder.path().string();
  const auto first = WebPort::Start(options);
  ASSERT_TRUE(first.ok()) << first.status();
  options.port = (*first)->port();
  EXPECT_TRUE(absl::IsUnavailable(WebPort::Start(options).status()));
}

}  // namespace
}  // namespace sinew::server
