// field_controller.h - opening of an operator as a function of the angle between the gradients.
//
// Three points (cos alpha, E) joined by smooth steps; the opening is t = tan(E pi / 4): 1 = union,
// 0 = the widest blend. Presets of the published implementation of Vaillant et al. 2013.
#pragma once

#include "core/deform/implicit/field/field_options.h"

namespace sinew {

// E and t at cos alpha in [-1, 1] (clamped), from a table of 1,000 samples. If a control lies
// outside [-1, 1], its side reaches E exactly at the end.
double FieldOpening(FieldController controller, double cosine);

// Smooth step from 0 at 0 to 1 at 1 with all derivatives 0 at both ends.
double Kappa(double x);
// E without the table.
double ControllerLevel(FieldController controller, double cosine);

}  // namespace sinew
