// The client library and the command line against a server with TLS and tokens.
#include <gtest/gtest.h>

#include <string>

#include "server/access/tokens.h"
#include "server/process/server.h"
#include "sinew/client.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_keys.h"
#include "tests/support/wait_until.h"

namespace sinew::client {
namespace {

using sinew::testing::FakeClock;
using sinew::testing::ReadAll;
using sinew::testing::TemporaryFolder;
using sinew::testing::TestAuthority;
using sinew::testing::TestCertificate;
using sinew::testing::WaitUntil;
using sinew::testing::WriteAll;

class ClientAccess : public ::testing::Test {
 protected:
  ClientAccess() {
    config.network.listen = {"127.0.0.1:0"};
    config.network.http = "off";
    config.log.level = "off";
    options.deadline = absl::Seconds(60);
    options.retry.max_attempts = 1;
  }
  std::string Write(const std::string& name, const std::string& text) const {
    WriteAll(folder / name, text);
    return folder / name;
  }
  void UseTls() {
    const TestCertificate server = authority.Issue("server", "DNS:sinew.example,IP:127.0.0.1");
    config.access.tls_cert = Write("cert", server.pem);
    config.access.tls_key = Write("key", server.key_pem);
    options.tls = TlsOptions{.ca_file = Write("ca", authority.pem())};
  }
  // Makes it the only token of the server's file.
  std::string UseToken() {
    const auto made = server::MakeToken("alice");
    config.access.token_file = Write("tokens", made->line);
    return made->token;
  }
  void Start() {
    auto started = server::Server::Start(config, clock);
    ASSERT_TRUE(started.ok()) << started.status();
    running = *std::move(started);
    options.address = running->addresses().front();
  }
  absl::Status Try(const ClientOptions& with) const {
    const auto client = Client::Connect(with);
    return client.ok() ? client->GetServerInfo().status() : client.status();
  }
  absl::Status Try() const { return Try(options); }

