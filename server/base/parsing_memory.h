// parsing_memory.h - what parsing a rig takes at most: by it memory is reserved before a rig is
// parsed, and the limits of rigs fit their machine.
#pragma once

#include <cstdint>

namespace sinew::server {

// Peak of what conversion allocates for a byte of the message. Worst are indices of one or two
// bytes that become four, in arrays that have just grown to twice their size: 8.6
// (parsing_memory_test).
inline constexpr std::uint64_t kBytesPerByte = 10;
// For a value of a vertex map, likewise.
inline constexpr std::uint64_t kBytesPerMapValue = 2 * sizeof(float);
// For a field of a message besides its bytes: the largest message, 152, and its place in a list.
inline constexpr std::uint64_t kBytesPerField = 176;

}  // namespace sinew::server
