#include "client/cli/character/bake_manifest.h"

#include <algorithm>
#include <string>

#include "client/cli/character/recipe_text.h"

namespace sinew::cli {

CacheInfo TimesOf(const client::ClipData& clip) {
  CacheInfo info;
  info.frames = static_cast<std::uint32_t>(std::min<std::size_t>(clip.frames, kMaxCacheCount));
  info.first_frame = static_cast<double>(clip.first_frame);
  info.frame_step = static_cast<double>(clip.step);
  info.fps = clip.fps;
  return info;
}

Manifest ManifestOf(const CharacterFile& character, const client::Character& bound) {
  const client::Session session = bound.session();
  Manifest manifest;
  manifest.software_version = SINEW_VERSION;
  manifest.meters_per_unit = character.rig.meters_per_unit;
  const auto digest = [](const std::string& name) { return name.substr(name.find('/') + 1); };
  manifest.rig = digest(bound.rig_name());
  manifest.recipe = RecipeText(session.recipe_json);
  manifest.recipe_digest =
      digest(client::RigName(manifest.recipe));  // the same SHA-256, of the text
  manifest.determinism_digest = session.determinism_digest;
  return manifest;
}

}  // namespace sinew::cli
