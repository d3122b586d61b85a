// json_text.h - JSON written by people, where comments are allowed and duplicate keys are not; and
// JSON for programs.
#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sinew::bake {

// kInvalidArgument: not JSON, with line and column; more than 64 levels. kAlreadyExists: a
// duplicate key in an object, with its path as in muscles[1].width.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text);

// One document and a line break; bytes of strings that are not UTF-8 become "\xe9". indent: as
// nlohmann's dump has it.
std::string JsonText(nlohmann::ordered_json json, int indent);

}  // namespace sinew::bake
