#include "server/access/jwt.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_split.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/lib/base/openssl_owned.h"
#include "core/base/status.h"

namespace sinew::server {
namespace {

using Json = nlohmann::json;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t kTokenBytes = 16384;
constexpr Seconds kClockSkew{30};
constexpr int kRsaBits = 2048;
constexpr std::size_t kCoordinateBytes = 32;  // of P-256, and an Ed25519 key

using Number = Owned<BIGNUM, BN_free>;
using Parameters = Owned<OSSL_PARAM, OSSL_PARAM_free>;

template <class... T>
absl::Status Refused(const T&... pieces) {
  return absl::UnauthenticatedError(absl::StrCat("jwt: ", MessagePiece(pieces)...));
}

// base64url without padding (RFC 7515). No value: anything else.
std::optional<std::string> Decoded(std::string_view text) {
  const auto legal = [](char c) { return absl::ascii_isalnum(c) || c == '-' || c == '_'; };
  std::string bytes;
  if (!std::ranges::all_of(text, legal) || text.size() % 4 == 1 ||
      !absl::WebSafeBase64Unescape(AbslView(text), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

// A JSON object; a discarded value for anything else.
Json DecodedObject(std::string_view text) {
  const std::optional<std::string> bytes = Decoded(text);
  Json json = bytes ? Json::parse(*bytes, nullptr, /*allow_exceptions=*/false) : Json();
  return json.is_object() ? json : Json(Json::value_t::discarded);
}

// The text under `key`, or "".
std::string TextOf(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Seconds> SecondsOf(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double seconds = found->get<double>();
  return std::isfinite(seconds) ? std::optional(Seconds(seconds)) : std::nullopt;
}

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

EVP_PKEY* MakeKey(const char* type, OSSL_PARAM_BLD* builder) {
  const Parameters parameters(OSSL_PARAM_BLD_to_param(builder));
  const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> context(
      EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (parameters == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    return nullptr;
  }
  const Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free> check(EVP_PKEY_CTX_new(key, nullptr));
  if (EVP_PKEY_public_check(check.get()) == 1) return key;
  EVP_PKEY_free(key);
  return nullptr;
}

EVP_PKEY* RsaKey(const std::string& n, const std::string& e) {
  const Number modulus(BN_bin2bn(Bytes(n), static_cast<int>(n.size()), nullptr));
  const Number exponent(BN_bin2bn(Bytes(e), static_cast<int>(e.size()), nullptr));
  const Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  if (BN_num_bits(modulus.get()) < kRsaBits) return nullptr;
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get());
  return MakeKey("RSA", builder.get());
}

EVP_PKEY* EcKey(const std::string& x, const std::string& y) {
  if (x.size() != kCoordinateBytes || y.size() != kCoordinateBytes) return nullptr;
  const std::string point = "\x04" + x + y;  // uncompressed
  const Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free> builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  return MakeKey("EC", builder.get());
}

EVP_PKEY* EdKey(const std::string& x) {
  if (x.size() != kCoordinateBytes) return nullptr;
  return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Bytes(x), x.size());
}

// The algorithm of a key by its type, or "" for a key that is skipped.
std::string AlgorithmOf(const Json& key) {
  const std::string type = TextOf(key, "kty"), curve = TextOf(key, "crv");
  std::string algorithm;
  if (type == "RSA") algorithm = "RS256";
  if (type == "EC" && curve == "P-256") algorithm = "ES256";
  if (type == "OKP" && curve == "Ed25519") algorithm = "EdDSA";
  const bool other_use = key.contains("use") && TextOf(key, "use") != "sig";
  const bool other_algorithm = key.contains("alg") && TextOf(key, "alg") != algorithm;
  return other_use || other_algorithm ? std::string() : algorithm;
}

EVP_PKEY* ParseKey(const Json& key, const std::string& algorithm) {
  const auto member = [&](const char* name) {
    return Decoded(TextOf(key, name)).value_or(std::string());
  };
  if (algorithm == "RS256") return RsaKey(member("n"), member("e"));
  if (algorithm == "ES256") return EcKey(member("x"), member("y"));
  return EdKey(member("x"));
}

// OpenSSL expects the two numbers of an ECDSA signature in DER.
std::string DerOf(std::string_view raw) {
  if (raw.size() != 2 * kCoordinateBytes) return {};
  const auto number = [&](std::size_t at) {
    return BN_bin2bn(Bytes(raw) + at, static_cast<int>(kCoordinateBytes), nullptr);
  };
  const Owned<ECDSA_SIG, ECDSA_SIG_free> signature(ECDSA_SIG_new());
  ECDSA_SIG_set0(signature.get(), number(0), number(kCoordinateBytes));
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(signature.get(), &der);
  if (size <= 0) return {};
  std::string bytes(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

bool IsSignedBy(EVP_PKEY* key, const std::string& algorithm, std::string_view message,
                std::string_view raw) {
  const std::string signature = algorithm == "ES256" ? DerOf(raw) : std::string(raw);
  const EVP_MD* hash = algorithm == "EdDSA" ? nullptr : EVP_sha256();  // Ed25519 has its own
  const Owned<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  return EVP_DigestVerifyInit(context.get(), nullptr, hash, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(message),
                          message.size()) == 1;
}

bool HasAudience(const Json& claims, const std::string& audience) {
  const auto found = claims.find("aud");
  if (found == claims.end()) return false;
  if (found->is_array()) return std::ranges::find(*found, Json(audience)) != found->end();
  return *found == Json(audience);
}

absl::StatusOr<Clock::WallTime> CheckTimes(const Json& claims, Clock::WallTime now) {
  const Seconds time = now.time_since_epoch();
  const std::optional<Seconds> expires = SecondsOf(claims, "exp"),
                               begins = SecondsOf(claims, "nbf");
  // Far beyond any lifetime of a token, and representable as a time.
  constexpr Seconds kLatest{4e9};
  if (!expires || *expires > kLatest) return Refused("exp is missing or not a time");
  if (time >= *expires + kClockSkew) return Refused("expired");
  if (claims.contains("nbf") && (!begins || time < *begins - kClockSkew)) {
    return Refused("not valid yet");
  }
  return Clock::WallTime(
      std::chrono::duration_cast<Clock::WallTime::duration>(*expires + kClockSkew));
}

absl::StatusOr<Identity> IdentityOf(const Json& claims, const std::string& tenant_claim) {
  Identity identity;
  SINEW_RETURN_IF_ERROR(SetPrincipal(TextOf(claims, "sub"), identity));
  if (claims.contains(tenant_claim)) {
    SINEW_RETURN_IF_ERROR(SetTenant(TextOf(claims, tenant_claim), identity));
  }
  if (claims.contains("scope")) {
    identity.scopes = Scopes();
    const std::string names = TextOf(claims, "scope");
    for (const absl::string_view name : absl::StrSplit(names, ' ')) {
      // Scopes of other services are none of ours.
      if (const auto scope = ScopeOf(StdView(name))) identity.scopes.Add(*scope);
    }
  }
  return identity;
}

}  // namespace

void JwtKeys::FreeKey::operator()(EVP_PKEY* key) const {
  EVP_PKEY_free(key);
}

absl::StatusOr<JwtKeys> JwtKeys::Parse(std::string_view jwks) {
  const Json json = Json::parse(jwks, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("keys") || !json["keys"].is_array()) {
    return InvalidArgument("got no JSON object with a list \"keys\" (RFC 7517)");
  }
  JwtKeys parsed;
  for (const Json& key : json["keys"]) {
    const std::string algorithm = key.is_object() ? AlgorithmOf(key) : std::string();
    if (algorithm.empty()) continue;
    const std::string id = TextOf(key, "kid");
    PublicKey made(ParseKey(key, algorithm));
    if (made == nullptr) {
      return InvalidArgument("key \"", id, "\": not a public key for ", algorithm,
                             ", with at least ", kRsaBits, " bits for RSA");
    }
    if (parsed.Find(id) != nullptr) return InvalidArgument("key \"", id, "\": kid is repeated");
    parsed.keys_.push_back({.id = id, .algorithm = algorithm, .key = std::move(made)});
  }
  if (parsed.keys_.empty()) {
    return InvalidArgument("got no key for signatures with RS256, ES256 or EdDSA");
  }
  return parsed;
}

const JwtKeys::Key* JwtKeys::Find(std::string_view id) const {
  const auto found = std::ranges::find(keys_, id, &Key::id);
  return found == keys_.end() ? nullptr : &*found;
}

absl::StatusOr<VerifiedJwt> JwtKeys::Verify(std::string_view token, const JwtRules& rules,
                                            Clock::WallTime now) const {
  if (token.size() > kTokenBytes) return Refused("longer than ", kTokenBytes, " bytes");
  const std::vector<absl::string_view> parts = absl::StrSplit(AbslView(token), '.');
  if (parts.size() != 3) return Refused("not three parts");
  const Json header = DecodedObject(StdView(parts[0]));
  const Json claims = DecodedObject(StdView(parts[1]));
  const std::optional<std::string> signature = Decoded(StdView(parts[2]));
  if (!header.is_object() || !claims.is_object() || !signature) {
    return Refused("not base64url or not JSON");
  }
  // No extension is understood that a token could declare critical.
  if (header.contains("crit")) return Refused("has critical extensions");
  const Key* key = header.contains("kid") ? Find(TextOf(header, "kid"))
                   : keys_.size() == 1    ? &keys_.front()
                                          : nullptr;
  if (key == nullptr) return Refused("signed with an unknown key");
  if (TextOf(header, "alg") != key->algorithm) return Refused("alg is not that of its key");
  const std::string_view message = token.substr(0, token.rfind('.'));
  if (!IsSignedBy(key->key.get(), key->algorithm, message, *signature)) {
    return Refused("the signature is wrong");
  }
  if (!HasAudience(claims, rules.audience)) return Refused("for another audience");
  if (!rules.issuer.empty() && TextOf(claims, "iss") != rules.issuer) {
    return Refused("of another issuer");
  }
  SINEW_ASSIGN_OR_RETURN(const Clock::WallTime expires, CheckTimes(claims, now));
  const absl::StatusOr<Identity> identity = IdentityOf(claims, rules.tenant_claim);
  if (!identity.ok()) return Refused(identity.status().message());
  return VerifiedJwt{.identity = *identity, .expires = expires};
}

}  // namespace sinew::server
