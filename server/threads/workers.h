// workers.h - a few threads for queued work that blocks (disk, parsing rigs) or takes long (binds).
// Keeps gRPC's threads free. Clients take turns; see fair_queue.h.
//
// Lanes of a pool share its threads, but none waits for another: the pool has as many as they all
// may use, and starts them when they are needed.
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

class Workers;

class Pool {
 public:
  enum class Start {
    // The first thread starts at once, another one when all work. Threads start each other and so
    // have the priority of the one that makes the pool: that of a thread that posts may be lowered
    // for good, see arena.h.
    kAtOnce,
    // A thread starts when work is posted that none is free for. For work of a lower priority.
    kWhenPosted,
  };
  // name: of its threads, for the operating system; up to 15 letters.
  Pool(const char* name, Start start);
  // Its lanes must have ended.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Starts the threads that work waits for. Repeats what has failed while the system had none left.
  void StartThreads() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class Workers;
  void Loop();
  void StartMissing() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How many threads could begin with work that waits.
  std::size_t Ready() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  bool Wanted() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopping_ || Ready() > 0; }

  const char* const name_;
  const Start start_;
  mutable absl::Mutex mutex_;
  std::vector<Workers*> lanes_ ABSL_GUARDED_BY(mutex_);  // the next turn first
  std::size_t most_ ABSL_GUARDED_BY(mutex_) = 0;         // threads, of all lanes
  std::size_t busy_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

// A lane of a pool.
class Workers {
 public:
  // Called once, and must not throw: with OK when its turn has come, or with the reason why it
  // never comes.
  using Work = std::function<void(const absl::Status&)>;
  using Ticket = std::uint64_t;  // never 0

  // threads: so many work for it at a time. waiting: counts the work posted here that has not
  // started. seconds: how long it waited. All must outlive this object.
  Workers(Pool& pool, std::size_t threads, Quota& waiting, prometheus::Histogram& seconds);
  // Calls Stop.
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
  // Waits for what is queued and runs; Post is refused afterwards. Idempotent.
  void Stop();

  std::size_t queued() const;
  std::size_t running() const;
  bool idle() const;  // neither

 private:
  friend class Pool;
  struct Waiting {
    Work work;
    Quota::Permit permit;  // may be null
    std::chrono::steady_clock::time_point posted = std::chrono::steady_clock::now();
  };
  absl::StatusOr<Ticket> Push(const std::string& client, Waiting waiting);
  bool Idle() const ABSL_SHARED_LOCKS_REQUIRED(pool_.mutex_) {
    return queue_.empty() && running_ == 0;
  }

  Pool& pool_;
  const std::size_t most_;  // threads
  Quota& waiting_;
  prometheus::Histogram& seconds_;
  FairQueue<Waiting> queue_ ABSL_GUARDED_BY(pool_.mutex_);
  Ticket last_ ABSL_GUARDED_BY(pool_.mutex_) = 0;
  std::size_t running_ ABSL_GUARDED_BY(pool_.mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(pool_.mutex_) = false;
};

}  // namespace sinew::server
