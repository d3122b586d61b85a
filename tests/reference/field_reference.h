// field_reference.h - compact fields, operators and their composition in double, directly from the
// formulas: bisection instead of closed forms and tables.
#pragma once

#include <functional>
#include <span>

#include "core/deform/implicit/field/field_options.h"
#include "core/deform/implicit/field/limb_field.h"

namespace sinew::reference {

// t_r(f) of x = f / r.
double CompactField(double x);

// g(a, b) of an operator with opening t; m is the parameter of bulge.
double ComposeFields(FieldOperator op, double a, double b, double t, double m);

struct FieldSample {
  double value = 0;
  Vec3d gradient;
};

// The composed field at x, from the bound data alone; joints [J] as in PosedRig.
FieldSample LimbFieldAt(const LimbField& field, std::span<const Affine> joints, const Vec3d& x,
                        Contact contact, double m = 0.7);

}  // namespace sinew::reference
