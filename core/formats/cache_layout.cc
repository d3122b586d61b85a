#include "core/formats/cache_layout.h"

#include <absl/strings/str_cat.h>

#include <cmath>

namespace sinew {

absl::Status CheckCacheInfo(const CacheInfo& info) {
  if (info.frames < 1 || info.frames > kMaxCacheCount) {
    return absl::InvalidArgumentError(
        absl::StrCat("cache.frames: ", info.frames, ", need 1 to ", kMaxCacheCount));
  }
  if (info.vertices < 1 || info.vertices > kMaxCacheCount) {
    return absl::InvalidArgumentError(
        absl::StrCat("cache.vertices: ", info.vertices, ", need 1 to ", kMaxCacheCount));
  }
  if (!std::isfinite(info.first_frame)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cache.first_frame: ", info.first_frame, ", need a finite number"));
  }
  if (!std::isfinite(info.frame_step) || info.frame_step <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cache.frame_step: ", info.frame_step, ", need a finite number above 0"));
  }
  if (!std::isfinite(info.fps) || info.fps <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cache.fps: ", info.fps, ", need a finite number above 0"));
  }
  return absl::OkStatus();
}

absl::Status CheckCacheSize(const char* format, std::span<const std::byte> bytes,
                            const CacheLayout& layout) {
  const CacheInfo& info = layout.info;
  if (info.frames < 1 || info.frames > kMaxCacheCount || info.vertices < 1 ||
      info.vertices > kMaxCacheCount) {
    return absl::InvalidArgumentError(absl::StrCat(format, ": ", info.frames, " frames of ",
                                                   info.vertices, " vertices, need 1 to ",
                                                   kMaxCacheCount, " of each"));
  }
  const std::uint64_t available =
      bytes.size() < layout.data_offset ? 0 : bytes.size() - layout.data_offset;
  // Divide rather than multiply: frames * vertices * 12 may overflow 64 bits.
  const std::uint64_t frame_bytes = std::uint64_t{info.vertices} * 12;
  if (available % frame_bytes != 0 || available / frame_bytes != info.frames) {
    return absl::InvalidArgumentError(
        absl::StrCat(format, ": ", available, " bytes after the header, need exactly ", info.frames,
                     " frames of ", info.vertices, " vertices, ", frame_bytes, " bytes each"));
  }
  return absl::OkStatus();
}

}  // namespace sinew
