#include "server/frames/checksum.h"

#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // the same values with the widest registers of the machine
#endif

#include <algorithm>
#include <memory>
#include <new>

namespace sinew::server {

std::uint64_t BulkChecksum(std::initializer_list<std::span<const std::byte>> arrays) {
  const auto filled = [](std::span<const std::byte> array) { return !array.empty(); };
  // The one-shot call is faster.
  if (std::count_if(arrays.begin(), arrays.end(), filled) == 1) {
    const auto only = *std::find_if(arrays.begin(), arrays.end(), filled);
    return XXH3_64bits(only.data(), only.size());
  }
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  for (const std::span<const std::byte> array : arrays) {
    XXH3_64bits_update(state.get(), array.data(), array.size());
  }
  return XXH3_64bits_digest(state.get());
}

}  // namespace sinew::server
