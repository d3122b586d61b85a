// cache_motion.h - the poses that a cache was baked from, by its manifest.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "client/bake/character/character_file.h"
#include "client/bake/formats/manifest.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// Reads them again. motion: where they are if not in a clip of the character; on return, the
// request that gives just these poses.
//   kFailedPrecondition: the manifest does not say, the character has no such clip, or it has other
//   poses than the cache was baked from. Errors of ReadMotion.
absl::StatusOr<client::ClipData> ReadCacheMotion(const std::string& cache, const Manifest& manifest,
                                                 const CharacterFile& character,
                                                 MotionRequest& motion);

}  // namespace sinew::bake
