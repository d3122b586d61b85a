// session_json.h - a session as JSON, the same in every command that prints one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sinew/client.h"

namespace sinew::cli {

const char* StateName(client::SessionState state);  // "BINDING", "READY", "FAILED" or "UNSPECIFIED"
nlohmann::ordered_json SessionJson(const client::Session& session);

// "12 min" from now, or "expired".
std::string ExpiresIn(const client::Session& session);

}  // namespace sinew::cli
