// test_keys.h - keys, certificates and JSON Web Tokens made by OpenSSL while a test runs.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sinew::testing {

class TestKey {
 public:
  // algorithm: RS256 (of `rsa_bits`), ES256 or EdDSA.
  explicit TestKey(const std::string& algorithm, int rsa_bits = 2048);

  EVP_PKEY* get() const { return key_.get(); }
  std::string Pem() const;
  std::string PublicPem() const;
  // The public key as a member of a JWKS.
  nlohmann::json Jwk(const std::string& kid) const;
  // The signature in the form of a JSON Web Token.
  std::string Sign(std::string_view message) const;
  // A token with alg and kid in its header.
  std::string Jwt(const nlohmann::json& claims, const std::string& kid) const;
  std::string Jwt(const nlohmann::json& claims, const nlohmann::json& header) const;

 private:
  const std::string algorithm_;
  std::shared_ptr<EVP_PKEY> key_;
};

std::string Base64Url(std::string_view bytes);

struct TestCertificate {
  std::string pem, key_pem;
};

// A certificate authority.
class TestAuthority {
 public:
  explicit TestAuthority(const std::string& name);
  const std::string& pem() const { return pem_; }

  // alternative_names: as in openssl.cnf, e.g. "DNS:localhost,IP:127.0.0.1"; empty = none.
  // ends: seconds from now; negative = expired.
  TestCertificate Issue(const std::string& common_name, const std::string& alternative_names,
                        std::chrono::seconds ends = std::chrono::hours(1)) const;

 private:
  TestKey key_;
  std::shared_ptr<X509> certificate_;
  std::string pem_;
};

}  // namespace sinew::testing
