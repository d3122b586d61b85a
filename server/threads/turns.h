// turns.h - places that callers wait for: clients take turns, and each keeps to its share.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/base/clock.h"
#include "server/threads/fair_queue.h"
#include "server/threads/quota.h"

namespace sinew::server {

// Thread-safe.
class Turns {
 public:
  using Ticket = std::uint64_t;  // never 0
  // The last copy gives the place back. Must not outlive the turns.
  using Place = std::shared_ptr<void>;
  // Called once, with a place.
  using Begin = std::function<void(Place)>;

  // places: counts them. Must outlive this object.
  explicit Turns(Quota& places) : places_(places) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // A place, or a ticket.
  struct Turn {
    Place place;
    Ticket ticket = 0;
  };
  // A place that is free. Else `begin` is called once there is one, by the thread that gives it
  // back: it must be short, and may lock nothing that is locked where places are given back.
  // client: as Caller::client().
  Turn Take(const std::string& client, Begin begin);
  // True: it still waited, and `begin` will not be called.
  bool Remove(Ticket ticket);

  // Whether `client` must give one of its places back: none is free, no client holds more, and
  // another waits that would then hold no more than this one. Else clients that never give places
  // back could keep all of them from the others. Asks for one place in a second for each client
  // that waits so.
  bool MustYield(const std::string& client, Clock::Time now);

  std::size_t waiting() const;

 private:
  struct Waiting {
    std::string client;
    Begin begin;
  };
  Place MakePlace(Quota::Permit permit);
  // Gives free places to those who wait.
  void GiveOut();

  Quota& places_;
  mutable absl::Mutex mutex_;
  FairQueue<Waiting> queue_ ABSL_GUARDED_BY(mutex_);
  Ticket last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Clock::Time> asked_ ABSL_GUARDED_BY(mutex_);  // in the last second, by MustYield
};

}  // namespace sinew::server
