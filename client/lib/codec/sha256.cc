#include "client/lib/codec/sha256.h"

#include <absl/strings/escaping.h>
#include <openssl/sha.h>

#include <array>

namespace sinew::client {

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace sinew::client
