// template_file.h - a template skeleton of FitSkeleton as JSON:
//
//   {"joints": [{"name": "chest", "at": [0, 0.5, 0], "wide": true},
//               {"name": "left_hand", "parent": "chest", "at": [0.6, 0, 0.15],
//                "partner": "right_hand"}, ...]}
//
// Members as client::TemplateJoint; `parent` and `partner` are names.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "sinew/fit.h"

namespace sinew::bake {

// kNotFound, kInvalidArgument: the message begins with the file's name and names the member.
absl::StatusOr<std::vector<client::TemplateJoint>> ReadTemplateFile(const std::string& path);

// The template of a text. Errors as above, without the file's name.
absl::StatusOr<std::vector<client::TemplateJoint>> ParseTemplate(const std::string& text);

}  // namespace sinew::bake
