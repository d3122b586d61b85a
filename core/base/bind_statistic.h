// bind_statistic.h - a value computed while a stage is bound, shown to the user.
#pragma once

#include <cstddef>
#include <string_view>

namespace sinew {

// For example the weight dropped by truncation. The texts are literals.
struct BindStatistic {
  std::string_view name;
  double value = 0;
  std::string_view unit;  // empty: dimensionless
  std::string_view description;
  std::size_t stage = 0;  // index in the recipe; set by Deformer
};

}  // namespace sinew
