// sinewd --web: the page's port of a server with tokens, limits and an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/web/grpc_web.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/integration/server/stubs.h"
#include "tests/integration/server/thread_names.h"
#include "tests/integration/server/web_fixture.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using server::Descriptor;
using server::Framed;
using server::ToByteBuffer;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kPage(32, 'a');

std::string Framed(const google::protobuf::Message& message) {
  return Framed({.bytes = ToByteBuffer(message.SerializeAsString())}, false);
}

struct WebTest : WebFixture {
  std::unique_ptr<httplib::Client> http;

  void Start(std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {"--web", "0"});
    Serve(flags);
    http = std::make_unique<httplib::Client>("http://" + server->web());
    http->set_read_timeout(std::chrono::seconds(20));
  }
  httplib::Headers With(const std::string& token) const {
    return token.empty() ? httplib::Headers{} : httplib::Headers{{"Authorization", token}};
  }
  // The body of a gRPC-Web call.
  std::string Call(const std::string& method, const httplib::Headers& headers,
                   const std::string& body = std::string(5, '\0')) {
    const auto reply =
        http->Post("/sinew.v1." + method, headers, body, "application/grpc-web+proto");
    return reply ? reply->body : "";
  }
  std::string Info(const httplib::Headers& headers) {
    return Call("InfoService/GetServerInfo", headers);
  }
  // The status and the beginning of a page's endless response.
  std::string OpenPage(const Descriptor& socket, const std::string& token) const {
    SendBare(socket, "POST /frames?page=" + kPage + " HTTP/1.1\r\nHost: " + server->web() +
                         "\r\nContent-Length: 0\r\n" +
                         (token.empty() ? "" : "Authorization: " + token + "\r\n") + "\r\n");
    return ReadBare(socket, 700);
  }
};

TEST_F(WebTest, EachCallNeedsTheTokenAndScopesOfItsCaller) {
  const std::string all = AddToken("alice"), other = AddToken("bob"),
                    reads = AddToken("eve", R"(, "scopes": ["rigs:read"])");
  Start();
  EXPECT_EQ(http->Get("/")->body, "<p>page</p>");
  EXPECT_THAT(Info({}), HasSubstr("grpc-status: 16\r\n"));
  EXPECT_THAT(Info(With(all + "x")), HasSubstr("grpc-status: 16\r\n"));
  EXPECT_THAT(Info(With(all)), HasSubstr("grpc-status: 0\r\n"));
  EXPECT_THAT(Info(With(all)), HasSubstr("max-web-connections"));  // among the limits
  EXPECT_THAT(Call("RigService/ListRigs", With(reads)), HasSubstr("grpc-status: 0\r\n"));
  EXPECT_THAT(Call("RigService/UploadRig", With(reads)),
              HasSubstr("grpc-status: 7\r\ngrpc-message: call: needs the scope rigs:write"));
  EXPECT_THAT(OpenPage(ConnectBare(server->web()), ""), HasSubstr(" 401 "));
  EXPECT_THAT(OpenPage(ConnectBare(server->web()), all + "x"), HasSubstr(" 401 "));
  const Descriptor page = ConnectBare(server->web());
  EXPECT_THAT(OpenPage(page, all), HasSubstr(" 200 "));
  for (const auto& [token, status] :
       std::vector<std::pair<std::string, int>>{{"", 403}, {other, 403}, {all, 204}}) {
    v1::StreamDeformRequest request;
    request.mutable_open()->mutable_target()->set_session("sessions/x");
    EXPECT_EQ(http->Post("/poses?page=" + kPage + "&call=1", With(token),
                         request.SerializeAsString(), "x")
                  ->status,
              status)
        << token;
  }
  // The page asks for it; browsers log each 404 as an error.
  EXPECT_EQ(http->Get("/view.json", With(all))->body, "null");
  EXPECT_EQ(http->Get("/view/0/colours", With(all))->status, 404);
  // gRPC would abort the program.
  EXPECT_THAT(Info({{"Authorization", "Bearer \xc3\xa4"}}), HasSubstr("need printable ASCII"));
  EXPECT_THAT(Info(With(all)), HasSubstr("grpc-status: 0\r\n"));
}

TEST_F(WebTest, CallsCountForTheAddressThatATrustedProxyReports) {
  const httplib::Headers one{{"X-Forwarded-For", "10.0.0.1"}}, two{{"X-Forwarded-For", "10.0.0.2"}};
  const auto limited = HasSubstr("grpc-status: 8\r\n");
  for (const bool trusts : {false, true}) {
    std::vector<std::string> flags{"--max-calls-per-second", "3", "--insecure"};
    if (trusts) flags.insert(flags.end(), {"--trusted-proxy", "127.0.0.1"});
    Start(flags);
    std::string said;
    for (int call = 0; call < 5; ++call) said = Info(one);
    EXPECT_THAT(said, limited);
    EXPECT_EQ(Info(two).find("grpc-status: 8") == std::string::npos, trusts);
  }
}

TEST_F(WebTest, AnswersTheHostOfAProxyWithTls) {
  Start({"--web-host", "page.example", "--insecure"});
  const auto get = [&](const std::string& host, const std::string& origin) {
    httplib::Headers headers{{"Host", host}};
    if (!origin.empty()) headers.emplace("Origin", origin);
    return http->Get("/", headers)->status;
  };
  EXPECT_EQ(get("page.example", ""), 200);
  EXPECT_EQ(get("page.example", "https://page.example"), 200);
  EXPECT_EQ(get("page.example", "http://page.example"), 403);
  EXPECT_EQ(get("page.example", "https://evil.example"), 403);
  EXPECT_EQ(get("evil.example", "https://page.example"), 403);
  EXPECT_EQ(get(server->web(), "http://" + server->web()), 200);
}

