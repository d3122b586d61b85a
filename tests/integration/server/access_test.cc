// Who may call: tokens, scopes, TLS and client certificates.
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/access/tokens.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_keys.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

// A call of any method, with one empty message.
grpc::Status CallMethod(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                        const std::vector<std::string>& authorization) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  for (const std::string& value : authorization) context.AddMetadata("authorization", value);
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, "/" + method, &queue);
  void* tag = nullptr;
  bool ok = false;
  call->StartCall(nullptr);
  queue.Next(&tag, &ok);
  const grpc::Slice empty;
  call->WriteLast(grpc::ByteBuffer(&empty, 1), grpc::WriteOptions(), nullptr);
  queue.Next(&tag, &ok);
  grpc::ByteBuffer reply;
  do {
    call->Read(&reply, nullptr);
    queue.Next(&tag, &ok);
  } while (ok);
  grpc::Status status;
  call->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  return status;
}

class AccessTest : public ServerTest {
 protected:
  AccessTest() {
    // Certificates are valid by the real clock.
    tokens_ = folder_ / "tokens";
    config.access.token_file = tokens_;
  }
  // Adds a token with this rest of its line.
  std::string AddToken(const std::string& name, const std::string& rest = "") {
    const auto made = server::MakeToken(name);
    EXPECT_TRUE(made.ok());
    std::string line = made->line;
    line.insert(line.rfind('}'), rest);
    lines_ += line;
    WriteAll(tokens_, lines_);
    return "Bearer " + made->token;
  }
  grpc::Status Info(const std::vector<std::string>& authorization) {
    return CallMethod(channel_, "sinew.v1.InfoService/GetServerInfo", authorization);
  }

  TemporaryFolder folder_;
  std::string tokens_, lines_;
};

TEST_F(AccessTest, EveryMethodNeedsItsScope) {
  const std::map<std::string, std::string> scopes = {
      {"RigService/UploadRig", "rigs:write"},
      {"RigService/GetRig", "rigs:read"},
      {"RigService/DownloadRig", "rigs:read"},
      {"RigService/ListRigs", "rigs:read"},
      {"RigService/DeleteRig", "rigs:write"},
      {"RigService/ComputeWeights", "rigs:write"},
      {"SessionService/CreateSession", "sessions:use"},
      {"SessionService/WatchSession", "sessions:use"},
      {"SessionService/GetSession", "sessions:use"},
      {"SessionService/ListSessions", "sessions:use"},
      {"SessionService/RenewSession", "sessions:use"},
      {"SessionService/DeleteSession", "sessions:use"},
      {"DeformService/Deform", "sessions:use"},
      {"DeformService/StreamDeform", "sessions:use"},
      {"DeformService/DeformClip", "sessions:use"},
      {"DeformService/CompareDeformers", "sessions:use"},
      {"InfoService/GetServerInfo", ""},
      {"InfoService/ListMethods", ""},
  };
  const std::vector<std::string> names = {"rigs:read", "rigs:write", "sessions:use", "admin"};
  std::map<std::string, std::string> with, without;
  for (const std::string& name : names) {
    std::string others;
    for (const std::string& other : names) {
      if (other != name) others += (others.empty() ? "\"" : ", \"") + other + "\"";
    }
    with[name] = AddToken("with " + name, R"(, "scopes": [")" + name + "\"]");
    without[name] = AddToken("without " + name, R"(, "scopes": [)" + others + "]");
  }
  const std::string none = AddToken("none", R"(, "scopes": [])");
  Start();
  std::size_t methods = 0;
  for (const google::protobuf::FileDescriptor* file :
       {v1::GetRigRequest::descriptor()->file(), v1::GetSessionRequest::descriptor()->file(),
        v1::DeformRequest::descriptor()->file(), v1::GetServerInfoRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service(0)->method_count(); ++i) {
      const auto* const method = file->service(0)->method(i);
      const std::string name = method->service()->name() + "/" + method->name();
      const std::string path = "sinew.v1." + name;
      ASSERT_TRUE(scopes.contains(name)) << name << " needs a row of this test";
      const std::string& scope = scopes.at(name);
      ++methods;
      EXPECT_CODE(CallMethod(channel_, path, {}), StatusCode::UNAUTHENTICATED);
      const auto admitted = [&](const std::string& token) {
        const grpc::Status status = CallMethod(channel_, path, {token});
        return status.error_code() != StatusCode::UNAUTHENTICATED &&
               status.error_code() != StatusCode::PERMISSION_DENIED;
      };
      if (scope.empty()) {
        EXPECT_TRUE(admitted(none)) << name;
        continue;
      }
      EXPECT_TRUE(admitted(with.at(scope))) << name;
      const grpc::Status refused = CallMethod(channel_, path, {without.at(scope)});
      EXPECT_EQ(refused.error_code(), StatusCode::PERMISSION_DENIED) << name;
      EXPECT_NE(refused.error_message().find(scope), std::string::npos) << refused.error_message();
    }
  }
  EXPECT_EQ(methods, scopes.size());
}

