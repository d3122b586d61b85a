#include "server/convert/unknown_fields.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>

#include <string>
#include <vector>

#include "core/base/status.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string Join(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : absl::StrCat(AbslView(path), ".", AbslView(name));
}

}  // namespace

absl::Status RefuseUnknownFields(const Message& message, std::string_view path) {
  const Reflection& reflection = *message.GetReflection();
  const auto& unknown = reflection.GetUnknownFields(message);
  if (!unknown.empty()) {
    const std::string field = Join(path, std::to_string(unknown.field(0).number()));
    return WithReason(InvalidField(field, "unknown field, not known to this server version"),
                      v1::REASON_UNKNOWN_FIELD);
  }
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string name = Join(path, field->name());
    if (!field->is_repeated()) {
      SINEW_RETURN_IF_ERROR(RefuseUnknownFields(reflection.GetMessage(message, field), name));
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      SINEW_RETURN_IF_ERROR(RefuseUnknownFields(reflection.GetRepeatedMessage(message, field, i),
                                                absl::StrCat(name, "[", i, "]")));
    }
  }
  return absl::OkStatus();
}

bool HasUnknownFields(const Message& message) {
  return !message.GetReflection()->GetUnknownFields(message).empty();
}

}  // namespace sinew::server
