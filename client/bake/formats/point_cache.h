// point_cache.h - one interface to every point-cache format.
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
#include "client/bake/formats/npy.h"

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

// All points of a .pc2, .mdd or .npy of any program. kInvalidArgument: another format, a header
// that is wrong, or another number of bytes than it says.
absl::StatusOr<PointArray> ReadPointCache(CacheFormat format, std::span<const std::byte> bytes);

}  // namespace sinew::bake
