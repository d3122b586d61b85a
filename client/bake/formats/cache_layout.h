// cache_layout.h - header fields common to all point-cache formats.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <vector>

namespace sinew::bake {

// Counts fit the signed 32-bit fields of .pc2 and .mdd.
inline constexpr std::uint32_t kMaxCacheCount = 0x7fffffff;

struct CacheInfo {
  std::uint32_t frames = 0;    // samples in the file, [1, kMaxCacheCount]
  std::uint32_t vertices = 0;  // points per sample, [1, kMaxCacheCount]
  double first_frame = 0;      // frame number of sample 0, finite
  double frame_step = 1;       // frames between samples, > 0
  double fps = 24;             // frames per second, > 0
  // [frames] rising, where the samples are not first_frame + k * frame_step; else empty.
  std::vector<double> frame_numbers = {};

  double FrameNumber(std::uint32_t sample) const {
    return frame_numbers.empty() ? first_frame + sample * frame_step : frame_numbers[sample];
  }
};

// Validates the header fields. kInvalidArgument: a count is 0 or above kMaxCacheCount, a number is
// not finite, a step or rate is not positive, frame numbers are not rising or of another count.
absl::Status CheckCacheInfo(const CacheInfo& info);

}  // namespace sinew::bake
