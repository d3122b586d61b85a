#include "client/lib/stream/frame_assembler.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <span>
#include <utility>

#include "client/lib/stream/decompress.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

struct AttributeName {
  Attribute attribute;
  const char* name;
};
// What a FrameView holds; other attributes are ignored.
constexpr AttributeName kAttributes[] = {{Attribute::kPositions, "positions"},
                                         {Attribute::kNormals, "normals"},
                                         {Attribute::kTangents, "tangents"},
                                         {Attribute::kVertexStatus, "vertex_status"}};

// Bytes per vertex, 0 if this library does not know the encoding.
std::size_t VertexBytes(Attribute attribute, Encoding encoding) {
  if (attribute == Attribute::kTangents) return encoding == Encoding::kFloat32 ? 16 : 0;
  if (attribute == Attribute::kVertexStatus) return encoding == Encoding::kUint8 ? 1 : 0;
  switch (encoding) {
    case Encoding::kFloat32:
      return 12;
    case Encoding::kQ16:
      return 6;
    case Encoding::kOct8:
      return 2;
    case Encoding::kOct16:
      return 4;
    default:
      return 0;
  }
}

// One attribute of a chunk; empty if the chunk does not have it.
struct Part {
  Encoding encoding = Encoding::kUnspecified;
  std::span<const Piece> data;
};

Part PartOf(const FrameChunk& chunk, Attribute attribute) {
  if (attribute == Attribute::kPositions) {
    return {static_cast<Encoding>(chunk.header.encoding()), chunk.positions};
  }
  if (attribute == Attribute::kNormals) {
    return {static_cast<Encoding>(chunk.header.normal_encoding()), chunk.normals};
  }
  for (std::size_t c = 0; c < chunk.channels.size(); ++c) {
    const v1::Channel& header = chunk.header.channels(static_cast<int>(c));
    if (header.attribute() == static_cast<v1::Attribute>(attribute)) {
      return {static_cast<Encoding>(header.encoding()), chunk.channels[c]};
    }
  }
  return {};
}

Compression CompressionOf(const v1::Frame& header) {
  return static_cast<Compression>(header.compression());
}

std::size_t BulkBytes(const FrameChunk& chunk) {
  std::size_t bytes = TotalSize(chunk.positions) + TotalSize(chunk.normals);
  for (const Pieces& channel : chunk.channels) bytes += TotalSize(channel);
  return bytes;
}

absl::StatusOr<PosedMuscle> ToMuscle(const v1::PosedMuscle& muscle) {
  PosedMuscle result;
  if (muscle.frame_size() != 12 || muscle.radii_size() != 3) {
    return absl::DataLossError(absl::StrCat("muscle: got ", muscle.frame_size(), " and ",
                                            muscle.radii_size(), " numbers, need 12 and 3"));
  }
  std::copy(muscle.frame().begin(), muscle.frame().end(), result.frame.begin());
  std::copy(muscle.radii().begin(), muscle.radii().end(), result.radii.begin());
  return result;
}

absl::Status CheckSize(const v1::Frame& header, const AttributeName& attribute, const Part& part) {
  const std::size_t got = TotalSize(part.data);
  const std::size_t each = VertexBytes(attribute.attribute, part.encoding);
  // Every frame has positions, of a byte a vertex or more: it never has more vertices than it
  // brings.
  const bool positions = attribute.attribute == Attribute::kPositions;
  const bool fits =
      each == 0 ? !positions || got >= header.vertex_count() : got == each * header.vertex_count();
  if (fits || (got == 0 && !positions)) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("frame ", header.frame(), ": got ", got, " bytes of ",
                                          attribute.name, ", need ",
                                          std::max<std::size_t>(each, 1) * header.vertex_count()));
}

}  // namespace

absl::Status FrameAssembler::Unpack(FrameChunk& chunk) {
  const v1::Frame& header = chunk.header;
  if (header.compression() <= v1::COMPRESSION_NONE) return absl::OkStatus();
  if (header.compression() != v1::COMPRESSION_ZSTD) {
    return absl::UnimplementedError(absl::StrCat("frame ", header.frame(), ": got compression ",
                                                 static_cast<int>(header.compression()),
                                                 ", this library reads NONE and ZSTD"));
  }
  const bool builds = header.base_frame() != 0;
  if (builds && (base_ == nullptr || base_->frame != header.base_frame())) {
    return absl::DataLossError(absl::StrCat("frame ", header.frame(), ": builds on frame ",
                                            header.base_frame(), ", which is not the one before"));
  }
  if (message_ != chunk.bytes) unpacked_ = 0;
  message_ = chunk.bytes;
  SINEW_RETURN_IF_ERROR(Decompress(chunk, builds ? base_.get() : nullptr, max_bytes_ - unpacked_));
  unpacked_ += BulkBytes(chunk);
  return absl::OkStatus();
}

