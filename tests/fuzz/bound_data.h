// bound_data.h - the form in which the target gets bound data: without checksum, padding and
// offsets, which mutations would only break.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/table_io.h"

namespace sinew::fuzz {

// One table: length of the name (1 byte), name, bytes of an element (1), bytes of the table (2,
// little-endian), table.
inline std::string PackTable(const TableReader::Table& table) {
  std::string packed(1, static_cast<char>(table.name.size()));
  packed.append(table.name);
  packed.push_back(static_cast<char>(table.element_bytes));
  packed.push_back(static_cast<char>(table.bytes.size() & 0xff));
  packed.push_back(static_cast<char>(table.bytes.size() >> 8));
  packed.append(reinterpret_cast<const char*>(table.bytes.data()), table.bytes.size());
  return packed;
}

// The next table, cut where `packed` ends.
inline void UnpackTable(std::string_view& packed, TableWriter& tables) {
  const auto take = [&](std::size_t bytes) {
    const std::string_view taken = packed.substr(0, bytes);
    packed.remove_prefix(taken.size());
    return taken;
  };
  const auto number = [&](std::size_t bytes) {
    std::size_t value = 0, shift = 0;
    for (const char c : take(bytes)) {
      value |= static_cast<std::size_t>(static_cast<unsigned char>(c)) << shift;
      shift += 8;
    }
    return value;
  };
  const std::string_view name = take(number(1));
  const std::size_t element_bytes = number(1);
  const std::string_view bytes = take(number(2));
  tables.AddBytes(name, element_bytes, std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace sinew::fuzz
