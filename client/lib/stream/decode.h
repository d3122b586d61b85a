// decode.h - vertex data of a frame as float32, as sinew/v1/frame.proto defines it.
//
// Arithmetic is float32 in a fixed order without fused multiply-add, so the bits are those of any
// other client.
#pragma once

#include <absl/status/status.h>

#include <span>

#include "sinew/frame.h"

namespace sinew::client {

// kInvalidArgument: `out` has not the size of the vertices, [V * 3].
absl::Status DecodeQ16(const ByteSpans& bytes, const Quantisation& quantisation,
                       std::span<float> out);
absl::Status DecodeOct8(const ByteSpans& bytes, std::span<float> out);
absl::Status DecodeOct16(const ByteSpans& bytes, std::span<float> out);

}  // namespace sinew::client
