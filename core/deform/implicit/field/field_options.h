// field_options.h - operators and controllers that compose the parts of a field, for all joints or
// single ones. LimbField::Bind validates them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sinew {

// Composition of a part with its parent: max = sharp contact; clean union = the same surface,
// smooth beyond; blend = an arc of a circle; bulge = swells beside the contact. See
// field_operators.h.
enum class FieldOperator : std::uint8_t { kMax, kCleanUnion, kBlend, kBulge };
inline std::span<const std::string_view> ChoiceNames(FieldOperator) {
  static constexpr std::array<std::string_view, 4> kNames = {"max", "clean_union", "blend",
                                                             "bulge"};
  return kNames;
}

// Opening of blend and bulge by the angle between the gradients. See field_controller.h.
enum class FieldController : std::uint8_t { kElbow, kFinger, kCamel, kFlatUp, kFlatDown };
inline std::span<const std::string_view> ChoiceNames(FieldController) {
  static constexpr std::array<std::string_view, 5> kNames = {"elbow", "finger", "camel", "flat_up",
                                                             "flat_down"};
  return kNames;
}

struct JointOperator {
  std::uint32_t joint = 0;  // applies between this joint's part and its parent
  FieldOperator op = FieldOperator::kMax;
  FieldController controller = FieldController::kElbow;
};

struct FieldOptions {
  FieldOperator op = FieldOperator::kMax;  // for joints not listed in `joints`
  FieldController controller = FieldController::kElbow;
  float bulge = 0.7f;                 // m of BulgeProfile, 0 to 0.9; for operator bulge
  std::vector<JointOperator> joints;  // each joint at most once, any order
  std::uint32_t samples = 50;         // surface samples per part
};

}  // namespace sinew
