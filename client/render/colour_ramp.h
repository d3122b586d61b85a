// colour_ramp.h - numbers as colours: weights, distances.
#pragma once

#include <span>
#include <vector>

#include "client/render/image.h"

namespace sinew::client {

// From clay at 0 over orange to dark red at 1. Brightness decreases monotonically and evenly: the
// ramp can be read without colour vision. Values outside [0, 1] are clamped, NaN is magenta.
Rgb RampColour(double value);

// Colours for MeshView::colours: [V * 3] sRGB in [0, 1], values from 0 to `high` > 0 over the ramp.
std::vector<float> RampColours(std::span<const float> values, double high);

}  // namespace sinew::client
