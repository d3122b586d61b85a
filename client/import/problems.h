// problems.h - errors of the readers.
#pragma once

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <cstddef>
#include <string>
#include <vector>

namespace sinew::client {

// kInvalidArgument with the parts of its message.
template <class... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// The element of a list in the file that an index names. `what`: what it is, as in "node".
template <class T>
absl::StatusOr<const T*> Find(const std::vector<T>& list, int index, const std::string& where,
                              const char* what) {
  if (index >= 0 && static_cast<std::size_t>(index) < list.size()) {
    return &list[static_cast<std::size_t>(index)];
  }
  return Invalid(where, ": ", what, " ", index, ", the file has ", list.size());
}

}  // namespace sinew::client
