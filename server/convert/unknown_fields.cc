#include "server/convert/unknown_fields.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <string>

#include "core/base/status.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string Join(std::string_view path, std::string_view name) {
  if (path.empty() || name.empty()) return absl::StrCat(AbslView(path), AbslView(name));
  return absl::StrCat(AbslView(path), ".", AbslView(name));
}

// Whether there is an unknown field; its path within `message` is then written to `path`. Nothing
// is allocated until one is found: a message may hold very many small ones.
bool FindUnknown(const Message& message, std::string& path) {
  const Reflection& reflection = *message.GetReflection();
  const auto& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) {
    path = std::to_string(unknown.field(0).number());
    return true;
  }
  const auto* descriptor = message.GetDescriptor();
  for (int f = 0; f < descriptor->field_count(); ++f) {
    const FieldDescriptor* field = descriptor->field(f);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) {
      if (!reflection.HasField(message, field) ||
          !FindUnknown(reflection.GetMessage(message, field), path)) {
        continue;
      }
      path = Join(field->name(), path);
      return true;
    }
    const int size = reflection.FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      if (!FindUnknown(reflection.GetRepeatedMessage(message, field, i), path)) continue;
      path = Join(absl::StrCat(field->name(), "[", i, "]"), path);
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status RefuseUnknownFields(const Message& message, std::string_view path) {
  std::string field;
  if (!FindUnknown(message, field)) return absl::OkStatus();
  return WithReason(
      InvalidField(Join(path, field), "unknown field, not known to this server version"),
      v1::REASON_UNKNOWN_FIELD);
}

bool HasUnknownFields(const Message& message) {
  return !message.GetReflection()->GetUnknownFields(message).empty();
}

}  // namespace sinew::server
