// pc2.h - the header of .pc2 point caches (3ds Max, Blender's Mesh Cache).
//
// 32 bytes, little-endian: "POINTCACHE2\0", int32 version = 1, int32 points, float32 start frame,
// float32 frames between samples, int32 samples. Then samples x points x 3 float32. The frame rate
// is not stored.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <span>
#include <string>

#include "core/formats/cache_layout.h"

namespace sinew {

// The 32 bytes of the header. kInvalidArgument: see CheckCacheInfo.
absl::StatusOr<std::string> EncodePc2Header(const CacheInfo& info);

// Parses the header and checks it against the size of the whole file `bytes`. kInvalidArgument:
// wrong magic or version, counts not positive, start or step not finite, wrong file size.
absl::StatusOr<CacheLayout> ParsePc2(std::span<const std::byte> bytes);

}  // namespace sinew
