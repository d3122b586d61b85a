// usd_file.h - a cache as .usda: one layer, or value clips with a layer for each run of samples.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "client/bake/files/cache_file.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

// "walk.usda" -> "walk.clips": the folder with the layers of value clips.
std::string ClipsFolder(const std::string& cache);

// Layouts of ManifestUsd.
inline constexpr char kUsdMesh[] = "mesh", kUsdOver[] = "over", kUsdClips[] = "clips";

// Creates the temporary files. files.scene must be set. Memory does not grow with the frames: time
// samples wait on the disk, so twice the size of the cache is needed there for a while. Every clip
// also has the first sample of the next one, so that time between the two is interpolated.
//   kInvalidArgument: counts or numbers that the format cannot hold, or more than 500 clips.
absl::StatusOr<std::unique_ptr<CacheFile>> CreateUsdFile(const CacheFiles& files,
                                                         const CacheInfo& info);

// Its errors, without writing anything.
absl::Status CheckUsdFile(const CacheFiles& files, const CacheInfo& info);

// The size of all layers, if every frame is about as `frame`. files.scene must be set.
std::uint64_t EstimateUsdFile(const CacheFiles& files, const CacheInfo& info,
                              const FrameArrays& frame);

}  // namespace sinew::bake
