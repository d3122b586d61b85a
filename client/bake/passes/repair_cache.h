// repair_cache.h - checks a cache against its manifest, and bakes its damaged frames again.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <string>

#include "client/bake/base/monitor.h"
#include "client/bake/character/character_file.h"
#include "client/bake/files/cache_check.h"
#include "client/bake/formats/manifest.h"
#include "client/bake/passes/bound_character.h"

namespace sinew::bake {

struct CheckedCache {
  Manifest manifest;
  CacheDamage damage;
};

// Reads every frame of the cache at `path` and compares it with its checksum.
//   kInvalidArgument, kNotFound: no cache, or no manifest beside it. kCancelled by the monitor.
absl::StatusOr<CheckedCache> CheckCache(const Monitor& monitor, const std::string& path);

struct RepairRequest {
  std::string cache;
  // Reads the character that it was baked from, and connects to a server. Not called for a cache
  // that is whole.
  std::function<absl::StatusOr<CharacterFile>()> read;
  std::function<Connection()> connect;
  MotionRequest motion = {};  // the files of poses and controls, if it was baked from such
};

// Bakes the damaged frames again, with the recipe, clip, meshes and axes of the manifest. Returns
// the damage that there was. The file is replaced once it is complete, or not at all.
//   kFailedPrecondition: the cache was baked from other files, poses or results, or is of a format
//   that is not repaired. kDataLoss: frames that were baked again do not match their checksums.
//   Errors of CheckCache, of `read` and `connect`, and of StreamSamples.
absl::StatusOr<CheckedCache> RepairCache(const Monitor& monitor, const RepairRequest& request);

}  // namespace sinew::bake
