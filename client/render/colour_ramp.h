// colour_ramp.h - numbers as colours: weights, distances, differences.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "client/render/image.h"

namespace sinew::client {

enum class Ramp : std::uint8_t {
  kViridis,  // dark blue to yellow: quantities
  kHeat,     // clay over orange to dark red: deviations from zero
};

// Viridis increases in brightness monotonically and evenly, heat decreases: both can be read
// without colour vision. Values outside [0, 1] are clamped, NaN is magenta.
Rgb RampColour(double value, Ramp ramp = Ramp::kViridis);

// Colours for MeshView::colours: [V * 3] sRGB in [0, 1], `low` at the ramp's start, `high` at its
// end (low < high; equal bounds give the ramp's start).
std::vector<float> RampColours(std::span<const float> values, double low, double high,
                               Ramp ramp = Ramp::kViridis);

}  // namespace sinew::client
