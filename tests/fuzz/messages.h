// messages.h - requirements of targets whose input is a protobuf message, and its type for the
// mutator.
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <string_view>

#include "absl/status/status.h"

namespace sinew::fuzz {

// The message that the bytes are to be, without its fields; takes what is in front of it off
// `bytes`. Each target defines it.
std::unique_ptr<google::protobuf::Message> EmptyMessage(std::string_view& bytes);

// The error of a client: its code, and details that other programs can read.
void RequireClientError(const absl::Status& status);

// What a message takes once parsed is within what its fields were counted for.
void RequireCounted(const google::protobuf::Message& message, std::string_view bytes);

}  // namespace sinew::fuzz
