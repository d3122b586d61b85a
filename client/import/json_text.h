// json_text.h - checks JSON before it is parsed: syntax by line and column, depth, duplicate keys.
#pragma once

#include <absl/status/status.h>

#include <functional>
#include <string>
#include <string_view>

namespace sinew::client {

// "line 3, column 14" of the byte that a parser stopped at, counted from 1 as parsers do; columns
// are characters of UTF-8. Offsets beyond the end count as the end.
std::string PlaceInText(std::string_view text, std::size_t byte);

// Neither recurses nor stores the document. `see`, unless empty, gets every string value with its
// path, as in nodes[1].name. kInvalidArgument: not JSON, with line and column; a number out of
// range; more than 64 levels. kAlreadyExists: an object with a duplicate key, with its path.
absl::Status CheckJson(
    std::string_view text, bool allow_comments,
    const std::function<void(const std::string& path, const std::string& value)>& see = {});

}  // namespace sinew::client
