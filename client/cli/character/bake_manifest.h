// bake_manifest.h - what goes with a cache: its origin, for the manifest, and its rest mesh.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/cli/character/character_file.h"
#include "client/cli/files/cache_writer.h"
#include "core/formats/manifest.h"
#include "core/formats/point_cache.h"
#include "sinew/client.h"

namespace sinew::cli {

// Times of the clip's frames. The vertices are set by CacheWriter.
CacheInfo TimesOf(const client::ClipData& clip);

// For CacheTarget: null if the vertices are those of the file anyway.
std::shared_ptr<const RestMesh> RestMeshOf(const CharacterFile& character);

// What a manifest says about the origin of its frames: software, rig, recipe, files and clip.
// `motion` is what ReadMotion has read `clip` for, `session` one that is bound or validated. Errors
// of reading the files of poses and controls.
absl::StatusOr<Manifest> ManifestOf(const CharacterFile& character, const MotionRequest& motion,
                                    const client::ClipData& clip, const client::Session& session);

// HashPose of these frames of the clip; of all if there are none.
std::vector<std::uint64_t> PoseHashes(const client::ClipData& clip,
                                      std::span<const std::size_t> frames = {});

}  // namespace sinew::cli
