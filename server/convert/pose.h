// pose.h - pose layouts and output requests from protobuf, and checks of poses. The bytes of a pose
// are decoded in core/rig/pose.h.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/deform/engine/encoding.h"
#include "core/rig/pose.h"
#include "server/base/config.h"
#include "sinew/v1/frame.pb.h"
#include "sinew/v1/pose.pb.h"

namespace sinew::server {

// kInvalidArgument: an unknown field, enum value, joint or control; more than one instance. Paths
// start at "layout".
absl::StatusOr<PoseFormat> ToPoseFormat(const v1::PoseLayout& layout, const Rig& rig);

// One pose or more, up to `limit` (whose option is `limit_name`), frames rising from 1.
// kInvalidArgument, with paths that start at "poses"; kResourceExhausted.
absl::Status CheckPoseBlock(const v1::PoseBlock& block, std::uint64_t limit,
                            std::string_view limit_name);

// What a frame carries and how it is cut.
struct Output {
  bool normals = false, tangents = false, vertex_status = false;
  NormalRule normal_rule = NormalRule::kAuto;
  Encoding encoding = Encoding::kFloat32, normal_encoding = Encoding::kFloat32;
  bool muscles = false;  // beside the vertices
  bool checksums = true;
  bool zstd = false;                    // compressed
  std::uint32_t chunk_bytes = 1 << 20;  // largest bulk of one Frame message

  // Vertices of every piece but the last: a multiple of 16, so that ranges keep the alignment of
  // kernels.
  std::uint32_t ChunkVertices() const;
  std::size_t BytesPerVertex() const {
    return EncodedBytes(encoding) + (normals ? EncodedBytes(normal_encoding) : 0) +
           (tangents ? 16 : 0) + (vertex_status ? 1 : 0);
  }
};

// What this server encodes positions and normals as.
inline constexpr std::array kEncodings = {v1::ENCODING_FLOAT32, v1::ENCODING_Q16};
inline constexpr std::array kNormalEncodings = {v1::ENCODING_FLOAT32, v1::ENCODING_OCT8,
                                                v1::ENCODING_OCT16};
inline constexpr std::array kCompressions = {v1::COMPRESSION_NONE, v1::COMPRESSION_ZSTD};

// kInvalidArgument: something this server cannot send (its path starts at "output");
// kResourceExhausted: chunk_bytes.
absl::StatusOr<Output> ToOutput(const v1::OutputOptions& options, const StreamConfig& limits);

}  // namespace sinew::server
