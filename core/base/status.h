// status.h - early return on a failed absl::Status, and std::string_view in messages; Debian's
// Abseil has neither.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string_view>
#include <utility>

#define SINEW_RETURN_IF_ERROR(expression)                                 \
  do {                                                                    \
    if (absl::Status sinew_status_ = (expression); !sinew_status_.ok()) { \
      return sinew_status_;                                               \
    }                                                                     \
  } while (false)

#define SINEW_STATUS_CONCAT_INNER_(a, b) a##b
#define SINEW_STATUS_CONCAT_(a, b) SINEW_STATUS_CONCAT_INNER_(a, b)
#define SINEW_ASSIGN_OR_RETURN_INNER_(result, lhs, expression) \
  auto result = (expression);                                  \
  if (!result.ok()) return std::move(result).status();         \
  lhs = *std::move(result)
#define SINEW_ASSIGN_OR_RETURN(lhs, expression) \
  SINEW_ASSIGN_OR_RETURN_INNER_(SINEW_STATUS_CONCAT_(sinew_result_, __LINE__), lhs, expression)

namespace sinew {

// In this Abseil build absl::string_view is not std::string_view and converts only explicitly.
inline absl::string_view AbslView(std::string_view s) {
  return {s.data(), s.size()};
}
inline std::string_view StdView(absl::string_view s) {
  return {s.data(), s.size()};
}

}  // namespace sinew
