// workers.h - a few threads for queued work that blocks (disk, parsing rigs) or takes long (binds).
// Keeps gRPC's threads free. Clients take turns; see fair_queue.h.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>
#include <prometheus/histogram.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "server/threads/fair_queue.h"
#include "server/threads/quota.h"

namespace sinew::server {

class Workers {
 public:
  // Called once, and must not throw: with OK when its turn has come, or with the reason why it
  // never comes.
  using Work = std::function<void(const absl::Status&)>;
  using Ticket = std::uint64_t;  // never 0

  // threads: at most so many. The first one starts at once, others when all work. waiting: counts
  // the work posted here that has not started. seconds: how long it waited. Both must outlive this
  // object.
  Workers(std::size_t threads, Quota& waiting, prometheus::Histogram& seconds);
  // Runs what is queued, then ends.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `work` later. client: as Caller::client(). Errors: those of Quota::Take; `work` is then
  // not called.
  absl::StatusOr<Ticket> Post(const std::string& client, Work work);
  // Posts a step of a call that another quota has admitted, with one step waiting at a time: not
  // counted and never refused. Dropped after Stop, when no call is left.
  Ticket PostStep(const std::string& client, Work work);
  // True: the work was still waiting and will not be called. Else nothing happens.
  bool Remove(Ticket ticket);
  // Calls all work that is waiting with `why`.
  void Drop(const absl::Status& why);
  // Runs what is queued and ends the threads; Post is refused afterwards. Idempotent.
  void Stop();

  std::size_t queued() const;
  std::size_t running() const;
  bool idle() const;  // neither

 private:
  struct Waiting {
    Work work;
    Quota::Permit permit;  // may be null
    std::chrono::steady_clock::time_point posted = std::chrono::steady_clock::now();
  };
  absl::StatusOr<Ticket> Push(const std::string& client, Waiting waiting);
  void Loop();
  // Starts another thread from this one, whose priority it inherits: that of a thread that posts
  // may be lowered for good, see arena.h.
  void KeepOneIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Wanted() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopping_ || !queue_.empty(); }

  const std::size_t most_;  // threads
  Quota& waiting_;
  prometheus::Histogram& seconds_;
  mutable absl::Mutex mutex_;
  FairQueue<Waiting> queue_ ABSL_GUARDED_BY(mutex_);
  Ticket last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
