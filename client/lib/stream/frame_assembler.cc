#include "client/lib/stream/frame_assembler.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace sinew::client {
namespace {

// Bytes per vertex, 0 if this library does not know the encoding.
std::size_t VertexBytes(Encoding encoding) {
  switch (encoding) {
    case Encoding::kFloat32:
      return 12;
    case Encoding::kFloat16:
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

// The channel of one attribute; empty if the chunk has none.
struct ChannelView {
  Encoding encoding = Encoding::kUnspecified;
  Pieces data;
};

ChannelView FindChannel(const FrameChunk& chunk, v1::Attribute attribute) {
  for (std::size_t c = 0; c < chunk.channels.size(); ++c) {
    const v1::Channel& header = chunk.header.channels(static_cast<int>(c));
    if (header.attribute() == attribute) {
      return {static_cast<Encoding>(header.encoding()), chunk.channels[c]};
    }
  }
  return {};
}

// Whether `next` has the encoding and presence of the channel in the chunks before.
bool Continues(const ChannelView& next, Encoding encoding, const Pieces& before) {
  return next.encoding == encoding && next.data.empty() == before.empty();
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

absl::Status CheckBulk(const v1::Frame& header, const char* name, const Pieces& pieces,
                       std::size_t each) {
  const std::size_t got = TotalSize(pieces);
  const bool compressed = header.compression() > v1::COMPRESSION_NONE;
  if (got == 0 || each == 0 || compressed || got == each * header.vertex_count()) {
    return absl::OkStatus();
  }
  return absl::DataLossError(absl::StrCat("frame ", header.frame(), ": got ", got, " bytes of ",
                                          name, ", need ", each * header.vertex_count()));
}

}  // namespace

absl::Status FrameAssembler::Check(const FrameChunk& chunk) const {
  const v1::Frame& header = chunk.header;
  const auto encoding = static_cast<Encoding>(header.encoding());
  const auto normal_encoding = static_cast<Encoding>(header.normal_encoding());
  const ChannelView tangents = FindChannel(chunk, v1::ATTRIBUTE_TANGENTS);
  const ChannelView vertex_status = FindChannel(chunk, v1::ATTRIBUTE_VERTEX_STATUS);
  const std::uint64_t expected = frame_ == nullptr ? 0 : frame_->vertices;
  if (header.vertex_offset() != expected) {
    return absl::InternalError(absl::StrCat("frame ", header.frame(), ": got a chunk at vertex ",
                                            header.vertex_offset(), ", need ", expected));
  }
  if (frame_ != nullptr &&
      (header.frame() != frame_->frame || encoding != frame_->encoding ||
       normal_encoding != frame_->normal_encoding ||
       chunk.positions.empty() != positions_.empty() || chunk.normals.empty() != normals_.empty() ||
       !Continues(tangents, frame_->tangent_encoding, tangents_) ||
       !Continues(vertex_status, frame_->vertex_status_encoding, vertex_status_))) {
    return absl::InternalError(absl::StrCat(
        "frame ", header.frame(), ": got a chunk that does not continue frame ", frame_->frame));
  }
  SINEW_RETURN_IF_ERROR(CheckBulk(header, "positions", chunk.positions, VertexBytes(encoding)));
  SINEW_RETURN_IF_ERROR(CheckBulk(header, "normals", chunk.normals, VertexBytes(normal_encoding)));
  if (tangents.encoding == Encoding::kFloat32) {
    SINEW_RETURN_IF_ERROR(CheckBulk(header, "tangents", tangents.data, 4 * sizeof(float)));
  }
  if (vertex_status.encoding == Encoding::kUint8) {
    SINEW_RETURN_IF_ERROR(CheckBulk(header, "vertex_status", vertex_status.data, 1));
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
    frame_->encoding = static_cast<Encoding>(header.encoding());
    frame_->normal_encoding = static_cast<Encoding>(header.normal_encoding());
    frame_->tangent_encoding = FindChannel(chunk, v1::ATTRIBUTE_TANGENTS).encoding;
    frame_->vertex_status_encoding = FindChannel(chunk, v1::ATTRIBUTE_VERTEX_STATUS).encoding;
  }
  frame_->vertices += header.vertex_count();
  frame_->skipped = std::max(frame_->skipped, header.skipped());
  frame_->replayed_steps = std::max(frame_->replayed_steps, header.replayed_steps());
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
  positions_.insert(positions_.end(), chunk.positions.begin(), chunk.positions.end());
  normals_.insert(normals_.end(), chunk.normals.begin(), chunk.normals.end());
  const auto append = [&](v1::Attribute attribute, Pieces& pieces) {
    const Pieces data = FindChannel(chunk, attribute).data;
    pieces.insert(pieces.end(), data.begin(), data.end());
  };
  append(v1::ATTRIBUTE_TANGENTS, tangents_);
  append(v1::ATTRIBUTE_VERTEX_STATUS, vertex_status_);
  if (frame_->bytes.empty() || frame_->bytes.back() != chunk.bytes) {
    frame_->bytes.push_back(std::move(chunk.bytes));
  }
}

absl::StatusOr<std::shared_ptr<FrameData>> FrameAssembler::Add(FrameChunk chunk) {
  SINEW_RETURN_IF_ERROR(Check(chunk));
  Append(chunk);
  if (!chunk.header.last_chunk()) return std::shared_ptr<FrameData>();
  for (const v1::PosedMuscle& muscle : chunk.header.muscles()) {
    SINEW_ASSIGN_OR_RETURN(frame_->muscles.emplace_back(), ToMuscle(muscle));
  }
  frame_->positions = ByteSpans(std::exchange(positions_, {}));
  frame_->normals = ByteSpans(std::exchange(normals_, {}));
  frame_->tangents = ByteSpans(std::exchange(tangents_, {}));
  frame_->vertex_status = ByteSpans(std::exchange(vertex_status_, {}));
  return std::exchange(frame_, nullptr);
}

}  // namespace sinew::client
