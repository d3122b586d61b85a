#include "client/lib/codec/recipe_json.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/lib/codec/status_macros.h"
#include "core/base/closest_names.h"

namespace sinew::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Json = nlohmann::json;

constexpr char kForm[] = "need {\"stages\": [{\"lbs\": {}}, ...]}";

absl::Status Wrong(const std::string& place, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(place, ": ", what));
}

std::string Shown(const Json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 40 ? "a long text" : text;
}

bool Reads(const std::string& json, Message& message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  return google::protobuf::util::JsonStringToMessage(json, &message, options).ok();
}

std::vector<std::string> FieldNames(const Descriptor& message) {
  std::vector<std::string> names;
  for (int k = 0; k < message.field_count(); ++k) names.push_back(message.field(k)->name());
  return names;
}

// Of either spelling that JSON of messages may have; nullptr: none.
const FieldDescriptor* FindField(const Descriptor& message, const std::string& name) {
  const FieldDescriptor* field = message.FindFieldByName(name);
  return field != nullptr ? field : message.FindFieldByCamelcaseName(name);
}

const char* NeededBy(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_UINT32:
      return "a whole number from 0";
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a number";
    default:
      return "a string";
  }
}

absl::Status CheckParameters(const std::string& place, const Descriptor& method,
                             const Json& parameters) {
  if (!parameters.is_object()) {
    return Wrong(place, absl::StrCat("got ", Shown(parameters), ", need an object {...}"));
  }
  for (const auto& [name, value] : parameters.items()) {
    const std::string here = absl::StrCat(place, ".", name);
    const FieldDescriptor* field = FindField(method, name);
    if (field == nullptr) {
      const std::vector<std::string> names = FieldNames(method);
      return Wrong(here, absl::StrCat("unknown parameter, need one of ", absl::StrJoin(names, ", "),
                                      DidYouMean(name, names)));
    }
    const std::unique_ptr<Message> alone(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(&method)->New());
    if (!Reads(Json{{name, value}}.dump(), *alone)) {
      return Wrong(here, absl::StrCat("got ", Shown(value), ", need ", NeededBy(*field)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStage(const std::string& place, const Json& stage) {
  if (!stage.is_object() || stage.size() != 1) {
    return Wrong(place, absl::StrCat("got ",
                                     stage.is_object() ? absl::StrCat(stage.size(), " methods")
                                                       : Shown(stage),
                                     ", need one method: {\"lbs\": {}}"));
  }
  const std::string& name = stage.begin().key();
  const FieldDescriptor* method = FindField(*v1::Stage::descriptor(), name);
  if (method == nullptr) {
    const std::vector<std::string> names = FieldNames(*v1::Stage::descriptor());
    return Wrong(place, absl::StrCat("got method '", name, "', need one of ",
                                     absl::StrJoin(names, ", "), DidYouMean(name, names)));
  }
  return CheckParameters(absl::StrCat(place, ".", name), *method->message_type(), *stage.begin());
}

// The first thing wrong with a text that is no recipe; ok if none is found.
absl::Status CheckRecipe(const std::string& text) {
  const Json recipe = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!recipe.is_object()) return Wrong("recipe", absl::StrCat("got no JSON, ", kForm));
  for (const auto& [name, value] : recipe.items()) {
    if (name == "stages") continue;
    return Wrong("recipe", absl::StrCat("got JSON with \"", name, "\", ", kForm));
  }
  const auto stages = recipe.find("stages");
  if (stages == recipe.end() || !stages->is_array()) {
    return Wrong("recipe", absl::StrCat("got JSON without an array of stages, ", kForm));
  }
  for (std::size_t k = 0; k < stages->size(); ++k) {
    SINEW_RETURN_IF_ERROR(CheckStage(absl::StrCat("recipe.stages[", k, "]"), (*stages)[k]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Recipe> ParseRecipeJson(const std::string& text) {
  v1::Recipe recipe;
  if (Reads(text, recipe)) return recipe;
  // The parser's own words are those of messages.
  SINEW_RETURN_IF_ERROR(CheckRecipe(text));
  return Wrong("recipe", absl::StrCat("got JSON that is no recipe, ", kForm));
}

}  // namespace sinew::client
