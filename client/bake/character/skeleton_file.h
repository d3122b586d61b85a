// skeleton_file.h - joints of another character for a mesh that has none.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "client/bake/character/character_file.h"

namespace sinew::bake {

// Gives `mesh`, a file without joints, those of `skeleton` at rest. The mesh is brought to the
// skeleton's units and up axis, where both files say what they are, so that motions made for the
// skeleton fit. Returns what was changed, for people.
//   kInvalidArgument: the mesh has joints, the skeleton has none, or their bounding boxes do not
//   overlap.
absl::StatusOr<std::vector<std::string>> AttachSkeleton(const CharacterFile& skeleton,
                                                        CharacterFile& mesh);

}  // namespace sinew::bake
