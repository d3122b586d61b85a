// table_io.h - named arrays to bytes and back, with a checksum: the format of saved bound data.
//
// File: 64-byte header (magic, version, byte order, number of tables, bytes of the file, XXH3-64 of
// all of it), the directory (name, element size, bytes, offset), then the tables, each at a
// multiple of 64 bytes. The checksum covers every byte, so truncated, extended or modified files
// are rejected.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/status.h"

namespace sinew {

inline constexpr std::uint32_t kTableVersion = 3;  // of the format: others are not read

class TableWriter {
 public:
  // Adds an array of trivially copyable values. Names are unique within a file.
  template <class Vector>
  void Add(std::string_view name, const Vector& values) {
    using T = typename Vector::value_type;
    static_assert(std::is_trivially_copyable_v<T>);
    AddBytes(name, sizeof(T), std::as_bytes(std::span<const T>(values.data(), values.size())));
  }
  void AddBytes(std::string_view name, std::size_t element_bytes, std::span<const std::byte> bytes);
  std::string Finish() const;

 private:
  struct Table {
    std::string name;
    std::size_t element_bytes;
    std::string bytes;
  };
  std::vector<Table> tables_;
};

class TableReader {
 public:
  // Verifies the checksum. kDataLoss: truncated, extended, modified, another version or byte
  // order. Keeps a view of `bytes`, which must outlive the reader.
  static absl::StatusOr<TableReader> Open(std::string_view bytes);

  // A view of one table in the file.
  struct Table {
    std::string_view name;
    std::size_t element_bytes;
    std::span<const std::byte> bytes;
  };
  // All tables, sorted by name.
  std::vector<Table> Tables() const;

  // Copies a table out. kDataLoss: no such table, or another element size.
  template <class Vector>
  absl::Status Read(std::string_view name, Vector& values) const {
    using T = typename Vector::value_type;
    static_assert(std::is_trivially_copyable_v<T>);
    std::span<const std::byte> bytes;
    SINEW_RETURN_IF_ERROR(Find(name, sizeof(T), bytes));
    values.resize(bytes.size() / sizeof(T));
    if (!values.empty()) CopyBytes(bytes, values.data());
    return absl::OkStatus();
  }

 private:
  struct Entry {
    std::size_t element_bytes, offset, bytes;
  };
  absl::Status Find(std::string_view name, std::size_t element_bytes,
                    std::span<const std::byte>& bytes) const;
  static void CopyBytes(std::span<const std::byte> from, void* to);
  std::map<std::string, Entry, std::less<>> directory_;
  std::string_view bytes_;
};

// Verifies the checksum of a file that is too large to hold, piece by piece.
class TableChecksum {
 public:
  TableChecksum();
  ~TableChecksum();
  TableChecksum(TableChecksum&&) noexcept;
  TableChecksum& operator=(TableChecksum&&) noexcept;

  void Update(std::string_view bytes);
  // True if TableReader::Open would find size and checksum of all these bytes right.
  bool Matches() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sinew
