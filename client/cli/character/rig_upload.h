// rig_upload.h - uploading with a progress line.
#pragma once

#include <absl/status/statusor.h>

#include "client/cli/character/character_file.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

// Stores the rig on the server, unless it is there; its warnings go to stderr. Errors of Connect
// and UploadRig.
absl::StatusOr<client::UploadedRig> UploadCharacter(Context& context,
                                                    const CharacterFile& character);

}  // namespace sinew::cli
