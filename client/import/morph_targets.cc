#include "client/import/morph_targets.h"

#include <cstddef>
#include <cstdint>

namespace sinew::client {

ShapeTarget MakeShapeTarget(const DenseTarget& dense) {
  const std::size_t vertices = dense.offsets.size() / 3;
  const bool with_normals = !dense.normal_offsets.empty();
  ShapeTarget out;
  const auto moves = [](const std::vector<float>& offsets, std::size_t v) {
    return offsets[v * 3] != 0 || offsets[v * 3 + 1] != 0 || offsets[v * 3 + 2] != 0;
  };
  for (std::size_t v = 0; v < vertices; ++v) {
    if (moves(dense.offsets, v) || (with_normals && moves(dense.normal_offsets, v))) {
      out.vertices.push_back(static_cast<std::uint32_t>(v));
    }
  }
  if (out.vertices.size() > vertices - vertices / 4) {
    out.vertices.clear();
    out.offsets = dense.offsets;
    out.normal_offsets = dense.normal_offsets;
    return out;
  }
  if (out.vertices.empty()) out.vertices.push_back(0);  // an empty list would mean all vertices
  for (const std::uint32_t v : out.vertices) {
    const auto at = static_cast<std::ptrdiff_t>(v) * 3;
    out.offsets.insert(out.offsets.end(), dense.offsets.begin() + at,
                       dense.offsets.begin() + at + 3);
    if (with_normals) {
      out.normal_offsets.insert(out.normal_offsets.end(), dense.normal_offsets.begin() + at,
                                dense.normal_offsets.begin() + at + 3);
    }
  }
  return out;
}

}  // namespace sinew::client
