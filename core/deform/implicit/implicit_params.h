// implicit_params.h - parameters of implicit skinning (see implicit.h and projection.h). All are
// dimensionless; lengths follow from the limbs.
#pragma once

#include "core/deform/implicit/field/field_options.h"
#include "core/deform/method/param_doc.h"

namespace sinew {

// 0.7 of a Newton step, or the published constant step of 0.05 limb radii.
enum class ProjectionStep : std::uint8_t { kNewton, kFixed };
inline std::span<const std::string_view> ChoiceNames(ProjectionStep) {
  static constexpr std::array<std::string_view, 2> kNames = {"newton", "fixed"};
  return kNames;
}

struct ImplicitParams {
  static constexpr std::string_view kName = "implicit";
  bool contact = true;  // points stop at creases
  FieldOperator op = FieldOperator::kMax;
  FieldController controller = FieldController::kElbow;
  float bulge = 0.7f;             // m of the bulge profile; for operator bulge
  std::string joints{};           // operators of single joints by name; see joint_operators.h
  std::uint32_t samples = 50;     // per part, not counting end caps
  std::uint32_t iterations = 60;  // maximum steps of a point per frame
  ProjectionStep step = ProjectionStep::kNewton;
  std::uint32_t smoothing = 5;  // passes; 0 = keep creases
  bool muscles = true;
  bool tracking = false;     // stateful, see tracking.h
  float attraction = 0.02f;  // tracking: fraction of the way to the skinned position per round

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"contact", "", 0, 0,
                   "Vertices stop where two parts meet, and the crease is smoothed; false = they "
                   "only return to their own level of the field."},
          self.contact);
    visit(ParamDoc{"operator", "", 0, 0,
                   "How parts are composed at a joint: max = sharp contact, clean_union = the same "
                   "surface in a smooth field, blend = an arc of a circle, bulge = swells beside "
                   "the contact."},
          self.op);
    visit(
        ParamDoc{"controller", "", 0, 0,
                 "How far blend and bulge open, as a function of the angle between the gradients."},
        self.controller);
    visit(ParamDoc{"bulge", "", 0, 0.9, "How much the bulge operator swells."}, self.bulge);
    visit(ParamDoc{"joints", "", 0, 0,
                   "Operators of single joints, as in 'forearm_l blend elbow; thumb_1 bulge "
                   "camel'; quoted in a recipe."},
          self.joints);
    visit(ParamDoc{"samples", "points", 8, 400, "Sample points a part's surface is fitted to."},
          self.samples);
    visit(ParamDoc{"iterations", "steps", 1, 1000, "Maximum projection steps per frame."},
          self.iterations);
    visit(ParamDoc{"step", "", 0, 0,
                   "newton = 0.7 of a Newton step; fixed = the published constant step."},
          self.step);
    visit(ParamDoc{"smoothing", "passes", 0, 50, "Laplacian passes over the contact."},
          self.smoothing);
    visit(ParamDoc{"muscles", "", 0, 0, "The rig's muscles bulge under the skin."}, self.muscles);
    visit(ParamDoc{"tracking", "", 0, 0,
                   "Follow the surface from frame to frame: handles extreme bends, but a frame "
                   "depends on earlier ones."},
          self.tracking);
    visit(
        ParamDoc{
            "attraction", "", 0, 1,
            "tracking: pull towards the skinned position along the surface; 0 = free sliding."},
        self.attraction);
  }
};

}  // namespace sinew
