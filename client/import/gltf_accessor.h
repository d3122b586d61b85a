// gltf_accessor.h - reads accessors with every check that tinygltf leaves out.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/import/tinygltf.h"

namespace sinew::client {

struct Elements {
  std::size_t count = 0;
  std::size_t width = 0;       // components per element: 1, 3, 4, 16...
  bool is_float = false;       // stored as float32; otherwise as integers
  bool normalised = false;     // integers represent [0, 1] or [-1, 1]; already converted
  std::vector<double> values;  // [count * width]
};

// Reads a whole accessor: strided, normalised and sparse ones, and those without a buffer view
// (zeros) up to 4 Mi elements. `what` names it in messages ("POSITION"). kInvalidArgument: index or
// range outside the file, component or type not allowed, or with `need_finite` a float that is not
// finite.
absl::StatusOr<Elements> ReadElements(const tinygltf::Model& model, int accessor,
                                      const std::string& what, bool need_finite = true);

// Reads an accessor of unsigned scalars below `limit`.
// kInvalidArgument: also a value out of range.
absl::StatusOr<std::vector<std::uint32_t>> ReadIndices(const tinygltf::Model& model, int accessor,
                                                       std::size_t limit, const std::string& what);

}  // namespace sinew::client
