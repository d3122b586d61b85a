// errors.h - absl::Status as Python exceptions.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <pybind11/pybind11.h>

#include <utility>

namespace sinew::python {

// The exception that Raise raises.
pybind11::object MakeError(const absl::Status& status);

// Raises sinew.Error, or the class of its code, with the details of the status. Needs the GIL.
[[noreturn]] void Raise(const absl::Status& status);

inline void Check(const absl::Status& status) {
  if (!status.ok()) Raise(status);
}

template <class T>
T Value(absl::StatusOr<T> value) {
  if (!value.ok()) Raise(value.status());
  return *std::move(value);
}

}  // namespace sinew::python
