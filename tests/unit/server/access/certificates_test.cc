#include "server/access/certificates.h"

#include <gtest/gtest.h>

#include "tests/support/test_keys.h"

namespace sinew::server {
namespace {

using sinew::testing::TestAuthority;
using sinew::testing::TestCertificate;

TEST(Certificates, KeyMustBeThatOfTheCertificate) {
  const TestAuthority authority("test");
  const TestCertificate one = authority.Issue("one", ""), two = authority.Issue("two", "");
  const auto check = [&](const std::string& chain, const std::string& key,
                         const std::string& ca = "") {
    return CheckCertificates({.chain = chain, .key = key, .client_ca = ca});
  };
  EXPECT_TRUE(check(one.pem, one.key_pem).ok());
  EXPECT_TRUE(check(one.pem + authority.pem(), one.key_pem, authority.pem()).ok());
  EXPECT_FALSE(check(one.pem, two.key_pem).ok());
  EXPECT_FALSE(check("", one.key_pem).ok());
  EXPECT_FALSE(check(one.pem.substr(0, one.pem.size() / 2), one.key_pem).ok());
  EXPECT_FALSE(check(one.pem, one.pem).ok());
  EXPECT_FALSE(check(one.pem, one.key_pem, "no certificate").ok());
}

TEST(TenantRule, NameGivesPrincipalAndTenant) {
  const auto rule = TenantRule::Parse("^spiffe://farm/([^/]+)/");
  ASSERT_TRUE(rule.ok()) << rule.status();
  const auto identity = rule->Apply({"spiffe://farm/film/render", "DNS:x"}, "ignored");
  ASSERT_TRUE(identity.ok()) << identity.status();
  EXPECT_EQ(identity->principal, "spiffe://farm/film/render");
  EXPECT_EQ(identity->tenant, "film");
  EXPECT_FALSE(identity->scopes.Has(Scope::kAdmin));
  EXPECT_FALSE(rule->Apply({"spiffe://other/film/render"}, "").ok());
  EXPECT_FALSE(rule->Apply({"spiffe://farm/..%2fother/render"}, "").ok());
  EXPECT_FALSE(rule->Apply({}, "").ok());
}

TEST(TenantRule, NoPatternIsTheDefaultTenant) {
  const auto rule = TenantRule::Parse("");
  ASSERT_TRUE(rule.ok());
  const auto identity = rule->Apply({}, "workstation-7");
  ASSERT_TRUE(identity.ok());
  EXPECT_EQ(identity->principal, "workstation-7");
  EXPECT_EQ(identity->tenant, "");
}

TEST(TenantRule, PatternNeedsAGroup) {
  for (const char* wrong : {"film", "(", "[", "(?:film)"}) {
    EXPECT_FALSE(TenantRule::Parse(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace sinew::server
