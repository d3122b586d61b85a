// frame_parser.h - parses replies that contain frames: headers by the generated parser, vertex data
// in place.
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

// The bytes of one message, shared by the frames in it.
class MessageBytes {
 public:
  // References the slices of the buffer.
  //   kInternal: the buffer cannot be read (a compression that gRPC does not know).
  static absl::StatusOr<std::shared_ptr<const MessageBytes>> From(const grpc::ByteBuffer& buffer);
  explicit MessageBytes(std::vector<grpc::Slice> slices);

  const Pieces& pieces() const { return pieces_; }

 private:
  std::vector<grpc::Slice> slices_;
  Pieces pieces_;
};

// One Frame message: a frame or a part of one.
struct FrameChunk {
  v1::Frame header;  // all fields except the vertex data
  Pieces positions, normals;
  std::vector<Pieces> channels;  // data of each channel
  std::shared_ptr<const MessageBytes> bytes;
};

// A reply of a deform call: a DeformResponse, StreamDeformResponse or WatchStreamResponse.
template <class Reply>
struct ParsedReply {
  Reply rest;  // without its frames
  std::vector<FrameChunk> chunks;
};

// kInternal: not a valid message. Accepts exactly what the generated parser accepts; the frame of a
// DeformResponse that occurs several times gives several chunks.
template <class Reply>
absl::StatusOr<ParsedReply<Reply>> ParseReply(std::shared_ptr<const MessageBytes> bytes);

// XXH3-64 of the chunk's vertex data in field order.
std::uint64_t BulkChecksum(const FrameChunk& chunk);

}  // namespace sinew::client
