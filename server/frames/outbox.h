// outbox.h - turns evaluated frames into gRPC messages.
//
// A frame is evaluated directly into its outgoing buffer, which is then sent in pieces. Small
// frames that are ready when the writer becomes free share a message; no frame waits for others.
#pragma once

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "server/convert/pose.h"
#include "server/frames/frame_header.h"
#include "server/frames/frame_pool.h"

namespace sinew::server {

// Bytes of one piece: positions, normals, tangents and vertex status; empty if not requested.
using Bulk = std::array<std::span<std::byte>, 4>;

// One frame: its buffer and its header.
class OutgoingFrame {
 public:
  // Acquires a buffer for `vertices` vertices.
  OutgoingFrame(FramePool& pool, const Output& output, std::uint32_t vertices);
  static std::size_t BufferBytes(const Output& output, std::uint32_t vertices);

  // Where the evaluation writes; [V] positions and normals as encoded, [V * 16] and [V]; empty if
  // not requested.
  std::span<std::byte> positions() const;
  std::span<std::byte> normals() const;
  std::span<std::byte> tangents() const;
  std::span<std::byte> vertex_status() const;

  // After evaluation: computes the checksum of every piece, if requested.
  void Seal();

  v1::Frame header;     // number, time, bounds and skipped; the rest is set here
  v1::Timing timing;    // previous_send_ns is set when the last piece is sent
  std::string muscles;  // serialised fields for the last piece, see MuscleFields

  std::size_t bulk_bytes() const { return vertices_ * output_.BytesPerVertex(); }
  std::size_t sent_bytes() const;  // of bulk
  std::size_t pieces() const { return (vertices_ + piece_vertices_ - 1) / piece_vertices_; }
  Bulk piece(std::size_t k) const;
  // Sends `pieces` of `buffer` instead, with kHeadRoom before each. Returns the buffer so far.
  FrameBuffer Replace(FrameBuffer buffer, std::vector<Bulk> pieces);
  bool small() const { return piece_vertices_ >= vertices_; }  // sent in one piece
  bool done() const { return next_ >= pieces(); }

  // A copy for another call, which sends the same buffer: its headers do not go there.
  OutgoingFrame ForViewers() const;

  // Appends the slices of the next piece.
  void AppendPiece(std::uint64_t previous_send_ns, std::vector<grpc::Slice>& slices);

 private:
  Output output_;
  std::uint32_t vertices_, piece_vertices_;
  // Offsets in the buffer.
  std::size_t positions_at_ = 0, normals_at_ = 0, tangents_at_ = 0, vertex_status_at_ = 0;
  FrameBuffer buffer_;
  std::vector<Bulk> replaced_;            // pieces, if they are not at the offsets
  std::vector<std::uint64_t> checksums_;  // of each piece
  std::size_t next_ = 0;
  bool writes_buffer_ = true;  // headers go into the buffer, beside the vertices
};

// Frames and messages waiting to be written on one call, in order. Not thread-safe.
class Outbox {
 public:
  void Push(OutgoingFrame frame) { items_.emplace_back(std::move(frame)); }
  // A message of the call's response type.
  void Push(const google::protobuf::MessageLite& message) {
    items_.emplace_back(message.SerializeAsString());
  }

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }  // frames and messages
  // Frames of which nothing has been sent yet.
  std::size_t frames_ready() const;
  void Clear() { items_.clear(); }

  // Contents of a message from Next.
  struct Taken {
    std::uint64_t frames = 0;      // completed by this message
    std::uint64_t bulk_bytes = 0;  // as sent
  };
  // Builds the next message: everything ready up to 64 kB, or one piece of a large frame.
  // Precondition: not empty().
  Taken Next(std::uint64_t previous_send_ns, grpc::ByteBuffer& message);

 private:
  static constexpr std::size_t kBatchBytes = 64 << 10;
  std::deque<std::variant<std::string, OutgoingFrame>> items_;
  bool front_begun_ = false;  // part of the first frame has been sent
};

}  // namespace sinew::server
