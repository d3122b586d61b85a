// token_file.cc - the file with the hashes of static tokens.
#include "server/access/tokens.h"
#include "server/base/caller.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinew;
  const absl::StatusOr<server::Tokens> tokens = server::Tokens::Parse(fuzz::Text(data, size));
  if (!tokens.ok()) {
    fuzz::RequireRefusal(tokens.status());
    return 0;
  }
  const server::Clock::WallTime now{std::chrono::seconds(1'800'000'000)};
  fuzz::Require(tokens->Find("", now) == nullptr || size >= 64, "no token without a hash");
  // Whoever holds the token "secret", by its hash in a seed, has a name and a tenant.
  if (const server::Identity* identity = tokens->Find("secret", now)) {
    fuzz::Require(!identity->principal.empty() && identity->principal.size() <= 256, "a name");
    fuzz::Require(identity->tenant.empty() || server::IsTenantName(identity->tenant),
                  "a tenant that can be the name of a folder");
  }
  return 0;
}
