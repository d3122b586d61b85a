#include "client/lib/codec/recipe_json.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/lib/base/choice_text.h"
#include "client/lib/codec/status_codec.h"
#include "core/base/closest_names.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Json = nlohmann::json;

constexpr char kForm[] = "need {\"stages\": [{\"lbs\": {}}, ...]}";

// What a message says it got.
std::string GotText(const Json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 40 ? "a long text" : text;
}

bool Parse(const std::string& json, Message& message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  return google::protobuf::util::JsonStringToMessage(json, &message, options).ok();
}

std::vector<std::string> FieldNames(const Descriptor& message) {
  std::vector<std::string> names;
  for (int k = 0; k < message.field_count(); ++k) names.push_back(message.field(k)->name());
  return names;
}

// Accepts both spellings of protobuf's JSON; nullptr: no such field.
const FieldDescriptor* FindField(const Descriptor& message, const std::string& name) {
  const FieldDescriptor* field = message.FindFieldByName(name);
  return field != nullptr ? field : message.FindFieldByCamelcaseName(name);
}

std::string NeedText(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrJoin(ChoiceTexts(*field.enum_type()), ", ");
    case FieldDescriptor::CPPTYPE_STRING:
      return "a string";
    default:
      return "a number";
  }
}

// Whether it is a number of the wrong size or kind, whose range only the server's parser of text
// knows.
bool IsWrongNumber(const FieldDescriptor& field, const Json& value) {
  return value.is_number() && (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32 ||
                               field.cpp_type() == FieldDescriptor::CPPTYPE_FLOAT);
}

absl::Status CheckParameters(const std::string& path, const Descriptor& method, Json& parameters) {
  if (!parameters.is_object()) {
    return InvalidField(path, absl::StrCat("got ", GotText(parameters), ", need an object {...}"));
  }
  for (auto& [name, value] : parameters.items()) {
    const std::string field_path = absl::StrCat(path, ".", name);
    const FieldDescriptor* field = FindField(method, name);
    if (field == nullptr) {
      const std::vector<std::string> names = FieldNames(method);
      return InvalidField(
          field_path, absl::StrCat("unknown parameter, need one of ", absl::StrJoin(names, ", "),
                                   DidYouMean(name, names)));
    }
    const EnumValueDescriptor* choice =
        value.is_string() && field->enum_type() != nullptr
            ? FindChoice(*field->enum_type(), value.get_ref<const std::string&>())
            : nullptr;
    if (choice != nullptr) value = choice->name();
    const std::unique_ptr<Message> alone(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(&method)->New());
    // A deep value is not written out: that takes a call per level.
    const bool good = !value.is_structured() &&
                      (Parse(Json{{name, value}}.dump(), *alone) || IsWrongNumber(*field, value));
    if (!good) {
      std::string hint;
      if (value.is_string() && field->enum_type() != nullptr) {
        hint = DidYouMean(value.get_ref<const std::string&>(), ChoiceTexts(*field->enum_type()));
      }
      return InvalidField(field_path,
                          absl::StrCat("got ", GotText(value), ", need ", NeedText(*field), hint));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStage(const std::string& path, Json& stage) {
  if (!stage.is_object() || stage.size() != 1) {
    return InvalidField(
        path,
        absl::StrCat("got ",
                     stage.is_object() ? absl::StrCat(stage.size(), " methods") : GotText(stage),
                     ", need one method: {\"lbs\": {}}"));
  }
  const std::string& name = stage.begin().key();
  const FieldDescriptor* method = FindField(*v1::Stage::descriptor(), name);
  if (method == nullptr) {
    const std::vector<std::string> names = FieldNames(*v1::Stage::descriptor());
    return InvalidField(
        path, absl::StrCat("got method '", name, "', need one of ", absl::StrJoin(names, ", "),
                           DidYouMean(name, names), "; a preset is no method, but a recipe text"));
  }
  return CheckParameters(absl::StrCat(path, ".", name), *method->message_type(), *stage.begin());
}

// The first error in what is not a recipe of protobuf's JSON; OK if none is found. Replaces choices
// by their names in the proto.
absl::Status CheckRecipe(Json& recipe) {
  if (!recipe.is_object()) return InvalidField("recipe", absl::StrCat("got invalid JSON, ", kForm));
  for (const auto& [name, value] : recipe.items()) {
    if (name == "stages") continue;
    return InvalidField("recipe", absl::StrCat("got JSON with \"", name, "\", ", kForm));
  }
  const auto stages = recipe.find("stages");
  if (stages == recipe.end() || !stages->is_array()) {
    return InvalidField("recipe", absl::StrCat("got JSON without an array of stages, ", kForm));
  }
  for (std::size_t k = 0; k < stages->size(); ++k) {
    SINEW_RETURN_IF_ERROR(CheckStage(absl::StrCat("recipe.stages[", k, "]"), (*stages)[k]));
  }
  return absl::OkStatus();
}

// The text form of JSON that CheckRecipe accepts.
std::string TextOf(const Json& recipe) {
  std::vector<std::string> stages;
  for (const Json& stage : recipe["stages"]) {
    const FieldDescriptor* method = FindField(*v1::Stage::descriptor(), stage.begin().key());
    std::vector<std::string> values;
    for (const auto& [name, value] : stage.begin()->items()) {
      if (value.is_null()) continue;  // the default, as in protobuf
      const FieldDescriptor& field = *FindField(*method->message_type(), name);
      const bool choice = field.enum_type() != nullptr && value.is_string();
      values.push_back(absl::StrCat(
          field.name(), "=",
          choice ? ChoiceText(*field.enum_type()->FindValueByName(value.get<std::string>()))
                 : value.dump(-1, ' ', false, Json::error_handler_t::replace)));
    }
    stages.push_back(absl::StrCat(method->name(), "(", absl::StrJoin(values, ", "), ")"));
  }
  return absl::StrJoin(stages, " | ");
}

}  // namespace

absl::Status SetRecipe(const std::string& text, v1::SessionSource& source) {
  if (Parse(text, *source.mutable_recipe())) return absl::OkStatus();
  // protobuf does not know choices, and its errors name neither the stage nor what is allowed.
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  SINEW_RETURN_IF_ERROR(CheckRecipe(json));
  if (Parse(json.dump(), *source.mutable_recipe())) return absl::OkStatus();
  source.set_recipe_text(TextOf(json));
  return absl::OkStatus();
}

std::string RecipeJson(const v1::Recipe& recipe) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  // Fails only without memory.
  if (!google::protobuf::util::MessageToJsonString(recipe, &text, options).ok()) return {};
  auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.contains("stages")) return text;
  for (auto& stage : json["stages"]) {
    for (auto& [name, parameters] : stage.items()) {
      const Descriptor& method = *FindField(*v1::Stage::descriptor(), name)->message_type();
      for (auto& [key, value] : parameters.items()) {
        const EnumDescriptor* type = FindField(method, key)->enum_type();
        if (type == nullptr || !value.is_string()) continue;
        value = ChoiceText(*type->FindValueByName(value.template get<std::string>()));
      }
    }
  }
  return json.dump();
}

}  // namespace sinew::client
