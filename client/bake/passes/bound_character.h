// bound_character.h - a character file on the server, bound and ready.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/bake/character/character_file.h"
#include "sinew/client.h"

namespace sinew::bake {

// A client of a server, or why there is none, which is then the error of the call.
using Connection = absl::StatusOr<client::Client>;

// kInvalidArgument: a mesh has no skin weights, so that the character cannot be bound.
absl::Status CheckSkins(const CharacterFile& character);

// Stores the rig on the server, unless it is there, with a progress line. Errors of UploadRig.
absl::StatusOr<client::UploadedRig> UploadCharacter(const Connection& connection,
                                                    const Monitor& monitor,
                                                    const CharacterFile& character);

// Waits with a progress line until a session is ready. Errors of WaitSession.
absl::StatusOr<client::Session> WaitUntilBound(const Monitor& monitor,
                                               const client::Client& connection,
                                               const std::string& name);

// Uploads and binds with a progress line; warnings of the server go to the monitor.
// Errors of CheckSkins and client::Character::Create.
absl::StatusOr<client::Character> BindCharacter(const Connection& connection,
                                                const Monitor& monitor,
                                                const CharacterFile& character,
                                                const std::string& recipe_text);

// An error of one of several deformers, with its label in front, unless the muscles' file is at
// fault. `argument`: the recipe, as for ReadRecipe.
absl::Status OfDeformer(const std::string& argument, const CharacterFile& character,
                        const absl::Status& status);

// Warnings where `clip` moves controls, and so morph targets, that no stage of the recipe reads,
// and where it poses the character in a size far from that at rest.
std::vector<std::string> ClipWarnings(const client::RigData& rig,
                                      const client::Character& character,
                                      const client::ClipData& clip);
void WarnOfClip(const Monitor& monitor, const client::RigData& rig,
                const client::Character& character, const client::ClipData& clip);

// Gives the session back after work that succeeded, so that it does not wait for its
// lease to pass. Best effort: a server that is gone costs seconds at most and is no error.
void ReleaseCharacter(const Monitor& monitor, const client::Character& character);

}  // namespace sinew::bake
