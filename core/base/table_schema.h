// table_schema.h - rules that saved tables must satisfy, and the one check of them.
//
// An object names its tables in Fields(self, visit, sizes), each with its rules, which may compare
// with the sizes of what the tables are for:
//
//   visit("row_offset", self.row_offset, rule::Offsets(self.points(), self.neighbours.size()));
//   visit("neighbours", self.neighbours, rule::Below(self.points()));
//   visit("weights", self.weights, rule::Size(self.neighbours.size()), rule::Within(0, 1));
//
// Rules are checked in the order of Fields and end at the first failure, so a rule may rely on the
// tables before it. Sizes may come from tables that are not checked yet: they are only compared.
// A rule is any type with
//   template <class V> std::string Check(std::span<const V> values) const;
// that returns what is wrong, or an empty string. Plain numbers are tables of one.
#pragma once

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/status.h"
#include "core/base/table_rules.h"

namespace sinew {

// An array of plain values; anything else is one such value.
template <class T>
concept ArrayField = requires(const T& t) {
  typename T::value_type;
  t.data();
  t.size();
};

namespace rule {

// Calls good(number) for every number in a value: vectors, matrices and blocks of points too.
template <class T, class Good>
bool AllNumbers(const T& value, const Good& good) {
  if constexpr (std::is_arithmetic_v<T>) {
    return good(value);
  } else if constexpr (requires { std::begin(value); }) {
    return std::all_of(std::begin(value), std::end(value),
                       [&](const auto& part) { return AllNumbers(part, good); });
  } else if constexpr (requires { value.m; }) {
    return AllNumbers(value.m, good);
  } else {
    if constexpr (requires { value.w; }) {
      if (!AllNumbers(value.w, good)) return false;
    }
    return AllNumbers(value.x, good) && AllNumbers(value.y, good) && AllNumbers(value.z, good);
  }
}

// All numbers of all values lie in [low, high]; not NaN.
struct Within {
  template <class V>
  std::string Check(std::span<const V> values) const {
    const auto good = [&](double number) { return number >= low && number <= high; };
    return CheckEach(
        values, [&](const V& v) { return AllNumbers(v, good); }, low, " to ", high);
  }
  double low, high;
};

// x y z have length 1, but for rounding.
template <class V>
bool IsUnit(const V& v) {
  const double length2 = double{v.x} * v.x + double{v.y} * v.y + double{v.z} * v.z;
  return length2 > 0.999 && length2 < 1.001;
}
// Every value is good; `need` says what that means.
template <class Good>
struct Each {
  Each(const char* needed, Good is_good) : need(needed), good(is_good) {}
  template <class V>
  std::string Check(std::span<const V> values) const {
    return CheckEach(values, good, need);
  }
  const char* need;
  Good good;
};

// good(number) holds for all numbers of all values.
template <class Good>
auto EachNumber(const char* need, Good good) {
  return Each(need, [good](const auto& value) { return AllNumbers(value, good); });
}
inline auto Finite() {
  return EachNumber("finite numbers", [](double number) { return std::isfinite(number); });
}
inline auto NotNegative() {
  return EachNumber("0 or more",
                    [](double number) { return number >= 0 && std::isfinite(number); });
}
inline auto Positive() {
  return EachNumber("more than 0",
                    [](double number) { return number > 0 && std::isfinite(number); });
}
inline auto UnitLength() {
  return Each("a unit vector", [](const auto& value) { return IsUnit(value); });
}

// Every value is valid, or the object's own check covers it.
struct Any {
  template <class V>
  std::string Check(std::span<const V>) const {
    return {};
  }
};

}  // namespace rule

// Every table of `object` against its rules; run after loading. kDataLoss names `owner`, the table,
// what was found and what is allowed. is_empty: the object does nothing, so that every array must
// be empty. Cost O(bytes).
template <class Object>
absl::Status CheckFields(std::string_view owner, const Object& object, const TableSizes& rig,
                         bool is_empty = false) {
  std::string problem;
  const auto visit = [&]<class T, class... Rules>(std::string_view name, const T& member,
                                                  const Rules&... rules) {
    static_assert(sizeof...(Rules) > 0, "every table needs a rule");
    const auto check = [&](const auto& values, const auto& rule) {
      if (problem.empty()) problem = rule.Check(values);
    };
    if (!problem.empty()) return;
    if constexpr (ArrayField<T>) {
      const std::span<const typename T::value_type> values(member.data(), member.size());
      if (is_empty) {
        check(values, rule::Size(0));
      } else {
        (check(values, rules), ...);
      }
    } else {
      (check(std::span<const T>(&member, 1), rules), ...);
    }
    if (!problem.empty()) problem = absl::StrCat(AbslView(name), ": ", problem);
  };
  Object::Fields(object, visit, rig);
  if (problem.empty()) return absl::OkStatus();
  return DataLoss("bound data: ", owner, ": ", problem);
}

}  // namespace sinew
