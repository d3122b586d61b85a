#include "server/frames/outbox.h"

#include <algorithm>
#include <utility>

#include "core/base/aligned.h"
#include "core/base/bulk_checksum.h"

namespace sinew::server {
namespace {

constexpr std::size_t kPieceHeader = 192;  // space for the header of a later piece
constexpr std::size_t kTangentBytes = 16;

std::size_t RoundUp(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

struct Places {
  std::size_t positions, normals, tangents, vertex_status, end;
};

// Headers of later pieces, head room, positions, normals, tangents, vertex status; the arrays start
// on cache lines.
Places Plan(const Output& output, std::size_t vertices) {
  const std::size_t pieces = (vertices + output.ChunkVertices() - 1) / output.ChunkVertices();
  const std::size_t positions = RoundUp((pieces - 1) * kPieceHeader) + kHeadRoom;
  const std::size_t normals = RoundUp(positions + vertices * EncodedBytes(output.encoding));
  const std::size_t tangents =
      RoundUp(normals + (output.normals ? vertices * EncodedBytes(output.normal_encoding) : 0));
  const std::size_t vertex_status =
      RoundUp(tangents + (output.tangents ? vertices * kTangentBytes : 0));
  return {positions, normals, tangents, vertex_status,
          vertex_status + (output.vertex_status ? vertices : 0)};
}

}  // namespace

OutgoingFrame::OutgoingFrame(FramePool& pool, const Output& output, std::uint32_t vertices)
    : output_(output), vertices_(vertices), piece_vertices_(output.ChunkVertices()) {
  const Places places = Plan(output, vertices);
  positions_at_ = places.positions;
  normals_at_ = places.normals;
  tangents_at_ = places.tangents;
  vertex_status_at_ = places.vertex_status;
  buffer_ = pool.Acquire(places.end);
  header.set_encoding(static_cast<v1::Encoding>(output.encoding));
  if (output.normals) {
    header.set_normal_encoding(static_cast<v1::Encoding>(output.normal_encoding));
  }
}

std::size_t OutgoingFrame::BufferBytes(const Output& output, std::uint32_t vertices) {
  return Plan(output, vertices).end;
}

std::span<std::byte> OutgoingFrame::positions() const {
  return {buffer_.data() + positions_at_, vertices_ * EncodedBytes(output_.encoding)};
}

std::span<std::byte> OutgoingFrame::normals() const {
  if (!output_.normals) return {};
  return {buffer_.data() + normals_at_, vertices_ * EncodedBytes(output_.normal_encoding)};
}

std::span<std::byte> OutgoingFrame::tangents() const {
  if (!output_.tangents) return {};
  return {buffer_.data() + tangents_at_, vertices_ * kTangentBytes};
}

std::span<std::byte> OutgoingFrame::vertex_status() const {
  if (!output_.vertex_status) return {};
  return {buffer_.data() + vertex_status_at_, vertices_};
}

Bulk OutgoingFrame::piece(std::size_t k) const {
  if (!replaced_.empty()) return replaced_[k];
  const std::size_t first = k * piece_vertices_;
  const std::size_t count = std::min<std::size_t>(piece_vertices_, vertices_ - first);
  const auto part = [&](std::span<std::byte> whole) {
    const std::size_t each = whole.size() / vertices_;
    return whole.subspan(first * each, count * each);
  };
  return {part(positions()), part(normals()), part(tangents()), part(vertex_status())};
}

FrameBuffer OutgoingFrame::Replace(FrameBuffer buffer, std::vector<Bulk> pieces) {
  replaced_ = std::move(pieces);
  return std::exchange(buffer_, std::move(buffer));
}

std::size_t OutgoingFrame::sent_bytes() const {
  if (replaced_.empty()) return bulk_bytes();
  std::size_t bytes = 0;
  for (const Bulk& piece : replaced_) {
    for (const std::span<std::byte> part : piece) bytes += part.size();
  }
  return bytes;
}

void OutgoingFrame::Seal() {
  if (!output_.checksums) return;
  for (std::size_t k = 0; k < pieces(); ++k) checksums_.push_back(BulkChecksum(piece(k)));
}

OutgoingFrame OutgoingFrame::ForViewers() const {
  OutgoingFrame copy = *this;
  copy.writes_buffer_ = false;
  return copy;
}

void OutgoingFrame::AppendPiece(std::uint64_t previous_send_ns, std::vector<grpc::Slice>& slices) {
  const std::size_t first = next_ * piece_vertices_;
  header.set_vertex_offset(first);
  header.set_vertex_count(
      static_cast<std::uint32_t>(std::min<std::size_t>(piece_vertices_, vertices_ - first)));
  header.set_last_chunk(next_ + 1 == pieces());
  if (output_.checksums) header.set_checksum(checksums_[next_]);
  if (header.last_chunk()) {
    timing.set_previous_send_ns(previous_send_ns);
    *header.mutable_timing() = timing;
  }
  const auto [positions, normals, tangents, vertex_status] = piece(next_);
  const BulkSizes bulk = {.positions = positions.size(),
                          .normals = normals.size(),
                          .tangents = tangents.size(),
                          .vertex_status = vertex_status.size(),
                          .muscles = header.last_chunk() ? muscles.size() : 0};
  const auto slice = [&](std::byte* begin, std::byte* end) {
    slices.push_back(buffer_.MakeSlice(static_cast<std::size_t>(begin - buffer_.data()),
                                       static_cast<std::size_t>(end - begin)));
  };
  std::byte* const positions_end = positions.data() + positions.size();
  if (!writes_buffer_) {
    std::array<std::byte, kHeadRoom> room;
    std::byte* const end = room.data() + room.size();
    const std::byte* const start = WriteFrameHeader(header, bulk, end);
    slices.emplace_back(start, static_cast<std::size_t>(end - start));
    slice(positions.data(), positions_end);
  } else if (next_ == 0 || !replaced_.empty()) {
    // There is room where the positions begin: one slice holds both.
    slice(WriteFrameHeader(header, bulk, positions.data()), positions_end);
  } else {
    std::byte* const end = buffer_.data() + next_ * kPieceHeader;
    slice(WriteFrameHeader(header, bulk, end), end);
    slice(positions.data(), positions_end);
  }
  const auto append = [&](const BulkTag& tag, std::span<std::byte> bytes) {
    slices.emplace_back(tag.bytes.data(), tag.size);
    slice(bytes.data(), bytes.data() + bytes.size());
  };
  if (output_.normals) append(MakeNormalsTag(bulk.normals), normals);
  if (output_.tangents) append(MakeTangentsTag(bulk.tangents), tangents);
  if (output_.vertex_status) append(MakeVertexStatusTag(bulk.vertex_status), vertex_status);
  if (bulk.muscles > 0) slices.emplace_back(muscles);
  ++next_;
  // Fields of the first piece only.
  header.clear_bounds();
  header.clear_skipped();
}

std::size_t Outbox::frames_ready() const {
  const auto frames =
      static_cast<std::size_t>(std::count_if(items_.begin(), items_.end(), [](const auto& item) {
        return std::holds_alternative<OutgoingFrame>(item);
      }));
  return frames - (front_begun_ ? 1 : 0);
}

Outbox::Taken Outbox::Next(std::uint64_t previous_send_ns, grpc::ByteBuffer& message) {
  Taken taken;
  std::vector<grpc::Slice> slices;
  std::size_t bytes = 0;
  while (!items_.empty()) {
    OutgoingFrame* frame = std::get_if<OutgoingFrame>(&items_.front());
    const bool whole = frame == nullptr || frame->small();
    const std::size_t more = frame == nullptr ? std::get<std::string>(items_.front()).size()
                                              : frame->bulk_bytes() + frame->muscles.size();
    if (!slices.empty() && (!whole || bytes + more > kBatchBytes)) break;
    bytes += more;
    if (frame == nullptr) {
      slices.emplace_back(std::get<std::string>(items_.front()));
      items_.pop_front();
      continue;
    }
    frame->AppendPiece(previous_send_ns, slices);
    front_begun_ = !frame->done();
    if (front_begun_) break;
    ++taken.frames;
    taken.bulk_bytes += frame->sent_bytes();
    items_.pop_front();
    if (!whole) break;
  }
  message = grpc::ByteBuffer(slices.data(), slices.size());
  return taken;
}

}  // namespace sinew::server
