// compression.h - the frames of one call in COMPRESSION_ZSTD (sinew/v1/frame.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/vertex_deltas.h"
#include "server/frames/outbox.h"

namespace sinew::server {

// One frame at a time, in the order in which they are sent.
class Compressor {
 public:
  // deltas: each frame builds on the one before it, except the first and every 64th. These limit
  // damage that goes unnoticed without checksums. pool: must outlive this.
  Compressor(FramePool& pool, bool deltas) : pool_(pool), deltas_(deltas) {}

  // Replaces the bytes of a sealed frame, whose header is complete.
  void Compress(OutgoingFrame& frame);

  // Memory of so many compressed frames, and of compressing one.
  static std::size_t Bytes(const Output& output, std::uint32_t vertices, std::size_t frames);

 private:
  struct Sent {
    FrameBuffer buffer;
    std::vector<Bulk> pieces;
    Q16Box box{};
    std::uint64_t frame = 0;
  };

  FramePool& pool_;
  const bool deltas_;
  Sent base_;
  int since_key_ = 0;
};

}  // namespace sinew::server
