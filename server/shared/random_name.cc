#include "server/shared/random_name.h"

#include <absl/strings/escaping.h>
#include <openssl/rand.h>

#include <array>
#include <stdexcept>

namespace sinew::server {

std::string RandomHex() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) throw std::runtime_error("no randomness");
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace sinew::server
