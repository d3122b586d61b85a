#include "server/checksum.h"

#include <xxhash.h>

#include <memory>
#include <new>

namespace sinew::server {

std::uint64_t BulkChecksum(std::span<const std::byte> positions,
                           std::span<const std::byte> normals) {
  if (normals.empty()) return XXH3_64bits(positions.data(), positions.size());
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  XXH3_64bits_update(state.get(), positions.data(), positions.size());
  XXH3_64bits_update(state.get(), normals.data(), normals.size());
  return XXH3_64bits_digest(state.get());
}

}  // namespace sinew::server
