// param_doc.h - describes a method's parameter: name, unit, range and one sentence.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sinew {

// Describes a C++ member: float, uint32, bool, an enum with ChoiceNames, std::string for the name
// of a vertex map, or std::optional of a number if "unset" has a meaning.
struct ParamDoc {
  std::string_view name;
  std::string_view unit;            // empty = dimensionless
  double minimum = 0, maximum = 0;  // inclusive; unused for bool, choices and maps
  std::string_view description;
  // The allowed values of an integer whose range has gaps; the method's Validate rejects the
  // others.
  std::span<const std::uint32_t> only{};
  std::string_view no_effect{};  // why the value does not matter beside the others; empty = it does

  // A copy with this reason in `no_effect` unless the value is read; the first reason stays.
  ParamDoc Unless(bool read, std::string_view reason) const {
    ParamDoc doc = *this;
    if (!read && doc.no_effect.empty()) doc.no_effect = reason;
    return doc;
  }
};

// Parameters shared by several methods.
inline constexpr ParamDoc kMaxInfluencesDoc = {
    "max_influences", "influences", 0, 255,
    "Keep only the strongest influences of each vertex; 0 keeps all."};
inline constexpr ParamDoc kKeepAreaDoc = {
    "keep_area", "", 0, 1,
    "Minimum share of its area that the rest mesh keeps when smoothed: where it would keep less, "
    "as on thin limbs with few vertices, steps are shorter. 0 = no limit, as published."};

}  // namespace sinew
