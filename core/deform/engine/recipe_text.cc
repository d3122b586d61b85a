#include "core/deform/engine/recipe_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "core/base/closest_names.h"
#include "core/base/status.h"
#include "core/deform/engine/registry.h"

namespace sinew {
namespace {

constexpr std::size_t kMaxStages = 16;
constexpr std::size_t kMaxRecipeBytes = 4096;

using Values = std::vector<std::pair<std::string, std::string>>;

template <class T>
requires std::is_arithmetic_v<T>
bool FromText(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}
bool FromText(std::string_view text, bool& value) {
  value = text == "true";
  return text == "true" || text == "false";
}
bool FromText(std::string_view text, std::string& value) {
  value = std::string(text);
  return true;
}
bool FromText(std::string_view text, std::optional<float>& value) {
  return FromText(text, value.emplace());
}
template <class E>
requires std::is_enum_v<E>
bool FromText(std::string_view text, E& value) {
  const auto names = ChoiceNames(E{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) {
      value = static_cast<E>(i);
      return true;
    }
  }
  return false;
}

template <class T>
std::string Allowed(const ParamDoc& doc) {
  const std::string range =
      doc.minimum != doc.maximum ? absl::StrCat(" from ", doc.minimum, " to ", doc.maximum) : "";
  if constexpr (std::is_enum_v<T>) {
    return absl::StrJoin(ChoiceNames(T{}), ", ",
                         [](std::string* out, std::string_view name) { out->append(name); });
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    return absl::StrCat("a whole number", range);
  } else {
    return absl::StrCat("a number", range);
  }
}

// Suggestions for a misspelled choice.
template <class T>
std::string NearChoice([[maybe_unused]] const std::string& value) {
  if constexpr (std::is_enum_v<T>) {
    const auto names = ChoiceNames(T{});
    return DidYouMean(value, std::vector<std::string>(names.begin(), names.end()));
  } else {
    return {};
  }
}

template <class P>
absl::Status SetParameter(P& params, const std::string& key, const std::string& value) {
  bool known = false;
  absl::Status status;
  std::vector<std::string> names;
  P::Fields(params, [&]<class T>(const ParamDoc& doc, T& member) {
    names.emplace_back(doc.name);
    if (doc.name != key) return;
    known = true;
    if (!FromText(value, member)) {
      status = InvalidArgument(P::kName, ".", key, ": got '", value, "', need ", Allowed<T>(doc),
                               NearChoice<T>(value));
    }
  });
  if (!known) {
    return InvalidArgument(P::kName, ".", key, ": unknown parameter, need one of ",
                           absl::StrJoin(names, ", "), DidYouMean(key, names));
  }
  return status;
}

// Parses a recipe; columns in messages count from 1.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool Done() {
    SkipSpace();
    return at_ >= text_.size();
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // A name or number; empty if there is none.
  std::string Word() {
    SkipSpace();
    std::string word;
    while (at_ < text_.size() && IsWord(text_[at_])) word += text_[at_++];
    return word;
  }
  // A word, or a quoted string, which may be empty; nothing if there is neither.
  std::optional<std::string> Value() {
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) return std::nullopt;
      const std::string_view quoted = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return std::string(quoted);
    }
    std::string word = Word();
    return word.empty() ? std::nullopt : std::optional(std::move(word));
  }
  absl::Status Wrong(std::string_view need) {
    SkipSpace();
    const std::string got =
        at_ < text_.size() ? absl::StrCat("'", std::string(1, text_[at_]), "'") : "the end";
    return InvalidArgument("recipe_text: got ", got, " at column ", at_ + 1, ", need ", need);
  }

 private:
  static bool IsWord(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
  }
  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

absl::StatusOr<Values> ParseValues(Scanner& scanner) {
  Values values;
  if (!scanner.Take('(') || scanner.Take(')')) return values;
  while (true) {
    const std::string key = scanner.Value().value_or("");
    if (key.empty()) return scanner.Wrong("a parameter name");
    if (!scanner.Take('=')) return scanner.Wrong("'='");
    const std::optional<std::string> value = scanner.Value();
    if (!value) return scanner.Wrong("a value");
    for (const auto& [known, unused] : values) {
      if (known == key) {
        return InvalidArgument("recipe_text: duplicate parameter '", key, "'");
      }
    }
    values.emplace_back(key, *value);
    if (scanner.Take(')')) return values;
    if (!scanner.Take(',')) return scanner.Wrong("',' or ')'");
  }
}

absl::StatusOr<Recipe> ParseStages(std::string_view recipe_text, bool presets);

