// projection_step.h - one step of points along the field towards their own level.
//
// Rules for a step from p along u = grad F / |grad F| to x, d = level - F, in this order (Vaillant
// et al. 2013, with additional stop criteria):
//
//    A  d changes sign: bisection finds the level, FITTED
//    B  no gradient at x: stays at p, ZERO_GRADIENT
//    C  the gradient turns by more than 55 degrees, so another part is met: bisection finds the
//       last point before it, GRADIENT_DIVERGENCE
//    D  |d| grows: stays at p, POTENTIAL_PIT
//
// Before the first step: no gradient ZERO_GRADIENT, |d| < eps NOT_DISPLACED; later FITTED.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"

namespace sinew {

inline constexpr float kLevelTolerance = 1e-4f;    // eps, in units of the field
inline constexpr std::uint8_t kMovingPoint = 255;  // besides VertexStatus: still active
inline constexpr std::size_t kStepGrain = 256;     // maximum points per AdvancePoints

struct StepRules {
  float sigma = 0.7f;        // fraction of a Newton step d / |grad F|
  float longest = 0;         // of a step, model units
  bool creases = true;       // rule C
  float least_gradient = 0;  // per model unit; smaller gradients count as zero
};

// State of the points, in arrays of the frame.
struct MovingPoints {
  std::span<float> at;            // [P][4] positions and 0
  std::span<float> gradient;      // [P][4] grad F, and d
  std::span<std::uint8_t> known;  // [P] 1 = gradient is valid for `at`
  std::span<std::uint8_t> state;  // [P] VertexStatus or kMovingPoint
};

// Moves the points of `list` (at most kStepGrain, all kMovingPoint) by one step. first: no step was
// made before. Returns the number of points at which the field was evaluated. The bits of a point
// do not depend on other points.
std::size_t AdvancePoints(const PosedField& field, std::span<const float> level,
                          const StepRules& rules, bool first, std::span<const std::uint32_t> list,
                          const MovingPoints& points);

}  // namespace sinew
