// field_reference.h - compact fields and their composition in double, directly from the formulas.
#pragma once

#include <span>

#include "core/deform/implicit/field/limb_field.h"

namespace sinew::reference {

// t_r(f) of x = f / r.
double CompactField(double x);

struct FieldSample {
  double value = 0;
  Vec3d gradient;
};

// The composed field at x, from the bound data alone; joints [J] as in PosedRig.
FieldSample LimbFieldAt(const LimbField& field, std::span<const Affine> joints, const Vec3d& x,
                        Contact contact);

}  // namespace sinew::reference
