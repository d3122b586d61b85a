// array_file.h - a cache of arrays: points in .pc2, .mdd or .npy, others in .npy files beside it.
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "client/bake/files/cache_file.h"
#include "client/bake/formats/point_cache.h"

namespace sinew::bake {

// "walk.mdd", "normals" -> "walk.mdd.normals.npy": an array beside the points. The name of the
// cache is whole, so that caches of several formats have arrays of their own.
std::string AttributePath(const std::string& cache, const std::string& attribute);

// Creates the temporary files and writes the headers. kInvalidArgument: counts or numbers that the
// format cannot hold.
absl::StatusOr<std::unique_ptr<CacheFile>> CreateArrayFile(const CacheFiles& files,
                                                           const CacheInfo& info);

}  // namespace sinew::bake
