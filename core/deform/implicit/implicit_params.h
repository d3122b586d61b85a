// implicit_params.h - parameters of implicit skinning (see implicit.h and projection.h). All are
// dimensionless; lengths follow from the limbs.
#pragma once

#include "core/deform/implicit/march/march_rules.h"
#include "core/deform/method/param_doc.h"

namespace sinew {

// Along one ray to the owner's own level (projection.h), or along the gradient of all limbs' union
// (march.h).
enum class ProjectionMethod : std::uint8_t { kLevel, kMarch };
inline std::span<const std::string_view> ChoiceNames(ProjectionMethod) {
  static constexpr std::array<std::string_view, 2> kNames = {"level", "march"};
  return kNames;
}

struct ImplicitParams {
  static constexpr std::string_view kName = "implicit";
  bool contact = true;         // points stop where limbs meet
  std::uint32_t samples = 50;  // per part, not counting end caps
  bool muscles = true;
  ProjectionMethod projection = ProjectionMethod::kLevel;
  MarchRules march{};

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    const bool marches = self.projection == ProjectionMethod::kMarch;
    constexpr std::string_view kMarches = "projection is march", kLevels = "projection is level";
    visit(ParamDoc{"contact", "", 0, 0,
                   "Vertices stop where two limbs meet; false = they only return to their own "
                   "level of the field."}
              .Unless(!marches, kMarches),
          self.contact);
    visit(ParamDoc{"samples", "points", 8, 400, "Sample points a part's surface is fitted to."},
          self.samples);
    visit(ParamDoc{"muscles", "", 0, 0, "The rig's muscles bulge under the skin."}, self.muscles);
    visit(ParamDoc{"projection", "", 0, 0,
                   "level = along one ray to the limb's own level, continuous in the pose; march = "
                   "along the gradient of all limbs until it turns, as published."},
          self.projection);
    visit(ParamDoc{"max_iterations", "steps", 1, 1000, "march: most steps of a vertex."}.Unless(
              marches, kLevels),
          self.march.max_iterations);
    visit(ParamDoc{"gradient_threshold", "", -1, 1,
                   "march: cosine between the gradients of two steps below which the vertex has "
                   "met another limb; 0.5736 = 55 degrees."}
              .Unless(marches, kLevels),
          self.march.gradient_threshold);
    visit(ParamDoc{"step_length", "limb radii", 0.001, 1, "march: length of a step."}.Unless(
              marches, kLevels),
          self.march.step_length);
    visit(ParamDoc{"potential_pit", "", 0, 0,
                   "march: vertices stop where the field leads away from their value at rest."}
              .Unless(marches, kLevels),
          self.march.potential_pit);
    visit(ParamDoc{"smoothing", "passes", 0, 50,
                   "march: Laplacian smoothing around vertices that have met another limb."}
              .Unless(marches, kLevels),
          self.march.smoothing);
  }
};

}  // namespace sinew