// Without TLS the page of an open port is not that of https.
TEST_F(WebTest, AnswersItsHostWithoutTlsWhereThatIsAllowed) {
  Serve({"--web", "0.0.0.0:0", "--web-host", "box.lan:8080", "--insecure"});
  httplib::Client open("http://127.0.0.1" + server->web().substr(server->web().find(':')));
  const auto get = [&](const std::string& origin) {
    return open.Get("/", {{"Host", "box.lan:8080"}, {"Origin", origin}})->status;
  };
  EXPECT_EQ(get("http://box.lan:8080"), 200);
  EXPECT_EQ(get("https://box.lan:8080"), 403);
}

TEST_F(WebTest, UploadsARigInPieces) {
  Start();
  const std::string bytes = TubeRig().SerializeAsString(), name = RigNameOf(bytes);
  std::string body;
  const std::size_t piece = bytes.size() / 3 + 1;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    v1::UploadRigRequest request;
    if (at == 0) {
      request.mutable_header()->set_sha256(name.substr(name.find('-') + 1));
      request.mutable_header()->set_size_bytes(bytes.size());
    }
    request.set_offset(at);
    request.set_data(bytes.substr(at, piece));
    body += Framed(request);
  }
  const std::string said = Call("RigService/UploadRig", {}, body);
  EXPECT_THAT(said, HasSubstr("grpc-status: 0\r\n"));
  EXPECT_THAT(said, HasSubstr(name));
  EXPECT_EQ(
      http->Post("/sinew.v1.RigService/UploadRig", body.substr(0, body.size() - 1), "x")->status,
      400);
  EXPECT_EQ(http->Post("/sinew.v1.RigService/UploadRig", std::string(), "x")->status, 400);
  const std::string large = Framed({.bytes = ToByteBuffer(std::string(5 << 20, 'x'))}, false);
  for (const auto& [method, status] :
       std::map<std::string, std::string>{{"UploadRig", " 400 "}, {"GetRig", " 413 "}}) {
    const Descriptor socket = ConnectBare(server->web());  // what is refused is not read
    SendBare(socket, "POST /sinew.v1.RigService/" + method + " HTTP/1.1\r\nHost: " + server->web() +
                         "\r\nContent-Length: " + std::to_string(large.size()) + "\r\n\r\n" +
                         large.substr(0, 100));
    EXPECT_THAT(ReadBare(socket, 3000), HasSubstr(status)) << method;
  }
}

TEST_F(WebTest, BoundsConnectionsAndHeaders) {
  Start({"--max-web-connections", "3"});
  const std::vector<Descriptor> three = [&] {
    std::vector<Descriptor> sockets;
    for (int k = 0; k < 3; ++k) sockets.push_back(ConnectBare(server->web()));
    return sockets;
  }();
  WaitUntil([&] { return IsClosed(ConnectBare(server->web())); });
  SendBare(three[0], "GET / HTTP/1.1\r\nHost: " + server->web() + "\r\n");
  for (int k = 0; k < 80; ++k) SendBare(three[0], "X: " + std::string(1000, 'x') + "\r\n");
  SendBare(three[0], "\r\n");
  EXPECT_THAT(ReadBare(three[0], 3000), Not(HasSubstr(" 200 ")));
}

TEST_F(WebTest, EndsWithTheServer) {
  Start({"--drain-seconds", "10"});
  const Descriptor page = ConnectBare(server->web()), slow = ConnectBare(server->web()),
                   idle = ConnectBare(server->web());
  EXPECT_THAT(OpenPage(page, ""), HasSubstr(" 200 "));
  SendBare(slow, "GET / HTTP/1.1\r\nHost:");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(server->Stop(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
  EXPECT_EQ(ConnectBare(server->web()).fd(), -1);
}

TEST_F(WebTest, HasOneThreadMoreWhileIdle) {
  const auto without = Run({}), with = Run({"--web", "0"});
  std::multiset<std::string> and_web = kIdleThreads;
  and_web.insert("web");
  WaitUntil([&] { return ThreadNames(without->pid()) == kIdleThreads; });
  WaitUntil([&] { return ThreadNames(with->pid()) == and_web; });
}

TEST_F(WebTest, SaysHowToGetAMissingPage) {
  std::filesystem::remove(folder.path() / "share/sinew/web/index.html");
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--web", "0"}, {"--web", "0", "--check"}}) {
    const auto failed = Run(flags);
    EXPECT_EQ(failed->Wait(), 78);
    EXPECT_THAT(failed->err(), HasSubstr("the page is not installed: "));
    EXPECT_THAT(failed->err(), HasSubstr("--target web_page"));
  }
}

TEST_F(WebTest, SaysThatItsPortIsTaken) {
  Start();
  const std::string port = server->web().substr(server->web().find(':') + 1);
  const auto second = Run({"--web", port});
  EXPECT_EQ(second->Wait(), 69);
  EXPECT_THAT(second->err(), HasSubstr("sinewd: web: port " + port));
}

}  // namespace
}  // namespace sinew::testing
