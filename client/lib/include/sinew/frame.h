// frame.h - one deformed frame, without a copy of what the network delivered.
//
// Included by sinew/stream.h. A frame arrives in pieces: a view is a list of byte spans, and most
// boundaries between spans lie within a float. Copy the values with CopyPositions
// and its like, or walk the spans.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sinew/messages.h"

namespace sinew::client {

// Bytes in pieces, in order. Valid as long as a FrameView of the same frame exists.
class ByteSpans {
 public:
  ByteSpans() = default;  // no bytes
  // The bytes of these spans, which it borrows.
  explicit ByteSpans(std::vector<std::span<const std::byte>> spans);

  std::size_t size() const { return size_; }  // bytes over all spans
  bool empty() const { return size_ == 0; }   // no byte
  // The pieces in order.
  std::span<const std::span<const std::byte>> spans() const { return spans_; }

  // Copies all bytes. `out` must have exactly this size.
  //   kInvalidArgument: sizes differ.
  absl::Status CopyTo(std::span<std::byte> out) const;

 private:
  std::vector<std::span<const std::byte>> spans_;
  std::size_t size_ = 0;
};

// Server-side times of one frame; previous_send belongs to the frame before.
struct FrameTiming {
  absl::Duration queue, evaluate, encode, previous_send;
};

// A muscle belly as an ellipsoid in model space.
struct PosedMuscle {
  std::array<float, 12> frame{};  // 3x4 row-major; columns: unit vectors along length, width and
                                  // depth, then the centre
  std::array<float, 3> radii{};   // semi-axes along them
};

// How positions in kQ16 are decoded: origin + step * q.
struct Quantisation {
  std::array<float, 3> origin{}, step{};
};

struct FrameData;  // private to the library

// A complete frame whose checksums were verified (unless OutputOptions::checksums is false). Cheap
// to copy: copies share the bytes. A view keeps its network buffers alive. Thread-safe.
class FrameView {
 public:
  FrameView() = default;  // no frame
  // Private to the library.
  explicit FrameView(std::shared_ptr<const FrameData> data) : data_(std::move(data)) {}

  bool empty() const { return data_ == nullptr; }  // no frame

  std::uint64_t frame() const;          // the pose's number
  double time() const;                  // the pose's time, s; 0 if it had none
  std::uint64_t vertices() const;       // in rig order, over all meshes
  std::array<float, 6> bounds() const;  // of the positions: min xyz, max xyz; zeros if not sent
  FrameTiming timing() const;           // on the server
  // Latest streams: poses dropped since the previous frame, by the client and the server.
  std::uint32_t skipped() const;
  std::uint32_t chunks() const;          // number of messages it arrived in
  Compression compression() const;       // of its vertex data, which is decompressed here
  std::uint64_t received_bytes() const;  // of vertex data as it arrived

  // Vertex data as it arrived. kUnspecified and no bytes: the frame does not have the attribute.
  // kFloat32 is little-endian: [V * 3] positions and normals, [V * 4] tangents: x y z and
  // handedness w, cross(normal, x y z) * w is the bitangent. kUint8: [V] a VertexStatus each.
  Encoding encoding(Attribute attribute = Attribute::kPositions) const;
  // The bytes in that encoding, vertex after vertex.
  const ByteSpans& bytes(Attribute attribute) const;
  // kQ16: [V * 3] uint16 q, position = origin + step * q. kOct8, kOct16: [V * 2] int8 or int16,
  // decoded as in sinew/v1/frame.proto. For tools that hand them to a GPU as they are.
  Quantisation quantisation() const;  // zeros for other encodings

  // Every muscle of the rig, in rig order, if OutputOptions::muscles. Valid as long as a view of
  // this frame exists.
  std::span<const PosedMuscle> muscles() const;

  // Decoded values. `out` is [V * 3], for tangents [V * 4], for vertex status [V]. A status may be
  // a number that this library does not know.
  //   kInvalidArgument: wrong size. kUnimplemented: an encoding this library cannot decode.
  absl::Status CopyPositions(std::span<float> out) const;
  absl::StatusOr<std::vector<float>> Positions() const;              // the same in a new vector
  absl::Status CopyNormals(std::span<float> out) const;              // as CopyPositions
  absl::Status CopyTangents(std::span<float> out) const;             // as CopyPositions
  absl::Status CopyVertexStatus(std::span<VertexStatus> out) const;  // as CopyPositions

 private:
  std::shared_ptr<const FrameData> data_;
};

}  // namespace sinew::client
