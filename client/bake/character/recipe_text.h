// recipe_text.h - a resolved recipe as recipe text, for manifests and labels.
#pragma once

#include <string>

namespace sinew::bake {

// "ddm(variant=0, iterations=4) | ..." from the JSON of a sinew.v1.Recipe. What is no such JSON
// comes back unchanged.
std::string RecipeText(const std::string& recipe_json);

}  // namespace sinew::bake
