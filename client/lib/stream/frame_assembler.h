// frame_assembler.h - joins the chunks of a frame and verifies each of them.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/lib/stream/frame_parser.h"
#include "sinew/frame.h"

namespace sinew::client {

struct AttributeData {
  Encoding encoding = Encoding::kUnspecified;
  ByteSpans bytes;
};
inline constexpr std::size_t kAttributeCount = 6;  // numbers of Attribute

// The data behind a FrameView.
struct FrameData {
  std::uint64_t frame = 0;
  double time = 0;
  std::uint64_t vertices = 0;
  std::array<float, 6> bounds{};
  FrameTiming timing;
  std::uint32_t skipped = 0;
  std::uint32_t chunks = 0;
  Compression compression = Compression::kUnspecified;
  std::uint64_t base_frame = 0, received_bytes = 0;
  std::array<AttributeData, kAttributeCount> attributes;
  Quantisation quantisation;
  std::vector<PosedMuscle> muscles;
  std::vector<std::shared_ptr<const MessageBytes>> bytes;  // what the spans refer to
};

// For the chunks of one stream in order of arrival. Not thread-safe.
class FrameAssembler {
 public:
  // verify     compare the checksums that the server sent
  // max_bytes  largest vertex data of a message, after decompression
  FrameAssembler(bool verify, std::size_t max_bytes) : verify_(verify), max_bytes_(max_bytes) {}

  // The frame that this chunk completes, or null.
  //   kDataLoss: wrong checksum, data that does not have the size in the header or cannot be
  //   decompressed, or a base_frame that is not the frame before.
  //   kInternal: chunks that overlap, leave a gap, mix frames or change their encoding.
  absl::StatusOr<std::shared_ptr<FrameData>> Add(FrameChunk chunk);

  // A frame is incomplete.
  bool open() const { return frame_ != nullptr; }

 private:
  absl::Status Unpack(FrameChunk& chunk);
  absl::Status Check(const FrameChunk& chunk) const;
  void Append(FrameChunk& chunk);

  const bool verify_;
  const std::size_t max_bytes_;
  std::shared_ptr<const FrameData> base_;        // the last frame, if it was compressed
  std::shared_ptr<const MessageBytes> message_;  // of the last chunk that was
  std::size_t unpacked_ = 0;                     // bytes of that message
  std::shared_ptr<FrameData> frame_;
  std::array<Pieces, kAttributeCount> pieces_;  // of the chunks so far
};

}  // namespace sinew::client
