#include "server/access/jwt.h"

#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <string>

#include "tests/support/test_keys.h"

namespace sinew::server {
namespace {

using nlohmann::json;
using sinew::testing::Base64Url;
using sinew::testing::TestKey;

constexpr long kSeconds = 1'800'000'000;
const Clock::WallTime kNow{std::chrono::seconds(kSeconds)};
const JwtRules kRules{.audience = "sinew", .issuer = "https://id", .tenant_claim = "studio"};

json Claims() {
  return {{"sub", "alice"},
          {"aud", "sinew"},
          {"iss", "https://id"},
          {"exp", kSeconds + 300},
          {"nbf", kSeconds},
          {"studio", "film"},
          {"scope", "openid rigs:read sessions:use"}};
}
json With(const std::string& claim, json value) {
  json claims = Claims();
  claims[claim] = std::move(value);
  return claims;
}
json Without(const std::string& claim) {
  json claims = Claims();
  claims.erase(claim);
  return claims;
}

class Jwt : public ::testing::Test {
 protected:
  Jwt() {
    json jwks;
    jwks["keys"] = {
        rsa.Jwk("r"), ec.Jwk("e"), ed.Jwk("d"), {{"kty", "oct"}, {"kid", "o"}, {"k", "c2VjcmV0"}}};
    auto parsed = JwtKeys::Parse(jwks.dump());
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    if (parsed.ok()) keys = *std::move(parsed);
  }
  // OK, or why it is refused.
  std::string Try(const std::string& token) {
    const auto verified = keys.Verify(token, kRules, kNow);
    if (verified.ok()) return "OK";
    EXPECT_EQ(verified.status().code(), absl::StatusCode::kUnauthenticated);
    return std::string(verified.status().message());
  }

  const TestKey rsa{"RS256"}, ec{"ES256"}, ed{"EdDSA"};
  JwtKeys keys;
};

TEST_F(Jwt, AcceptsAllAlgorithms) {
  for (const auto& [key, kid] : {std::pair(&rsa, "r"), {&ec, "e"}, {&ed, "d"}}) {
    const auto verified = keys.Verify(key->Jwt(Claims(), std::string(kid)), kRules, kNow);
    ASSERT_TRUE(verified.ok()) << kid << verified.status();
    EXPECT_EQ(verified->identity.principal, "alice");
    EXPECT_EQ(verified->identity.tenant, "film");
    EXPECT_TRUE(verified->identity.scopes.Has(Scope::kRigsRead));
    EXPECT_TRUE(verified->identity.scopes.Has(Scope::kSessionsUse));
    EXPECT_FALSE(verified->identity.scopes.Has(Scope::kRigsWrite));
  }
}

TEST_F(Jwt, ClaimsAreChecked) {
  const auto claims = [&](const json& c) { return Try(ec.Jwt(c, std::string("e"))); };
  EXPECT_EQ(claims(With("aud", json::array({"other", "sinew"}))), "OK");
  EXPECT_EQ(claims(Without("nbf")), "OK");
  EXPECT_EQ(claims(Without("scope")), "OK");
  EXPECT_EQ(claims(Without("studio")), "OK");
  EXPECT_EQ(claims(With("exp", kSeconds - 29)), "OK") << "clocks differ";
  EXPECT_EQ(claims(With("exp", kSeconds - 30)), "jwt: expired");
  EXPECT_EQ(claims(With("exp", -1e300)), "jwt: expired");
  for (const json& wrong : {json("soon"), json(1e300), json(), json::array()}) {
    EXPECT_EQ(claims(With("exp", wrong)), "jwt: exp is missing or not a time") << wrong;
  }
  EXPECT_EQ(claims(Without("exp")), "jwt: exp is missing or not a time");
  EXPECT_EQ(claims(With("nbf", kSeconds + 30)), "OK");
  EXPECT_EQ(claims(With("nbf", kSeconds + 31)), "jwt: not valid yet");
  EXPECT_EQ(claims(With("nbf", "later")), "jwt: not valid yet");
  for (const json& wrong : {json("other"), json("sinew2"), json::array(), json(), json(7)}) {
    EXPECT_EQ(claims(With("aud", wrong)), "jwt: for another audience") << wrong;
  }
  EXPECT_EQ(claims(Without("aud")), "jwt: for another audience");
  EXPECT_EQ(claims(With("iss", "https://evil")), "jwt: of another issuer");
  EXPECT_EQ(claims(Without("iss")), "jwt: of another issuer");
  EXPECT_NE(claims(Without("sub")), "OK");
  EXPECT_NE(claims(With("sub", "a\nb")), "OK");
  EXPECT_NE(claims(With("studio", "../film")), "OK");
  EXPECT_NE(claims(With("studio", 7)), "OK");
}

TEST_F(Jwt, KeyDecidesTheAlgorithm) {
  const auto with = [&](const TestKey& key, const json& header) {
    return Try(key.Jwt(Claims(), header));
  };
  EXPECT_EQ(with(ec, {{"alg", "ES256"}, {"kid", "e"}}), "OK");
  for (const char* wrong : {"none", "None", "HS256", "RS256", "EdDSA", "ES384", ""}) {
    EXPECT_EQ(with(ec, {{"alg", wrong}, {"kid", "e"}}), "jwt: alg is not that of its key") << wrong;
  }
  EXPECT_EQ(with(ec, {{"kid", "e"}}), "jwt: alg is not that of its key");
  EXPECT_EQ(with(ec, {{"alg", "RS256"}, {"kid", "r"}}), "jwt: the signature is wrong");
  EXPECT_EQ(with(TestKey("ES256"), {{"alg", "ES256"}, {"kid", "e"}}),
            "jwt: the signature is wrong");
  for (const json& wrong : {json("x"), json(""), json("o"), json(7)}) {
    EXPECT_EQ(with(ec, {{"alg", "ES256"}, {"kid", wrong}}), "jwt: signed with an unknown key");
  }
  EXPECT_EQ(with(ec, {{"alg", "ES256"}}), "jwt: signed with an unknown key") << "there are three";
  EXPECT_EQ(with(ec, {{"alg", "ES256"}, {"kid", "e"}, {"crit", json::array({"b64"})}}),
            "jwt: has critical extensions");
}

TEST_F(Jwt, PublicKeyIsNoSecret) {
  const std::string message =
      Base64Url(R"({"alg":"HS256","kid":"r"})") + "." + Base64Url(Claims().dump());
  const std::string secret = rsa.PublicPem();
  std::string mac(32, '\0');
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(message.data()), message.size(),
       reinterpret_cast<unsigned char*>(mac.data()), nullptr);
  EXPECT_EQ(Try(message + "." + Base64Url(mac)), "jwt: alg is not that of its key");
}

TEST_F(Jwt, DamagedTokensAreRefused) {
  const std::string good = ed.Jwt(Claims(), std::string("d"));
  ASSERT_EQ(Try(good), "OK");
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(Try(good.substr(0, size)), "OK") << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = bad[at] == 'A' ? 'Q' : 'A';
    EXPECT_NE(Try(bad), "OK") << at;
  }
  for (const char* wrong : {"", ".", "..", "...", "a.b.c.d", "%.%.%", "e30.e30.", "W10.W10.AA"}) {
    EXPECT_NE(Try(wrong), "OK") << wrong;
  }
  EXPECT_NE(Try(good + "="), "OK");
  EXPECT_NE(Try(good + " "), "OK");
  EXPECT_NE(Try(" " + good), "OK");
  EXPECT_NE(Try(good + ".x"), "OK");
  const std::size_t dot = good.find('.');
  EXPECT_NE(Try(good.substr(0, dot) + "==" + good.substr(dot)), "OK");
}

