#include "server/access/certificates.h"

#include <gtest/gtest.h>

#include <chrono>

#include "server/access/client_certificates.h"
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

// A search that goes back would take longer than the age of the universe.
TEST(TenantRule, TimeDoesNotExplodeWithTheName) {
  const auto rule = TenantRule::Parse("^((a+)+)+!$");
  ASSERT_TRUE(rule.ok()) << rule.status();
  EXPECT_FALSE(rule->Apply({std::string(256, 'a')}, "").ok());
}

TEST(ClientCertificates, NeedAnAuthorityAndTime) {
  const testing::TestAuthority authority("ours"), other("ours");
  const std::string chain = authority.Issue("artist", "DNS:artist", std::chrono::hours(1)).pem;
  const ClientCertificates clients(authority.pem());
  const auto now = std::chrono::system_clock::now();
  for (int repeat = 0; repeat < 2; ++repeat) {
    EXPECT_TRUE(clients.Verify(chain, now).ok());
    EXPECT_EQ(clients.Verify(chain, now + std::chrono::minutes(61)).message(),
              "certificate: certificate has expired");
  }
  EXPECT_TRUE(absl::IsUnauthenticated(ClientCertificates(other.pem()).Verify(chain, now)));
  EXPECT_TRUE(absl::IsUnauthenticated(clients.Verify("", now)));
  EXPECT_TRUE(absl::IsUnauthenticated(clients.Verify("no certificate", now)));
  EXPECT_TRUE(clients.Verify(chain + other.pem(), now).ok()) << "further certificates may be there";
}

}  // namespace
}  // namespace sinew::server
