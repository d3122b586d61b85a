// checksum.h - the checksum of a frame's bulk bytes: XXH3-64 over positions, then normals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sinew::server {

// Of both arrays as if they stood one behind the other.
std::uint64_t BulkChecksum(std::span<const std::byte> positions,
                           std::span<const std::byte> normals);

}  // namespace sinew::server
