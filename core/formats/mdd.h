// mdd.h - the header of .mdd motion files (LightWave, Blender's Mesh Cache).
//
// Big-endian: int32 frames, int32 points, float32 time in seconds of every frame; then frames x
// points x 3 float32. There is no magic number; other files are recognised by a size that does not
// match their counts.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <span>
#include <string>

#include "core/formats/cache_layout.h"

namespace sinew {

// The 8 + 4 * frames bytes of the header; frame k has the time (first_frame + k * frame_step) /
// fps. kInvalidArgument: see CheckCacheInfo.
absl::StatusOr<std::string> EncodeMddHeader(const CacheInfo& info);

// Parses the header and checks it against the size of the whole file `bytes`; fills `times`.
// kInvalidArgument: counts not positive, times not finite or decreasing, wrong file size.
absl::StatusOr<CacheLayout> ParseMdd(std::span<const std::byte> bytes);

}  // namespace sinew
