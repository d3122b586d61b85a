#include "server/store/rig_files.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <set>
#include <system_error>
#include <utility>

#include "core/base/bulk_checksum.h"
#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/base/table_io.h"
#include "server/base/caller.h"
#include "server/base/files.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

constexpr char kFilePrefix[] = "sha256-";
constexpr char kFileSuffix[] = ".sinewrig";
constexpr char kSummarySuffix[] = ".summary";
constexpr char kSummaryTable[] = "summary";

// "sha256-<hex>.sinewrig" to the hex digits, or empty.
std::string HexOf(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, kFilePrefix) || !absl::ConsumeSuffix(&name, kFileSuffix)) {
    return {};
  }
  const std::string hex(name);
  return IsDigest(hex) ? hex : std::string();
}

absl::Status OtherDigest(const RigKey& key) {
  return absl::DataLossError(
      absl::StrCat(kFilePrefix, key.hex, kFileSuffix, ": the bytes no longer have this digest"));
}

}  // namespace

std::uint64_t PieceSum(std::string_view piece) {
  return BulkChecksum({std::as_bytes(std::span(piece))});
}

PieceSums SumsOf(std::string_view bytes) {
  PieceSums sums;
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    sums.push_back(PieceSum(bytes.substr(at, kPieceBytes)));
  }
  return sums;
}

std::string RigFiles::EncodeSummary(const v1::RigSummary& summary) {
  TableWriter tables;
  const std::string bytes = summary.SerializeAsString();
  tables.Add(kSummaryTable, bytes);
  return tables.Finish();
}

absl::StatusOr<v1::RigSummary> RigFiles::DecodeSummary(std::string_view file) {
  SINEW_ASSIGN_OR_RETURN(const TableReader tables, TableReader::Open(file));
  std::string bytes;
  SINEW_RETURN_IF_ERROR(tables.Read(kSummaryTable, bytes));
  v1::RigSummary summary;
  if (!summary.ParseFromString(bytes)) return absl::DataLossError("summary: not a RigSummary");
  return summary;
}

fs::path RigFiles::FolderOf(const std::string& tenant) const {
  return tenant.empty() ? data_dir_ / "rigs" : data_dir_ / "tenants" / tenant / "rigs";
}

fs::path RigFiles::PathOf(const RigKey& key) const {
  return FolderOf(key.tenant) / absl::StrCat(kFilePrefix, key.hex, kFileSuffix);
}

fs::path RigFiles::SummaryPathOf(const RigKey& key) const {
  return PathOf(key) += kSummarySuffix;
}

absl::StatusOr<std::vector<RigFiles::Stored>> RigFiles::Open() const {
  std::vector<Stored> rigs;
  SINEW_RETURN_IF_ERROR(MakeFolder(FolderOf({})));
  for (const std::string& tenant : Tenants()) {
    SINEW_RETURN_IF_ERROR(OpenFolder(tenant, rigs));
  }
  return rigs;
}

std::vector<std::string> RigFiles::Tenants() const {
  std::vector<std::string> tenants{{}};
  std::error_code error;
  for (fs::directory_iterator it(data_dir_ / "tenants", error), end; !error && it != end;
       it.increment(error)) {
    const std::string tenant = it->path().filename().string();
    if (IsTenantName(tenant)) tenants.push_back(tenant);
  }
  return tenants;
}

std::vector<fs::path> RigFiles::Folders() const {
  std::vector<fs::path> folders;
  for (const std::string& tenant : Tenants()) folders.push_back(FolderOf(tenant));
  return folders;
}

absl::Status RigFiles::OpenFolder(const std::string& tenant, std::vector<Stored>& rigs) const {
  const fs::path folder = FolderOf(tenant);
  std::set<std::string> summaries;
  for (const FileFacts& file : ListFiles(folder)) {  // a rig comes before its summary
    if (absl::EndsWith(file.name, ".tmp")) RemoveQuietly(folder / file.name);
    if (absl::EndsWith(file.name, kSummarySuffix)) summaries.insert(file.name);
    const std::string hex = HexOf(file.name);
    if (hex.empty()) continue;
    Stored rig{.key = {tenant, hex}, .bytes = file.bytes, .summary = {}};
    if (const auto text = ReadWholeFile(SummaryPathOf(rig.key)); text.ok()) {
      auto summary = DecodeSummary(*text);
      if (summary.ok() && summary->name() == RigName(hex)) rig.summary = *std::move(summary);
    }
    rigs.push_back(std::move(rig));
  }
  for (const std::string& name : summaries) {
    const std::string rig(absl::StripSuffix(name, kSummarySuffix));
    std::error_code ignored;
    if (!HexOf(rig).empty() && !fs::exists(folder / rig, ignored)) RemoveQuietly(folder / name);
  }
  return absl::OkStatus();
}

absl::Status RigFiles::Write(const RigKey& key, std::string_view bytes, const fs::path& ready,
                             const v1::RigSummary& summary) const {
  if (!key.tenant.empty() && !IsTenantName(key.tenant)) {
    return absl::InternalError(absl::StrCat("tenant: got \"", key.tenant, "\""));
  }
  SINEW_RETURN_IF_ERROR(MakeFolder(FolderOf(key.tenant)));
  SINEW_RETURN_IF_ERROR(WriteSummary(key, summary));
  const absl::Status status =
      ready.empty() ? WriteAtomically(PathOf(key), bytes) : MoveDurably(ready, PathOf(key));
  if (!status.ok()) RemoveQuietly(SummaryPathOf(key));
  return status;
}

absl::Status RigFiles::WriteSummary(const RigKey& key, const v1::RigSummary& summary) const {
  return WriteAtomically(SummaryPathOf(key), EncodeSummary(summary));
}

absl::StatusOr<std::string> RigFiles::Read(const RigKey& key) const {
  SINEW_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(PathOf(key)));
  if (Sha256Hex(bytes) != key.hex) return OtherDigest(key);
  return bytes;
}

absl::StatusOr<PieceSums> RigFiles::Verify(const RigKey& key) const {
  PieceSums sums;
  Sha256 digest;
  while (true) {
    SINEW_ASSIGN_OR_RETURN(const std::string piece, ReadPieceAt(key, sums.size() * kPieceBytes));
    if (piece.empty()) break;
    digest.Update(piece);
    sums.push_back(PieceSum(piece));
    if (piece.size() < kPieceBytes) break;
  }
  if (digest.Hex() != key.hex) return OtherDigest(key);
  return sums;
}

absl::StatusOr<std::string> RigFiles::ReadPieceAt(const RigKey& key, std::uint64_t offset) const {
  return ReadPiece(PathOf(key), offset, kPieceBytes);
}

absl::Status RigFiles::Remove(const RigKey& key) const {
  SINEW_RETURN_IF_ERROR(server::Remove(PathOf(key)));
  RemoveQuietly(SummaryPathOf(key));
  return FlushFolder(FolderOf(key.tenant));
}

void RigFiles::SetAside(const RigKey& key) const {
  server::SetAside(PathOf(key));
  RemoveQuietly(SummaryPathOf(key));
}

}  // namespace sinew::server