TEST_F(Jwt, SizeIsLimited) {
  const auto with_padding = [&](std::size_t bytes) {
    return ed.Jwt(With("padding", std::string(bytes, 'x')), std::string("d"));
  };
  std::size_t bytes = 11000;
  while (with_padding(bytes + 1).size() <= 16384) ++bytes;
  EXPECT_EQ(Try(with_padding(bytes)), "OK");
  EXPECT_EQ(Try(with_padding(bytes + 2)), "jwt: longer than 16384 bytes");
  const std::string nested = std::string(3000, '[');
  EXPECT_NE(Try(Base64Url(nested) + "." + Base64Url(nested) + "."), "OK");
}

TEST_F(Jwt, OnlyKeyNeedsNoName) {
  json jwks;
  json key = ec.Jwk("");
  key.erase("kid");
  jwks["keys"] = nlohmann::json::array({key});
  keys = *JwtKeys::Parse(jwks.dump());
  EXPECT_EQ(Try(ec.Jwt(Claims(), json{{"alg", "ES256"}})), "OK");
}

TEST_F(Jwt, WrongKeySetsAreRefused) {
  const auto parses = [](const std::vector<json>& keys_value) {
    json jwks;
    jwks["keys"] = keys_value;
    return JwtKeys::Parse(jwks.dump()).ok();
  };
  EXPECT_TRUE(parses({ec.Jwk("a")}));
  EXPECT_FALSE(parses({}));
  EXPECT_FALSE(parses({ec.Jwk("a"), rsa.Jwk("a")})) << "one kid, two keys";
  EXPECT_FALSE(parses({TestKey("RS256", 1024).Jwk("weak")}));
  json off_curve = ec.Jwk("a");
  off_curve["y"] = off_curve["x"];
  EXPECT_FALSE(parses({off_curve}));
  json cut = ed.Jwk("a");
  cut["x"] = Base64Url(std::string(31, 'x'));
  EXPECT_FALSE(parses({cut}));
  json encryption = ec.Jwk("a");
  encryption["use"] = "enc";
  EXPECT_FALSE(parses({encryption})) << "none is left";
  json other = rsa.Jwk("a");
  other["alg"] = "RS512";
  EXPECT_FALSE(parses({other}));
  EXPECT_FALSE(parses({json{{"kty", "oct"}, {"k", "c2VjcmV0"}}}));
  for (const char* text : {"", "{", "[]", "{}", "null", R"({"keys": 7})"})
    EXPECT_FALSE(JwtKeys::Parse(text).ok());
}

}  // namespace
}  // namespace sinew::server
