// recipe_json.h - the JSON form of a recipe: that of protobuf, but choices are written as in the
// text form ("cotangent"); their names in the proto and their numbers are read, too.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "sinew/v1/session_service.pb.h"

namespace sinew::client {

// Sets the recipe of `source`; or its text, if a number does not fit its field: the server then
// says what range it has, as for any text. kInvalidArgument: not a recipe. The field is a path such
// as recipe.stages[1].implicit.samples, or "recipe".
absl::Status SetRecipe(const std::string& text, v1::SessionSource& source);

std::string RecipeJson(const v1::Recipe& recipe);

}  // namespace sinew::client