absl::Status FrameAssembler::Check(const FrameChunk& chunk) const {
  const v1::Frame& header = chunk.header;
  const std::uint64_t expected = frame_ == nullptr ? 0 : frame_->vertices;
  if (header.vertex_offset() != expected) {
    return absl::InternalError(absl::StrCat("frame ", header.frame(), ": got a chunk at vertex ",
                                            header.vertex_offset(), ", need ", expected));
  }
  const bool quantised = header.encoding() == v1::ENCODING_Q16;
  const v1::Quantisation& quantisation = header.quantisation();
  if (quantised && (quantisation.origin_size() != 3 || quantisation.step_size() != 3)) {
    return absl::DataLossError(absl::StrCat("frame ", header.frame(), ": quantisation: got ",
                                            quantisation.origin_size(), " and ",
                                            quantisation.step_size(), " numbers, need 3 and 3"));
  }
  bool continues = frame_ == nullptr ||
                   (header.frame() == frame_->frame && header.base_frame() == frame_->base_frame &&
                    CompressionOf(header) == frame_->compression);
  if (quantised && frame_ != nullptr) {
    continues = continues &&
                std::ranges::equal(quantisation.origin(), frame_->quantisation.origin) &&
                std::ranges::equal(quantisation.step(), frame_->quantisation.step);
  }
  for (const AttributeName& each : kAttributes) {
    const Part part = PartOf(chunk, each.attribute);
    SINEW_RETURN_IF_ERROR(CheckSize(header, each, part));
    if (frame_ == nullptr) continue;
    const auto index = static_cast<std::size_t>(each.attribute);
    continues = continues && part.encoding == frame_->attributes[index].encoding &&
                part.data.empty() == pieces_[index].empty();
  }
  if (!continues) {
    return absl::InternalError(absl::StrCat(
        "frame ", header.frame(), ": got a chunk that does not continue frame ", frame_->frame));
  }
  if (verify_ && header.checksum() != 0 && header.checksum() != BulkChecksum(chunk)) {
    return absl::DataLossError(absl::StrCat("frame ", header.frame(),
                                            ": the checksum of the chunk at vertex ",
                                            header.vertex_offset(), " does not match its bytes"));
  }
  return absl::OkStatus();
}

void FrameAssembler::Append(FrameChunk& chunk) {
  const v1::Frame& header = chunk.header;
  if (frame_ == nullptr) {
    frame_ = std::make_shared<FrameData>();
    frame_->frame = header.frame();
    frame_->time = header.time();
    frame_->compression = CompressionOf(header);
    frame_->base_frame = header.base_frame();
    if (header.encoding() == v1::ENCODING_Q16) {
      std::ranges::copy(header.quantisation().origin(), frame_->quantisation.origin.begin());
      std::ranges::copy(header.quantisation().step(), frame_->quantisation.step.begin());
    }
  }
  frame_->vertices += header.vertex_count();
  frame_->skipped = std::max(frame_->skipped, header.skipped());
  ++frame_->chunks;
  const v1::Bounds& bounds = header.bounds();
  if (bounds.minimum_size() == 3 && bounds.maximum_size() == 3) {
    std::copy(bounds.minimum().begin(), bounds.minimum().end(), frame_->bounds.begin());
    std::copy(bounds.maximum().begin(), bounds.maximum().end(), frame_->bounds.begin() + 3);
  }
  if (header.has_timing()) {
    const v1::Timing& timing = header.timing();
    const auto nanoseconds = [](std::uint64_t count) {
      return absl::Nanoseconds(static_cast<std::int64_t>(count));
    };
    frame_->timing = {.queue = nanoseconds(timing.queue_ns()),
                      .evaluate = nanoseconds(timing.evaluate_ns()),
                      .encode = nanoseconds(timing.encode_ns()),
                      .previous_send = nanoseconds(timing.previous_send_ns())};
  }
  for (const AttributeName& each : kAttributes) {
    const auto index = static_cast<std::size_t>(each.attribute);
    const Part part = PartOf(chunk, each.attribute);
    frame_->attributes[index].encoding = part.encoding;
    pieces_[index].insert(pieces_[index].end(), part.data.begin(), part.data.end());
  }
  if (frame_->bytes.empty() || frame_->bytes.back() != chunk.bytes) {
    frame_->bytes.push_back(std::move(chunk.bytes));
  }
}

absl::StatusOr<std::shared_ptr<FrameData>> FrameAssembler::Add(FrameChunk chunk) {
  const std::size_t received = BulkBytes(chunk);
  SINEW_RETURN_IF_ERROR(Unpack(chunk));
  SINEW_RETURN_IF_ERROR(Check(chunk));
  Append(chunk);
  frame_->received_bytes += received;
  if (!chunk.header.last_chunk()) return std::shared_ptr<FrameData>();
  for (const v1::PosedMuscle& muscle : chunk.header.muscles()) {
    SINEW_ASSIGN_OR_RETURN(frame_->muscles.emplace_back(), ToMuscle(muscle));
  }
  for (std::size_t index = 0; index < kAttributeCount; ++index) {
    frame_->attributes[index].bytes = ByteSpans(std::exchange(pieces_[index], {}));
  }
  base_ = frame_->compression == Compression::kZstd ? frame_ : nullptr;
  return std::exchange(frame_, nullptr);
}

}  // namespace sinew::client
