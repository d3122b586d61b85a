// muscle_file.h - muscles as a JSON file that an author writes for a character.
// client/docs/muscles.md describes its members.
#pragma once

#include <absl/status/status.h>

#include <string>
#include <string_view>
#include <vector>

#include "sinew/problem.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

// The profile as files spell it: ellipsoid, sine, root_sine or parabola.
const char* MuscleProfileName(client::MuscleProfile profile);

// Replaces the muscles of the rig by those of a text. kInvalidArgument: not JSON, a member
// that is missing, unknown or of another type, a joint the rig does not have; the message begins
// with the place, as in muscles[1].origin.joint. kAlreadyExists: a duplicate member.
absl::Status ReadMuscles(std::string_view text, client::RigData& rig);

// Calls ReadMuscles with the text of a file; messages begin with its name. kNotFound: no such file.
absl::Status ReadMuscleFile(const std::string& path, client::RigData& rig);

// An error or warnings of the server about muscles that came from the file at `path`, in terms of
// that file: the field rig.muscles[1].origin_tendon becomes "FILE: muscles[1].tendons[0]". Others,
// and all if `path` is empty, are returned unchanged.
absl::Status PlacedInMuscleFile(const std::string& path, const absl::Status& status);
std::vector<client::Problem> PlacedInMuscleFile(const std::string& path,
                                                std::vector<client::Problem> problems);

}  // namespace sinew::bake
