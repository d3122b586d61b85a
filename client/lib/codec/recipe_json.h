// recipe_json.h - the JSON form of a recipe: that of protobuf, but choices are written as in the
// text form ("cotangent"); their names in the proto and their numbers are read, too.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/v1/recipe.pb.h"

namespace sinew::client {

// kInvalidArgument: not a recipe. The field is a path such as recipe.stages[1].implicit.samples,
// or "recipe".
absl::StatusOr<v1::Recipe> ParseRecipeJson(const std::string& text);

std::string RecipeJson(const v1::Recipe& recipe);

}  // namespace sinew::client
