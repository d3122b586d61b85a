#include "core/deform/implicit/field/part_reach.h"

#include <algorithm>
#include <cmath>

#include "core/deform/implicit/field/hrbf_kernel.h"
#include "core/deform/implicit/field/packed_hrbf.h"
#include "core/rig/layout.h"

namespace sinew {
namespace {

constexpr double kSteeper = 1.25;  // maximum gradient in a cell relative to its centre
constexpr double kCurved = 0.5;    // curvature term, times the half diagonal squared

}  // namespace

std::vector<std::uint8_t> FindReach(const Hrbf& fit, const std::array<double, 3>& least,
                                    const std::array<double, 3>& largest) {
  static_assert(kReachSide == kLanes, "a row of cells is one block");
  AlignedVector<float> centres, polynomial;
  AppendPacked(fit, centres, polynomial);
  const HrbfPart part = {centres.data(), polynomial.data(), fit.size(), nullptr, nullptr};
  double half[3], diagonal2 = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    half[i] = 0.5 * (largest[i] - least[i]) / kReachSide;
    diagonal2 += half[i] * half[i];
  }
  const auto middle = [&](std::size_t axis, std::size_t cell) {
    return static_cast<float>(least[axis] + (2 * static_cast<double>(cell) + 1) * half[axis]);
  };
  std::vector<std::uint8_t> reach(kReachCells);
  alignas(64) float points[3][kReachSide], raw[4][kReachSide];
  for (std::size_t row = 0; row < kReachSide * kReachSide; ++row) {
    for (std::size_t i = 0; i < kReachSide; ++i) {
      points[0][i] = middle(0, i);
      points[1][i] = middle(1, row % kReachSide);
      points[2][i] = middle(2, row / kReachSide);
    }
    RawHrbfKernel(part, points[0], raw[0]);
    for (std::size_t i = 0; i < kReachSide; ++i) {
      double fall = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        fall += half[axis] * std::abs(double{raw[1 + axis][i]});
      }
      const double f = double{raw[0][i]} - kSteeper * fall - kCurved * diagonal2;
      reach[row * kReachSide + i] =
          static_cast<std::uint8_t>(std::ceil(std::clamp(127 * (1 - f), 0.0, 255.0)));
    }
  }
  return reach;
}

}  // namespace sinew
