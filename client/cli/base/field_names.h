// field_names.h - fields of requests, as errors of the server name them, in the words of the
// command line.
#pragma once

#include <string>
#include <string_view>

namespace sinew::cli {

// The message with its first field replaced by what was typed: "recipe.recipe.stages[0].ddm.radius:
// got 5" becomes "--deformer stage 1 (ddm), radius: got 5". Unknown fields stay. `command` is the
// sub-command's name, or empty.
std::string InTypedWords(std::string_view message, std::string_view command);

}  // namespace sinew::cli
