// jwt.cc - JSON Web Tokens. Input with a line break is header and claims, which the target signs
// with a key that the server trusts; other input is a token as a client sends it.
#include "server/access/jwt.h"

#include <openssl/evp.h>

#include <memory>

#include "server/base/caller.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/jwt_keys.h"
#include "tests/support/test_keys.h"

namespace {

using namespace sinew;

const server::Clock::WallTime kNow{std::chrono::seconds(fuzz::kTokenTime)};
const server::JwtRules kRules{
    .audience = "sinew", .issuer = "https://id", .tenant_claim = "tenant"};

std::string Signed(std::string_view header, std::string_view claims) {
  const auto part = [](std::string_view text) { return sinew::testing::Base64Url(text); };
  const std::string message = part(header) + "." + part(claims);
  return message + "." + part(fuzz::SignWithTestKey(message));
}

void CheckAccepted(const server::VerifiedJwt& token) {
  const server::Identity& identity = token.identity;
  fuzz::Require(!identity.principal.empty() && identity.principal.size() <= 256, "a name");
  fuzz::Require(identity.tenant.empty() || server::IsTenantName(identity.tenant),
                "a tenant that can be the name of a folder");
  fuzz::Require(token.expires > kNow, "a token that has not expired");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const server::JwtKeys keys = server::JwtKeys::Parse(fuzz::kTestJwks).value();
  const std::string_view text = fuzz::Text(data, size);
  const std::size_t line = text.find('\n');
  const bool is_signed = line != std::string_view::npos;
  const std::string token =
      is_signed ? Signed(text.substr(0, line), text.substr(line + 1)) : std::string(text);
  const absl::StatusOr<server::VerifiedJwt> verified = keys.Verify(token, kRules, kNow);
  if (!verified.ok()) {
    fuzz::RequireRefusal(verified.status(), {absl::StatusCode::kUnauthenticated});
    return 0;
  }
  fuzz::Require(is_signed, "no token is accepted without a signature");
  CheckAccepted(*verified);
  return 0;
}
