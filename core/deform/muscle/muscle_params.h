// muscle_params.h - parameters of muscles that push the skin without fields.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct MuscleParams {
  static constexpr std::string_view kName = "muscle";
  float strength = 1;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"strength", "", 0, 4, "Multiplies the displacement of the skin."},
          self.strength);
  }
};

}  // namespace sinew
