// jwt.h - JSON Web Tokens signed with RS256, ES256 or EdDSA (RFC 7519, 8725), and the public keys
// that verify them (RFC 7517, 8037).
//
// No JOSE library of Debian 12 covers EdDSA but librhonabwy, which would add GnuTLS and libcurl to
// the server. So the three parts are taken apart here, and OpenSSL verifies the signature.
#pragma once

#include <absl/status/statusor.h>
#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/identity.h"
#include "server/base/clock.h"

namespace sinew::server {

struct JwtRules {
  std::string audience;      // must be one of `aud`
  std::string issuer;        // must be `iss`; empty = any
  std::string tenant_claim;  // claim with the tenant's name
};

struct VerifiedJwt {
  Identity identity;  // from `sub`, the tenant claim, and `scope`: names with spaces between
  Clock::WallTime expires;
};

// The keys of a JWKS. Thread-safe once parsed.
class JwtKeys {
 public:
  // Keys for another use or of another kind are skipped. kInvalidArgument: not a JWKS, a key that
  // is damaged or weak (RSA of less than 2048 bits), or none that can be used.
  static absl::StatusOr<JwtKeys> Parse(std::string_view jwks);

  // The key decides the algorithm; a token that names another one is refused. Expiry is required;
  // clocks may differ by half a minute. kUnauthenticated: the reason, which is for the log only.
  absl::StatusOr<VerifiedJwt> Verify(std::string_view token, const JwtRules& rules,
                                     Clock::WallTime now) const;

 private:
  struct FreeKey {
    void operator()(EVP_PKEY* key) const;
  };
  using PublicKey = std::unique_ptr<EVP_PKEY, FreeKey>;
  struct Key {
    std::string id;         // kid, may be empty
    std::string algorithm;  // alg: that of its type
    PublicKey key;
  };
  const Key* Find(std::string_view id) const;

  std::vector<Key> keys_;
};

}  // namespace sinew::server
