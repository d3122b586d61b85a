// checksum.h - the checksum of a frame's bulk bytes: XXH3-64 over positions, normals, channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace sinew::server {

// Of all arrays as if they stood one behind the other.
std::uint64_t BulkChecksum(std::initializer_list<std::span<const std::byte>> arrays);

}  // namespace sinew::server
