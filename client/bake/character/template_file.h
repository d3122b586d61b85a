// template_file.h - what FitSkeleton needs from files: a mesh, and a template skeleton as JSON:
//
//   {"joints": [{"name": "chest", "at": [0, 0.5, 0], "wide": true},
//               {"name": "left_arm", "parent": "chest", "at": [0.6, 0, 0.15],
//                "partner": "right_arm"}, ...]}
//
// Members as client::TemplateJoint; `parent` and `partner` are names.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "client/bake/character/character_file.h"
#include "sinew/fit.h"

namespace sinew::bake {

// The template that `name` means, a file if it ends in .json, else a built-in one. Errors of
// ReadTemplateFile.
absl::Status ChooseTemplate(const std::string& name, client::FitRequest& request);

// An error of Client::FitSkeleton with a template of ChooseTemplate: one about the template of a
// file names that file.
absl::Status OfTemplate(const std::string& name, const absl::Status& status);

// Gives a character whose meshes have no skin the one joint that a rig needs at least, for
// Client::FitSkeleton, and drops its clips. A file that names no unit, such as an .obj, is in
// `meters_per_unit`, 1 if that is unset. kInvalidArgument: no mesh, or one with a skin;
// meters_per_unit for a file that names its unit.
absl::Status PrepareForFit(std::optional<double> meters_per_unit, CharacterFile& character);

// kNotFound, kInvalidArgument: the message begins with the file's name and names the member.
absl::StatusOr<std::vector<client::TemplateJoint>> ReadTemplateFile(const std::string& path);

// The template of a text. Errors as above, without the file's name.
absl::StatusOr<std::vector<client::TemplateJoint>> ParseTemplate(const std::string& text);

}  // namespace sinew::bake
