#include "core/base/table_io.h"

#include <absl/strings/str_cat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cstring>

namespace sinew {
namespace {

constexpr std::uint64_t kMagic = 0x31425457454e4953;  // "SINEWTB1" in memory
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::size_t kAlign = 64;
constexpr std::size_t kNameBytes = 96;
constexpr std::size_t kMaxTables = 4096;

struct Header {
  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion, byte_order = kByteOrder;
  std::uint64_t tables = 0, file_bytes = 0, directory_hash = 0;
  std::uint64_t header_hash = 0;  // of this struct with this field 0
  std::uint64_t reserved[2] = {0, 0};
};
static_assert(sizeof(Header) == kAlign);

struct DirectoryEntry {
  char name[kNameBytes] = {};
  std::uint64_t element_bytes = 0, bytes = 0, offset = 0, hash = 0;
};
static_assert(sizeof(DirectoryEntry) == 128);

std::size_t AlignUp(std::size_t n) {
  return (n + kAlign - 1) / kAlign * kAlign;
}

std::uint64_t HashOf(Header header) {
  header.header_hash = 0;
  return XXH3_64bits(&header, sizeof header);
}

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("bound data: ", AbslView(what)));
}

}  // namespace

void TableWriter::AddBytes(std::string_view name, std::size_t element_bytes,
                           std::span<const std::byte> bytes) {
  tables_.push_back({std::string(name), element_bytes,
                     std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
}

std::string TableWriter::Finish() const {
  std::vector<DirectoryEntry> directory(tables_.size());
  std::size_t end = AlignUp(sizeof(Header) + directory.size() * sizeof(DirectoryEntry));
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    DirectoryEntry& entry = directory[i];
    tables_[i].name.copy(entry.name, kNameBytes - 1);
    entry.element_bytes = tables_[i].element_bytes;
    entry.bytes = tables_[i].bytes.size();
    entry.offset = end;
    entry.hash = XXH3_64bits(tables_[i].bytes.data(), tables_[i].bytes.size());
    end += AlignUp(tables_[i].bytes.size());
  }
  Header header;
  header.tables = tables_.size();
  header.file_bytes = end;
  header.directory_hash = XXH3_64bits(directory.data(), directory.size() * sizeof(DirectoryEntry));
  header.header_hash = HashOf(header);
  std::string file(end, '\0');
  std::memcpy(file.data(), &header, sizeof header);
  if (!directory.empty()) {
    std::memcpy(file.data() + sizeof header, directory.data(),
                directory.size() * sizeof(DirectoryEntry));
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    tables_[i].bytes.copy(file.data() + directory[i].offset, tables_[i].bytes.size());
  }
  return file;
}

absl::StatusOr<TableReader> TableReader::Open(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return Damaged("shorter than its header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) return Damaged("not a table file");
  if (header.byte_order != kByteOrder) return Damaged("written in another byte order");
  if (header.version != kVersion) {
    return Damaged(absl::StrCat("format version ", header.version, ", need ", kVersion));
  }
  if (header.header_hash != HashOf(header)) return Damaged("header checksum mismatch");
  if (header.file_bytes != bytes.size()) {
    return Damaged(absl::StrCat("has ", bytes.size(), " bytes, need ", header.file_bytes));
  }
  if (header.tables > kMaxTables ||
      sizeof header + header.tables * sizeof(DirectoryEntry) > bytes.size()) {
    return Damaged("directory longer than the file");
  }
  std::vector<DirectoryEntry> directory(header.tables);
  const std::size_t directory_bytes = directory.size() * sizeof(DirectoryEntry);
  if (!directory.empty()) {
    std::memcpy(directory.data(), bytes.data() + sizeof header, directory_bytes);
  }
  if (XXH3_64bits(directory.data(), directory_bytes) != header.directory_hash) {
    return Damaged("directory checksum mismatch");
  }
  TableReader reader;
  reader.bytes_ = bytes;
  std::size_t covered = sizeof header + directory_bytes;
  for (const DirectoryEntry& entry : directory) {
    const std::string name(entry.name, strnlen(entry.name, kNameBytes));
    if (entry.offset > bytes.size() || entry.bytes > bytes.size() - entry.offset ||
        entry.offset < covered || entry.element_bytes == 0 ||
        entry.bytes % entry.element_bytes != 0) {
      return Damaged(absl::StrCat("table ", name, ": extent outside the file"));
    }
    for (std::size_t i = covered; i < entry.offset; ++i) {
      if (bytes[i] != '\0') return Damaged(absl::StrCat("nonzero padding before table ", name));
    }
    if (XXH3_64bits(bytes.data() + entry.offset, entry.bytes) != entry.hash) {
      return Damaged(absl::StrCat("table ", name, ": checksum mismatch"));
    }
    covered = entry.offset + entry.bytes;
    if (!reader.directory_.emplace(name, Entry{entry.element_bytes, entry.offset, entry.bytes})
             .second) {
      return Damaged(absl::StrCat("table ", name, ": duplicate"));
    }
  }
  for (std::size_t i = covered; i < bytes.size(); ++i) {
    if (bytes[i] != '\0') return Damaged("nonzero padding at the end");
  }
  return reader;
}

std::vector<TableReader::Table> TableReader::Tables() const {
  std::vector<Table> tables;
  for (const auto& [name, entry] : directory_) {
    tables.push_back({name, entry.element_bytes,
                      std::as_bytes(std::span(bytes_.data() + entry.offset, entry.bytes))});
  }
  return tables;
}

absl::Status TableReader::Find(std::string_view name, std::size_t element_bytes,
                               std::span<const std::byte>& bytes) const {
  const auto it = directory_.find(name);
  if (it == directory_.end()) return Damaged(absl::StrCat("table ", AbslView(name), ": missing"));
  if (it->second.element_bytes != element_bytes) {
    return Damaged(absl::StrCat("table ", AbslView(name), ": elements of ",
                                it->second.element_bytes, " bytes, need ", element_bytes));
  }
  bytes = std::as_bytes(std::span(bytes_.data() + it->second.offset, it->second.bytes));
  return absl::OkStatus();
}

void TableReader::CopyBytes(std::span<const std::byte> from, void* to) {
  std::memcpy(to, from.data(), from.size());
}

}  // namespace sinew
