// implicit_params.h - parameters of implicit skinning (see implicit.h and projection.h). All are
// dimensionless; lengths follow from the limbs.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct ImplicitParams {
  static constexpr std::string_view kName = "implicit";
  bool contact = true;         // points stop where limbs meet
  std::uint32_t samples = 50;  // per part, not counting end caps
  bool muscles = true;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(
        ParamDoc{"contact", "", 0, 0,
                 "Vertices stop where two limbs meet; false = they only return to their own level "
                 "of the field."},
        self.contact);
    visit(ParamDoc{"samples", "points", 8, 400, "Sample points a part's surface is fitted to."},
          self.samples);
    visit(ParamDoc{"muscles", "", 0, 0, "The rig's muscles bulge under the skin."}, self.muscles);
  }
};

}  // namespace sinew
