#include "client/bake/character/recipe_argument.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>
#include <utf8.h>

#include <filesystem>

#include "client/bake/base/errors.h"
#include "client/bake/character/json_text.h"
#include "client/bake/files/input_file.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::uint64_t kMaxRecipeBytes = 64 << 10;

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("deformer: ", what));
}

// Recipe text is returned unchanged, JSON without the comments that people write. `place` says
// where the text comes from.
absl::StatusOr<std::string> Checked(const std::string& text, const std::string& place) {
  if (text.empty() || text[0] == '[' || text[0] == '"') {
    return Wrong(absl::StrCat(place, text.empty() ? ": is empty" : ": got JSON without stages",
                              R"(, need a recipe such as ddm, or {"stages": [{"ddm": {}}]})"));
  }
  if (!absl::StartsWith(text, "{")) {
    const auto bad = utf8::find_invalid(text);
    if (bad == std::string::npos) return text;
    return Wrong(absl::StrCat("byte ", bad, " is not UTF-8"));
  }
  const absl::StatusOr<nlohmann::json> json = ParseJson(text);
  if (!json.ok()) return Prefixed("deformer", Prefixed(place, json.status()));
  return json->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<std::string> ReadRecipe(const std::string& argument) {
  if (argument.empty() || argument == "@") {
    return RequestError(
        "deformer: got nothing, need a recipe such as ddm, JSON of a recipe, or @FILE");
  }
  if (argument[0] != '@') return Checked(argument, "JSON");
  const std::string path = argument.substr(1);
  SINEW_ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path, kMaxRecipeBytes, "deformer"));
  absl::string_view content(file.text().data(), file.text().size());
  absl::ConsumePrefix(&content, "\xEF\xBB\xBF");  // the mark that editors on Windows put first
  const std::string text(absl::StripAsciiWhitespace(content));
  return Checked(text, path);
}

std::string RecipeLabel(const std::string& argument) {
  if (argument.empty() || argument[0] != '@') return argument;
  return std::filesystem::path(argument.substr(1)).stem().string();
}

}  // namespace sinew::bake
