// mesh_from_arrays.h - the arrays of a mesh, as sinew.MeshData has them.
#pragma once

#include <absl/strings/str_cat.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/python/src/arrays.h"
#include "sinew/import.h"

namespace sinew::python {

// An attribute of an object from Python, or an argument: the value and its name in messages.
struct Field {
  pybind11::object value;
  std::string name;

  explicit operator bool() const { return !value.is_none(); }
};

// The attributes of an object. `prefix` is "meshes[2]." or empty.
struct Fields {
  pybind11::object object;
  std::string prefix;

  Field operator()(const char* name) const {
    return {object.attr(name), absl::StrCat(prefix, name)};
  }
};

// ValueError: "FIELD: PROBLEM".
[[noreturn]] void RaiseField(const Field& field, const std::string& problem);

// The array of a field, converted. ValueError: `need`, such as "numbers", is what it has to hold.
template <class Array>
Array ToArray(const Field& field, const char* need) {
  Array array = Array::ensure(field.value);
  if (!array) {
    PyErr_Clear();
    const std::string got =
        pybind11::isinstance<pybind11::array>(field.value)
            ? absl::StrCat("an array of ", std::string(pybind11::str(field.value.attr("dtype"))))
            : std::string(pybind11::str(pybind11::type::of(field.value).attr("__name__")));
    RaiseField(field, absl::StrCat("got ", got, ", need an array of ", need));
  }
  return array;
}

// (rows, columns), or (rows,) for no columns.
FloatArray FloatsOf(const Field& field, std::size_t rows, std::size_t columns);

inline std::vector<float> Values(const FloatArray& array) {
  const auto floats = Floats(array);
  return {floats.begin(), floats.end()};
}

// A mesh and what belongs to it in a scene.
struct MeshFromArrays {
  client::Mesh mesh;
  client::MeshExtras extras;
};

// Checks shapes and indices; values are the server's to check. `inverse_bind` [joints * 12] is that
// of meshes that are in model space at rest. ValueError names the field.
MeshFromArrays ReadMesh(const Fields& fields, const std::vector<float>& inverse_bind);

}  // namespace sinew::python
