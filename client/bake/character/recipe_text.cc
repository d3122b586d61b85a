#include "client/bake/character/recipe_text.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sinew::bake {
namespace {

using OrderedJson = nlohmann::ordered_json;

// True if the text form of a recipe needs no quotes around `value`.
bool IsPlain(const std::string& value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
           c == '+';
  });
}

std::string StageText(const std::string& name, const OrderedJson& parameters) {
  std::string values;
  for (const auto& [key, value] : parameters.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.empty()) continue;
    const char* quote = IsPlain(text) ? "" : "\"";
    absl::StrAppend(&values, values.empty() ? "" : ", ", key, "=", quote, text, quote);
  }
  return values.empty() ? name : absl::StrCat(name, "(", values, ")");
}

}  // namespace

std::string RecipeText(const std::string& recipe_json) {
  const OrderedJson recipe = OrderedJson::parse(recipe_json, nullptr, /*allow_exceptions=*/false);
  if (!recipe.is_object() || !recipe.contains("stages") || !recipe["stages"].is_array())
    return recipe_json;
  std::string text;
  for (const OrderedJson& stage : recipe["stages"]) {
    if (!stage.is_object() || stage.size() != 1 || !stage.begin()->is_object()) return recipe_json;
    absl::StrAppend(&text, text.empty() ? "" : " | ",
                    StageText(stage.begin().key(), *stage.begin()));
  }
  return text;
}

}  // namespace sinew::bake
