// blend_limb.h - the rounded limb with its parts composed by the arc-of-circle operator and the
// elbow controller; in double, from the formulas.
#pragma once

#include "tests/support/rounded_limb.h"

namespace sinew::testing {

// Opening by the cosine of the angle between the gradients: 0 = full blend, 1 = union; points (0.2,
// 1), (0.7, 0.43), (1.2, 1), slope 1 on both sides.
double ElbowOpening(double cosine);

// Gourmel et al. 2013, circle profile over the diamond opening with its upper corner at 0.7, by
// bisection. t: tangent of the opening angle.
double ArcBlend(double a, double b, double t);

class BlendLimb : public RoundedLimb {
 public:
  using RoundedLimb::RoundedLimb;
  void Evaluate(const PointBlock& points, Contact contact, FieldBlock& out) const override;
  FieldSample Blend(const Vec3d& point) const;
};

}  // namespace sinew::testing
