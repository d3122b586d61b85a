// frame_assembler.h - puts the pieces of a frame together and checks each of them.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/lib/stream/frame_parser.h"
#include "sinew/frame.h"

namespace sinew::client {

// What a FrameView shows.
struct FrameData {
  std::uint64_t frame = 0;
  double time = 0;
  std::uint64_t vertices = 0;
  std::array<float, 6> bounds{};
  FrameTiming timing;
  std::uint32_t skipped = 0, replayed_steps = 0;
  std::uint32_t chunks = 0;
  Encoding encoding = Encoding::kUnspecified, normal_encoding = Encoding::kUnspecified;
  Encoding tangent_encoding = Encoding::kUnspecified,
           vertex_status_encoding = Encoding::kUnspecified;
  ByteSpans positions, normals, tangents, vertex_status;
  std::vector<PosedMuscle> muscles;
  std::vector<std::shared_ptr<const MessageBytes>> bytes;  // what the spans refer to
};

// Takes the chunks of one stream in the order they come. Not thread-safe.
class FrameAssembler {
 public:
  // verify  compare checksums that were sent
  explicit FrameAssembler(bool verify) : verify_(verify) {}

  // The frame this chunk completes, or nothing yet.
  //   kDataLoss: the checksum does not fit, or bytes do not fit the counts of the header; a muscle
  //   without 12 and 3 numbers.
  //   kInternal: chunks that overlap, leave a gap, mix frames or change their encoding.
  absl::StatusOr<std::shared_ptr<FrameData>> Add(FrameChunk chunk);

  // A frame has begun and not ended.
  bool open() const { return frame_ != nullptr; }

 private:
  absl::Status Check(const FrameChunk& chunk) const;
  void Append(FrameChunk& chunk);

  const bool verify_;
  std::shared_ptr<FrameData> frame_;
  Pieces positions_, normals_, tangents_, vertex_status_;
};

}  // namespace sinew::client
