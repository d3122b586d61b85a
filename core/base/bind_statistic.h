// bind_statistic.h - a figure that binding a stage found out and a user should see.
#pragma once

#include <cstddef>
#include <string_view>

namespace sinew {

// For example the influence mass that truncation dropped. Texts are literals.
struct BindStatistic {
  std::string_view name;
  double value = 0;
  std::string_view unit;  // empty = a plain number
  std::string_view description;
  std::size_t stage = 0;  // of the recipe; set by Deformer
};

}  // namespace sinew
