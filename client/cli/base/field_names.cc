#include "client/cli/base/field_names.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <utility>

namespace sinew::cli {
namespace {

bool Strip(std::string_view& path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return false;
  path.remove_prefix(prefix.size());
  return true;
}

// "[12]" at the start of the path.
std::optional<std::uint32_t> StripIndex(std::string_view& path) {
  const std::size_t end = path.find(']');
  std::uint32_t index = 0;
  if (!path.starts_with('[') || end == std::string_view::npos ||
      !absl::SimpleAtoi(std::string(path.substr(1, end - 1)), &index)) {
    return std::nullopt;
  }
  path.remove_prefix(end + 1);
  return index;
}

// ".ddm.radius" as " (ddm), radius".
std::string StageText(std::string_view rest) {
  if (!Strip(rest, ".")) return {};
  const std::size_t dot = rest.find('.');
  std::string text = absl::StrCat(" (", std::string(rest.substr(0, dot)), ")");
  if (dot != std::string_view::npos) {
    absl::StrAppend(&text, ", ", std::string(rest.substr(dot + 1)));
  }
  return text;
}

// A field of a SessionSource, or of the recipe in it.
std::optional<std::string> RecipeField(std::string_view path, std::string_view command) {
  std::string option = command == "compare" ? "--deformers" : "--deformer";
  if (path == "deformer" || path == "recipe") return option;
  bool in_source = Strip(path, "target.");
  if (Strip(path, "targets")) {
    const auto index = StripIndex(path);
    if (!index) return std::nullopt;
    absl::StrAppend(&option, " number ", *index + 1);
    if (path.empty()) return option;
    Strip(path, ".");
    in_source = true;
  }
  in_source |= Strip(path, "source.");
  if (Strip(path, "recipe.stages")) {
    const auto index = StripIndex(path);
    return index ? absl::StrCat(option, " stage ", *index + 1, StageText(path)) : option;
  }
  if (!in_source) return std::nullopt;
  if (path == "recipe" || path == "recipe_text" || path == "deformer") return option;
  if (path == "determinism_digest") return "--determinism-digest";
  if (path == "rig") return "RIG";
  return absl::StrCat(option, StageText(absl::StrCat(".", std::string(path))));
}

std::optional<std::string> WeightsField(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kFields = {
      {{"method", "--method"},
       {"max_influences", "--max-influences"},
       {"prune", "--prune"},
       {"smooth", "--smooth"},
       {"capsule.inner", "--inner"},
       {"capsule.outer", "--outer"},
       {"capsule.falloff", "--falloff"},
       {"capsule", "--inner, --outer, --falloff"},
       {"heat.strength", "--heat"},
       {"heat", "--heat"},
       {"geodesic.resolution", "--resolution"},
       {"geodesic.smoothness", "--smoothness"}}};
  for (const auto& [field, option] : kFields) {
    if (field == path) return std::string(option);
  }
  if (path == "geodesic") return "--resolution, --smoothness";
  if (path == "joints" || path.starts_with("joints[")) return "--joints";
  return std::nullopt;
}

std::optional<std::string> RenderField(std::string_view path) {
  Strip(path, "open.");
  if (path == "output.attributes") return "--vertex-status";
  if (path == "output.muscles") return "--translucent";
  return std::nullopt;
}

bool IsPath(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[' ||
           c == ']';
  });
}

}  // namespace

std::string InTypedWords(std::string_view message, std::string_view command) {
  // A label may stand before the field: "hero: source.recipe_text: got ...".
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t colon = message.find(": ", at);
    if (colon == std::string_view::npos) break;
    const std::string_view path = message.substr(at, colon - at);
    std::optional<std::string> typed;
    if (IsPath(path)) typed = RecipeField(path, command);
    if (!typed && at == 0 && command == "weights") typed = WeightsField(path);
    if (!typed && at == 0 && command == "bind" && path == "ttl") typed = "--ttl";
    if (!typed && command == "render") typed = RenderField(path);
    if (typed) {
      return absl::StrCat(std::string(message.substr(0, at)), *typed,
                          std::string(message.substr(colon)));
    }
    at = colon + 2;
  }
  return std::string(message);
}

}  // namespace sinew::cli
