#include "client/cli/character/skinned_file.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <optional>
#include <utility>

#include "client/import/gltf_paint.h"
#include "core/base/status.h"

namespace sinew::cli {

absl::StatusOr<SkinnedFile> EncodeSkinnedFile(const Context& context,
                                              const bake::CharacterFile& source,
                                              bake::SkinnedScene scene) {
  std::optional<client::GltfPaint> paint;
  if (source.scene && absl::StartsWith(source.format, "glTF")) {
    absl::StatusOr<client::GltfPaint> read = client::ReadGltfPaint(source.path, source.rig);
    if (read.ok()) {
      paint = *std::move(read);
    } else {
      context.Warn(absl::StrCat("colours are left out: ", std::string(read.status().message())));
    }
  }
  if (source.scene) scene.extras = source.scene->mesh_extras;
  if (paint) scene.paint = &*paint;
  SkinnedFile file{.bytes = {}, .has_paint = paint.has_value()};
  SINEW_ASSIGN_OR_RETURN(file.bytes, bake::EncodeSkinnedGlb(scene));
  return file;
}

void NoteInfluences(const Context& context, std::size_t influences) {
  if (influences <= 4) return;
  context.Note(
      "many engines read the first four influences of a vertex alone; "
      "--influences 4 is for those");
}

}  // namespace sinew::cli
