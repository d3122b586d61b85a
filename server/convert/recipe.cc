#include "server/convert/recipe.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "client/lib/base/choice_text.h"
#include "core/base/status.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// The shortest text that reads back to the same float.
std::string FloatText(float value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string ValueText(const Message& stage, const FieldDescriptor& field) {
  const Reflection& reflection = *stage.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FloatText(reflection.GetFloat(stage, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(reflection.GetUInt32(stage, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(stage, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM: {
      // A number that is unknown here is refused as a text would be.
      const int number = reflection.GetEnumValue(stage, &field);
      const auto* value = field.enum_type()->FindValueByNumber(number);
      return value != nullptr ? ChoiceText(*value) : absl::StrCat(number);
    }
    default:
      return reflection.GetString(stage, &field);
  }
}

void SetValue(Message& stage, const FieldDescriptor& field, const std::string& text) {
  const Reflection& reflection = *stage.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_FLOAT: {
      float value = 0;
      std::from_chars(text.data(), text.data() + text.size(), value);
      reflection.SetFloat(&stage, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      std::uint32_t value = 0;
      std::from_chars(text.data(), text.data() + text.size(), value);
      reflection.SetUInt32(&stage, &field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.SetBool(&stage, &field, text == "true");
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      reflection.SetEnum(&stage, &field, FindChoice(*field.enum_type(), text));
      break;
    default:
      reflection.SetString(&stage, &field, text);
  }
}

absl::StatusOr<StageParams> ToStage(const v1::Stage& stage) {
  const Reflection& reflection = *stage.GetReflection();
  const FieldDescriptor* method =
      reflection.GetOneofFieldDescriptor(stage, v1::Stage::descriptor()->oneof_decl(0));
  if (method == nullptr) return InvalidField("method", "not set, need a stage");
  const Message& message = reflection.GetMessage(stage, method);
  std::vector<const FieldDescriptor*> fields;  // those that are set
  message.GetReflection()->ListFields(message, &fields);
  std::vector<std::pair<std::string, std::string>> values;
  for (const FieldDescriptor* field : fields) {
    values.emplace_back(field->name(), ValueText(message, *field));
  }
  absl::StatusOr<StageParams> params = MakeStage(method->name(), values);
  return params.ok() ? params : WithDetails(params.status());
}

}  // namespace

absl::StatusOr<Recipe> ToRecipe(const v1::Recipe& recipe) {
  constexpr int kMaxStages = 16;  // as the text form
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(recipe, "recipe"));
  if (recipe.stages_size() == 0 || recipe.stages_size() > kMaxStages) {
    return InvalidField("recipe.stages", absl::StrCat("got ", recipe.stages_size(),
                                                      " stages, need 1 to ", kMaxStages));
  }
  Recipe converted;
  for (int k = 0; k < recipe.stages_size(); ++k) {
    absl::StatusOr<StageParams> stage = ToStage(recipe.stages(k));
    if (!stage.ok()) return WithPath(stage.status(), absl::StrCat("recipe.stages[", k, "]"));
    converted.push_back(*std::move(stage));
  }
  return converted;
}

absl::StatusOr<Recipe> RecipeOf(const v1::SessionSource& source, const SessionConfig& limits) {
  switch (source.recipe_form_case()) {
    case v1::SessionSource::kRecipe: {
      SINEW_RETURN_IF_ERROR(CheckLimit("source.recipe", source.recipe().ByteSizeLong(),
                                       limits.recipe_bytes, "bytes", "max-recipe-bytes"));
      absl::StatusOr<Recipe> recipe = ToRecipe(source.recipe());
      return recipe.ok() ? recipe : WithPath(recipe.status(), "source");
    }
    case v1::SessionSource::kRecipeText: {
      SINEW_RETURN_IF_ERROR(CheckLimit("source.recipe_text", source.recipe_text().size(),
                                       limits.recipe_bytes, "bytes", "max-recipe-bytes"));
      absl::StatusOr<Recipe> recipe = ParseRecipe(source.recipe_text());
      return recipe.ok() ? recipe : WithPath(WithDetails(recipe.status()), "source");
    }
    default:
      return InvalidField("source.recipe", "not set, need recipe or recipe_text");
  }
}

v1::Recipe ToProto(const Recipe& recipe) {
  v1::Recipe proto;
  for (const StageParams& params : recipe) {
    v1::Stage& stage = *proto.add_stages();
    const std::string name(StageName(params));
    const FieldDescriptor* method = v1::Stage::descriptor()->FindFieldByName(name);
    Message& message = *stage.GetReflection()->MutableMessage(&stage, method);
    for (const auto& [key, text] : StageValues(params)) {
      if (const auto* field = method->message_type()->FindFieldByName(key)) {
        SetValue(message, *field, text);
      }
    }
  }
  return proto;
}

}  // namespace sinew::server
