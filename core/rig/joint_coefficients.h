// joint_coefficients.h - more than a weight for each influence, for the methods animation_space and
// multi_weight.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <vector>

namespace sinew {

// Rows of the vertices; an empty row stands for the vertex's weights. The first binding of a row
// is the main one. 4 values: offset x y z in bind space, then the weight. 12 values: the same for
// each coordinate in the frame of the main binding.
struct JointCoefficients {
  static constexpr std::uint32_t kAnimationSpace = 4, kMultiWeight = 12;

  std::uint32_t columns = 0;            // of `values`; 0 = there are none, and no rows
  std::vector<std::uint64_t> offsets;   // [V + 1] into bindings
  std::vector<std::uint16_t> bindings;  // [n] each once in a row
  std::vector<float> values;            // [n][columns]

  bool empty() const { return columns == 0; }
  std::span<const std::uint16_t> row(std::size_t v) const {
    return {bindings.data() + offsets[v], offsets[v + 1] - offsets[v]};
  }
  // [row size][columns]
  std::span<const float> row_values(std::size_t v) const {
    return {values.data() + offsets[v] * columns, (offsets[v + 1] - offsets[v]) * columns};
  }

  // kInvalidArgument: sizes that do not agree, a binding out of range or twice in a row, a value
  // that is not finite; weights that do not sum to 1 within 1e-3, or offsets that do not sum to 0
  // within 1e-3 of `diagonal`, as rig.proto says.
  absl::Status Check(std::size_t vertices, std::size_t all_bindings, double diagonal) const;
};

}  // namespace sinew
