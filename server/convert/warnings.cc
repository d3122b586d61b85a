#include "server/convert/warnings.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "core/deform/engine/unused_parameters.h"
#include "core/rig/muscle_size.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

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
    for (const Problem& problem : problems) *warnings.Add() = ToProto(problem, path);
  };
  add("source.recipe", UnusedParameters(recipe));
  if (rig.muscles().empty()) add("source.recipe", UnusedWithoutMuscles(recipe));
  if (UsesMuscles(recipe)) add("rig", SuspiciousMuscles(rig));
  return warnings;
}

}  // namespace sinew::server
