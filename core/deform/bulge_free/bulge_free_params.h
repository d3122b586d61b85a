// bulge_free_params.h - parameters of the correction of bulging joints; formulas are in
// bulge_free.h.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

// Project to the rest distance from the bones, or push along the bisector of a hinge.
enum class BulgeMethod : std::uint8_t { kProjection, kBisector };
inline std::span<const std::string_view> ChoiceNames(BulgeMethod) {
  static constexpr std::array<std::string_view, 2> kNames = {"projection", "bisector"};
  return kNames;
}

struct BulgeFreeParams {
  static constexpr std::string_view kName = "bulge_free";
  float strength = 1;      // factor of the whole correction; 0 = none
  float softness = 1;      // projection: width of the onset, in units of 2 % of the rest distance
  float sharpness = 2;     // projection: exponent of the weights in beta
  bool strongest = false;  // projection: strongest bone only, as published
  BulgeMethod method = BulgeMethod::kProjection;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    const bool corrects = self.strength > 0, projects = self.method == BulgeMethod::kProjection;
    constexpr std::string_view kNone = "strength is 0", kBisects = "method is bisector";
    visit(ParamDoc{"strength", "", 0, 1,
                   "0 = no correction, 1 = back to the rest distance from the bone."},
          self.strength);
    visit(ParamDoc{"softness", "", 0, 10,
                   "Softness of the projection's onset: it is complete 2 % x softness beyond the "
                   "rest distance; 0 = immediate."}
              .Unless(corrects, kNone)
              .Unless(projects, kBisects),
          self.softness);
    visit(ParamDoc{"sharpness", "", 1, 4,
                   "Exponent of the weights that share the projection among bones: 1 = smooth, 4 = "
                   "sharp."}
              .Unless(corrects, kNone)
              .Unless(projects, kBisects)
              .Unless(!self.strongest, "strongest is true"),
          self.sharpness);
    visit(ParamDoc{"strongest", "", 0, 0,
                   "Project towards the strongest bone only, as first published; jumps where "
                   "weights cross."}
              .Unless(corrects, kNone),
          self.strongest);
    visit(ParamDoc{"method", "", 0, 0,
                   "projection = pull back to the rest distance; bisector = push along the "
                   "bisector of the two main bones, for plain hinges."}
              .Unless(corrects, kNone),
          self.method);
  }
};

}  // namespace sinew
