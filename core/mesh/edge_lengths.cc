#include "core/mesh/edge_lengths.h"

#include <absl/strings/str_format.h>

#include <cstdint>
#include <utility>

#include "core/base/median.h"
#include "core/base/vectors.h"

namespace sinew {

double EdgeRatio(const Mesh& mesh, std::span<const Vec3f> from, std::span<const Vec3f> to) {
  std::vector<double> ratios;
  for (std::size_t f = 0; f < mesh.faces(); ++f) {
    std::uint32_t a = mesh.face(f).back();
    for (const std::uint32_t b : mesh.face(f)) {
      const double before = Length(ToDouble(from[a]) - ToDouble(from[b]));
      if (before > 0) ratios.push_back(Length(ToDouble(to[a]) - ToDouble(to[b])) / before);
      a = b;
    }
  }
  return ratios.empty() ? 1 : Median(std::move(ratios));
}

absl::Status CheckEdgeRatios(const std::string& edges, std::vector<double> ratios) {
  constexpr double kOther = 2;
  const double ratio = Median(std::move(ratios));
  if (ratio <= kOther && ratio * kOther >= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s are %.3g times as long as those of the mesh, need the same vertices in "
                      "the same order and unit",
                      edges, ratio));
}

}  // namespace sinew
