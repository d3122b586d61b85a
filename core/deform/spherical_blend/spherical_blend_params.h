// spherical_blend_params.h - parameters of spherical blend skinning.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

enum class BlendCentres : std::uint8_t { kWeighted, kPerSet };
inline std::span<const std::string_view> ChoiceNames(BlendCentres) {
  static constexpr std::array<std::string_view, 2> kNames = {"weighted", "per_set"};
  return kNames;
}

struct SphericalBlendParams {
  static constexpr std::string_view kName = "spherical_blend";
  BlendCentres centres = BlendCentres::kWeighted;
  std::uint32_t max_influences = 0;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"centres", "", 0, 0,
                   "weighted = one rotation centre per vertex, without seams; per_set = one per "
                   "set of joints, as published."},
          self.centres);
    visit(kMaxInfluencesDoc, self.max_influences);
  }
};

}  // namespace sinew
