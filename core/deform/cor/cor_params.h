// cor_params.h - parameters of skinning with optimised centres of rotation.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct CorParams {
  static constexpr std::string_view kName = "cor";
  float sigma = 0.1f;
  bool refine = true;
  std::uint32_t max_influences = 0;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"sigma", "", 0.01, 10,
                   "Width of the similarity of weights: small = local centres, large = one centre "
                   "per pair of joints."},
          self.sigma);
    visit(
        ParamDoc{"refine", "", 0, 0,
                 "Split triangles over which weights change by more than 0.1 before integrating."},
        self.refine);
    visit(kMaxInfluencesDoc, self.max_influences);
  }
};

}  // namespace sinew
