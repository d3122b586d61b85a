// unknown_fields.h - refuses messages that hold fields this server does not know.
//
// A newer client's field, dropped in silence, would be a wrong frame.
#pragma once

#include <absl/status/status.h>
#include <google/protobuf/message.h>

#include <string_view>

namespace sinew::server {

// Looks at `message` and everything inside it. kInvalidArgument with reason UNKNOWN_FIELD and the
// path of the first unknown field, e.g. "rig.meshes[0].99: unknown field"; `path` is the message's
// own and may be empty.
absl::Status RefuseUnknownFields(const google::protobuf::Message& message, std::string_view path);

// Whether the message itself holds one; what is inside it is not looked at. Cheap.
bool HasUnknownFields(const google::protobuf::Message& message);

}  // namespace sinew::server
