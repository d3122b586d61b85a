#include "core/deform/engine/unused_parameters.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/status.h"
#include "core/deform/engine/recipe_text.h"

namespace sinew {
namespace {

// (unused parameter, reason).
using Rows = std::vector<std::pair<std::string_view, std::string_view>>;

class Finder {
 public:
  // Adds the parameter unless it is read; the first reason wins.
  void Unless(bool read, std::string_view parameter, std::string_view why) {
    if (!read) rows_.emplace_back(parameter, why);
  }
  Rows Take() { return std::move(rows_); }

 private:
  Rows rows_;
};

template <class P>
Rows Unread(const P&) {
  return {};
}

Rows Unread(const DqsParams& p) {
  Finder find;
  find.Unless(p.blend > 0, "blend_map", "blend is 0");
  find.Unless(p.blend > 0, "signs", "blend is 0");
  return find.Take();
}

Rows Unread(const BulgeFreeParams& p) {
  Finder find;
  for (const std::string_view name : {"softness", "sharpness", "strongest", "method"}) {
    find.Unless(p.strength > 0, name, "strength is 0");
  }
  for (const std::string_view name : {"softness", "sharpness"}) {
    find.Unless(p.method == BulgeMethod::kProjection, name, "method is bisector");
  }
  find.Unless(!p.strongest, "sharpness", "strongest is true");
  return find.Take();
}

Rows Unread(const DeltaMushParams& p) {
  Finder find;
  find.Unless(!p.radius, "iterations", "it follows from radius");
  return find.Take();
}

Rows UnreadDdm(const DdmParams& p) {
  Finder find;
  // Explicit smoothing may take more steps than given, never fewer.
  find.Unless(!p.radius, "lambda", "it follows from radius");
  find.Unless(!p.kappa || p.alpha > 0, "kappa", "alpha is 0");
  find.Unless(p.variant == 0, "pop_guard", "variant is not 0");
  return find.Take();
}
Rows Unread(const DdmParams& p) {
  return UnreadDdm(p);
}
Rows Unread(const EnhancedDdmParams& p) {
  return UnreadDdm(p);
}

Rows Unread(const ImplicitParams& p) {
  Finder find;
  find.Unless(p.contact, "smoothing", "contact is false");
  find.Unless(p.tracking, "attraction", "tracking is false");
  return find.Take();
}

}  // namespace

std::vector<Problem> UnusedParameters(const Recipe& recipe) {
  std::vector<Problem> unused;
  for (std::size_t k = 0; k < recipe.size(); ++k) {
    const auto [rows, defaults] = std::visit(
        []<class P>(const P& params) { return std::pair(Unread(params), StageValues(P{})); },
        recipe[k]);
    for (const auto& [name, value] : StageValues(recipe[k])) {
      const auto row = std::find_if(rows.begin(), rows.end(),
                                    [&, &key = name](const auto& r) { return r.first == key; });
      const bool is_default =
          std::find(defaults.begin(), defaults.end(), std::pair(name, value)) != defaults.end();
      if (row == rows.end() || is_default) continue;
      unused.push_back(
          {Severity::kWarning,
           absl::StrCat("stages[", k, "].", AbslView(StageName(recipe[k])), ".", name),
           absl::StrCat("got ", value, ", which has no effect: ", AbslView(row->second))});
    }
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

}  // namespace sinew
