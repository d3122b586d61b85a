// recipe_argument.h - what --deformer takes: recipe text, JSON of a recipe, or @FILE that holds
// either.
#pragma once

#include <absl/status/statusor.h>

#include <string>

namespace sinew::cli {

// The text to send. Whether it names stages that exist is the server's to say.
//   UsageError: empty. kNotFound: no such file. kInvalidArgument: unreadable, empty, over 64 KiB,
//   or JSON that is none. kAlreadyExists: JSON with a key twice.
absl::StatusOr<std::string> ReadRecipe(const std::string& argument);

// One line for labels: the argument itself, or the name of its file.
std::string RecipeLabel(const std::string& argument);

}  // namespace sinew::cli
