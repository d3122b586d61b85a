// obj_sequence.h - a cache as one .obj for every frame, with faces, texture coordinates and groups.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "client/bake/files/cache_file.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

// Files are named by FrameName of files.path. Each appears whole as soon as its frame is there; one
// that has the same bytes already is left as it is. files.scene must be set.
//   kInvalidArgument: frames with fractions, velocities, or counts that no cache has. OutputError:
//   without files.overwrite, a file that exists.
absl::StatusOr<std::unique_ptr<CacheFile>> CreateObjSequence(const CacheFiles& files,
                                                             const CacheInfo& info);

// Its errors, without writing anything.
absl::Status CheckObjSequence(const CacheFiles& files, const CacheInfo& info);

// The size of all files, if every frame is about as `frame`. files.scene must be set.
std::uint64_t EstimateObjSequence(const CacheFiles& files, const CacheInfo& info,
                                  const FrameArrays& frame);

}  // namespace sinew::bake
