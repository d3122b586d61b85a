#include "core/rig/joint_coefficients.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/base/status.h"
#include "core/rig/influences.h"

namespace sinew {
namespace {

constexpr std::string_view kField = "rig.meshes.skin.coefficients";
constexpr double kTolerance = 1e-3;

}  // namespace

absl::Status JointCoefficients::Check(std::size_t vertices, std::size_t all_bindings,
                                      double diagonal) const {
  if (empty()) return absl::OkStatus();
  if (columns != kAnimationSpace && columns != kMultiWeight) {
    return InvalidArgument(kField, ".values: got ", columns, " columns, need 4 or 12");
  }
  if (offsets.size() != vertices + 1 || offsets.front() != 0 || !std::ranges::is_sorted(offsets) ||
      offsets.back() != bindings.size() || values.size() != bindings.size() * columns) {
    return InvalidArgument(kField, ".counts: got ", offsets.size() - !offsets.empty(),
                           " rows with ", bindings.size(), " joints and ", values.size(),
                           " values, need ", vertices, " rows whose counts add up to the joints");
  }
  const std::size_t rows = columns / 4;  // of a vertex: one, or one for each coordinate
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto joints = row(v);
    if (joints.size() > kMaxInfluences) {
      return InvalidArgument(kField, ".counts: vertex ", v, " has ", joints.size(),
                             " joints, need ", kMaxInfluences, " or fewer");
    }
    std::vector<double> sums(columns);
    for (std::size_t k = 0; k < joints.size(); ++k) {
      if (joints[k] >= all_bindings ||
          std::ranges::find(joints.first(k), joints[k]) != joints.begin() + static_cast<long>(k)) {
        return InvalidArgument(kField, ".joints: vertex ", v, " names ", joints[k],
                               ", need each joint once and less than ", all_bindings);
      }
      for (std::size_t c = 0; c < columns; ++c) sums[c] += row_values(v)[k * columns + c];
    }
    if (joints.empty()) continue;
    for (std::size_t r = 0; r < rows; ++r) {
      const double weight = sums[r * 4 + 3];
      if (!(std::abs(weight - 1) <= kTolerance)) {
        return InvalidArgument(kField, ".values: the weights of vertex ", v, " sum to ", weight,
                               ", need 1 +- ", kTolerance);
      }
      for (std::size_t c = 0; c < 3; ++c) {
        // Not finite is refused in every column.
        const double most = rows == 1 || c == r ? kTolerance * diagonal : HUGE_VAL;
        const double offset = sums[r * 4 + c];
        if (!std::isfinite(offset) || std::abs(offset) > most) {
          return InvalidArgument(kField, ".values: the offsets of vertex ", v, " sum to ", offset,
                                 ", need 0 +- ", kTolerance * diagonal);
        }
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace sinew
