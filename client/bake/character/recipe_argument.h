// recipe_argument.h - recipes as people write them: recipe text, JSON of a recipe, or @FILE with
// either.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace sinew::bake {

// The text to send. The server checks that its stages exist.
//   RequestError: empty. kNotFound: no such file. kInvalidArgument: unreadable, empty, over 64 KiB,
//   not UTF-8, or not JSON. kAlreadyExists: JSON with a duplicate key.
absl::StatusOr<std::string> ReadRecipe(const std::string& argument);

// One line for labels: the argument itself, or the name of its file.
std::string RecipeLabel(const std::string& argument);

}  // namespace sinew::bake
