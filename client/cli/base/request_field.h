// request_field.h - which command-line option fills a field of a request.
#pragma once

#include <string>
#include <string_view>

namespace sinew::cli {

// What the user typed for the field at `path`, as the details of an error name it:
// "source.recipe.stages[0].ddm.radius" is "--deformer stage 1 (ddm), radius". Empty: no option
// fills that field. `command` is the name of the sub-command, or empty.
std::string OptionForField(std::string_view path, std::string_view command);

// Whether the field is part of a recipe.
bool IsRecipeField(std::string_view path);

// `message` with the option in place of `field`, or in front. `field` stays if no option fills it.
std::string NameOption(std::string_view message, std::string_view field, std::string_view command);

}  // namespace sinew::cli
