#include "server/store/shared_rigs.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <absl/time/clock.h>

#include <vector>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/base/caller.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

constexpr std::size_t kListed = 1000;

std::string FolderOf(const std::string& tenant) {
  return tenant.empty() ? std::string() : absl::StrCat("tenants/", tenant, "/");
}

absl::Status Unreachable(const RigKey& key) {
  const std::string what = absl::StrCat(
      RigName(key.hex),
      ": not on this server, and the store that it shares with others cannot be reached");
  return WithRetry(WithReason(absl::UnavailableError(what), v1::REASON_NOT_HERE), absl::Seconds(1));
}

}  // namespace

std::string SharedRigFolder(const std::string& tenant) {
  return FolderOf(tenant) + "rigs/";
}
std::string SharedRigName(const RigKey& key) {
  return SharedRigFolder(key.tenant) + key.hex;
}
std::string SharedBoundFolder(const RigKey& key) {
  return absl::StrCat(FolderOf(key.tenant), "bound/", key.hex, "/");
}

absl::StatusOr<std::string> ReadSharedRig(SharedStore& shared, const RigKey& key,
                                          std::uint64_t most_bytes, const Log& log) {
  const std::string name = SharedRigName(key);
  absl::StatusOr<std::string> bytes = shared.Get(name, most_bytes);
  if (absl::IsNotFound(bytes.status())) return UnknownRig(key.hex);
  if (absl::IsResourceExhausted(bytes.status())) {
    return LimitExceeded("rig", "larger than this server allows", "max-rig-bytes");
  }
  if (!bytes.ok()) return Unreachable(key);
  if (Sha256Hex(*bytes) == key.hex) return bytes;
  // Removed, so that the next upload can write it again.
  log->error("store: {} is damaged; removed", name);
  static_cast<void>(shared.Remove(name));
  return UnknownRig(key.hex);
}

absl::StatusOr<bool> DeleteShared(SharedStore& shared, const RigKey& key, bool known) {
  const std::string name = SharedRigName(key);
  const auto delete_all = [&]() -> absl::StatusOr<bool> {
    SINEW_ASSIGN_OR_RETURN(const bool found, shared.Has(name));
    if (found || known) {
      // Before the rig goes: other servers must hear of it.
      SINEW_RETURN_IF_ERROR(
          shared.Put(DeletedName(key), absl::FormatTime(absl::Now(), absl::UTCTimeZone())));
    }
    SINEW_RETURN_IF_ERROR(shared.Remove(name));
    while (true) {
      SINEW_ASSIGN_OR_RETURN(const auto bound, shared.List(SharedBoundFolder(key), "", kListed));
      for (const ObjectStore::Object& object : bound) {
        SINEW_RETURN_IF_ERROR(shared.Remove(object.name));
      }
      if (bound.size() < kListed) return found;
    }
  };
  absl::StatusOr<bool> found = delete_all();
  if (found.ok()) return found;
  return WithRetry(absl::UnavailableError(absl::StrCat(
                       RigName(key.hex),
                       ": the store that servers share cannot be reached; the rig is still there")),
                   absl::Seconds(5));
}

std::string DeletedName(const RigKey& key) {
  return absl::StrCat(kDeletedFolder, key.tenant, key.tenant.empty() ? "" : ".", key.hex);
}

std::optional<RigKey> RigOfDeleted(const std::string& name) {
  absl::string_view rest = name;
  if (!absl::ConsumePrefix(&rest, kDeletedFolder)) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(rest, '.');
  RigKey key{parts.size() == 2 ? parts[0] : "", parts.back()};
  const bool ours =
      parts.size() <= 2 && IsDigest(key.hex) && (parts.size() == 1 || IsTenantName(key.tenant));
  return ours ? std::optional(key) : std::nullopt;
}

}  // namespace sinew::server
