// bake_manifest.h - what the manifest of a cache says about its origin.
#pragma once

#include "client/cli/character/character_file.h"
#include "core/formats/manifest.h"
#include "core/formats/point_cache.h"
#include "sinew/client.h"

namespace sinew::cli {

// Times of the clip's frames. The vertices are set by CacheWriter.
CacheInfo TimesOf(const client::ClipData& clip);

// Software, rig, recipe and digests. The rest is set by CacheWriter.
Manifest ManifestOf(const CharacterFile& character, const client::Character& bound);

}  // namespace sinew::cli
