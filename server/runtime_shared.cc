// The part of Runtime that keeps what several servers share in order: leases of sessions, claims of
// binds, deleted rigs.
#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "server/base/catch_exceptions.h"
#include "server/runtime.h"
#include "server/store/shared_rigs.h"

namespace sinew::server {
namespace {

constexpr std::size_t kMarks = 1000;               // that are read at a time
constexpr std::size_t kMostDeleted = 10'000;       // sessions whose records are still to be deleted
constexpr std::int64_t kMarkSeconds = 7 * 86'400;  // how long a mark stays

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> Runtime::TakeClaim(
    const std::string& name) const {
  if (records != nullptr) {
    auto claim = records->TakeClaim(name);
    if (claim.ok()) return claim;
  }
  return shared->TakeClaim(name);
}

void Runtime::DeleteRecordLater(const std::string& tenant, const std::string& session) {
  const absl::MutexLock lock(&mutex_);
  if (deleted_records_.size() < kMostDeleted) deleted_records_.emplace_back(tenant, session);
}

void Runtime::Guarded(const char* what, const std::function<void()>& task) const {
  const absl::Status status = CatchExceptions([&]() -> absl::Status {
    task();
    return absl::OkStatus();
  });
  if (!status.ok()) log->error("upkeep of {}: {}", what, std::string(status.message()));
}

void Runtime::PostUpkeep() {
  // Neither may hold up the other: one of the two may be down.
  if (records != nullptr && !renewing_.exchange(true)) {
    upkeep.PostStep({}, [this](const absl::Status&) {
      const absl::Cleanup done = [this] { renewing_ = false; };
      Guarded("sessions", [this] { RenewRecords(); });
    });
  }
  if (shared != nullptr && !dropping_.exchange(true)) {
    upkeep.PostStep({}, [this](const absl::Status&) {
      const absl::Cleanup done = [this] { dropping_ = false; };
      Guarded("deleted rigs", [this] { DropDeletedRigs(); });
    });
  }
}

void Runtime::RenewRecords() {
  records->RenewClaims();  // first: they end soonest
  std::vector<SessionRecords::Held> held;
  for (const SessionTable::Lease& lease : sessions.TakeRenewed()) {
    const Session& session = *lease.session;
    held.push_back({.tenant = session.tenant,
                    .name = session.name,
                    .used = lease.renewed,
                    .record = RecordOf(session, lease.ttl)});
  }
  const auto goes_on = records->Renew(held);
  if (!goes_on.ok()) return;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (!(*goes_on)[i]) static_cast<void>(sessions.Delete(held[i].tenant, held[i].name));
  }
  std::vector<std::pair<std::string, std::string>> deleted;
  {
    const absl::MutexLock lock(&mutex_);
    deleted.swap(deleted_records_);
  }
  for (const auto& [tenant, name] : deleted) {
    if (!records->Delete(tenant, name).ok()) DeleteRecordLater(tenant, name);
  }
}

void Runtime::DropDeletedRigs() {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::seconds>(clock.WallNow().time_since_epoch()).count();
  std::map<std::string, std::int64_t> seen;
  std::string last;
  while (true) {
    const auto marks = shared->List(kDeletedFolder, last, kMarks);
    if (!marks.ok()) return;
    for (const ObjectStore::Object& mark : *marks) {
      if (mark.modified_seconds > 0 && now - mark.modified_seconds > kMarkSeconds) {
        static_cast<void>(shared->Remove(mark.name));
      } else {
        seen[mark.name] = mark.modified_seconds;
      }
    }
    if (marks->size() < kMarks) break;
    last = marks->back().name;
  }
  for (const auto& [name, modified] : seen) {
    const auto before = deleted_rigs_.find(name);
    if (before != deleted_rigs_.end() && before->second == modified) continue;
    if (const auto rig = RigOfDeleted(name)) {
      rigs->DropFetched(*rig);
      bound->Forget(*rig);
    }
  }
  deleted_rigs_ = std::move(seen);
}

}  // namespace sinew::server
