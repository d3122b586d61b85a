#include "core/base/table_io.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/bulk_checksum.h"

namespace sinew {
namespace {

constexpr std::uint64_t kMagic = 0x32425457454e4953;  // "SINEWTB2" in memory
constexpr std::uint32_t kByteOrder = 0x01020304;
constexpr std::size_t kAlign = 64;
constexpr std::size_t kNameBytes = 96;

struct Header {
  std::uint64_t magic = kMagic;
  std::uint32_t version = kTableVersion, byte_order = kByteOrder;
  std::uint64_t tables = 0, file_bytes = 0;
  std::uint64_t checksum = 0;  // of the whole file with this field 0
  std::uint64_t reserved[3] = {0, 0, 0};
};
static_assert(sizeof(Header) == kAlign);

struct DirectoryEntry {
  char name[kNameBytes] = {};
  std::uint64_t element_bytes = 0, bytes = 0, offset = 0, reserved = 0;
};
static_assert(sizeof(DirectoryEntry) == 128);

std::size_t AlignUp(std::size_t n) {
  return (n + kAlign - 1) / kAlign * kAlign;
}

// Hash of what is behind the header; the seed covers the header itself.
ContentHash HashBehind(Header header) {
  header.checksum = 0;
  return ContentHash(BulkChecksum({std::as_bytes(std::span(&header, 1))}));
}

std::uint64_t ChecksumOf(const Header& header, std::string_view behind) {
  ContentHash hash = HashBehind(header);
  hash.Update(behind);
  return hash.Digest();
}

absl::Status Damaged(std::string_view what) {
  return DataLoss("bound data: ", what);
}

}  // namespace

void TableWriter::AddBytes(std::string_view name, std::size_t element_bytes,
                           std::span<const std::byte> bytes) {
  tables_.push_back({std::string(name), element_bytes,
                     std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
}

std::string TableWriter::Finish() const {
  Header header;
  header.tables = tables_.size();
  header.file_bytes = AlignUp(sizeof header + tables_.size() * sizeof(DirectoryEntry));
  std::vector<DirectoryEntry> directory;
  for (const Table& table : tables_) {
    DirectoryEntry& entry = directory.emplace_back();
    table.name.copy(entry.name, kNameBytes - 1);
    entry.element_bytes = table.element_bytes;
    entry.bytes = table.bytes.size();
    entry.offset = header.file_bytes;
    header.file_bytes += AlignUp(table.bytes.size());
  }
  std::string file(header.file_bytes, '\0');
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::memcpy(&file[sizeof header + i * sizeof(DirectoryEntry)], &directory[i],
                sizeof(DirectoryEntry));
    tables_[i].bytes.copy(&file[directory[i].offset], tables_[i].bytes.size());
  }
  header.checksum = ChecksumOf(header, std::string_view(file).substr(sizeof header));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

absl::StatusOr<TableReader> TableReader::Open(std::string_view bytes) {
  Header header;
  if (bytes.size() < sizeof header) return Damaged("shorter than its header");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) return Damaged("not a table file");
  if (header.byte_order != kByteOrder) return Damaged("written in another byte order");
  if (header.version != kTableVersion) {
    return Damaged(absl::StrCat("format version ", header.version, ", need ", kTableVersion));
  }
  if (header.file_bytes != bytes.size()) {
    return Damaged(absl::StrCat("has ", bytes.size(), " bytes, need ", header.file_bytes));
  }
  if (header.checksum != ChecksumOf(header, bytes.substr(sizeof header))) {
    return Damaged("checksum mismatch");
  }
  if (header.tables > (bytes.size() - sizeof header) / sizeof(DirectoryEntry)) {
    return Damaged("directory longer than the file");
  }
  TableReader reader;
  reader.bytes_ = bytes;
  // Tables that share bytes could make a loaded stage larger than its file.
  std::size_t covered = sizeof header + header.tables * sizeof(DirectoryEntry);
  for (std::size_t i = 0; i < header.tables; ++i) {
    DirectoryEntry entry;
    std::memcpy(&entry, bytes.data() + sizeof header + i * sizeof entry, sizeof entry);
    const std::string name(entry.name, strnlen(entry.name, kNameBytes));
    if (entry.offset > bytes.size() || entry.bytes > bytes.size() - entry.offset ||
        entry.element_bytes == 0 || entry.bytes % entry.element_bytes != 0) {
      return Damaged(absl::StrCat("table ", name, ": extent outside the file"));
    }
    if (entry.offset < covered) return Damaged(absl::StrCat("table ", name, ": overlaps another"));
    covered = entry.offset + entry.bytes;
    if (!reader.directory_.emplace(name, Entry{entry.element_bytes, entry.offset, entry.bytes})
             .second) {
      return Damaged(absl::StrCat("table ", name, ": duplicate"));
    }
  }
  return reader;
}

struct TableChecksum::State {
  Header header;
  std::uint64_t bytes = 0;
  std::optional<ContentHash> behind;  // once the header is complete
};

TableChecksum::TableChecksum() : state_(std::make_unique<State>()) {}
TableChecksum::~TableChecksum() = default;
TableChecksum::TableChecksum(TableChecksum&&) noexcept = default;
TableChecksum& TableChecksum::operator=(TableChecksum&&) noexcept = default;

void TableChecksum::Update(std::string_view bytes) {
  State& state = *state_;
  if (state.bytes < sizeof state.header) {
    const std::size_t more = std::min(bytes.size(), sizeof state.header - state.bytes);
    std::memcpy(reinterpret_cast<char*>(&state.header) + state.bytes, bytes.data(), more);
    state.bytes += more;
    bytes.remove_prefix(more);
    if (state.bytes < sizeof state.header) return;
    state.behind = HashBehind(state.header);
  }
  state.behind->Update(bytes);
  state.bytes += bytes.size();
}

bool TableChecksum::Matches() const {
  const State& state = *state_;
  return state.bytes >= sizeof state.header && state.bytes == state.header.file_bytes &&
         state.behind->Digest() == state.header.checksum;
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
