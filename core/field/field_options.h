// field_options.h - how the parts of a limb are composed to one field: names of operators and
// controllers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sinew {

enum class FieldOperator : std::uint8_t { kMax, kCleanUnion, kBlend, kBulge };
inline std::span<const std::string_view> ChoiceNames(FieldOperator) {
  static constexpr std::array<std::string_view, 4> kNames = {"max", "clean_union", "blend",
                                                             "bulge"};
  return kNames;
}

enum class FieldController : std::uint8_t { kElbow, kFinger, kCamel, kFlatUp, kFlatDown };
inline std::span<const std::string_view> ChoiceNames(FieldController) {
  static constexpr std::array<std::string_view, 5> kNames = {"elbow", "finger", "camel", "flat_up",
                                                             "flat_down"};
  return kNames;
}

struct JointOperator {
  std::uint32_t joint = 0;
  FieldOperator op = FieldOperator::kMax;
  FieldController controller = FieldController::kElbow;
};

struct FieldOptions {
  FieldOperator op = FieldOperator::kMax;  // of every joint that `joints` does not name
  FieldController controller = FieldController::kElbow;
  float bulge = 0.7f;  // 0 .. 0.9
  std::vector<JointOperator> joints;
  std::uint32_t samples = 50;  // of a part
};

}  // namespace sinew
