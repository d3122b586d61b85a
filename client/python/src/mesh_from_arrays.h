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

// The attributes of an object. `prefix` is "meshes[2]." or empty.
struct Fields {
  pybind11::object object;
  std::string prefix;

  Field operator()(const char* name) const {
    return {object.attr(name), absl::StrCat(prefix, name)};
  }
};

// A mesh and what belongs to it in a scene.
struct MeshFromArrays {
  client::Mesh mesh;
  client::MeshExtras extras;
};

// Checks shapes and indices; values are the server's to check. `inverse_bind` [joints * 12] is that
// of meshes that are in model space at rest. ValueError names the field.
MeshFromArrays ReadMesh(const Fields& fields, const std::vector<float>& inverse_bind);

}  // namespace sinew::python
