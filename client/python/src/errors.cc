#include "client/python/src/errors.h"

#include <absl/time/time.h>

#include <string>

#include "client/cli/base/exit_code.h"
#include "client/lib/base/field_path.h"
#include "sinew/problem.h"

namespace py = pybind11;

namespace sinew::python {

py::object MakeError(const absl::Status& status) {
  const client::ErrorDetails details = client::Details(status);
  py::list limits;
  for (const auto& limit : details.limits) limits.append(limit.field);
  py::object retry_after = py::none();
  if (details.retry_delay) retry_after = py::float_(absl::ToDoubleSeconds(*details.retry_delay));
  // Text of a file or a server may hold anything.
  const std::string message(status.message());
  const auto text = py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  std::string field = details.field;
  // Errors of the client itself have no details.
  if (field.empty() && absl::IsInvalidArgument(status)) field = LeadingPath(message);
  return py::module_::import("sinew.errors")
      .attr("make")(absl::StatusCodeToString(status.code()), text, field, details.reason, limits,
                    retry_after, cli::ExitCode(status));
}

void Raise(const absl::Status& status) {
  const py::object error = MakeError(status);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace sinew::python
