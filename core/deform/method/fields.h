// fields.h - saves, loads and measures objects that list their members in Fields(self, visit).
//
// `visit(name, member, rules...)` is called once per member, always in the same order; names are
// unique and become those of the saved tables. Members are arrays of plain values, or single
// values, which become tables of one. Rules: core/base/table_schema.h. Thread-safe for different
// objects.
#pragma once

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/status.h"
#include "core/base/table_io.h"
#include "core/base/table_schema.h"

namespace sinew {

// Adds a table `prefix` + name per member, in the order of Fields.
template <class Object>
void SaveFields(TableWriter& tables, std::string_view prefix, const Object& object) {
  Object::Fields(object, [&]<class T>(std::string_view name, const T& member, const auto&...) {
    const std::string full = absl::StrCat(AbslView(prefix), AbslView(name));
    if constexpr (ArrayField<T>) {
      tables.Add(full, member);
    } else {
      tables.Add(full, std::span<const T>(&member, 1));
    }
  });
}

// The reverse. Values are validated by the object's Check. kDataLoss: a table is missing or has
// another shape; the object is then partly filled.
template <class Object>
absl::Status LoadFields(const TableReader& tables, std::string_view prefix, Object& object) {
  absl::Status status;
  Object::Fields(object, [&]<class T>(std::string_view name, T& member, const auto&...) {
    if (!status.ok()) return;
    const std::string full = absl::StrCat(AbslView(prefix), AbslView(name));
    if constexpr (ArrayField<T>) {
      status = tables.Read(full, member);
    } else {
      std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> one;
      status = tables.Read(full, one);
      if (status.ok() && one.size() != 1) {
        status = DataLoss("bound data: table ", full, ": got ", one.size(), " values, need 1");
      }
      if (status.ok()) member = static_cast<T>(one.front());
    }
  });
  return status;
}

// Bytes of the object and its arrays' elements, without spare capacity.
template <class Object>
std::size_t FieldBytes(const Object& object) {
  std::size_t bytes = sizeof(Object);
  Object::Fields(object, [&]<class T>(std::string_view, const T& member, const auto&...) {
    if constexpr (ArrayField<T>) bytes += member.size() * sizeof(typename T::value_type);
  });
  return bytes;
}

}  // namespace sinew
