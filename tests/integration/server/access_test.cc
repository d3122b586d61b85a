// Who may call: tokens, scopes, tenants and trusted proxies.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "server/access/tokens.h"
#include "tests/integration/server/access_fixture.h"
#include "tests/integration/server/limit_refusal.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/support/test_keys.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

TEST_F(AccessTest, EveryMethodNeedsItsScope) {
  const std::map<std::string, std::string> scopes = {
      {"RigService/UploadRig", "rigs:write"},
      {"RigService/GetRig", "rigs:read"},
      {"RigService/DownloadRig", "rigs:read"},
      {"RigService/ListRigs", "rigs:read"},
      {"RigService/DeleteRig", "rigs:write"},
      {"RigService/ComputeWeights", "rigs:write"},
      {"RigService/FitSkeleton", "rigs:write"},
      {"SessionService/CreateSession", "sessions:use"},
      {"SessionService/WatchSession", "sessions:use"},
      {"SessionService/GetSession", "sessions:use"},
      {"SessionService/ListSessions", "sessions:use"},
      {"SessionService/RenewSession", "sessions:use"},
      {"SessionService/DeleteSession", "sessions:use"},
      {"DeformService/Deform", "sessions:use"},
      {"DeformService/StreamDeform", "sessions:use"},
      {"DeformService/WatchStream", "sessions:use"},
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
      // Not only once the request has arrived.
      EXPECT_CODE(CallMethod(channel_, path, {}, false), StatusCode::UNAUTHENTICATED);
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
      const grpc::Status refused = CallMethod(channel_, path, {without.at(scope)}, false);
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

TEST_F(AccessTest, TokenBytesAreExact) {
  config.access.token_bytes = 12'000;
  const std::string longest(12'000 - std::string("Bearer ").size(), 'x');
  WriteAll(tokens_, R"({"name": "long", "sha256": ")" + Sha256Hex(longest) + "\"}\n");
  Start();
  EXPECT_CODE(Info({"Bearer " + longest}), StatusCode::OK);
  EXPECT_REFUSAL(Info({"Bearer x" + longest}), Refused("max-token-bytes"));
  // gRPC refuses what is far longer, before it is stored.
  EXPECT_CODE(Info({std::string(21'000, 'x')}), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(AccessTest, WrongTokensCountAsCalls) {
  config.network.calls_per_second = 5;
  AddToken("alice");
  Start();
  for (int i = 0; i < 5; ++i) EXPECT_CODE(Info({"Bearer wrong"}), StatusCode::UNAUTHENTICATED);
  grpc::Status refused;
  for (int i = 0; i < 100 && refused.error_code() != StatusCode::RESOURCE_EXHAUSTED; ++i) {
    refused = Info({"Bearer wrong"});
  }
  EXPECT_CODE(refused, StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(refused.error_message().find("max-calls-per-second"), std::string::npos)
      << refused.error_message();
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

TEST_F(AccessTest, ReloadReadsTokensAtOnce) {
  const std::string old = AddToken("alice");
  Start(clock);  // which does not advance, so no timer looks for changes
  const auto changed = std::filesystem::last_write_time(tokens_);
  lines_.clear();
  const std::string fresh = AddToken("carol");  // a line as long as the old one
  std::filesystem::last_write_time(tokens_, changed);
  EXPECT_CODE(Info({fresh}), StatusCode::UNAUTHENTICATED);
  server().Reload(absl::InvalidArgumentError("another part of the configuration is wrong"));
  EXPECT_CODE(Info({fresh}), StatusCode::OK);
  EXPECT_CODE(Info({old}), StatusCode::UNAUTHENTICATED);
  WriteAll(tokens_, "{broken");
  server().Reload(config);
  EXPECT_CODE(Info({fresh}), StatusCode::OK);
}

TEST_F(AccessTest, ThisProcessNeedsNoToken) {
  AddToken("alice");
  Start();
  EXPECT_CODE(
      CallMethod(server().InProcessChannel().value(), "sinew.v1.InfoService/GetServerInfo", {}),
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
  jwks["keys"] = nlohmann::json::array({key.Jwk("k")});
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
  jwks["keys"] = nlohmann::json::array({other.Jwk("k")});
  WriteAll(folder_ / "jwks", jwks.dump());
  WaitUntil([&] { return Info({long_lived}).error_code() == StatusCode::UNAUTHENTICATED; },
            [&] { clock.Advance(std::chrono::milliseconds(500)); });
}

TEST_F(AccessTest, WrongJsonWebTokensLookAlike) {
  using nlohmann::json;
  const TestKey rsa("RS256"), ec("ES256"), other("ES256");
  json jwks;
  jwks["keys"] = nlohmann::json::array({rsa.Jwk("r"), ec.Jwk("e")});
  WriteAll(folder_ / "jwks", jwks.dump());
  config.access.token_file.clear();
  config.access.jwks_file = folder_ / "jwks";
  config.access.jwt_audience = "sinew";
  config.access.jwt_issuer = "https://id";
  Start(clock);  // at 1,000,000,000 s
  const auto with = [](const std::string& claim, const json& value) {
    json claims = {
        {"sub", "alice"}, {"aud", "sinew"}, {"iss", "https://id"}, {"exp", 1'000'000'100}};
    claims[claim] = value;
    if (value.is_null()) claims.erase(claim);
    return claims;
  };
  const json good = with("sub", "alice");
  const auto token = [&](const json& claims) { return ec.Jwt(claims, std::string("e")); };
  const auto unsigned_as = [&](const char* alg, const std::string& signature) {
    const json header = {{"alg", alg}, {"kid", "e"}};
    return Base64Url(header.dump()) + "." + Base64Url(good.dump()) + "." + signature;
  };
  const std::string said = Info({}).error_message();
  EXPECT_CODE(Info({"Bearer " + token(good)}), StatusCode::OK);
  const std::string signature = token(good).substr(token(good).rfind('.') + 1);
  const std::vector<std::pair<const char*, std::string>> wrong = {
      {"alg none", unsigned_as("none", "")},
      {"alg none with a signature", unsigned_as("none", signature)},
      {"alg None", unsigned_as("None", "")},
      {"alg empty", unsigned_as("", "")},
      {"no signature", unsigned_as("ES256", "")},
      {"signature of zeros", unsigned_as("ES256", Base64Url(std::string(64, '\0')))},
      {"HS256 with a public key", unsigned_as("HS256", signature)},
      {"the key of another", other.Jwt(good, std::string("e"))},
      {"its own key in the header",
       other.Jwt(good, json{{"alg", "ES256"}, {"kid", "e"}, {"jwk", other.Jwk("e")}})},
      {"an address of keys",
       other.Jwt(good, json{{"alg", "ES256"}, {"kid", "e"}, {"jku", "http://127.0.0.1/"}})},
      {"a file as kid", ec.Jwt(good, std::string("../../etc/passwd"))},
      {"another algorithm's key", ec.Jwt(good, json{{"alg", "ES256"}, {"kid", "r"}})},
      {"another audience", token(with("aud", "other"))},
      {"no audience", token(with("aud", json()))},
      {"another issuer", token(with("iss", "https://evil"))},
      {"expired", token(with("exp", 999'999'900))},
      {"no expiry", token(with("exp", json()))},
      {"not valid yet", token(with("nbf", 1'000'000'090))},
      {"no name", token(with("sub", json()))},
      {"a folder as tenant", token(with("tenant", "../film"))}};
  for (const auto& [what, jwt] : wrong) {
    const grpc::Status status = Info({"Bearer " + jwt});
    EXPECT_EQ(status.error_code(), StatusCode::UNAUTHENTICATED) << what;
    EXPECT_EQ(status.error_message(), said) << what;
  }
}

TEST_F(AccessTest, TrustedProxiesNameTheirClients) {
  config.access.token_file.clear();
  config.access.client_share = 0.5;
  config.access.insecure = true;
  config.sessions.watches = 4;  // two for one client
  std::string binding;          // a session to watch for long
  const auto refused = [&](const std::string& forwarded) {
    grpc::ClientContext context;
    context.AddMetadata("x-forwarded-for", forwarded);
    v1::WatchSessionRequest request;
    request.set_name(binding);
    auto reader = stubs().sessions->WatchSession(&context, request);
    v1::WatchSessionResponse response;
    const bool admitted = reader->Read(&response);
    context.TryCancel();
    while (reader->Read(&response)) {
    }
    reader->Finish();
    return !admitted;
  };
  for (const bool trusted : {true, false}) {
    config.access.trusted_proxies.clear();
    if (trusted) config.access.trusted_proxies = {"127.0.0.0/8"};
    Start();
    binding = stubs().Create(stubs().UploadTube(kSlowTube), kSlowRecipe).name();
    std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
    std::vector<std::unique_ptr<grpc::ClientReader<v1::WatchSessionResponse>>> readers;
    for (int i = 0; i < 2; ++i) {
      contexts.push_back(std::make_unique<grpc::ClientContext>());
      contexts.back()->AddMetadata("x-forwarded-for", "8.8.8.8");
      v1::WatchSessionRequest request;
      request.set_name(binding);
      readers.push_back(stubs().sessions->WatchSession(contexts.back().get(), request));
      v1::WatchSessionResponse response;
      ASSERT_TRUE(readers.back()->Read(&response));
    }
    EXPECT_TRUE(refused("8.8.8.8"));
    EXPECT_EQ(refused("9.9.9.9"), !trusted);
    for (const auto& context : contexts) context->TryCancel();
    for (const auto& reader : readers) {
      v1::WatchSessionResponse response;
      while (reader->Read(&response)) {
      }
      reader->Finish();
    }
    server_.reset();
  }
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

TEST(SinewdAccess, DoesNotListenBeyondThisMachineUnprotected) {
  SinewdProcess refused({"--listen", "0.0.0.0:0", "--http", "off"}, false);
  EXPECT_EQ(refused.Wait(), 78);
  EXPECT_NE(refused.err().find("--insecure"), std::string::npos) << refused.err();
  // By its form not a loopback address, although it is one.
  SinewdProcess insecure({"--listen", "[::ffff:127.0.0.1]:0", "--http", "off", "--insecure"});
  EXPECT_FALSE(insecure.address().empty()) << insecure.err();
  EXPECT_EQ(insecure.Stop(), 0);
  const auto warnings = [](SinewdProcess& server) {
    const std::string address = server.address();
    EXPECT_EQ(server.Stop(), 0);
    const auto says = [&](const std::string& what) {
      return server.err().find(" warning " + address + " has no " + what) != std::string::npos;
    };
    return std::pair(says("TLS: "), says("authentication: "));
  };
  SinewdProcess open({"--listen", "0.0.0.0:0", "--http", "off", "--insecure"});
  EXPECT_EQ(warnings(open), std::pair(true, true)) << open.err();
  SinewdProcess local({"--http", "off"});
  EXPECT_EQ(warnings(local), std::pair(false, false)) << local.err();
}

TEST(SinewdAccess, MakesTokens) {
  const TemporaryFolder folder;
  const std::string file = folder / "alice.token";
  SinewdProcess maker({"--make-token", "alice", "--out", file}, false);
  EXPECT_EQ(maker.Wait(), 0);
  EXPECT_EQ(maker.err(), "");
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  const auto tokens = server::Tokens::Parse(maker.out());
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  const std::string text = ReadAll(file), token = text.substr(0, text.find('\n'));
  EXPECT_NE(tokens->Find(token, server::RealClock().WallNow()), nullptr);
  SinewdProcess again({"--make-token", "alice", "--out", file}, false);
  EXPECT_EQ(again.Wait(), 73);
  EXPECT_EQ(ReadAll(file), text) << "a token is never replaced";
  SinewdProcess nowhere({"--make-token", "alice"}, false);
  EXPECT_EQ(nowhere.Wait(), 64);
  SinewdProcess wrong({"--make-token", std::string(300, 'x'), "--out", folder / "x"}, false);
  EXPECT_EQ(wrong.Wait(), 64);
}

}  // namespace
}  // namespace sinew::testing