// MakeStage with errors that name the stage's index in the recipe.
absl::StatusOr<StageParams> MakeStageAt(std::size_t k, std::string_view method,
                                        const Values& values) {
  absl::StatusOr<StageParams> params = MakeStage(method, values);
  return params.ok() ? params : OfStage(k, method, params.status());
}

// The stages of a preset after `before` others; the values go to the last one. kInvalidArgument:
// the preset has no parameters.
absl::StatusOr<Recipe> ExpandPreset(const PresetInfo& preset, const Values& values,
                                    std::size_t before) {
  SINEW_ASSIGN_OR_RETURN(Recipe stages, ParseStages(preset.recipe_text, false));
  if (StageName(stages.back()) == preset.name) {
    SINEW_ASSIGN_OR_RETURN(stages.back(),
                           MakeStageAt(before + stages.size() - 1, preset.name, values));
  } else if (!values.empty()) {
    return InvalidArgument("recipe_text: ", preset.name, " takes no parameters, write ",
                           preset.recipe_text, " to set those of its stages");
  }
  return stages;
}

// The preset called `name` that is valid after `before`, or null.
const PresetInfo* FindPreset(std::string_view name, const Recipe& before) {
  const bool is_method = MethodVersion(name) != 0;
  if (is_method && std::ranges::any_of(before, PosesTheMesh)) return nullptr;
  for (const PresetInfo& preset : ListPresets()) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

absl::StatusOr<Recipe> ParseStages(std::string_view recipe_text, bool presets) {
  Scanner scanner(recipe_text);
  Recipe recipe;
  do {
    const std::string method = scanner.Value().value_or("");
    if (method.empty()) return scanner.Wrong("a method's name");
    SINEW_ASSIGN_OR_RETURN(const Values values, ParseValues(scanner));
    const PresetInfo* preset = presets ? FindPreset(method, recipe) : nullptr;
    if (preset != nullptr) {
      SINEW_ASSIGN_OR_RETURN(Recipe stages, ExpandPreset(*preset, values, recipe.size()));
      recipe.insert(recipe.end(), stages.begin(), stages.end());
    } else {
      SINEW_ASSIGN_OR_RETURN(StageParams params, MakeStageAt(recipe.size(), method, values));
      recipe.push_back(std::move(params));
    }
    if (recipe.size() > kMaxStages) {
      return InvalidArgument("recipe_text: more than ", kMaxStages, " stages");
    }
  } while (scanner.Take('|'));
  if (!scanner.Done()) return scanner.Wrong("'|' or the end");
  return recipe;
}

// Whether the text needs no quotes in a recipe.
bool IsPlain(std::string_view text) {
  Scanner scanner(text);
  return !text.empty() && text.front() != '"' && scanner.Word() == text;
}

}  // namespace

absl::StatusOr<Recipe> ParseRecipe(std::string_view recipe_text) {
  if (recipe_text.size() > kMaxRecipeBytes) {
    return InvalidArgument("recipe_text: got ", recipe_text.size(), " bytes, need at most ",
                           kMaxRecipeBytes);
  }
  SINEW_ASSIGN_OR_RETURN(Recipe recipe, ParseStages(recipe_text, true));
  SINEW_RETURN_IF_ERROR(CheckRecipe(recipe));
  return recipe;
}

absl::StatusOr<StageParams> MakeStage(std::string_view method, const Values& values) {
  std::vector<std::string> names;
  for (StageParams params : DefaultStages()) {
    names.emplace_back(StageName(params));
    if (StageName(params) != method) continue;
    for (const auto& value : values) {
      SINEW_RETURN_IF_ERROR(
          std::visit([&](auto& p) { return SetParameter(p, value.first, value.second); }, params));
    }
    SINEW_RETURN_IF_ERROR(ValidateStage(params));
    return params;
  }
  for (const PresetInfo& preset : ListPresets()) {
    if (std::ranges::find(names, preset.name) == names.end()) names.emplace_back(preset.name);
  }
  return InvalidArgument("recipe_text: got method '", method, "', need one of ",
                         absl::StrJoin(names, ", "), DidYouMean(method, names));
}

std::string FormatRecipe(const Recipe& recipe) {
  std::string recipe_text;
  for (const StageParams& params : recipe) {
    absl::StrAppend(&recipe_text, recipe_text.empty() ? "" : " | ", AbslView(StageName(params)));
    std::string list;
    for (const auto& [key, value] : StageValues(params)) {
      if (value.empty()) continue;
      const char* quote = IsPlain(value) ? "" : "\"";
      absl::StrAppend(&list, list.empty() ? "" : ", ", key, "=", quote, value, quote);
    }
    if (!list.empty()) absl::StrAppend(&recipe_text, "(", list, ")");
  }
  return recipe_text;
}

}  // namespace sinew
