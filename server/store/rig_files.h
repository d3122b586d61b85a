// rig_files.h - the files of stored rigs: `rigs/sha256-<hex>.sinewrig`, the bytes as uploaded, with
// a summary beside it; under `tenants/<name>/` for a tenant.
//
// A rig exists once its bytes have their final name: the summary is written before and removed
// after them. Errors name paths; see storage_error.h. Thread-safe, except for two calls that change
// the same rig.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/rig_key.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

// Checksums of the pieces of a rig's bytes: with them, every piece can be verified when it is read.
constexpr std::size_t kPieceBytes = 1 << 20;
using PieceSums = std::vector<std::uint64_t>;
std::uint64_t PieceSum(std::string_view piece);
PieceSums SumsOf(std::string_view bytes);

class RigFiles {
 public:
  explicit RigFiles(std::filesystem::path data_dir) : data_dir_(std::move(data_dir)) {}

  struct Stored {
    RigKey key;
    std::uint64_t bytes;
    std::optional<v1::RigSummary> summary;  // none: damaged or missing
  };
  // All rigs, after removing what interrupted calls have left. kFailedPrecondition: a folder cannot
  // be used.
  absl::StatusOr<std::vector<Stored>> Open() const;

  // Stores a rig durably. `ready`: a file that already holds the bytes and may be moved, or empty.
  // After an error none of its files exists, except `ready`.
  absl::Status Write(const RigKey& key, std::string_view bytes, const std::filesystem::path& ready,
                     const v1::RigSummary& summary) const;
  absl::Status WriteSummary(const RigKey& key, const v1::RigSummary& summary) const;

  // All bytes. kDataLoss: they do not have this digest; kNotFound, kInternal.
  absl::StatusOr<std::string> Read(const RigKey& key) const;
  // Checks what Read checks, without holding more than a piece.
  absl::StatusOr<PieceSums> Verify(const RigKey& key) const;
  // The piece that starts at `offset`, unverified.
  absl::StatusOr<std::string> ReadPieceAt(const RigKey& key, std::uint64_t offset) const;

  // Removes a rig; durable on return.
  absl::Status Remove(const RigKey& key) const;
  // Renames a damaged rig, so that it can be looked at.
  void SetAside(const RigKey& key) const;

  std::filesystem::path PathOf(const RigKey& key) const;
  // All folders of rigs.
  std::vector<std::filesystem::path> Folders() const;

  // The content of a summary's file, which holds a checksum, and back. kDataLoss.
  static std::string EncodeSummary(const v1::RigSummary& summary);
  static absl::StatusOr<v1::RigSummary> DecodeSummary(std::string_view file);

 private:
  std::vector<std::string> Tenants() const;
  std::filesystem::path FolderOf(const std::string& tenant) const;
  std::filesystem::path SummaryPathOf(const RigKey& key) const;
  absl::Status OpenFolder(const std::string& tenant, std::vector<Stored>& rigs) const;

  std::filesystem::path data_dir_;
};

}  // namespace sinew::server
