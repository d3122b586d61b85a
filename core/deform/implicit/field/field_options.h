// field_options.h - how the parts of a limb are composed to one field: operators and controllers,
// by name, for all joints or for single ones. Plain values; LimbField::Bind checks them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sinew {

// Of a part with its parent's: max = sharp contact; clean union = the same surface, smooth beyond;
// blend = an arc of a circle between them; bulge = swells beside the contact. See
// field_operators.h; sources: Gourmel et al. 2013, Vaillant et al. 2013.
enum class FieldOperator : std::uint8_t { kMax, kCleanUnion, kBlend, kBulge };
inline std::span<const std::string_view> ChoiceNames(FieldOperator) {
  static constexpr std::array<std::string_view, 4> kNames = {"max", "clean_union", "blend",
                                                             "bulge"};
  return kNames;
}

// How far blend and bulge open by the angle between the gradients of the two fields. See
// field_controller.h.
enum class FieldController : std::uint8_t { kElbow, kFinger, kCamel, kFlatUp, kFlatDown };
inline std::span<const std::string_view> ChoiceNames(FieldController) {
  static constexpr std::array<std::string_view, 5> kNames = {"elbow", "finger", "camel", "flat_up",
                                                             "flat_down"};
  return kNames;
}

struct JointOperator {
  std::uint32_t joint = 0;  // whose part meets its parent's
  FieldOperator op = FieldOperator::kMax;
  FieldController controller = FieldController::kElbow;
};

struct FieldOptions {
  FieldOperator op = FieldOperator::kMax;  // of every joint that `joints` does not name
  FieldController controller = FieldController::kElbow;
  float bulge = 0.7f;                 // m of BulgeProfile, 0 to 0.9; operator bulge alone
  std::vector<JointOperator> joints;  // each joint once at most, any order
  std::uint32_t samples = 50;         // points a part's surface is fitted to
};

}  // namespace sinew
