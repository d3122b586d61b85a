#include "server/convert/warnings.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "core/deform/engine/unused_parameters.h"
#include "core/rig/muscle_size.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

constexpr std::size_t kMost = 16;  // of one kind: every session keeps them and lists have them

bool UsesMuscles(const Recipe& recipe) {
  return std::ranges::any_of(recipe, [](const StageParams& params) {
    const auto* implicit = std::get_if<ImplicitParams>(&params);
    return std::holds_alternative<MuscleParams>(params) ||
           (implicit != nullptr && implicit->muscles);
  });
}

}  // namespace

Warnings WarningsOf(const Recipe& recipe, const Rig& rig) {
  Warnings warnings;
  const auto add = [&](const char* path, const std::vector<Problem>& problems) {
    const std::size_t shown = std::min(problems.size(), kMost);
    for (std::size_t k = 0; k < shown; ++k) *warnings.Add() = ToProto(problems[k], path);
    if (shown == problems.size()) return;
    *warnings.Add() = ToProto(
        {Severity::kWarning, "", absl::StrCat("and ", problems.size() - shown, " more")}, path);
  };
  add("source.recipe", UnusedParameters(recipe));
  if (rig.muscles().empty()) add("source.recipe", UnusedWithoutMuscles(recipe));
  add("source.recipe", WithoutCoefficients(recipe, rig.coefficients().columns));
  if (UsesMuscles(recipe)) add("rig", SuspiciousMuscles(rig));
  return warnings;
}

}  // namespace sinew::server
