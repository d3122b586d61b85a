// multi_weight_params.h - multi-weight enveloping has no parameters.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct MultiWeightParams {
  static constexpr std::string_view kName = "multi_weight";

  template <class Self, class Visit>
  static void Fields(Self&, Visit&&) {}
};

}  // namespace sinew
