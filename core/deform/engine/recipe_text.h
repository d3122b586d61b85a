// recipe_text.h - recipes as text: `stage | stage`, each `name` or `name(key=value, ...)`. A value
// is a word or text in double quotes; "" is the empty text.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/deform/engine/params.h"

namespace sinew {

// kInvalidArgument: unknown stage or parameter (with the existing ones), a value out of range, a
// syntax error with its column, or more than 16 stages.
absl::StatusOr<Recipe> ParseRecipe(std::string_view recipe_text);

// One stage by name and parameter values as text. Errors as ParseRecipe.
absl::StatusOr<StageParams> MakeStage(
    std::string_view method, const std::vector<std::pair<std::string, std::string>>& values);

// The text form with all defaults filled in; parses back to the same recipe.
std::string FormatRecipe(const Recipe& recipe);

}  // namespace sinew
