// point_cache.h - one way to write and read every point-cache format.
//
// A cache is a header followed by the same positions frame after frame, so a writer needs no more
// than the header's bytes and then each frame's, which it may write, hash and drop:
//
//   SINEW_ASSIGN_OR_RETURN(std::string bytes, EncodeCacheHeader(CacheFormat::kPc2, info));
//   for (...) AppendCacheFrame(CacheFormat::kPc2, positions, bytes);
//
// Bytes only: files, temporary names and renames are the caller's.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/cache_layout.h"

namespace sinew {

enum class CacheFormat : std::uint8_t { kPc2, kMdd, kNpy };

// "pc2", "mdd" or "npy".
const char* CacheFormatName(CacheFormat format);

// The format called `name`, with or without a leading dot, in any case ("pc2", ".PC2").
// kInvalidArgument: none of them; the message lists them.
absl::StatusOr<CacheFormat> ParseCacheFormat(std::string_view name);

// The bytes in front of the first frame. kInvalidArgument: see CheckCacheInfo.
absl::StatusOr<std::string> EncodeCacheHeader(CacheFormat format, const CacheInfo& info);

// Appends one frame of [V * 3] positions to `out`: always V * 12 bytes, any values (NaN keeps its
// bits).
void AppendCacheFrame(CacheFormat format, std::span<const float> positions, std::string& out);

// Reads a whole cache that lies in memory (a mapped file, a string).
//
// Open checks everything but the positions' values; thereafter only a frame number can be wrong.
// Thread-safe. The bytes must outlive the reader.
class CacheReader {
 public:
  // kInvalidArgument: see ParsePc2, ParseMdd and ParseNpyCache.
  static absl::StatusOr<CacheReader> Open(CacheFormat format, std::span<const std::byte> bytes);

  const CacheInfo& info() const { return layout_.info; }
  std::uint32_t frames() const { return layout_.info.frames; }
  std::uint32_t vertices() const { return layout_.info.vertices; }
  // [frames] seconds as stored by .mdd; empty for formats that store none.
  std::span<const float> times() const { return layout_.times; }

  // Copies frame `frame` into `positions` [vertices * 3]. Values are given as stored, also NaN and
  // infinity. kOutOfRange: no such frame. kInvalidArgument: `positions` has another size.
  absl::Status ReadFrame(std::uint32_t frame, std::span<float> positions) const;

 private:
  CacheReader(CacheLayout layout, std::span<const std::byte> bytes)
      : layout_(std::move(layout)), bytes_(bytes) {}

  CacheLayout layout_;
  std::span<const std::byte> bytes_;
};

}  // namespace sinew