TEST_F(AccessTest, WrongTokensLookAlike) {
  const std::string good = AddToken("alice");
  const std::string old = AddToken("old", R"(, "expires": "2001-01-01T00:00:00Z")");
  Start();
  EXPECT_CODE(Info({good}), StatusCode::OK);
  EXPECT_CODE(Info({"bearer" + good.substr(6)}), StatusCode::OK);
  const std::string said = Info({}).error_message();
  EXPECT_NE(said, "");
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{""},
                                             {"Bearer"},
                                             {"Bearer "},
                                             {good + "x"},
                                             {good.substr(0, good.size() - 1)},
                                             {old},
                                             {"Basic " + good.substr(7)},
                                             {good.substr(7)},
                                             {good, good},
                                             {good, "Bearer x"},
                                             {"Bearer " + std::string(6000, 'x')}}) {
    const grpc::Status status = Info(wrong);
    EXPECT_EQ(status.error_code(), StatusCode::UNAUTHENTICATED) << wrong.front();
    EXPECT_EQ(status.error_message(), said);
  }
}

TEST_F(AccessTest, TokensExpireAndChangeWhileTheServerRuns) {
  const std::string brief = AddToken("brief", R"(, "expires": "2001-09-09T01:47:00Z")");
  Start(clock);  // at 2001-09-09T01:46:40Z
  EXPECT_CODE(Info({brief}), StatusCode::OK);
  clock.Advance(std::chrono::seconds(20));
  EXPECT_CODE(Info({brief}), StatusCode::UNAUTHENTICATED);
  const auto becomes = [&](const std::string& token, StatusCode code) {
    WaitUntil([&] { return Info({token}).error_code() == code; },
              [&] { clock.Advance(std::chrono::milliseconds(500)); });
  };
  const std::string late = AddToken("late");
  becomes(late, StatusCode::OK);
  // Damaged or missing, the file does not count; the next good one does.
  WriteAll(tokens_, lines_ + "{broken");
  clock.Advance(std::chrono::seconds(2));
  EXPECT_CODE(Info({late}), StatusCode::OK);
  std::filesystem::remove(tokens_);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_CODE(Info({late}), StatusCode::OK);
  lines_.clear();
  const std::string last = AddToken("last");
  becomes(last, StatusCode::OK);
  EXPECT_CODE(Info({late}), StatusCode::UNAUTHENTICATED);
}

TEST_F(AccessTest, ThisProcessNeedsNoToken) {
  AddToken("alice");
  Start();
  EXPECT_CODE(CallMethod(server().InProcessChannel(), "sinew.v1.InfoService/GetServerInfo", {}),
              StatusCode::OK);
}

TEST_F(AccessTest, UnixSocketsNeedATokenToo) {
  const std::string good = AddToken("alice");
  config.network.listen = {"unix:" + folder_ / "socket"};
  Start();
  EXPECT_CODE(Info({}), StatusCode::UNAUTHENTICATED);
  EXPECT_CODE(Info({good}), StatusCode::OK);
}

