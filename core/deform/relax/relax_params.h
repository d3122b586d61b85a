// relax_params.h - parameters of tangential relaxation.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct RelaxParams {
  static constexpr std::string_view kName = "relax";
  std::uint32_t iterations = 1;
  float strength = 0.5f;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"iterations", "passes", 1, 100, "Passes over the mesh."}, self.iterations);
    visit(ParamDoc{"strength", "", 0, 1,
                   "Fraction of the way along the surface to where the neighbours would carry the "
                   "vertex at rest."},
          self.strength);
  }
};

}  // namespace sinew
