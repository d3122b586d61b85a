// frame.h - one deformed frame, read where it arrived.
//
// A frame's bytes lie in the pieces in which they came from the network: a view is a list of byte
// spans, and most cuts between spans go through the middle of a float. Copy it out with CopyTo, or
// walk the spans.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sinew/messages.h"

namespace sinew::client {

// Bytes in pieces, in order. Borrowed: valid as long as a FrameView of the same frame lives.
class ByteSpans {
 public:
  ByteSpans() = default;
  explicit ByteSpans(std::vector<std::span<const std::byte>> spans);

  std::size_t size() const { return size_; }  // bytes over all spans
  bool empty() const { return size_ == 0; }
  std::span<const std::span<const std::byte>> spans() const { return spans_; }

  // All bytes at once if they lie together, else an empty span.
  std::span<const std::byte> Contiguous() const;

  // Copies all bytes. `out` must have exactly this size.
  //   kInvalidArgument: sizes differ.
  absl::Status CopyTo(std::span<float> out) const;
  absl::Status CopyTo(std::span<std::byte> out) const;

 private:
  std::vector<std::span<const std::byte>> spans_;
  std::size_t size_ = 0;
};

// Server-side times of one frame; previous_send belongs to the frame before.
struct FrameTiming {
  absl::Duration queue, evaluate, encode, previous_send;
};

// The ellipsoid of a muscle's belly in model space.
struct PosedMuscle {
  std::array<float, 12> frame{};  // 3x4 row-major: columns are the directions of length, width and
                                  // depth, then the centre
  std::array<float, 3> radii{};   // semi-axes along them
};

struct FrameData;  // inside the library

// A complete frame whose checksums were verified (unless OutputOptions::checksums is false). Cheap
// to copy: copies share the bytes. A kept view keeps its network buffers. Const calls are
// thread-safe.
class FrameView {
 public:
  FrameView() = default;  // no frame
  explicit FrameView(std::shared_ptr<const FrameData> data) : data_(std::move(data)) {}

  bool empty() const { return data_ == nullptr; }

  std::uint64_t frame() const;          // the pose's number
  double time() const;                  // the pose's time, s; 0 if it had none
  std::uint64_t vertices() const;       // in rig order, over all meshes
  std::array<float, 6> bounds() const;  // of the positions: min xyz, max xyz; zeros if not sent
  FrameTiming timing() const;
  std::uint32_t skipped()
      const;  // LATEST: poses dropped since the frame before, here and on the server
  // Recipes with state: steps from rest that stand in for the poses before this frame, as at the
  // start of every call, behind `reset`, a jump, or a stream opened again behind the caller's back;
  // 0 = the frame continues the one before.
  std::uint32_t replayed_steps() const;
  std::uint32_t chunks() const;       // messages it came in
  Encoding encoding() const;          // of positions
  Encoding normal_encoding() const;   // kUnspecified = no normals
  Encoding tangent_encoding() const;  // kUnspecified = no tangents
  Encoding state_encoding() const;    // kUnspecified = no vertex status

  // [V * 3] little-endian float32 if the encoding is kFloat32; tangents [V * 4]: x y z and
  // handedness w, cross(normal, x y z) * w is the bitangent. States: [V] a VertexStatus each.
  const ByteSpans& positions() const;
  const ByteSpans& normals() const;
  const ByteSpans& tangents() const;
  const ByteSpans& vertex_status() const;

  // Every muscle of the rig, in its order, if OutputOptions::muscles; valid as long as a view of
  // this frame lives.
  std::span<const PosedMuscle> muscles() const;

  // Decoded values. `out` is [V * 3], of tangents [V * 4], of states [V]; a state may have a number
  // that this library does not know.
  //   kInvalidArgument: wrong size. kUnimplemented: an encoding this library cannot decode.
  absl::Status CopyPositions(std::span<float> out) const;
  absl::Status CopyNormals(std::span<float> out) const;
  absl::Status CopyTangents(std::span<float> out) const;
  absl::Status CopyVertexStatus(std::span<VertexStatus> out) const;

 private:
  std::shared_ptr<const FrameData> data_;
};

}  // namespace sinew::client
