#include "tests/support/test_keys.h"

#include <absl/strings/escaping.h>
#include <absl/strings/strip.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <vector>

namespace sinew::testing {
namespace {

constexpr int kCoordinateBytes = 32;

template <class Write>
std::string PemOf(const Write& write) {
  BIO* const bio = BIO_new(BIO_s_mem());
  write(bio);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return text;
}

std::string PemOf(X509* certificate) {
  return PemOf([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}

std::string NumberOf(EVP_PKEY* key, const char* parameter, int pad = 0) {
  BIGNUM* number = nullptr;
  EVP_PKEY_get_bn_param(key, parameter, &number);
  std::string bytes(static_cast<std::size_t>(pad == 0 ? BN_num_bytes(number) : pad), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
               static_cast<int>(bytes.size()));
  BN_free(number);
  return bytes;
}

void AddExtension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// With subject, validity and a public key, not signed yet.
std::shared_ptr<X509> NewCertificate(const std::string& name, EVP_PKEY* key,
                                     std::chrono::seconds ends) {
  static std::atomic<long> serial{1};
  std::shared_ptr<X509> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -86'400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ends.count());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

}  // namespace

std::string Base64Url(std::string_view bytes) {
  return absl::WebSafeBase64Escape(absl::string_view(bytes.data(), bytes.size()));
}

TestKey::TestKey(const std::string& algorithm, int rsa_bits) : algorithm_(algorithm) {
  EVP_PKEY* const key = algorithm == "RS256"   ? EVP_RSA_gen(static_cast<unsigned>(rsa_bits))
                        : algorithm == "ES256" ? EVP_EC_gen("P-256")
                                               : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  key_ = {key, EVP_PKEY_free};
}

std::string TestKey::Pem() const {
  return PemOf([&](BIO* bio) {
    PEM_write_bio_PrivateKey(bio, get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string TestKey::PublicPem() const {
  return PemOf([&](BIO* bio) { PEM_write_bio_PUBKEY(bio, get()); });
}

nlohmann::json TestKey::Jwk(const std::string& kid) const {
  nlohmann::json jwk = {{"kid", kid}, {"use", "sig"}, {"alg", algorithm_}};
  if (algorithm_ == "RS256") {
    jwk["kty"] = "RSA";
    jwk["n"] = Base64Url(NumberOf(get(), OSSL_PKEY_PARAM_RSA_N));
    jwk["e"] = Base64Url(NumberOf(get(), OSSL_PKEY_PARAM_RSA_E));
  } else if (algorithm_ == "ES256") {
    jwk["kty"] = "EC";
    jwk["crv"] = "P-256";
    jwk["x"] = Base64Url(NumberOf(get(), OSSL_PKEY_PARAM_EC_PUB_X, kCoordinateBytes));
    jwk["y"] = Base64Url(NumberOf(get(), OSSL_PKEY_PARAM_EC_PUB_Y, kCoordinateBytes));
  } else {
    std::string raw(kCoordinateBytes, '\0');
    std::size_t size = raw.size();
    EVP_PKEY_get_raw_public_key(get(), reinterpret_cast<unsigned char*>(raw.data()), &size);
    jwk["kty"] = "OKP";
    jwk["crv"] = "Ed25519";
    jwk["x"] = Base64Url(raw);
  }
  return jwk;
}

std::string TestKey::Sign(std::string_view message) const {
  EVP_MD_CTX* const context = EVP_MD_CTX_new();
  const auto* const bytes = reinterpret_cast<const unsigned char*>(message.data());
  EVP_DigestSignInit(context, nullptr, algorithm_ == "EdDSA" ? nullptr : EVP_sha256(), nullptr,
                     get());
  std::size_t size = 0;
  EVP_DigestSign(context, nullptr, &size, bytes, message.size());
  std::vector<unsigned char> signature(size);
  EVP_DigestSign(context, signature.data(), &size, bytes, message.size());
  EVP_MD_CTX_free(context);
  if (algorithm_ != "ES256")
    return {signature.begin(), signature.begin() + static_cast<long>(size)};
  const unsigned char* at = signature.data();
  ECDSA_SIG* const numbers = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size));
  std::string raw(2 * kCoordinateBytes, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(raw.data());
  BN_bn2binpad(ECDSA_SIG_get0_r(numbers), out, kCoordinateBytes);
  BN_bn2binpad(ECDSA_SIG_get0_s(numbers), out + kCoordinateBytes, kCoordinateBytes);
  ECDSA_SIG_free(numbers);
  return raw;
}

std::string TestKey::Jwt(const nlohmann::json& claims, const std::string& kid) const {
  return Jwt(claims, nlohmann::json{{"alg", algorithm_}, {"typ", "JWT"}, {"kid", kid}});
}

std::string TestKey::Jwt(const nlohmann::json& claims, const nlohmann::json& header) const {
  const std::string message = Base64Url(header.dump()) + "." + Base64Url(claims.dump());
  return message + "." + Base64Url(Sign(message));
}

TestAuthority::TestAuthority(const std::string& name)
    : key_("ES256"), certificate_(NewCertificate(name, key_.get(), std::chrono::hours(24))) {
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
  AddExtension(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate_.get(), key_.get(), EVP_sha256());
  pem_ = PemOf(certificate_.get());
}

TestCertificate TestAuthority::Issue(const std::string& common_name,
                                     const std::string& alternative_names,
                                     std::chrono::seconds ends) const {
  const TestKey key("ES256");
  const std::shared_ptr<X509> certificate = NewCertificate(common_name, key.get(), ends);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  if (!alternative_names.empty()) {
    AddExtension(certificate.get(), NID_subject_alt_name, alternative_names);
  }
  X509_sign(certificate.get(), key_.get(), EVP_sha256());
  return {.pem = PemOf(certificate.get()), .key_pem = key.Pem()};
}

}  // namespace sinew::testing
