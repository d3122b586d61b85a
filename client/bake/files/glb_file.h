// glb_file.h - a cache as binary glTF: a mesh for each mesh of the rig, frames as morph targets.
//
// The base is the first frame, every other frame is a target with the difference to it, and an
// animation gives each target the weight 1 at its time. Interpolation is LINEAR: weights of two
// neighbours sum to 1 between their times, which moves points on straight lines, as a player with a
// higher frame rate needs; at the times of frames it is the frame.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "client/bake/files/cache_file.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

// Creates the temporary files. files.scene must be set. Memory does not grow with the frames.
//   kInvalidArgument: more than 1,000 frames, or a file of 4 GiB or more, with figures; velocities;
//   counts that no cache has.
absl::StatusOr<std::unique_ptr<CacheFile>> CreateGlbFile(const CacheFiles& files,
                                                         const CacheInfo& info);

// Its errors, without writing anything.
absl::Status CheckGlbFile(const CacheFiles& files, const CacheInfo& info);

// The size of the file, about; without files.scene, of a mesh without faces.
std::uint64_t EstimateGlbFile(const CacheFiles& files, const CacheInfo& info);

}  // namespace sinew::bake
