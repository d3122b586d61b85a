// config_check.h - what options need of each other, and what they are on a machine. A part of
// config.h.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "server/base/config.h"

namespace sinew::server {

// kInvalidArgument: an option for access lacks another; kFailedPrecondition: other machines could
// use the server without authentication.
absl::Status CheckAccess(const Config& config);

// kInvalidArgument: an option about the page is wrong or has no effect; kFailedPrecondition: other
// machines could use the server by it without authentication.
absl::Status CheckWeb(const Config& config);

// kInvalidArgument: an option about what servers share would have no effect, or shares nothing.
absl::Status CheckShared(const SharedConfig& shared, const std::string& data_dir);

}  // namespace sinew::server
