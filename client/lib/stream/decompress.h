// decompress.h - vertex data in COMPRESSION_ZSTD (sinew/v1/frame.proto), as it is without
// compression.
#pragma once

#include <absl/status/status.h>

#include <cstddef>

#include "client/lib/stream/frame_parser.h"

namespace sinew::client {

struct FrameData;

// Bytes of a number of an encoding; 0: this library does not know it.
std::size_t NumberBytes(v1::Encoding encoding);

// Replaces the vertex data of a chunk. Its sizes are those of its header afterwards.
//   base       the frame that header.base_frame names, or null; complete
//   max_bytes  more is refused
//   kDataLoss: damaged, another size than the header says, too large, or `base` does not have these
//   vertices in this encoding. kUnimplemented: an unknown encoding.
absl::Status Decompress(FrameChunk& chunk, const FrameData* base, std::size_t max_bytes);

}  // namespace sinew::client
