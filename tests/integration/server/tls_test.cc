// TLS: certificates of server and clients, and their change.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/integration/server/access_fixture.h"
#include "tests/support/test_keys.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

class TlsTest : public AccessTest {
 protected:
  TlsTest() { config.access.token_file.clear(); }
  void Install(const TestCertificate& certificate) {
    WriteAll(folder_ / "cert", certificate.pem);
    WriteAll(folder_ / "key", certificate.key_pem);
    config.access.tls_cert = folder_ / "cert";
    config.access.tls_key = folder_ / "key";
  }
  void RequireClients() {
    WriteAll(folder_ / "ca", clients_.pem());
    config.access.tls_client_ca = folder_ / "ca";
  }
  TestCertificate ForServer(const std::string& name,
                            std::chrono::seconds ends = std::chrono::hours(1)) const {
    return authority_.Issue(name, "DNS:" + name + ",IP:127.0.0.1", ends);
  }
  std::shared_ptr<grpc::Channel> Connect(const std::string& ca,
                                         const TestCertificate& client = {}) const {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = ca;
    options.pem_private_key = client.key_pem;
    options.pem_cert_chain = client.pem;
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->addresses().front(), grpc::SslCredentials(options),
                                     arguments);
  }
  StatusCode Try(const std::shared_ptr<grpc::Channel>& channel) {
    return CallMethod(channel, "sinew.v1.InfoService/GetServerInfo", {}).error_code();
  }

  const TestAuthority authority_{"server authority"}, clients_{"client authority"};
};

TEST_F(TlsTest, ClientsVerifyTheServer) {
  Install(ForServer("one"));
  Start();
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::OK);
  EXPECT_EQ(Try(Connect(clients_.pem())), StatusCode::UNAVAILABLE) << "another authority";
  EXPECT_EQ(Try(channel_), StatusCode::UNAVAILABLE) << "without TLS";
}

TEST_F(TlsTest, ExpiredCertificateOfTheServerIsRefused) {
  Install(ForServer("one", std::chrono::hours(-1)));
  Start();
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, ClientsNeedACertificateOfTheirAuthority) {
  Install(ForServer("one"));
  RequireClients();
  Start();
  const std::string& ca = authority_.pem();
  EXPECT_EQ(Try(Connect(ca, clients_.Issue("artist", "DNS:artist.film"))), StatusCode::OK);
  EXPECT_EQ(Try(Connect(ca)), StatusCode::UNAVAILABLE) << "none";
  EXPECT_EQ(Try(Connect(ca, authority_.Issue("artist", ""))), StatusCode::UNAVAILABLE)
      << "of another authority";
  EXPECT_EQ(Try(Connect(ca, clients_.Issue("artist", "", std::chrono::hours(-1)))),
            StatusCode::UNAVAILABLE)
      << "expired";
  TestCertificate swapped = clients_.Issue("artist", "");
  swapped.key_pem = clients_.Issue("other", "").key_pem;
  EXPECT_NE(Try(Connect(ca, swapped)), StatusCode::OK);
}

TEST_F(TlsTest, CertificateForAnotherHostIsRefused) {
  Install(authority_.Issue("one", "DNS:other.example,IP:127.0.0.2"));
  Start();
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::UNAVAILABLE);
  Install(authority_.Issue("127.0.0.1", "DNS:other.example"));
  Start();
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::UNAVAILABLE) << "a name is not an address";
}

// A certificate that is not the caller's own: of the server, self-made, with another's key.
TEST_F(TlsTest, BorrowedCertificatesAreRefused) {
  const TestCertificate server = ForServer("one");
  Install(server);
  RequireClients();
  Start();
  const std::string& ca = authority_.pem();
  const TestAuthority self("clients");  // of the same name as theirs
  EXPECT_NE(Try(Connect(ca, server)), StatusCode::OK);
  EXPECT_NE(Try(Connect(ca, self.Issue("artist", "DNS:artist.film"))), StatusCode::OK);
  TestCertificate without_key = clients_.Issue("artist", "DNS:artist.film");
  without_key.key_pem = server.key_pem;
  EXPECT_NE(Try(Connect(ca, without_key)), StatusCode::OK);
  TestCertificate beside = self.Issue("artist", "DNS:artist.film");
  beside.pem += clients_.Issue("artist", "DNS:artist.film").pem;
  EXPECT_NE(Try(Connect(ca, beside)), StatusCode::OK) << "the first one counts";
}

