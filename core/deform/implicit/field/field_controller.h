// field_controller.h - how far an operator opens by the angle between the gradients it meets.
//
// Three points (cos alpha, E) joined by smooth steps; the opening is t = tan(E pi / 4): 1 = union,
// 0 = the widest blend. Presets of the published implementation of Vaillant et al. 2013.
#pragma once

#include "core/deform/implicit/field/field_options.h"

namespace sinew {

// E and t at cos alpha in [-1, 1] (clamped), from a table of 1,000 samples. A side whose control
// lies outside of [-1, 1] reaches its E exactly at the end.
double FieldOpening(FieldController controller, double cosine);

// The step: 0 at 0, 1 at 1, every derivative 0 at both.
double Kappa(double x);
// E itself, not tabulated.
double ControllerLevel(FieldController controller, double cosine);

}  // namespace sinew
