#include "client/python/src/arrays.h"

#include <absl/status/status.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "client/python/src/errors.h"

namespace py = pybind11;

namespace sinew::python {
namespace {

constexpr double kRounding = 1e-6;  // of the last row of 4x4 matrices

bool HasMask(const py::handle value) {
  return py::isinstance(value, py::module_::import("numpy.ma").attr("MaskedArray"));
}

}  // namespace

void RaiseField(const Field& field, const std::string& problem) {
  Raise(absl::InvalidArgumentError(absl::StrCat(field.name, ": ", problem)));
}

std::string ShapeText(const Shape& shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), shape.size() == 1 ? ",)" : ")");
}

void RaiseShape(const std::string& argument, const py::array& got, const std::string& need) {
  Raise(absl::InvalidArgumentError(absl::StrCat(argument, ": got an array of shape ",
                                                ShapeText(ShapeOf(got)), ", need ", need)));
}

void RaiseNumbers(const Field& field, const char* need) {
  const std::string got =
      py::isinstance<py::array>(field.value)
          ? absl::StrCat("an array of ", std::string(py::str(field.value.attr("dtype"))))
          : std::string(py::str(py::type::of(field.value).attr("__name__")));
  RaiseField(field, absl::StrCat("got ", got, ", need an array of ", need));
}

py::array Numbers(const Field& field, const char* need) {
  const bool is_list =
      py::isinstance<py::list>(field.value) || py::isinstance<py::tuple>(field.value);
  if (HasMask(field.value) ||
      (is_list && std::any_of(field.value.begin(), field.value.end(), HasMask))) {
    RaiseField(field, "got a masked array, need one without a mask; its filled() makes one");
  }
  py::array array = py::array::ensure(field.value);
  if (!array) PyErr_Clear();
  // Objects may be numbers, such as fractions.
  constexpr std::string_view kReal = "biufO";
  if (!array || kReal.find(array.dtype().kind()) == std::string_view::npos ||
      (array.dtype().kind() == 'O' && array.ndim() == 0)) {
    RaiseNumbers(field, need);
  }
  return array;
}

py::array Matrices(const Field& field, const Shape& lead, std::string text) {
  const py::array array = Numbers(field);
  const auto ends_in = [&](const Shape& end) {
    Shape need = lead;
    need.insert(need.end(), end.begin(), end.end());
    return std::ranges::equal(ShapeOf(array), need, [](py::ssize_t got, py::ssize_t wanted) {
      return got == wanted || wanted < 0;
    });
  };
  if (ends_in({3, 4}) || ends_in({12})) return array;
  if (!ends_in({4, 4})) {
    if (text.empty()) text = absl::StrJoin(lead, ", ");
    if (!text.empty()) text += ", ";
    RaiseShape(field.name, array,
               absl::StrCat("(", text, "3, 4), (", text, "4, 4) or (", text,
                            lead.empty() ? "12,)" : "12)"));
  }
  const py::slice all(std::nullopt, std::nullopt, std::nullopt);
  const auto last =
      ToArray<DoubleArray>({array[py::make_tuple(py::ellipsis(), 3, all)], field.name});
  for (py::ssize_t k = 0; k < last.size(); ++k) {
    if (std::abs(last.data()[k] - (k % 4 == 3 ? 1 : 0)) <= kRounding) continue;  // false for NaN
    RaiseField(field,
               "got 4x4 matrices whose last row is not 0 0 0 1, need those of column vectors, with "
               "the translation in the last column");
  }
  return array[py::make_tuple(py::ellipsis(), py::slice(0, 3, 1), all)];
}

py::object AsArray(const py::array& array, const py::object& type, const py::object& copy) {
  const bool copies = !copy.is_none() && py::cast<bool>(copy);
  return py::module_::import("numpy").attr(copies ? "array" : "asarray")(array, type);
}

}  // namespace sinew::python
