// param_doc.h - what a method's parameter is: its name, unit, range and one sentence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sinew {

// What a parameter is, beside its C++ member (float, uint32, bool, an enum with ChoiceNames,
// std::string for the name of a vertex map, or std::optional of a number where "unset" means
// something of its own).
struct ParamDoc {
  std::string_view name;
  std::string_view unit;            // empty = a plain number
  double minimum = 0, maximum = 0;  // inclusive; unused for bool, choices and maps
  std::string_view description;
  // Of an integer: the values there are, where not all of the range; the method's Validate refuses
  // the others and says why.
  std::span<const std::uint32_t> only{};
};

// Parameters that several methods share.
inline constexpr ParamDoc kMaxInfluencesDoc = {
    "max_influences", "influences", 0, 255,
    "Keep only the strongest influences of each vertex; 0 keeps all."};
inline constexpr ParamDoc kKeepAreaDoc = {
    "keep_area", "", 0, 1,
    "Part of its area that the rest mesh keeps when smoothed: where it would keep less, as on thin "
    "limbs of few vertices, steps are shorter. 0 = nowhere, as published."};

}  // namespace sinew
