// frame_parser.h - replies that carry frames, read where they arrived: headers by the generated
// parser, bulk in place.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <memory>
#include <vector>

#include "client/lib/codec/span_reader.h"
#include "sinew/v1/deform_service.pb.h"
#include "sinew/v1/frame.pb.h"

namespace sinew::client {

// The bytes of one message; frames hold on to them.
class MessageBytes {
 public:
  // Refers to the buffer's slices; with `copy`, copies them into memory of its own.
  //   kInternal: the buffer cannot be read (compressed in a way gRPC cannot undo).
  static absl::StatusOr<std::shared_ptr<const MessageBytes>> From(const grpc::ByteBuffer& buffer,
                                                                  bool copy);
  explicit MessageBytes(std::vector<grpc::Slice> slices);

  const Pieces& pieces() const { return pieces_; }

 private:
  std::vector<grpc::Slice> slices_;
  Pieces pieces_;
};

// One Frame message: a piece of a frame.
struct FrameChunk {
  v1::Frame header;  // all fields but the bulk
  Pieces positions, normals;
  std::vector<Pieces> channels;  // their data, in order
  std::shared_ptr<const MessageBytes> bytes;
};

// A reply of a deform call.
template <class Reply>
struct ParsedReply {
  Reply rest;  // without its frames
  std::vector<FrameChunk> chunks;
};

// kInternal: not a valid message. Accepts exactly what the generated parser accepts.
absl::StatusOr<ParsedReply<v1::StreamDeformResponse>> ParseStreamReply(
    std::shared_ptr<const MessageBytes> bytes);
// At most one chunk.
absl::StatusOr<ParsedReply<v1::DeformResponse>> ParseDeformReply(
    std::shared_ptr<const MessageBytes> bytes);

// XXH3-64 of the chunk's bulk bytes in field order.
std::uint64_t BulkChecksum(const FrameChunk& chunk);

}  // namespace sinew::client
