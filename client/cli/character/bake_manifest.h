// bake_manifest.h - what goes with a cache: its origin, for the manifest, and its rest mesh.
#pragma once

#include <memory>

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

// Software, rig, recipe and digests. The rest is set by CacheWriter.
Manifest ManifestOf(const CharacterFile& character, const client::Character& bound);

}  // namespace sinew::cli
