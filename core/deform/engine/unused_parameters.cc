#include "core/deform/engine/unused_parameters.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/status.h"
#include "core/deform/engine/registry.h"
#include "core/rig/joint_coefficients.h"

namespace sinew {

std::vector<Problem> UnusedParameters(const Recipe& recipe) {
  std::vector<Problem> unused;
  for (std::size_t k = 0; k < recipe.size(); ++k) {
    const auto defaults = StageValues(DefaultStages()[recipe[k].index()]);
    std::map<std::string, std::string> changed;
    for (const auto& value : StageValues(recipe[k])) {
      if (!std::ranges::count(defaults, value)) changed.insert(value);
    }
    VisitParameters(recipe[k], [&](const ParamDoc& doc, const auto&) {
      const auto value = changed.find(std::string(doc.name));
      if (doc.no_effect.empty() || value == changed.end()) return;
      unused.push_back(
          {Severity::kWarning,
           absl::StrCat("stages[", k, "].", AbslView(StageName(recipe[k])), ".", value->first),
           absl::StrCat("got ", value->second,
                        ", which has no effect: ", AbslView(doc.no_effect))});
    });
  }
  return unused;
}

std::vector<Problem> UnusedWithoutMuscles(const Recipe& recipe) {
  std::vector<Problem> unused;
  for (std::size_t k = 0; k < recipe.size(); ++k) {
    const auto warn = [&](std::string_view field, std::string message) {
      unused.push_back({Severity::kWarning, absl::StrCat("stages[", k, "].", AbslView(field)),
                        std::move(message)});
    };
    if (std::holds_alternative<MuscleParams>(recipe[k])) {
      warn("muscle", "the rig has no muscles: the stage does nothing");
    }
    const auto* implicit = std::get_if<ImplicitParams>(&recipe[k]);
    if (implicit != nullptr && !implicit->muscles) {
      warn("implicit.muscles", "got false, which has no effect: the rig has no muscles");
    }
  }
  return unused;
}

std::vector<Problem> WithoutCoefficients(const Recipe& recipe, std::uint32_t columns) {
  std::vector<Problem> missing;
  for (std::size_t k = 0; k < recipe.size(); ++k) {
    const bool space = std::holds_alternative<AnimationSpaceParams>(recipe[k]);
    if (!space && !std::holds_alternative<MultiWeightParams>(recipe[k])) continue;
    if (columns == (space ? JointCoefficients::kAnimationSpace : JointCoefficients::kMultiWeight)) {
      continue;
    }
    const std::string name(StageName(recipe[k]));
    missing.push_back(
        {Severity::kWarning, absl::StrCat("stages[", k, "].", name),
         absl::StrCat("the rig has no coefficients for ", name,
                      ": the same as lbs; `sinew fit-weights --model ", name, "` makes them")});
  }
  return missing;
}

}  // namespace sinew
