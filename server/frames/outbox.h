// outbox.h - evaluated frames on their way into gRPC messages.
//
// A frame is evaluated straight into its outgoing buffer and cut into pieces there. Small frames
// that are ready when the writer becomes free travel together; nothing waits for company.
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

// One frame: its buffer, and what its header says.
class OutgoingFrame {
 public:
  // Takes a buffer for `vertices` vertices.
  OutgoingFrame(FramePool& pool, const Output& output, std::uint32_t vertices);
  static std::size_t BufferBytes(const Output& output, std::uint32_t vertices);

  // Where the evaluation writes; [V * 12], [V * 12], [V * 16] and [V], empty if not wanted.
  std::span<std::byte> positions() const;
  std::span<std::byte> normals() const;
  std::span<std::byte> tangents() const;
  std::span<std::byte> vertex_status() const;

  // After evaluation: the checksum of every piece, if wanted.
  void Seal();

  std::uint64_t frame = 0;
  double time = 0;
  std::uint32_t skipped = 0, replayed_steps = 0;
  std::array<float, 6> bounds{};
  FrameTiming timing;   // previous_send_ns is filled when the last piece leaves
  std::string muscles;  // serialised fields for the last piece, see MuscleFields

  std::size_t bulk_bytes() const { return vertices_ * output_.BytesPerVertex(); }
  bool small() const { return piece_vertices_ >= vertices_; }  // travels in one piece
  bool done() const { return next_ >= pieces(); }

  // Appends the slices of the next piece.
  void AppendPiece(std::uint64_t previous_send_ns, std::vector<grpc::Slice>& slices);

 private:
  std::size_t pieces() const { return (vertices_ + piece_vertices_ - 1) / piece_vertices_; }
  Output output_;
  std::uint32_t vertices_, piece_vertices_;
  // In the buffer.
  std::size_t positions_at_ = 0, normals_at_ = 0, tangents_at_ = 0, vertex_status_at_ = 0;
  FrameBuffer buffer_;
  std::vector<std::uint64_t> checksums_;  // of each piece
  std::size_t next_ = 0;
};

// What waits to be written on one call, in order. Not thread-safe.
class Outbox {
 public:
  void Push(OutgoingFrame frame) { items_.emplace_back(std::move(frame)); }
  // A message of the call's response type.
  void Push(const google::protobuf::MessageLite& message) {
    items_.emplace_back(message.SerializeAsString());
  }

  bool empty() const { return items_.empty(); }
  // Frames of which nothing has been sent yet.
  std::size_t frames_ready() const;
  void Clear() { items_.clear(); }

  // What Next has put into the message.
  struct Taken {
    std::uint64_t frames = 0;  // that it completes
    std::uint64_t bulk_bytes = 0;
  };
  // The next message: all that is ready up to 64 kB, or one piece of a large frame. Must not be
  // empty.
  Taken Next(std::uint64_t previous_send_ns, grpc::ByteBuffer& message);

 private:
  static constexpr std::size_t kBatchBytes = 64 << 10;
  std::deque<std::variant<std::string, OutgoingFrame>> items_;
  bool front_begun_ = false;  // a part of the first frame is sent
};

}  // namespace sinew::server
