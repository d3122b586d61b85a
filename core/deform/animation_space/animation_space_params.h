// animation_space_params.h - animation space has no parameters.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

struct AnimationSpaceParams {
  static constexpr std::string_view kName = "animation_space";

  template <class Self, class Visit>
  static void Fields(Self&, Visit&&) {}
};

}  // namespace sinew
