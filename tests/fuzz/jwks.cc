// jwks.cc - public keys as a JWKS file.
#include "server/access/jwt.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const absl::StatusOr<server::JwtKeys> keys = server::JwtKeys::Parse(fuzz::Text(data, size));
  if (!keys.ok()) {
    fuzz::RequireRefusal(keys.status());
    return 0;
  }
  // Header {"alg":"EdDSA"}, claims {}, no signature: signed by no key.
  const auto now = server::Clock::WallTime{std::chrono::seconds(1'800'000'000)};
  fuzz::RequireRefusal(
      keys->Verify("eyJhbGciOiJFZERTQSJ9.e30.",
                   {.audience = "sinew", .issuer = {}, .tenant_claim = "tenant"}, now)
          .status(),
      {absl::StatusCode::kUnauthenticated});
  return 0;
}
