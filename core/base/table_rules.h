// table_rules.h - rules about the sizes, indices and order of saved tables; see table_schema.h.
// They hold for tables that come from a file or another server, so that code behind them needs no
// checks of its own.
//
// Each rule has Check(values): empty text if the table keeps it, else what is wrong with the first
// value that does not, as in "value 5 is 7, need an index below 7"; the caller puts the name of the
// table in front. A Check takes linear time and changes nothing: thread-safe. A rule holds spans of
// its maker: it must not outlive them.
#pragma once

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinew {

// Sizes of what the tables are for; those a caller does not know are 0.
struct TableSizes {
  std::size_t vertices = 0, blocks = 0, lanes = 0, bindings = 0, joints = 0;
  std::size_t field_parts = 0;
  std::span<const std::uint16_t> pivots{};  // [blocks] first binding of each block
};

namespace rule {

inline constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max();

// "value 5 is 7, need ..." for the first that is not good. good: of a value; need: what is allowed,
// as absl::StrCat takes it.
template <class V, class Good, class... Need>
std::string CheckEach(std::span<const V> values, const Good& good, const Need&... need) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (good(values[i])) continue;
    std::string got;
    if constexpr (std::is_arithmetic_v<V>) got = absl::StrCat(" is ", values[i]);
    return absl::StrCat("value ", i, got, ", need ", need...);
  }
  return {};
}

// Exactly `size` elements, or between two sizes, both included.
struct Size {
  explicit Size(std::size_t size) : least(size), most(size) {}
  Size(std::size_t low, std::size_t high) : least(low), most(high) {}
  template <class V>
  std::string Check(std::span<const V> values) const {
    if (values.size() >= least && values.size() <= most) return {};
    return absl::StrCat("got ", values.size(), " values, need ", least,
                        most == least      ? std::string()
                        : most == kAnySize ? std::string(" or more")
                                           : absl::StrCat(" to ", most));
  }
  std::size_t least, most;
};

// Exactly `size` elements or none: for tables that a recipe may lack.
struct SizeOrEmpty {
  template <class V>
  std::string Check(std::span<const V> values) const {
    if (values.empty() || values.size() == size) return {};
    return absl::StrCat("got ", values.size(), " values, need 0 or ", size);
  }
  std::size_t size;
};

// A multiple of `count` elements, which is not 0; no element is one, too.
struct MultipleOf {
  template <class V>
  std::string Check(std::span<const V> values) const {
    if (values.size() % count == 0) return {};
    return absl::StrCat("got ", values.size(), " values, need a multiple of ", count);
  }
  std::size_t count;
};

// Indices from 0 to below `limit`, or the one value that means none.
struct Below {
  explicit Below(std::size_t below, std::optional<std::int64_t> no_index = {})
      : limit(below), none(no_index) {}
  template <class V>
  std::string Check(std::span<const V> values) const {
    const auto end = static_cast<std::int64_t>(limit);
    return CheckEach(
        values, [&](std::int64_t index) { return (index >= 0 && index < end) || index == none; },
        "an index below ", end, none ? absl::StrCat(" or ", *none) : std::string());
  }
  std::size_t limit;
  std::optional<std::int64_t> none;
};

// A number that must equal a size.
struct Equals {
  template <class V>
  std::string Check(std::span<const V> values) const {
    return CheckEach(
        values, [&](std::size_t value) { return value == size; }, size);
  }
  std::size_t size;
};

// Compressed rows: offsets of `rows` rows over `total` values, from 0, never falling, each row with
// at least `least` values.
struct Offsets {
  Offsets(std::size_t row_count, std::size_t values, std::size_t least_values = 0,
          bool may_be_empty = false)
      : rows(row_count), total(values), least(least_values), or_empty(may_be_empty) {}
  template <class V>
  std::string Check(std::span<const V> values) const {
    if (values.empty() && or_empty) return {};
    if (values.empty() || (rows != kAnySize && values.size() != rows + 1)) {
      return absl::StrCat("got ", values.size(), " offsets, need ",
                          rows == kAnySize ? std::string("some") : absl::StrCat(rows + 1));
    }
    if (values.front() != 0 || values.back() != total) {
      return absl::StrCat("from ", values.front(), " to ", values.back(), ", need 0 to ", total);
    }
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      if (values[i + 1] >= values[i] && values[i + 1] - values[i] >= least) continue;
      return absl::StrCat("row ", i, " from ", values[i], " to ", values[i + 1], ", need at least ",
                          least, " values");
    }
    return {};
  }
  std::size_t rows;  // kAnySize: as many as there are
  std::size_t total, least;
  bool or_empty;  // the table may lack, then it has no offset at all
};

// Values that rise strictly; with offsets, within each row of them.
struct Rising {
  template <class V>
  std::string Check(std::span<const V> values) const {
    auto row = offsets.begin();
    for (std::size_t i = 1; i < values.size(); ++i) {
      while (row != offsets.end() && *row < i) ++row;
      if (values[i] > values[i - 1] || (row != offsets.end() && *row == i)) continue;
      return absl::StrCat("value ", i, " is ", values[i], " behind ", values[i - 1],
                          ", need rising values");
    }
    return {};
  }
  std::span<const std::uint32_t> offsets{};
};

// Indices below `limit`, none of them twice. Takes a byte for each index below `limit`, which must
// therefore be checked before.
struct Distinct {
  template <class V>
  std::string Check(std::span<const V> values) const {
    std::vector<char> seen(limit, 0);
    return CheckEach(
        values,
        [&](std::size_t index) {
          return index < seen.size() && std::exchange(seen[index], 1) == 0;
        },
        "each index below ", seen.size(), " once");
  }
  std::size_t limit;
};

}  // namespace rule
}  // namespace sinew
