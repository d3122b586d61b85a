// muscle_file.h - muscles as a JSON text that an author writes beside a character file, for
// --muscles FILE.json.
//
//   {"muscles": [{"name": "biceps",
//                 "origin": {"joint": "upper_arm", "at": [0, 0.05, 0.01]},
//                 "via": [{"joint": "upper_arm", "at": [0, 0.24, 0.02]}],
//                 "insertion": {"joint": "forearm", "at": [0, 0.04, 0.02]},
//                 "wrap": {"shape": "cylinder", "joint": "forearm", "centre": [0, 0, 0],
//                          "axis": [1, 0, 0], "radius": 0.03},
//                 "tendons": [0.05, 0.05], "width": 0.02, "depth": 0.018,
//                 "profile": "ellipsoid", "activation": "biceps_tension"}]}
//
// Needed: name, origin, insertion, width, depth. Joints are named; points are in joint space,
// lengths in the character's units. `wrap` has no axis for a sphere. Further optional members:
// width_direction [x, y, z], warp, tension, fat; profile is ellipsoid, sine, root_sine or parabola.
// `activation` names a control, which is added (0 to 1) if the character has none of that name.
#pragma once

#include <absl/status/status.h>

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "sinew/rig_data.h"

namespace sinew::cli {

// Adds --muscles to a command that takes FILE.
void AddMusclesOption(CLI::App& app, std::string& path);

// As the text writes it: ellipsoid, sine, root_sine or parabola.
const char* MuscleProfileName(client::MuscleProfile profile);

// Puts the muscles of a text in place of those of the rig. kInvalidArgument: not JSON, a member
// that is missing, unknown or of another type, a joint the rig does not have; the message begins
// with the place, as in muscles[1].origin.joint.
absl::Status ReadMuscles(std::string_view text, client::RigData& rig);

// As above from a file; messages begin with its name. kNotFound: no such file.
absl::Status ReadMuscleFile(const std::string& path, client::RigData& rig);

}  // namespace sinew::cli
