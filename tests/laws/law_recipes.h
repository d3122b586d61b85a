// law_recipes.h - the recipes of the laws.
#pragma once

#include <string>
#include <vector>

#include "core/deform/engine/registry.h"

namespace sinew::testing {

// One entry per method with its defaults, and recipes whose options change the code path.
inline std::vector<std::string> LawRecipes() {
  std::vector<std::string> recipes;
  for (const MethodInfo& method : ListMethods()) recipes.push_back(method.example);
  recipes.insert(recipes.end(), {"lbs(max_influences=1)",
                                 "dqs(blend=0.5)",
                                 "dqs(signs=parent)",
                                 "dqs | bulge_free(strongest=true, softness=0)",
                                 "dqs | bulge_free(method=bisector)",
                                 "spherical_blend(centres=per_set)",
                                 "spherical_blend(max_influences=2)",
                                 "spherical_blend(centres=per_set, max_influences=2)",
                                 "cor(sigma=0.5, refine=false, max_influences=2)",
                                 "ddm(truncation=0)",
                                 "ddm(laplacian=uniform, keep_area=0, alpha=0.5)",
                                 "ddm(smoothing=explicit, lambda=0.5, iterations=8)",
                                 "enhanced_ddm(radius=0.05, pop_guard=false)",
                                 "dqs | delta_mush(laplacian=uniform, keep_area=0, step=1)",
                                 "lbs | delta_mush(laplacian=inverse_distance, pin_borders=false)",
                                 "lbs | delta_mush(radius=0.03, step=0.8)",
                                 "shapes | lbs | delta_mush",
                                 "ddm(variant=1)",
                                 "ddm(variant=1, alpha=0.5)",
                                 "ddm(variant=2)",
                                 "ddm(variant=2, alpha=0.5)",
                                 "ddm(variant=3, alpha=0.5)",
                                 "ddm(variant=4)",
                                 "ddm(variant=4, alpha=0.5)",
                                 "ddm(variant=5, alpha=0.5)",
                                 "enhanced_ddm(alpha=0.5)",
                                 "enhanced_ddm(variant=2)",
                                 "enhanced_ddm(variant=3, alpha=0.5)",
                                 "enhanced_ddm(variant=4)",
                                 "dqs | bulge_free | muscle(strength=2)",
                                 "shapes(strength=0.5) | shapes | dqs",
                                 "lbs | implicit",
                                 "dqs | bulge_free | implicit | relax",
                                 "dqs | implicit(contact=false)",
                                 "dqs | implicit(muscles=false, samples=20)",
                                 "dqs | implicit(projection=march)",
                                 "lbs | implicit(projection=march, step_length=0.2, smoothing=0)",
                                 "dqs | relax(iterations=4, strength=1)"});
  return recipes;
}

}  // namespace sinew::testing
