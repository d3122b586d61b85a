// wild_field.h - a field that no fit would give, for tests that results stay finite.
#pragma once

#include <array>
#include <cmath>

#include "tests/support/rounded_limb.h"

namespace sinew::testing {

// Two parts with arbitrary values, and gradients that vanish and explode.
//
//    kind     0 = no gradient, 1 = almost none, 2 = large ones
//    extreme  component along y of kind 2
class WildField : public RoundedLimb {
 public:
  WildField(int kind, float extreme)
      : RoundedLimb(std::array<AffineD, 2>{}), kind_(kind), extreme_(extreme) {}
  PartBlocks Distances(const PointBlock& points, const DistanceNeed&) const override {
    PartBlocks parts(2);
    for (std::uint32_t b = 0; b < 2; ++b) {
      parts[b].part = b;
      for (std::size_t i = 0; i < kLanes; ++i) {
        const float wave = std::sin(1e3f * points.x[i]);
        parts[b].value[i] = kind_ == 0 ? 0.5f : b == 0 ? wave : -wave;
        parts[b].x[i] = kind_ == 0 ? 0 : kind_ == 1 ? 1e-30f : 1e8f * std::cos(1e3f * points.x[i]);
        parts[b].y[i] = kind_ == 2 ? extreme_ : 0;
        parts[b].z[i] = 0;
      }
    }
    return parts;
  }

 private:
  int kind_;
  float extreme_;
};

}  // namespace sinew::testing
