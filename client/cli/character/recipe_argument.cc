#include "client/cli/character/recipe_argument.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <filesystem>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/json_text.h"
#include "client/cli/files/input_file.h"
#include "client/lib/codec/status_macros.h"

namespace sinew::cli {
namespace {

constexpr std::uint64_t kMaxRecipeBytes = 64 << 10;

// A recipe as it stands; JSON of a recipe, which people write, as the library takes it: without
// comments. `place` says where the text stands.
absl::StatusOr<std::string> Checked(const std::string& text, const std::string& place) {
  if (!absl::StartsWith(text, "{")) return text;
  const absl::StatusOr<nlohmann::json> json = ParseJson(text);
  if (!json.ok()) return Prefixed("deformer", Prefixed(place, json.status()));
  return json->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<std::string> ReadRecipe(const std::string& argument) {
  if (argument.empty() || argument == "@") {
    return UsageError(
        "--deformer: got nothing, need a recipe such as ddm, JSON of a recipe, or @FILE");
  }
  if (argument[0] != '@') return Checked(argument, "JSON");
  const std::string path = argument.substr(1);
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxRecipeBytes, "deformer"));
  std::string text(absl::StripAsciiWhitespace({file.text().data(), file.text().size()}));
  if (text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("deformer: ", path, " is empty, need a recipe or JSON of a recipe"));
  }
  return Checked(text, path);
}

std::string RecipeLabel(const std::string& argument) {
  if (argument.empty() || argument[0] != '@') return argument;
  return std::filesystem::path(argument.substr(1)).stem().string();
}

}  // namespace sinew::cli
