// recipe_json.h - reads the JSON form of a recipe.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "sinew/v1/session_service.pb.h"

namespace sinew::client {

// Sets the recipe of `source`; or its text, if a number does not fit its field: the server then
// says what range it has, as for any text. kInvalidArgument: not a recipe. The field is a path such
// as recipe.stages[1].implicit.samples, or "recipe".
absl::Status SetRecipe(const std::string& json, v1::SessionSource& source);

}  // namespace sinew::client
