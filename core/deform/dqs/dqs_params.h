// dqs_params.h - parameters of dual quaternion skinning.
#pragma once

#include "core/deform/method/param_doc.h"

namespace sinew {

enum class SignRule : std::uint8_t { kStrongest, kParent };
inline std::span<const std::string_view> ChoiceNames(SignRule) {
  static constexpr std::array<std::string_view, 2> kNames = {"strongest", "parent"};
  return kNames;
}

struct DqsParams {
  static constexpr std::string_view kName = "dqs";
  float blend = 1;
  std::string blend_map;
  std::uint32_t max_influences = 0;
  SignRule signs = SignRule::kStrongest;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit(ParamDoc{"blend", "", 0, 1, "0 = linear blend, 1 = dual quaternion."}, self.blend);
    visit(ParamDoc{"blend_map", "", 0, 0, "Vertex map that multiplies blend; empty = none."}.Unless(
              self.blend > 0, "blend is 0"),
          self.blend_map);
    visit(kMaxInfluencesDoc, self.max_influences);
    visit(ParamDoc{"signs", "", 0, 0,
                   "Hemisphere of the blended quaternions: strongest = that of the vertex's "
                   "strongest joint; parent = that of each joint's parent, once per pose."}
              .Unless(self.blend > 0, "blend is 0"),
          self.signs);
  }
};

}  // namespace sinew
