// lbs_params.h - parameters of linear blend skinning.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct LbsParams {
  static constexpr std::string_view kName = "lbs";
  std::uint32_t max_influences = 0;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(kMaxInfluencesDoc, self.max_influences);
  }
};

}  // namespace sinew
