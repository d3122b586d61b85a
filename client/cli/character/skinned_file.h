// skinned_file.h - a rig as binary glTF that looks like the file that its meshes are from.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "client/bake/character/character_file.h"
#include "client/bake/files/skinned_glb.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

struct SkinnedFile {
  std::string bytes;
  bool has_paint = false;
};

// EncodeSkinnedGlb with the texture coordinates of `source` and, if that is glTF, its base colours
// and their images; a warning says why they are left out. scene.rig: with the meshes, faces and
// vertices of `source`.
absl::StatusOr<SkinnedFile> EncodeSkinnedFile(const Context& context,
                                              const bake::CharacterFile& source,
                                              bake::SkinnedScene scene);

// A note if a vertex of such a file may have more influences than many engines read.
void NoteInfluences(const Context& context, std::size_t influences);

}  // namespace sinew::cli
