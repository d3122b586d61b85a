// implicit_params.h - parameters of implicit skinning (see implicit.h and projection.h). All are
// dimensionless; lengths follow from the limbs.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct ImplicitParams {
  static constexpr std::string_view kName = "implicit";
  bool contact = true;            // points stop at creases
  std::uint32_t samples = 50;     // per part, not counting end caps
  std::uint32_t iterations = 60;  // maximum steps of a point per frame
  std::uint32_t smoothing = 5;    // passes; 0 = keep creases
  bool muscles = true;
  bool tracking = false;     // stateful, see tracking.h
  float attraction = 0.02f;  // tracking: fraction of the way to the skinned position per round

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"contact", "", 0, 0,
                   "Vertices stop where two parts meet, and the crease is smoothed; false = they "
                   "only return to their own level of the field."},
          self.contact);
    visit(ParamDoc{"samples", "points", 8, 400, "Sample points a part's surface is fitted to."},
          self.samples);
    visit(ParamDoc{"iterations", "steps", 1, 1000, "Maximum projection steps per frame."},
          self.iterations);
    visit(ParamDoc{"smoothing", "passes", 0, 50, "Laplacian passes over the contact."}.Unless(
              self.contact, "contact is false"),
          self.smoothing);
    visit(ParamDoc{"muscles", "", 0, 0, "The rig's muscles bulge under the skin."}, self.muscles);
    visit(ParamDoc{"tracking", "", 0, 0,
                   "Follow the surface from frame to frame: handles extreme bends, but a frame "
                   "depends on earlier ones."},
          self.tracking);
    visit(
        ParamDoc{"attraction", "", 0, 1,
                 "tracking: pull towards the skinned position along the surface; 0 = free sliding."}
            .Unless(self.tracking, "tracking is false"),
        self.attraction);
  }
};

}  // namespace sinew
