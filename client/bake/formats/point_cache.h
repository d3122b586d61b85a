// point_cache.h - one interface to write and read every point-cache format.
//
// A cache is a header followed by the positions of each frame, so frames can be written, hashed and
// dropped one at a time:
//
//    SINEW_ASSIGN_OR_RETURN(std::string bytes, EncodeCacheHeader(CacheFormat::kPc2, info));
//    for (...) AppendCacheFrame(CacheFormat::kPc2, positions, bytes);
//
// Handles bytes only; the caller owns files, temporary names and renames.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/bake/formats/cache_layout.h"

namespace sinew::bake {

// kUsda, kGlb and kObj, a file for each frame, hold whole meshes rather than an array; their files
// are written elsewhere, and nothing below reads them.
enum class CacheFormat : std::uint8_t { kPc2, kMdd, kNpy, kUsda, kObj, kGlb };

// Whether it holds meshes with their faces.
inline bool IsSceneFormat(CacheFormat format) {
  return format == CacheFormat::kUsda || format == CacheFormat::kObj || format == CacheFormat::kGlb;
}

const char* CacheFormatName(CacheFormat format);

// The format called `name`, with or without a leading dot, ignoring case ("pc2", ".PC2").
// kInvalidArgument lists the formats.
absl::StatusOr<CacheFormat> ParseCacheFormat(std::string_view name);

// The bytes before the first frame; none for formats of meshes. kInvalidArgument: see
// CheckCacheInfo.
absl::StatusOr<std::string> EncodeCacheHeader(CacheFormat format, const CacheInfo& info);

// Appends one frame of [V * 3] positions: always V * 12 bytes, any values (NaN payloads are kept).
void AppendCacheFrame(CacheFormat format, std::span<const float> positions, std::string& out);

// The inverse: reads `bytes` [V * 12] of one frame into `positions` [V * 3].
void ReadCacheFrame(CacheFormat format, std::span<const std::byte> bytes,
                    std::span<float> positions);

// Reads a whole cache from memory (a mapped file, a string).
//
// Open validates everything except the position values. Thread-safe. The bytes must outlive the
// reader.
class CacheReader {
 public:
  // kInvalidArgument: a header that is not of the format, counts of 0 or not those of the file's
  // size, times that are not finite or decrease.
  static absl::StatusOr<CacheReader> Open(CacheFormat format, std::span<const std::byte> bytes);

  const CacheInfo& info() const { return layout_.info; }
  std::uint32_t frames() const { return layout_.info.frames; }
  std::uint32_t vertices() const { return layout_.info.vertices; }
  // [frames] seconds as stored by .mdd; empty for the other formats.
  std::span<const float> times() const { return layout_.times; }

  // Copies frame `frame` into `positions` [vertices * 3], including NaN and infinity. kOutOfRange:
  // no such frame. kInvalidArgument: wrong size of `positions`.
  absl::Status ReadFrame(std::uint32_t frame, std::span<float> positions) const;

 private:
  CacheReader(CacheLayout layout, std::span<const std::byte> bytes)
      : layout_(std::move(layout)), bytes_(bytes) {}

  CacheLayout layout_;
  std::span<const std::byte> bytes_;
};

}  // namespace sinew::bake
