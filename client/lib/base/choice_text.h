// choice_text.h - values of the enumerations of recipe.proto in text form.
#pragma once

#include <absl/strings/ascii.h>
#include <google/protobuf/descriptor.h>

#include <string>
#include <string_view>
#include <vector>

namespace sinew {

// Its name without the prefix of its type, in lower case: "cotangent" of LAPLACIAN_COTANGENT.
inline std::string ChoiceText(const google::protobuf::EnumValueDescriptor& value) {
  constexpr std::string_view kUnset = "UNSPECIFIED";  // value 0 is the prefix and this
  const std::size_t prefix = value.type()->value(0)->name().size() - kUnset.size();
  return absl::AsciiStrToLower(value.name().substr(prefix));
}

// All values but the unset one.
inline std::vector<std::string> ChoiceTexts(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> texts;
  for (int k = 1; k < type.value_count(); ++k) texts.push_back(ChoiceText(*type.value(k)));
  return texts;
}

// The value with this text form; null if there is none.
inline const google::protobuf::EnumValueDescriptor* FindChoice(
    const google::protobuf::EnumDescriptor& type, std::string_view text) {
  for (int k = 1; k < type.value_count(); ++k) {
    if (ChoiceText(*type.value(k)) == text) return type.value(k);
  }
  return nullptr;
}

}  // namespace sinew
