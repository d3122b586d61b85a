// json_text.h - JSON written by people: comments are allowed, duplicate keys are not.
#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>
#include <string_view>

namespace sinew::bake {

// kInvalidArgument: not JSON, with line and column; more than 64 levels. kAlreadyExists: a
// duplicate key in an object, with its path as in muscles[1].width.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text);

}  // namespace sinew::bake
