// bound_character.h - a character file on the server, bound and ready.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "client/cli/character/character_file.h"
#include "client/cli/run/context.h"
#include "sinew/client.h"

namespace sinew::cli {

// Stores the rig on the server, unless it is there, with a progress line. Errors of Connect and
// UploadRig.
absl::StatusOr<client::UploadedRig> UploadCharacter(Context& context,
                                                    const CharacterFile& character);

// Waits with a progress line until a session is ready. Errors of WaitSession.
absl::StatusOr<client::Session> WaitUntilBound(Context& context, const client::Client& connection,
                                               const std::string& name);

// Uploads and binds with a progress line; warnings of the server go to stderr.
// Errors of Connect and client::Character::Create.
absl::StatusOr<client::Character> BindCharacter(Context& context, const CharacterFile& character,
                                                const std::string& recipe_text);

// An error of one of several deformers, with its label in front, unless the muscles' file is at
// fault. `argument` is what --deformer took.
absl::Status OfDeformer(const std::string& argument, const CharacterFile& character,
                        const absl::Status& status);

// Warns if `clip` moves controls, and so morph targets, that no stage of the recipe reads.
void WarnUnusedControls(const Context& context, const client::RigData& rig,
                        const client::Character& character, const client::ClipData& clip);

// Gives the session back at the end of a command that succeeded, so that it does not wait for its
// lease to pass. Best effort: a server that is gone costs seconds at most and is no error.
void ReleaseCharacter(const Context& context, const client::Character& character);

// Pose `index` of a clip.
client::Pose PoseOf(const client::ClipData& clip, std::size_t index);

}  // namespace sinew::cli
