// shapes_params.h - parameters of blend shapes.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct ShapesParams {
  static constexpr std::string_view kName = "shapes";
  float strength = 1;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"strength", "", -10, 10, "Multiplies every offset."}, self.strength);
  }
};

}  // namespace sinew
