#include "core/deform/implicit/grid.h"

#include <algorithm>
#include <cmath>

#include "core/base/aligned.h"
#include "core/base/smooth_step.h"
#include "core/deform/implicit/constants.h"
#include "core/rig/layout.h"

namespace sinew {
namespace {

constexpr float kNoGap = 128, kGapStep = kMostGap / 127;

}  // namespace

std::vector<std::uint8_t> BoundCells(const Hrbf& fit, const GridBox& box) {
  static_assert(kGridSide == kLanes, "a row of cells is one block");
  AlignedVector<float> centres, polynomial;
  AppendPacked(fit, centres, polynomial);
  const HrbfPart part = {centres.data(), polynomial.data(), fit.size(), nullptr, nullptr};
  double half[3], diagonal2 = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    half[axis] = 0.5 * (box.largest[axis] - box.least[axis]) / kGridSide;
    diagonal2 += half[axis] * half[axis];
  }
  const auto centre = [&](std::size_t axis, std::size_t cell) {
    return static_cast<float>(box.At(axis, static_cast<double>(cell) + 0.5));
  };
  std::vector<std::uint8_t> bounds(kGridCells);
  alignas(64) float points[3][kGridSide], raw[4][kGridSide];
  for (std::size_t row = 0; row < kGridSide * kGridSide; ++row) {
    for (std::size_t i = 0; i < kGridSide; ++i) {
      points[0][i] = centre(0, i);
      points[1][i] = centre(1, row % kGridSide);
      points[2][i] = centre(2, row / kGridSide);
    }
    RawHrbfKernel(part, points[0], raw[0]);
    for (std::size_t i = 0; i < kGridSide; ++i) {
      double fall = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        fall += half[axis] * std::abs(double{raw[1 + axis][i]});
      }
      const double f = double{raw[0][i]} - kSteeperInCell * fall - kCurvedInCell * diagonal2;
      bounds[row * kGridSide + i] =
          static_cast<std::uint8_t>(std::ceil(std::clamp(127 * (1 - f), 0.0, 255.0)));
    }
  }
  return bounds;
}

std::uint8_t PackedGap(float gap) {
  const float steps = std::round(std::clamp(gap, -kMostGap, kMostGap) / kGapStep);
  return static_cast<std::uint8_t>(kNoGap + steps);
}

float TrustOfGap(float gap) {
  return static_cast<float>(SmoothStep(double{gap / kTrustWidth}));
}

float TrustOfGrid(const std::uint8_t* gaps, const Vec3f& at) {
  constexpr auto kLast = static_cast<float>(kGridSide);
  if (!(at.x >= 0 && at.x <= kLast && at.y >= 0 && at.y <= kLast && at.z >= 0 && at.z <= kLast)) {
    return 0;
  }
  const auto cell = [](float v) { return std::min(std::floor(v), kLast - 1); };
  const float x = cell(at.x), y = cell(at.y), z = cell(at.z);
  const float u = at.x - x, v = at.y - y, w = at.z - z;
  const std::uint8_t* const corner =
      gaps +
      (static_cast<std::size_t>(z) * kCornerSide + static_cast<std::size_t>(y)) * kCornerSide +
      static_cast<std::size_t>(x);
  const auto row = [&](std::size_t offset) {
    const auto a = static_cast<float>(corner[offset]), b = static_cast<float>(corner[offset + 1]);
    return a + u * (b - a);
  };
  const auto layer = [&](std::size_t offset) {
    const float a = row(offset), b = row(offset + kCornerSide);
    return a + v * (b - a);
  };
  const float near = layer(0), far = layer(kCornerSide * kCornerSide);
  return TrustOfGap(kGapStep * (near + w * (far - near) - kNoGap));
}

}  // namespace sinew
