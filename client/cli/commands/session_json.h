// session_json.h - a session as JSON, the same in every command that prints one.
#pragma once

#include <absl/status/status.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sinew/client.h"

namespace sinew::cli {

const char* StateName(client::SessionState state);  // "BINDING", "READY", "FAILED" or "UNSPECIFIED"
nlohmann::ordered_json SessionJson(const client::Session& session);

// UsageError: `name` begins with none of `collections`, such as "sessions/".
absl::Status CheckName(const std::string& name, const std::vector<std::string>& collections);

// "12 min" from now, or "expired".
std::string ExpiresIn(const client::Session& session);

}  // namespace sinew::cli
