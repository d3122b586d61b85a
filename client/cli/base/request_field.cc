#include "client/cli/base/request_field.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <optional>
#include <regex>
#include <vector>

namespace sinew::cli {
namespace {

// A field of a SessionSource or of a recipe, taken apart.
struct RecipeField {
  std::optional<std::uint32_t> target, stage;
  std::vector<std::string> rest;  // below the stage, or of the source
};

std::optional<RecipeField> ParseRecipeField(std::string_view path) {
  // "targets[1].source.recipe.stages[2]." of a path, or some of its parts.
  static const std::regex form(R"((targets?(\[(\d{1,9})\])?(\.|$))?(source(\.|$))?)"
                               R"((recipe(_text)?(\.|$)(stages(\[(\d{1,9})\])?(\.|$))?)?)");
  std::cmatch parts;
  if (!std::regex_search(path.begin(), path.end(), parts, form,
                         std::regex_constants::match_continuous) ||
      parts.length() == 0) {
    return std::nullopt;
  }
  RecipeField field;
  const auto index = [&](std::size_t part) -> std::optional<std::uint32_t> {
    if (!parts[part].matched) return std::nullopt;
    return static_cast<std::uint32_t>(std::stoul(parts[part]));
  };
  field.target = index(3);
  field.stage = index(12);
  const std::string rest = parts.suffix();
  for (const std::string& step :
       std::vector<std::string>(absl::StrSplit(rest, '.', absl::SkipEmpty()))) {
    field.rest.push_back(step.substr(0, step.find('[')));
  }
  return field;
}

struct Row {
  std::string_view command, field, option;
};

constexpr Row kRows[] = {
    {"bind", "ttl", "--ttl"},
    {"delete", "name", "NAME"},
    {"sessions", "name", "NAME"},
    {"render", "output.attributes", "--vertex-status"},
    {"render", "open.output.attributes", "--vertex-status"},
    {"render", "output.muscles", "--translucent"},
    {"render", "open.output.muscles", "--translucent"},
    {"fit-skeleton", "built_in", "--template"},
    {"fit-skeleton", "skeleton", "--template"},
    {"fit-skeleton", "hints", "--at"},
    {"weights", "method", "--method"},
    {"weights", "max_influences", "--max-influences"},
    {"weights", "prune", "--prune"},
    {"weights", "smooth", "--smooth"},
    {"weights", "capsule", "--inner, --outer"},
    {"weights", "capsule.inner", "--inner"},
    {"weights", "capsule.outer", "--outer"},
    {"weights", "heat", "--heat"},
    {"weights", "heat.strength", "--heat"},
    {"weights", "geodesic", "--resolution, --smoothness"},
    {"weights", "geodesic.resolution", "--resolution"},
    {"weights", "geodesic.smoothness", "--smoothness"},
    {"weights", "joints", "--joints"},
};

}  // namespace

bool IsRecipeField(std::string_view path) {
  const std::optional<RecipeField> field = ParseRecipeField(path);
  return field && !(field->rest.size() == 1 &&
                    (field->rest[0] == "rig" || field->rest[0] == "determinism_digest"));
}

std::string OptionForField(std::string_view path, std::string_view command) {
  for (const Row& row : kRows) {
    if (row.command == command && path.substr(0, path.find('[')) == row.field) {
      return std::string(row.option);
    }
  }
  const std::optional<RecipeField> field = ParseRecipeField(path);
  if (!field) return {};
  const std::vector<std::string>& rest = field->rest;
  if (rest.size() == 1 && rest[0] == "rig") return "RIG";
  std::string text = command == "compare" ? "--deformers" : "--deformer";
  if (field->target) absl::StrAppend(&text, " number ", *field->target + 1);
  if (field->stage) absl::StrAppend(&text, " stage ", *field->stage + 1);
  if (rest.empty()) return text;
  absl::StrAppend(&text, " (", rest[0], ")");  // the method
  if (rest.size() > 1) {
    absl::StrAppend(&text, ", ", absl::StrJoin(rest.begin() + 1, rest.end(), "."));
  }
  return text;
}

std::string NameOption(std::string_view message, std::string_view field, std::string_view command) {
  const std::string option = field.empty() ? std::string() : OptionForField(field, command);
  const std::string shown = option.empty() ? std::string(field) : option;
  std::string text(message);
  const std::size_t at = field.empty() ? std::string::npos : text.find(field);
  if (at != std::string::npos) return text.replace(at, field.size(), shown);
  return shown.empty() ? text : absl::StrCat(shown, ": ", text);
}

}  // namespace sinew::cli
