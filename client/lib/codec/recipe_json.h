// recipe_json.h - JSON of a recipe as the message it stands for.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/v1/recipe.pb.h"

namespace sinew::client {

// kInvalidArgument: no recipe; the message names the place as the server does
// (recipe.stages[1].implicit.tracking), or begins with "recipe".
absl::StatusOr<v1::Recipe> ParseRecipeJson(const std::string& text);

}  // namespace sinew::client
