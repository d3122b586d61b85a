// json_text.h - JSON that people write: comments are allowed, a key that stands twice is not.
#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>
#include <string_view>

namespace sinew::cli {

// kInvalidArgument: not JSON, with line and column. kAlreadyExists: a key that an object has twice,
// with its path as in muscles[1].width.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text);

}  // namespace sinew::cli
