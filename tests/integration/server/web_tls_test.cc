// sinewd --web with TLS: who can connect, new certificates, and connections that never begin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/web/grpc_web.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/integration/server/web_fixture.h"
#include "tests/support/test_keys.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

struct WebTlsTest : WebFixture {
  const TestAuthority authority{"server authority"}, clients{"client authority"};
  const std::string token = AddToken("alice");

  std::string Path(const std::string& name) const { return (folder.path() / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    WriteAll(Path(name), text);
    return Path(name);
  }
  void Install(const TestAuthority& issuer) const {
    const TestCertificate made = issuer.Issue("page", "DNS:localhost,IP:127.0.0.1");
    Write("cert", made.pem);
    Write("key", made.key_pem);
  }
  void Start(std::vector<std::string> flags = {}) {
    Install(authority);
    flags.insert(flags.end(), {"--tls-cert", Path("cert"), "--tls-key", Path("key")});
    if (std::ranges::find(flags, "--web") == flags.end()) {
      flags.insert(flags.end(), {"--web", "127.0.0.1:0"});
    }
    Serve(flags);
  }
  std::string Port() const { return server->web().substr(server->web().rfind(':') + 1); }
  // A client that trusts this authority.
  std::unique_ptr<httplib::SSLClient> Client(const TestAuthority& trusted,
                                             const TestCertificate& own = {}) const {
    const std::string ca = Write("ca of client", trusted.pem());
    std::string cert, key;
    if (!own.pem.empty()) {
      cert = Write("cert of client", own.pem);
      key = Write("key of client", own.key_pem);
    }
    auto http = std::make_unique<httplib::SSLClient>("127.0.0.1", std::stoi(Port()), cert, key);
    http->set_ca_cert_path(ca.c_str());
    http->enable_server_certificate_verification(true);
    http->set_read_timeout(seconds(20));
    return http;
  }
  static int Get(httplib::SSLClient& http, const httplib::Headers& headers = {}) {
    const auto reply = http.Get("/", headers);
    return reply ? reply->status : -1;
  }
};

TEST_F(WebTlsTest, ServesPageAndCalls) {
  Start();
  const auto http = Client(authority);
  EXPECT_EQ(Get(*http), 200);
  const std::string here = "127.0.0.1:" + Port();
  for (const auto& [origin, status] : std::map<std::string, int>{
           {"https://" + here, 200}, {"http://" + here, 403}, {"https://evil.example", 403}}) {
    EXPECT_EQ(Get(*http, {{"Origin", origin}}), status) << origin;
  }
  const auto said = http->Post("/sinew.v1.InfoService/GetServerInfo", {{"Authorization", token}},
                               std::string(5, '\0'), "application/grpc-web+proto");
  ASSERT_TRUE(said);
  EXPECT_THAT(said->body, HasSubstr("grpc-status: 0\r\n"));
  httplib::Client plain("http://" + server->web());
  EXPECT_FALSE(plain.Get("/"));
  EXPECT_EQ(Get(*Client(clients)), -1) << "another authority";
}

// Bodies of many records arrive whole in both directions, whatever their pieces.
TEST_F(WebTlsTest, CarriesLargeBodies) {
  std::string page;
  for (int k = 0; k < 400'000; ++k) page += std::to_string(k);
  WriteAll(folder.path() / "share/sinew/web/index.html", page);
  Start();
  const auto http = Client(authority);
  const auto got = http->Get("/");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body, page);
  const auto said = http->Post("/sinew.v1.RigService/GetRig", {{"Authorization", token}},
                               server::Framed({.bytes = server::ToByteBuffer(page)}, false), "x");
  ASSERT_TRUE(said);
  EXPECT_THAT(said->body, HasSubstr("grpc-status: 3\r\n")) << "no GetRigRequest";
}

TEST_F(WebTlsTest, ClientsNeedACertificateWhereTheServerDemandsOne) {
  Start({"--tls-client-ca", Write("ca", clients.pem())});
  EXPECT_EQ(Get(*Client(authority, clients.Issue("artist", ""))), 200);
  EXPECT_EQ(Get(*Client(authority)), -1) << "none";
  EXPECT_EQ(Get(*Client(authority, authority.Issue("artist", ""))), -1) << "of another authority";
  EXPECT_EQ(Get(*Client(authority, clients.Issue("artist", "", seconds(-60)))), -1) << "expired";
}

TEST_F(WebTlsTest, NewConnectionsUseNewCertificates) {
  Start();
  const auto before = Client(authority);
  before->set_keep_alive(true);
  EXPECT_EQ(Get(*before), 200);
  const TestAuthority next("next authority");
  Write("cert", "damaged");
  ::kill(server->pid(), SIGHUP);
  WaitUntil([&] { return server->err().find("tls-cert") != std::string::npos; });
  EXPECT_EQ(Get(*Client(authority)), 200) << "the last good one stays";
  // Its first certificate and key are right, what follows is not.
  Install(authority);
  std::string chain = ReadAll(Path("cert"));
  Write("cert", chain + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  ::kill(server->pid(), SIGHUP);
  WaitUntil([&] {
    EXPECT_EQ(Get(*Client(authority)), 200);
    return server->err().find("web: new certificates are not used: tls-cert: certificate 2") !=
           std::string::npos;
  });
  Install(next);
  ::kill(server->pid(), SIGHUP);
  WaitUntil([&] { return Get(*Client(next)) == 200; });
  EXPECT_EQ(Get(*Client(authority)), -1);
}

// One place for a page: the next has it once the browser has left, with or without a farewell.
TEST_F(WebTlsTest, PlaceOfAPageThatLeftIsFree) {
  Start({"--max-web-connections", "3"});
  for (const char id : {'a', 'b', 'c'}) {
    WaitUntil([&] {
      const auto http = Client(authority);
      httplib::Request open;
      open.method = "POST";
      open.path = "/frames?page=" + std::string(32, id);
      open.headers = {{"Authorization", token}, {"Content-Length", "0"}};
      int status = 0;
      open.response_handler = [&](const httplib::Response& response) {
        status = response.status;
        return false;  // leaves
      };
      (void)http->send(open);
      return status == 200;
    });
  }
}

TEST_F(WebTlsTest, HandshakesThatDoNotEndAreCutOff) {
  Start();
  const auto idle = ConnectBare(server->web()), wrong = ConnectBare(server->web()),
             plain = ConnectBare(server->web()), piece = ConnectBare(server->web());
  SendBare(wrong, std::string(1 << 20, 'x'));
  SendBare(plain, "GET / HTTP/1.1\r\nHost: " + server->web() + "\r\n\r\n");
  SendBare(piece, std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
  EXPECT_EQ(Get(*Client(authority)), 200);
  ReadBare(wrong, 3000);
  ReadBare(plain, 3000);
  EXPECT_TRUE(IsClosed(wrong));
  EXPECT_TRUE(IsClosed(plain));
  for (const auto* socket : {&idle, &piece}) {
    ReadBare(*socket, 8000);
    EXPECT_TRUE(IsClosed(*socket));
  }
  EXPECT_EQ(Get(*Client(authority)), 200);
}

TEST_F(WebTlsTest, OtherMachinesNeedTlsAndTokens) {
  Start({"--web", "0.0.0.0:0", "--web-host", "page.example:8443"});
  EXPECT_EQ(Get(*Client(authority), {{"Host", "page.example:8443"}}), 200);
  EXPECT_EQ(Get(*Client(authority), {{"Host", "evil.example:8443"}}), 403);
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--web", "0.0.0.0:0"},
           {"--web", "0.0.0.0:0", "--tls-cert", Path("cert"), "--tls-key", Path("key")},
           {"--web", "0.0.0.0:0", "--token-file", Path("tokens")}}) {
    const auto refused = Run(flags);
    EXPECT_EQ(refused->Wait(), 78);
    EXPECT_THAT(refused->err(), HasSubstr("web: 0.0.0.0:0 can be reached from other machines"));
  }
}

}  // namespace
}  // namespace sinew::testing
