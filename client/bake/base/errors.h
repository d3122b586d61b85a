// errors.h - two kinds of errors that a status code does not tell apart from others.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace sinew::bake {

// kInvalidArgument: what was asked for is wrong in itself, whatever the files hold. The message
// begins with the member that is wrong, as in "frames: got ..."; other members are in backquotes.
absl::Status RequestError(const std::string& message);
bool IsRequestError(const absl::Status& status);

// Something could not be written.
absl::Status OutputError(const std::string& message,
                         absl::StatusCode code = absl::StatusCode::kPermissionDenied);
bool IsOutputError(const absl::Status& status);

// `message` with the code and details of `status`.
absl::Status Reworded(const absl::Status& status, const std::string& message);

// "what: message", with the same code and details: states the file or frame of an error.
absl::Status Prefixed(const std::string& what, const absl::Status& status);

}  // namespace sinew::bake
