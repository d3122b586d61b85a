// heavy_recipe.h - a recipe whose frames take long, for tests of what happens meanwhile.
#pragma once

#include <string>

namespace sinew::testing {

// About 6 us a vertex and smoothing stage, of which there are 1 to 15; the bind takes twice that.
inline std::string HeavyRecipe(int stages) {
  std::string recipe_text = "lbs";
  for (int k = 0; k < stages; ++k) {
    recipe_text += " | delta_mush(iterations=1000, laplacian=uniform, keep_area=0)";
  }
  return recipe_text;
}

}  // namespace sinew::testing
