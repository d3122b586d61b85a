#include "core/rig/coefficient_row.h"

#include <algorithm>

namespace sinew {
namespace {

bool HasRow(const Rig& rig, std::uint32_t columns, std::size_t v) {
  const JointCoefficients& all = rig.coefficients();
  return all.columns == columns && !all.row(v).empty();
}

}  // namespace

std::span<const std::uint16_t> CoefficientBindings(const Rig& rig, std::uint32_t columns,
                                                   std::size_t v) {
  return HasRow(rig, columns, v) ? rig.coefficients().row(v) : rig.influences().bindings(v);
}

std::vector<double> CoefficientValues(const Rig& rig, std::uint32_t columns, std::size_t v) {
  if (!HasRow(rig, columns, v)) {
    std::vector<double> values;
    for (const double weight : rig.influences().weights(v)) {
      for (std::uint32_t c = 0; c < columns; ++c) values.push_back(c % 4 == 3 ? weight : 0);
    }
    return values;
  }
  const auto given = rig.coefficients().row_values(v);
  std::vector<double> values(given.begin(), given.end());
  for (std::uint32_t c = 0; c < columns; ++c) {
    // Rows of 12 values sum only the component of an offset along its own axis.
    if (columns == JointCoefficients::kMultiWeight && c % 4 != 3 && c % 4 != c / 4) continue;
    double lacking = c % 4 == 3 ? 1 : 0;
    for (std::size_t at = c; at < values.size(); at += columns) lacking -= values[at];
    values[c] += lacking;
  }
  return values;
}

}  // namespace sinew
