#include "server/access/tokens.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/digest.h"

namespace sinew::server {
namespace {

const Clock::WallTime kNow{std::chrono::seconds(1'800'000'000)};  // 2027-01-15T08:00:00Z

std::string Line(const std::string& token, const std::string& rest = "") {
  return R"({"name": "alice", "sha256": ")" + Sha256Hex(token) + "\"" + rest + "}\n";
}

TEST(Tokens, MadeTokenIsFound) {
  const auto made = MakeToken("alice");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_GE(made->token.size(), 43u);  // 256 bits in base64
  EXPECT_EQ(made->line.find(made->token), std::string::npos) << "the file must not hold the token";
  const auto tokens = Tokens::Parse(made->line);
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  const Identity* const found = tokens->Find(made->token, kNow);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->principal, "alice");
  EXPECT_EQ(found->tenant, "");
  EXPECT_TRUE(found->scopes.Has(Scope::kRigsWrite));
  EXPECT_FALSE(found->scopes.Has(Scope::kAdmin));
  EXPECT_NE(MakeToken("alice")->token, made->token);
}

TEST(Tokens, FileNamesTenantScopesAndExpiry) {
  const auto tokens = Tokens::Parse(
      "# a comment\n\n" + Line("one", R"(, "tenant": "film", "scopes": ["rigs:read", "admin"])") +
      Line("two", R"(, "tenant": "default", "expires": "2027-01-15T08:00:00Z")") +
      Line("three", R"(, "scopes": [], "expires": "2027-01-15T08:00:01Z")"));
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  const Identity* const one = tokens->Find("one", kNow);
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->tenant, "film");
  EXPECT_TRUE(one->scopes.Has(Scope::kAdmin));
  EXPECT_FALSE(one->scopes.Has(Scope::kSessionsUse));
  EXPECT_EQ(tokens->Find("two", kNow), nullptr) << "expires at this second";
  const Identity* const two = tokens->Find("two", kNow - std::chrono::seconds(1));
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(two->tenant, "");
  const Identity* const three = tokens->Find("three", kNow);
  ASSERT_NE(three, nullptr);
  EXPECT_TRUE(three->scopes.Has(Scope::kAny));
  EXPECT_FALSE(three->scopes.Has(Scope::kRigsRead));
}

TEST(Tokens, OthersAreUnknown) {
  const auto tokens = Tokens::Parse(Line("one"));
  for (const std::string& token :
       std::vector<std::string>{"", "on", "onee", "One", Sha256Hex("one")}) {
    EXPECT_EQ(tokens->Find(token, kNow), nullptr) << token;
  }
}

TEST(Tokens, WrongFilesNameTheLine) {
  const std::string hash = Sha256Hex("x");
  const std::string table[] = {
      "alice",
      "[]",
      R"({"name": "alice"})",
      R"({"sha256": ")" + hash + "\"}",
      R"({"name": "", "sha256": ")" + hash + "\"}",
      R"({"name": "a\u0007", "sha256": ")" + hash + "\"}",
      R"({"name": "alice", "sha256": "abc"})",
      R"({"name": "alice", "sha256": ")" + std::string(64, 'g') + "\"}",
      R"({"name": 1, "sha256": ")" + hash + "\"}",
      Line("x", R"(, "tenant": "Film")"),
      Line("x", R"(, "tenant": "../film")"),
      Line("x", R"(, "tenant": ")" + std::string(64, 'a') + "\""),
      Line("x", R"(, "scopes": "admin")"),
      Line("x", R"(, "scopes": ["rigs:*"])"),
      Line("x", R"(, "expires": "tomorrow")"),
      Line("x", R"(, "tennant": "film")"),
      Line("x", R"(, "tenant": "film", "tenant": "games")"),
      Line("ok"),
  };
  for (const std::string& line : table) {
    const auto tokens = Tokens::Parse(Line("ok") + line);
    ASSERT_FALSE(tokens.ok()) << line;
    EXPECT_EQ(tokens.status().message().find("line 2: "), 0u) << tokens.status();
  }
}

}  // namespace
}  // namespace sinew::server