TEST_F(AccessTest, JsonWebTokensOfTheKeySet) {
  const TestKey key("EdDSA"), other("EdDSA");
  nlohmann::json jwks;
  jwks["keys"] = {key.Jwk("k")};
  WriteAll(folder_ / "jwks", jwks.dump());
  config.access.token_file.clear();
  config.access.jwks_file = folder_ / "jwks";
  config.access.jwt_audience = "sinew";
  Start(clock);
  const nlohmann::json claims = {{"sub", "alice"}, {"aud", "sinew"}, {"exp", 1'000'000'100}};
  const std::string good = "Bearer " + key.Jwt(claims, std::string("k"));
  EXPECT_CODE(Info({good}), StatusCode::OK);
  EXPECT_CODE(Info({good}), StatusCode::OK);  // remembered
  EXPECT_CODE(Info({"Bearer " + other.Jwt(claims, std::string("k"))}), StatusCode::UNAUTHENTICATED);
  clock.Advance(std::chrono::seconds(129));
  EXPECT_CODE(Info({good}), StatusCode::OK);
  clock.Advance(std::chrono::seconds(1));
  EXPECT_CODE(Info({good}), StatusCode::UNAUTHENTICATED);
  // New keys end the trust in tokens that were verified before.
  const nlohmann::json later = {{"sub", "alice"}, {"aud", "sinew"}, {"exp", 1'000'009'000}};
  const std::string long_lived = "Bearer " + key.Jwt(later, std::string("k"));
  EXPECT_CODE(Info({long_lived}), StatusCode::OK);
  jwks["keys"] = {other.Jwk("k")};
  WriteAll(folder_ / "jwks", jwks.dump());
  WaitUntil([&] { return Info({long_lived}).error_code() == StatusCode::UNAUTHENTICATED; },
            [&] { clock.Advance(std::chrono::milliseconds(500)); });
}

TEST_F(AccessTest, ReflectionNeedsAdmin) {
  const std::string admin = AddToken("admin", R"(, "scopes": ["admin"])");
  const std::string user = AddToken("user");
  const std::string path = "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
  Start();
  EXPECT_CODE(CallMethod(channel_, path, {admin}), StatusCode::UNIMPLEMENTED);  // off by default
  server_.reset();
  config.access.reflection = "on";
  Start();
  EXPECT_CODE(CallMethod(channel_, path, {}), StatusCode::UNAUTHENTICATED);
  EXPECT_CODE(CallMethod(channel_, path, {user}), StatusCode::PERMISSION_DENIED);
  EXPECT_CODE(CallMethod(channel_, path, {admin}), StatusCode::OK);
}

class TlsTest : public AccessTest {
 protected:
  TlsTest() { config.access.token_file.clear(); }
  void Install(const TestCertificate& certificate) {
    // Not at once: the server keeps the old pair while the new one does not match.
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

TEST(SinewdAccess, DoesNotListenBeyondThisMachineUnprotected) {
  SinewdProcess refused({"--listen", "0.0.0.0:0", "--http", "off"}, false);
  EXPECT_EQ(refused.Wait(), 78);
  EXPECT_NE(refused.err().find("--insecure"), std::string::npos) << refused.err();
  // By its form not a loopback address, although it is one.
  SinewdProcess insecure({"--listen", "[::ffff:127.0.0.1]:0", "--http", "off", "--insecure"});
  EXPECT_FALSE(insecure.address().empty()) << insecure.err();
  EXPECT_EQ(insecure.Stop(), 0);
}

TEST(SinewdAccess, MakesTokens) {
  SinewdProcess maker({"--make-token", "alice"}, false);
  EXPECT_EQ(maker.Wait(), 0);
  const auto tokens = server::Tokens::Parse(maker.out());
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  const std::string token = maker.err().substr(0, maker.err().find('\n'));
  EXPECT_NE(tokens->Find(token, server::RealClock().WallNow()), nullptr);
  SinewdProcess wrong({"--make-token", std::string(300, 'x')}, false);
  EXPECT_EQ(wrong.Wait(), 64);
}

}  // namespace
}  // namespace sinew::testing
