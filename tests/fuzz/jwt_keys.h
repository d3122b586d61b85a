// jwt_keys.h - keys for the target of JSON Web Tokens, always the same, so that a finding can be
// repeated. Nothing else trusts them.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string>
#include <string_view>

namespace sinew::fuzz {

inline constexpr long kTokenTime = 1'800'000'000;  // now, in seconds of Unix time

// "d" is the public part of the key below; the private parts of "e" and "r" are gone.
inline constexpr char kTestJwks[] = R"({"keys": [
  {"kid": "d", "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA",
   "x": "pKUoY4avNRTWNzaJERCdylm2ytDjkwgIv-ewKBQa0AY"},
  {"kid": "e", "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256",
   "x": "cSuuwgLx2urIAXTYfdrc_miIwPOYQ_mn_MCK1jWC03s",
   "y": "O98o00H3R8-3dJgNSPsnbmgKUcmprMIfLTyg6o0Egsc"},
  {"kid": "r", "kty": "RSA", "use": "sig", "alg": "RS256", "e": "AQAB",
   "n": "uRbfeJR5YvjkrJOetpNFJ20NK6ectiQpBPhy4GNKgdgy7b9kGAwDIU8vygbXAzG5puses7s8RBk48OMfdgMQaHUnBu4WSxdcPxZG4G39_DY7ol0wo8csNEeaAv_dkJQAxCuFNNtDoC_Y5JjWyYre-NpmVFDBNmAbJbjjyAJXEcDOCdxjX9ipYpEyXwgcdck9cDVQH2ett18qI7qyJfQgYdaR9SAzXK-MZKphes66scCEMyHEL9IGkmv6lgokh8bw5FykS3RZaaPpONIQ-BiiBSia-GC0lCKdzi0s_PIaLjMfInyvU1boVN33I8ULXrsSqTP122Tz-VUtBPrY_LsYZw"}
]})";

// An Ed25519 signature with the key "d".
inline std::string SignWithTestKey(std::string_view message) {
  constexpr std::string_view kPrivate = "sinew fuzz key, signs no token.1";
  static const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                   reinterpret_cast<const unsigned char*>(kPrivate.data()),
                                   kPrivate.size()),
      EVP_PKEY_free);
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  std::string signature(64, '\0');
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     reinterpret_cast<const unsigned char*>(message.data()), message.size()) != 1) {
    return {};
  }
  return signature;
}

}  // namespace sinew::fuzz