  const TemporaryFolder folder;
  const TestAuthority authority{"authority"};
  FakeClock clock;
  server::Config config;
  ClientOptions options;
  std::unique_ptr<server::Server> running;
};

TEST_F(ClientAccess, TlsVerifiesTheServer) {
  UseTls();
  Start();
  EXPECT_TRUE(Try().ok()) << Try();
  ClientOptions other = options;
  other.tls->server_name = "sinew.example";
  EXPECT_TRUE(Try(other).ok()) << Try(other);
  other.tls->server_name = "other.example";
  EXPECT_TRUE(absl::IsUnavailable(Try(other))) << Try(other);
  other = options;
  other.tls->ca_file = Write("other ca", TestAuthority("other").pem());
  EXPECT_TRUE(absl::IsUnavailable(Try(other))) << Try(other);
  other.tls->ca_file.clear();  // those of the system
  EXPECT_TRUE(absl::IsUnavailable(Try(other))) << Try(other);
  other.tls.reset();
  EXPECT_TRUE(absl::IsUnavailable(Try(other))) << Try(other);
}

TEST_F(ClientAccess, CertificateOfTheClientIsSent) {
  UseTls();
  const TestAuthority clients("clients");
  config.access.tls_client_ca = Write("clients", clients.pem());
  Start();
  EXPECT_TRUE(absl::IsUnavailable(Try())) << Try();
  const TestCertificate mine = clients.Issue("me", "DNS:me");
  options.tls->cert_file = Write("my cert", mine.pem);
  options.tls->key_file = Write("my key", mine.key_pem);
  EXPECT_TRUE(Try().ok()) << Try();
}

// A client that outlives its certificate: the next connection uses the new one.
TEST_F(ClientAccess, NewCertificatesOfTheFilesAreUsed) {
  UseTls();
  const TestAuthority old("old clients"), next("new clients");
  config.access.tls_client_ca = Write("clients", old.pem());
  Start();
  const auto use = [&](const TestCertificate& mine) {
    options.tls->cert_file = Write("my cert", mine.pem);
    options.tls->key_file = Write("my key", mine.key_pem);
  };
  use(old.Issue("me", "DNS:me"));
  const Client client = Client::Connect(options).value();
  EXPECT_TRUE(client.GetServerInfo().ok()) << client.GetServerInfo().status();
  // The server comes back with other authorities, of both sides.
  config.network.listen = running->addresses();
  running.reset();
  const TestAuthority authorities("new authority");
  const TestCertificate server = authorities.Issue("server", "IP:127.0.0.1");
  Write("cert", server.pem);
  Write("key", server.key_pem);
  Write("clients", next.pem());
  Start();
  EXPECT_TRUE(absl::IsUnavailable(client.GetServerInfo().status()));
  Write("ca", authorities.pem());
  use(next.Issue("me", "DNS:me"));
  WaitUntil([&] { return client.GetServerInfo().ok(); });
  // Still, only the named server will do.
  running.reset();
  const TestCertificate other = authorities.Issue("other", "IP:127.0.0.2");
  Write("cert", other.pem);
  Write("key", other.key_pem);
  Start();
  EXPECT_TRUE(absl::IsUnavailable(client.GetServerInfo().status()));
}

TEST_F(ClientAccess, UnusableFilesAreNamed) {
  options.tls = TlsOptions{};
  const TestCertificate one = authority.Issue("one", ""), two = authority.Issue("two", "");
  const std::string cert = Write("one", one.pem), key = Write("two", two.key_pem);
  const auto names = [&](const TlsOptions& tls, const std::string& what) {
    options.tls = tls;
    const absl::Status status = Client::Connect(options).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find(what), absl::string_view::npos) << status;
  };
  names({.ca_file = folder / "missing"}, "No such file");
  names({.ca_file = folder.path().string()}, "ca_file");
  names({.ca_file = key}, "ca_file");
  names({.cert_file = cert}, "both or none");
  names({.cert_file = cert, .key_file = key}, "key_file");
  names({.cert_file = key, .key_file = key}, "cert_file");
  options.tls.reset();
  options.token_file = folder / "missing";
  EXPECT_TRUE(absl::IsInvalidArgument(Client::Connect(options).status()));
  options.token_file = Write("token", "two tokens\n");
  EXPECT_TRUE(absl::IsInvalidArgument(Client::Connect(options).status()));
  options.token_file = Write("token", "\n");
  EXPECT_TRUE(absl::IsInvalidArgument(Client::Connect(options).status()));
  options.token = "x";
  EXPECT_TRUE(absl::IsInvalidArgument(Client::Connect(options).status()));
}

TEST_F(ClientAccess, TokenIsSent) {
  const std::string token = UseToken();
  Start();
  EXPECT_TRUE(absl::IsUnauthenticated(Try())) << Try();
  options.token = token;
  EXPECT_TRUE(Try().ok()) << Try();
  options.token.clear();
  options.token_file = Write("token", token + "\n");
  EXPECT_TRUE(Try().ok()) << Try();
}

TEST_F(ClientAccess, NewTokenOfTheFileIsUsed) {
  const std::string old = UseToken();
  Start();
  options.token_file = Write("token", old);
  const Client client = Client::Connect(options).value();
  EXPECT_TRUE(client.GetServerInfo().ok());
  const std::string fresh = UseToken();  // ends the old one
  ClientOptions with_old = options;
  with_old.token_file.clear();
  with_old.token = old;
  WaitUntil([&] { return absl::IsUnauthenticated(Try(with_old)); },
            [&] { clock.Advance(std::chrono::milliseconds(500)); });
  EXPECT_TRUE(absl::IsUnauthenticated(client.GetServerInfo().status()))
      << "the file holds it still";
  WriteAll(options.token_file, fresh);
  EXPECT_TRUE(client.GetServerInfo().ok());
}

TEST_F(ClientAccess, TokenNeedsTlsBeyondThisMachine) {
  options.token = "secret";
  const auto connects = [&](const std::string& address) {
    options.address = address;
    return Client::Connect(options).ok();
  };
  for (const char* local : {"127.0.0.1", "127.9.9.9:1", "localhost", "::1", "[::1]:5", "unix:/s"}) {
    EXPECT_TRUE(connects(local)) << local;
  }
  const std::vector<std::string> remote = {"10.0.0.1",
                                           "host:1",
                                           "2001:db8::1",
                                           "localhost.evil:1",
                                           "127.0.0.1.evil",
                                           "dns:///localhost:1",
                                           "ipv4:127.0.0.1:1,10.0.0.1:1"};
  for (const std::string& address : remote) EXPECT_FALSE(connects(address)) << address;
  options.token_without_tls = true;
  for (const std::string& address : remote) EXPECT_TRUE(connects(address)) << address;
  options.token_without_tls = false;
  options.tls = TlsOptions{};
  for (const std::string& address : remote) EXPECT_TRUE(connects(address)) << address;
}

}  // namespace
}  // namespace sinew::client
