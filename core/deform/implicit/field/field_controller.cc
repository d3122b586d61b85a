#include "core/deform/implicit/field/field_controller.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace sinew {
namespace {

constexpr std::size_t kSamples = 1000;

// Controls (c, E) in ascending order, and the slopes of both sides.
struct Controls {
  double c[3], level[3], slope[2];
};
constexpr Controls kControls[] = {
    {{0.2, 0.7, 1.2}, {1, 0.43, 1}, {1, 1}},  // elbow
    {{-1, 0.2, 0.75}, {1, 0.3, 1}, {1, 1}},   // finger
    {{-3, 0, 3}, {1, 0, 1}, {-4, -4}},        // camel
    {{-1, 0, 1}, {1, 1, 1}, {1, 1}},          // flat_up
    {{-1, 0, 1}, {0, 0, 0}, {1, 1}},          // flat_down
};

double Step(double u, double slope) {
  const double kappa = Kappa(u);
  return slope >= 1 ? std::pow(kappa, slope) : 1 - std::pow(1 - kappa, 2 - slope);
}

using Table = std::array<double, kSamples>;

std::array<Table, std::size(kControls)> MakeTables() {
  std::array<Table, std::size(kControls)> tables;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    for (std::size_t i = 0; i < kSamples; ++i) {
      const double c = 2 * static_cast<double>(i) / (kSamples - 1) - 1;
      const double level = ControllerLevel(static_cast<FieldController>(k), c);
      tables[k][i] = level >= 1 ? 1 : std::tan(level * std::numbers::pi / 4);
    }
  }
  return tables;
}

}  // namespace

double Kappa(double x) {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  return 1 - std::exp(1 - 1 / (1 - std::exp(1 - 1 / x)));
}

double ControllerLevel(FieldController controller, double cosine) {
  const Controls& of = kControls[static_cast<std::size_t>(controller)];
  const double c = std::clamp(cosine, -1.0, 1.0);
  const bool left = c < of.c[1];
  const std::size_t side = left ? 0 : 2;
  const double width = std::abs(of.c[side] - of.c[1]);
  const double end = std::min(1.0, std::abs((left ? -1.0 : 1.0) - of.c[1]) / width);
  const double slope = of.slope[left ? 0 : 1];
  const double at = std::min(1.0, std::abs(c - of.c[1]) / width);
  return of.level[1] + (of.level[side] - of.level[1]) * Step(at, slope) / Step(end, slope);
}

double FieldOpening(FieldController controller, double cosine) {
  static const auto tables = MakeTables();
  const Table& table = tables[static_cast<std::size_t>(controller)];
  const double at = (std::clamp(cosine, -1.0, 1.0) + 1) * 0.5 * (kSamples - 1);
  const auto i = std::min(static_cast<std::size_t>(at), kSamples - 2);
  return table[i] + (at - static_cast<double>(i)) * (table[i + 1] - table[i]);
}

}  // namespace sinew
