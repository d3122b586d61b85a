// colour_ramp.h - numbers as colours: weights, distances, differences.
#pragma once

#include <span>
#include <vector>

#include "client/render/image.h"

namespace sinew::client {

// The viridis ramp (even steps in brightness, readable without colour vision): 0 is dark blue, 1 is
// yellow. Values outside [0, 1] are clamped, NaN is magenta.
Rgb RampColour(double value);

// Colours for MeshView::colours: [V * 3] sRGB in [0, 1], `low` at the ramp's start, `high` at its
// end (low < high; equal bounds give the ramp's start).
std::vector<float> RampColours(std::span<const float> values, double low, double high);

}  // namespace sinew::client
