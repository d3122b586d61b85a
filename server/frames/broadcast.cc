#include "server/frames/broadcast.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "core/base/status.h"
#include "server/base/printable.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

constexpr std::size_t kMostName = 64;

bool IsStreamName(std::string_view name) {
  return !name.empty() && name.size() <= kMostName && std::ranges::all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  });
}

absl::Status NotPublished(std::string_view name) {
  return absl::NotFoundError(
      absl::StrCat("name: no stream \"", Shortened(name, kMostName), "\" is published now"));
}

}  // namespace

void Broadcast::Open(v1::WatchOpened opened, std::uint64_t viewer_bytes) {
  const absl::MutexLock lock(&mutex_);
  opened_ = std::move(opened);
  viewer_bytes_ = viewer_bytes;
  open_ = true;
}

bool Broadcast::NeedsWake() {
  return !waiting_.empty() && !std::exchange(waking_, true);
}

bool Broadcast::Show(const OutgoingFrame& frame) {
  std::optional<OutgoingFrame> shared(frame.ForViewers());
  const absl::MutexLock lock(&mutex_);
  poses_ += std::uint64_t{1} + shared->header.skipped();
  newest_.swap(shared);
  return NeedsWake();
}

bool Broadcast::End() {
  const absl::MutexLock lock(&mutex_);
  ended_ = true;
  place_.reset();
  return NeedsWake();
}

void Broadcast::WakeViewers() {
  std::map<const StreamViewer*, std::weak_ptr<StreamViewer>> waiting;
  {
    const absl::MutexLock lock(&mutex_);
    waking_ = false;
    waiting.swap(waiting_);
  }
  for (const auto& [key, weak] : waiting) {
    if (const auto viewer = weak.lock()) viewer->Wake();
  }
}

absl::Status Broadcast::Enter() {
  const absl::MutexLock lock(&mutex_);
  if (!open_ || ended_) return NotPublished(name_);
  SINEW_RETURN_IF_ERROR(CheckLimit("name", viewers_ + 1, most_viewers_, "viewers", "max-viewers"));
  ++viewers_;
  return absl::OkStatus();
}

void Broadcast::Leave(const StreamViewer* viewer) {
  const absl::MutexLock lock(&mutex_);
  --viewers_;
  waiting_.erase(viewer);
}

absl::StatusOr<std::optional<OutgoingFrame>> Broadcast::Take(
    const std::shared_ptr<StreamViewer>& viewer, std::uint64_t& seen) {
  const absl::MutexLock lock(&mutex_);
  if (poses_ > seen) {
    std::optional<OutgoingFrame> frame = newest_;
    frame->header.set_skipped(seen == 0 ? 0 : static_cast<std::uint32_t>(poses_ - seen - 1));
    seen = poses_;
    return frame;
  }
  if (ended_) {
    return WithReason(absl::UnavailableError(absl::StrCat("stream: its publisher has ended ", name_,
                                                          "; watch again later")),
                      v1::REASON_PUBLISHER_ENDED);
  }
  waiting_.emplace(viewer.get(), viewer);
  return std::nullopt;
}

absl::StatusOr<std::shared_ptr<Broadcast>> Broadcasts::Publish(const Caller& caller,
                                                               const std::string& name) {
  if (!IsStreamName(name)) {
    return InvalidField("publish", absl::StrCat("got \"", Shortened(name, kMostName),
                                                "\", need 1 to 64 of A-Z a-z 0-9 . _ -"));
  }
  const absl::MutexLock lock(&mutex_);
  std::shared_ptr<Broadcast>& stream = streams_[{caller.tenant, name}];
  if (stream != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrCat("publish: another open stream has the name ", name));
  }
  absl::StatusOr<Quota::Permit> place = places_.Take(caller.client());
  if (!place.ok()) {
    streams_.erase({caller.tenant, name});
    return place.status();
  }
  return stream =
             std::make_shared<Broadcast>(caller.tenant, name, most_viewers_, *std::move(place));
}

bool Broadcasts::Remove(Broadcast& broadcast) {
  {
    const absl::MutexLock lock(&mutex_);
    streams_.erase({broadcast.tenant_, broadcast.name_});
  }
  return broadcast.End();
}

absl::StatusOr<std::shared_ptr<Broadcast>> Broadcasts::Enter(const std::string& tenant,
                                                             const std::string& name) {
  std::shared_ptr<Broadcast> found;
  {
    const absl::MutexLock lock(&mutex_);
    const auto stream = streams_.find({tenant, name});
    if (stream == streams_.end()) return NotPublished(name);
    found = stream->second;
  }
  SINEW_RETURN_IF_ERROR(found->Enter());
  return found;
}

}  // namespace sinew::server
