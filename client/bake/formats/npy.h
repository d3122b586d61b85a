// npy.h - numpy's .npy arrays: point caches, poses and control values.
//
// Written: version 1.0, '<f4', C order, header padded to a multiple of 64 bytes, like numpy.save.
// Read: versions 1.0 and 2.0, '<f4' or '<f8' in C order; everything else is rejected.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/bake/formats/cache_layout.h"

namespace sinew::bake {

struct NpyHeader {
  std::size_t value_bytes = 4;  // 4 = float32, 8 = float64
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;
};

// A clip of matrices: [frames * joints * 12], each 3x4 row-major. Values may be non-finite; the
// server rejects them.
struct PoseArray {
  std::uint32_t frames = 0;
  std::uint32_t joints = 0;
  std::vector<float> values;
};

// Values of a clip's controls: [frames * controls]. Values may be non-finite, as above.
struct ControlArray {
  std::uint32_t frames = 0;
  std::uint32_t controls = 0;
  std::vector<float> values;
};

// Points of an animation: [frames * vertices * 3]. Values may be non-finite, as above.
struct PointArray {
  std::uint32_t frames = 0;
  std::uint32_t vertices = 0;
  std::vector<float> values;
  double frame_step = 1;             // frames between samples, of a .pc2 that says it; > 0
  std::vector<double> seconds = {};  // [frames] rising times of an .mdd that says them, or empty
  std::string bad_times = {};        // what the file says instead of these, if it is wrong
};

// A float32 array: header and values. The shape's product is the number of values.
std::string EncodeNpy(std::span<const std::uint64_t> shape, std::span<const float> values);

// The header for (frames, vertices, 3) float32. kInvalidArgument: see CheckCacheInfo.
absl::StatusOr<std::string> EncodeNpyHeader(const CacheInfo& info);

// Parses the header and checks that exactly the promised values follow. kInvalidArgument: wrong
// magic, version, type or order, malformed dictionary, wrong file size.
absl::StatusOr<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes);

// Poses: float32 or float64 of shape (frames, joints, 12) or (frames, joints, 3, 4); float64 is
// rounded once. kInvalidArgument: another shape or type, no frames, a finite float64 outside the
// range of float32.
absl::StatusOr<PoseArray> ReadPosesNpy(std::span<const std::byte> bytes);

// Control values: float32 or float64 of shape (frames, controls). Errors as above.
absl::StatusOr<ControlArray> ReadControlsNpy(std::span<const std::byte> bytes);

// Points: float32 or float64 of shape (frames, vertices, 3). Errors as above.
absl::StatusOr<PointArray> ReadPointsNpy(std::span<const std::byte> bytes);

}  // namespace sinew::bake
