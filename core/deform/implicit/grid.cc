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

// f / r at the centre of a cell, and by how much it rises across the cell along each axis.
struct CellSample {
  double f = 0;
  std::array<double, 3> slope{};
};

// [kGridCells]
std::vector<CellSample> SampleCells(const Hrbf& fit, const GridBox& box) {
  static_assert(kGridSide == kLanes, "a row of cells is one block");
  AlignedVector<float> centres, polynomial;
  AppendPacked(fit, centres, polynomial);
  const HrbfPart part = {centres.data(), polynomial.data(), fit.size(), nullptr, nullptr};
  const auto centre = [&](std::size_t axis, std::size_t cell) {
    return static_cast<float>(box.At(axis, static_cast<double>(cell) + 0.5));
  };
  std::vector<CellSample> cells(kGridCells);
  alignas(64) float points[3][kGridSide], raw[4][kGridSide];
  for (std::size_t row = 0; row < kGridSide * kGridSide; ++row) {
    for (std::size_t i = 0; i < kGridSide; ++i) {
      points[0][i] = centre(0, i);
      points[1][i] = centre(1, row % kGridSide);
      points[2][i] = centre(2, row / kGridSide);
    }
    RawHrbfKernel(part, points[0], raw[0]);
    for (std::size_t i = 0; i < kGridSide; ++i) {
      CellSample& cell = cells[row * kGridSide + i];
      cell.f = double{raw[0][i]};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double side = (box.largest[axis] - box.least[axis]) / kGridSide;
        cell.slope[axis] = side * double{raw[1 + axis][i]};
      }
    }
  }
  return cells;
}

// By how much f falls below its tangent in a cell, from how the slopes change towards the cells
// beside it: at most e H e / 2 for |e| <= 1/2, H the larger change on either side.
double FallInCell(const std::vector<CellSample>& cells, std::size_t cell) {
  constexpr std::size_t kStep[3] = {1, kGridSide, kGridSide * kGridSide};
  double down[3] = {}, across[3][3] = {};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t at = cell / kStep[axis] % kGridSide;
    for (const bool forward : {false, true}) {
      if (at == (forward ? kGridSide - 1 : 0)) continue;
      const std::size_t low = forward ? cell : cell - kStep[axis];
      for (std::size_t of = 0; of < 3; ++of) {
        const double change = cells[low + kStep[axis]].slope[of] - cells[low].slope[of];
        if (of == axis) down[axis] = std::max(down[axis], -change);
        across[axis][of] = std::max(across[axis][of], std::abs(change));
      }
    }
  }
  double fall = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    fall += down[i] / 8;
    for (std::size_t j = 0; j < i; ++j) fall += std::max(across[i][j], across[j][i]) / 4;
  }
  return fall;
}

// The word of a cell, see hrbf_kernel.h. What rounding and limits take from the slopes lowers the
// value.
std::uint32_t PackedBound(double value, const std::array<double, 3>& slopes) {
  double least = value, lost = 0;
  std::uint32_t word = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double steps =
        std::clamp(std::round(slopes[axis] * double{kCellSlopeSteps}), -128.0, 127.0);
    word |= static_cast<std::uint32_t>(128 + steps) << (8 * (axis + 1));
    lost += 0.5 * std::abs(slopes[axis] - steps / double{kCellSlopeSteps});
    least -= 0.5 * std::abs(slopes[axis]);
  }
  if (!(least < 1)) return word;
  const double steps = (double{kMostCellValue} - (value - lost)) * double{kCellValueSteps};
  return word | static_cast<std::uint32_t>(std::ceil(std::clamp(steps, 1.0, 255.0)));
}

}  // namespace

std::vector<std::uint32_t> BoundCells(const Hrbf& fit, const GridBox& box) {
  const std::vector<CellSample> cells = SampleCells(fit, box);
  std::vector<std::uint32_t> bounds;
  bounds.reserve(kGridCells);
  for (std::size_t cell = 0; cell < kGridCells; ++cell) {
    const double fall = kCurvedInCell * FallInCell(cells, cell);
    bounds.push_back(PackedBound(cells[cell].f - fall, cells[cell].slope));
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
  const auto cell = [](float v) { return std::min(static_cast<int>(v), int{kGridSide} - 1); };
  const int x = cell(at.x), y = cell(at.y), z = cell(at.z);
  const float u = at.x - static_cast<float>(x), v = at.y - static_cast<float>(y);
  const float w = at.z - static_cast<float>(z);
  constexpr int kSide = kCornerSide;
  const std::uint8_t* const corner = gaps + (z * kSide + y) * kSide + x;
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