// The certificate of one tenant with the token of another: the token decides, and a wrong token
// does not fall back on the certificate.
TEST_F(TlsTest, TokenComesBeforeCertificate) {
  Install(ForServer("one"));
  RequireClients();
  config.access.token_file = tokens_;
  config.access.tls_tenant_pattern = R"(^[^.]+\.([a-z]+)$)";
  const std::string game = AddToken("bob", R"(, "tenant": "game")"),
                    old = AddToken("eve", R"(, "expires": "2001-01-01T00:00:00Z")");
  Start();
  const auto film = Connect(authority_.pem(), clients_.Issue("artist", "DNS:artist.film"));
  const auto rigs = [&](const std::vector<std::string>& authorization) {
    const auto stub = v1::RigService::NewStub(film);
    grpc::ClientContext context;
    for (const std::string& value : authorization) context.AddMetadata("authorization", value);
    v1::ListRigsResponse page;
    const grpc::Status status = stub->ListRigs(&context, {}, &page);
    return status.ok() ? page.rigs_size() : -static_cast<int>(status.error_code());
  };
  EXPECT_CODE(Stubs(film).Upload(TubeRig().SerializeAsString()), StatusCode::OK);
  EXPECT_EQ(rigs({}), 1) << "of the tenant film";
  EXPECT_EQ(rigs({game}), 0) << "of the tenant game";
  for (const std::string& wrong : {old, game + "x", std::string("Bearer "), std::string("x")}) {
    EXPECT_EQ(rigs({wrong}), -StatusCode::UNAUTHENTICATED) << wrong;
  }
  EXPECT_EQ(rigs({game, old}), -StatusCode::UNAUTHENTICATED);
  // The token alone is not enough: without a certificate there is no connection.
  EXPECT_EQ(
      CallMethod(Connect(authority_.pem()), "sinew.v1.RigService/ListRigs", {game}).error_code(),
      StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, NameOfTheCertificateGivesTheTenant) {
  Install(ForServer("one"));
  RequireClients();
  config.access.tls_tenant_pattern = R"(^[^.]+\.([a-z]+)$)";
  Start();
  const auto calls = [&](const std::string& names) {
    return Try(Connect(authority_.pem(), clients_.Issue("artist", names)));
  };
  EXPECT_EQ(calls("DNS:artist.film"), StatusCode::OK);
  EXPECT_EQ(calls("DNS:artist"), StatusCode::UNAUTHENTICATED) << "no tenant in it";
  EXPECT_EQ(calls(""), StatusCode::UNAUTHENTICATED) << "nor in the common name";
}

TEST_F(TlsTest, CertificatesChangeWhileAStreamIsOpen) {
  const TestAuthority next("next authority");
  Install(ForServer("one"));
  Start(clock);
  channel_ = Connect(authority_.pem());
  stubs_ = std::make_unique<Stubs>(channel_);
  const std::string session = stubs().Create(stubs().UploadTube(), "lbs").name();
  stubs().Watch(session);
  Stream stream(stubs(), OpenFor(session));
  stream.Opened();
  stream.Send(TubePose(1));
  stream.ReadUntil(1);
  // A damaged pair changes nothing.
  WriteAll(folder_ / "key", "damaged");
  clock.Advance(std::chrono::seconds(3));
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::OK);
  Install(next.Issue("two", "IP:127.0.0.1"));
  WaitUntil([&] { return Try(Connect(next.pem())) == StatusCode::OK; },
            [&] { clock.Advance(std::chrono::milliseconds(500)); });
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::UNAVAILABLE) << "of the old authority";
  stream.Send(TubePose(2));
  stream.ReadUntil(2);
}

TEST_F(TlsTest, ReloadReadsCertificatesAtOnce) {
  const TestAuthority next("next authority");
  Install(ForServer("one"));
  Start(clock);  // which does not advance, so no timer looks for changes
  Install(next.Issue("two", "IP:127.0.0.1"));
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::OK);
  server().Reload(config);
  EXPECT_EQ(Try(Connect(next.pem())), StatusCode::OK);
  EXPECT_EQ(Try(Connect(authority_.pem())), StatusCode::UNAVAILABLE) << "of the old authority";
  WriteAll(folder_ / "key", "damaged");
  server().Reload(config);
  EXPECT_EQ(Try(Connect(next.pem())), StatusCode::OK) << "the pair in use stays";
}

TEST_F(TlsTest, OpenConnectionsNeedAValidCertificateForEachCall) {
  Install(ForServer("one"));
  RequireClients();
  Start();
  const auto channel = Connect(authority_.pem(), clients_.Issue("artist", ""));
  EXPECT_EQ(Try(channel), StatusCode::OK);
  const TestAuthority next("client authority");  // of the same name, with another key
  WriteAll(folder_ / "ca", next.pem());
  server().Reload(config);
  EXPECT_EQ(Try(channel), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Try(Connect(authority_.pem(), next.Issue("artist", ""))), StatusCode::OK);
}

TEST_F(TlsTest, SeveralAddresses) {
  Install(ForServer("one"));
  config.network.listen = {"127.0.0.1:0", "127.0.0.1:0", "unix:" + folder_ / "socket"};
  Start();
  const std::string ca = authority_.pem();
  EXPECT_EQ(Try(Connect(ca)), StatusCode::OK);
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = ca;
  EXPECT_EQ(Try(grpc::CreateChannel(server().addresses()[1], grpc::SslCredentials(options))),
            StatusCode::OK);
  EXPECT_EQ(Try(grpc::CreateChannel(server().addresses()[2], grpc::InsecureChannelCredentials())),
            StatusCode::OK);
}

TEST_F(TlsTest, UnusableFilesAreConfigurationErrors) {
  Install(ForServer("one"));
  WriteAll(folder_ / "key", ForServer("two").key_pem);
  EXPECT_EQ(server::Server::Start(config).status().code(), absl::StatusCode::kInvalidArgument);
  Install(ForServer("one"));
  WriteAll(folder_ / "ca", "");
  config.access.tls_client_ca = folder_ / "ca";
  EXPECT_EQ(server::Server::Start(config).status().code(), absl::StatusCode::kInvalidArgument);
  config.access.tls_client_ca = folder_ / "missing";
  EXPECT_EQ(server::Server::Start(config).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sinew::testing
