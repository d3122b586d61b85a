// broadcast.h - published streams: what the calls that watch one need of it.
//
// A publisher never waits for its viewers: it leaves a frame here, which replaces the one before.
// A viewer takes the newest frame when it can send one. All share the buffer of the vertices.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/base/caller.h"
#include "server/base/config.h"
#include "server/frames/outbox.h"
#include "server/threads/quota.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

// A call that watches a stream.
class StreamViewer {
 public:
  virtual ~StreamViewer() = default;
  // Take may return something now.
  virtual void Wake() = 0;
};

// One published stream. Thread-safe.
class Broadcast {
 public:
  // place: of the stream, until this ends.
  Broadcast(std::string tenant, std::string name, std::uint64_t most_viewers, Quota::Permit place)
      : tenant_(std::move(tenant)),
        name_(std::move(name)),
        most_viewers_(most_viewers),
        place_(std::move(place)) {}

  // The publisher: the stream is ready; may be watched from now on. viewer_bytes: memory of a
  // viewer.
  void Open(v1::WatchOpened opened, std::uint64_t viewer_bytes);
  // The publisher: its newest frame, with a complete header. True: WakeViewers must be called soon,
  // on a thread that holds no lock.
  bool Show(const OutgoingFrame& frame);
  // The publisher: no frame follows. Returns as Show.
  bool End();
  void WakeViewers();

  // A viewer begins. kNotFound: not open, or has ended. kResourceExhausted: too many viewers.
  absl::Status Enter();
  void Leave(const StreamViewer* viewer);
  // Call these after Enter.
  const v1::WatchOpened& opened() const { return opened_; }
  std::uint64_t viewer_bytes() const { return viewer_bytes_; }
  // The newest frame, unless it is older than `seen`, which is 0 at first and updated. Its header
  // counts what the viewer has missed. None: `viewer` is woken when there is one. kUnavailable,
  // reason PUBLISHER_ENDED: no frame follows.
  absl::StatusOr<std::optional<OutgoingFrame>> Take(const std::shared_ptr<StreamViewer>& viewer,
                                                    std::uint64_t& seen);

 private:
  friend class Broadcasts;
  bool NeedsWake() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string tenant_, name_;
  const std::uint64_t most_viewers_;
  absl::Mutex mutex_;
  Quota::Permit place_ ABSL_GUARDED_BY(mutex_);
  // Constant once open_.
  v1::WatchOpened opened_;
  std::uint64_t viewer_bytes_ = 0;
  bool open_ ABSL_GUARDED_BY(mutex_) = false, ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<OutgoingFrame> newest_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t poses_ ABSL_GUARDED_BY(mutex_) = 0;  // up to the newest frame, with skipped ones
  std::uint64_t viewers_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<const StreamViewer*, std::weak_ptr<StreamViewer>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool waking_ ABSL_GUARDED_BY(mutex_) = false;  // WakeViewers will be called
};

// All published streams by tenant and name. Thread-safe.
class Broadcasts {
 public:
  // client_share: see Quota.
  Broadcasts(const StreamConfig& config, double client_share)
      : most_viewers_(config.viewers),
        places_(config.published, client_share, "max-published-streams", "streams", "stream") {}

  // A stream that is not open yet. kInvalidArgument: no such name is possible. kAlreadyExists: it
  // is taken. kResourceExhausted: too many, of all clients or of this one.
  absl::StatusOr<std::shared_ptr<Broadcast>> Publish(const Caller& caller, const std::string& name);
  // Frees its name. Ends it: returns as Broadcast::End.
  bool Remove(Broadcast& broadcast);
  // kNotFound. The viewer has entered.
  absl::StatusOr<std::shared_ptr<Broadcast>> Enter(const std::string& tenant,
                                                   const std::string& name);
  Quota& quota() { return places_; }

 private:
  using Key = std::pair<std::string, std::string>;  // tenant and name
  const std::uint64_t most_viewers_;
  Quota places_;
  absl::Mutex mutex_;
  std::map<Key, std::shared_ptr<Broadcast>> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
