// quota.h - admission: limits on what all calls hold together, such as calls or bytes, a share of
// them for each client, and no new work while the server drains.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace sinew::server {

// Counts one kind of thing, up to a limit. Thread-safe.
//
// One client may hold up to `share` of what the others leave. With a share of one half, n clients
// that take all they can hold 1 / (n + 1) of the limit each, and as much stays free for the next.
// Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.
class Quota {
 public:
  // name: the limit's option; unit: what is counted; subject: what a refusal is about; retry: when
  // to try again, of refusals that may succeed then.
  Quota(std::uint64_t limit, double share, std::string_view name, std::string_view unit,
        std::string_view subject = "server", std::chrono::seconds retry = std::chrono::seconds(1))
      : share_(share), name_(name), unit_(unit), subject_(subject), retry_(retry), limit_(limit) {}

  // What has been taken; the last copy gives it back. Must not outlive the quota.
  using Permit = std::shared_ptr<void>;
  // client: as Caller::client(); empty = counts against the limit alone. kUnavailable after Close;
  // kResourceExhausted: the limit or the client's share would be passed; RetryInfo unless
  // the amount never fits.
  absl::StatusOr<Permit> Take(const std::string& client, std::uint64_t amount = 1);
  // Why Take would refuse the amount now.
  enum class Refusal : std::uint8_t {
    kNone,   // it would not
    kFull,   // what all clients hold leaves too little
    kShare,  // the client's own share is used up
    kNever,  // more than the limit, or than the client's share of it without others
  };
  Refusal Try(const std::string& client, std::uint64_t amount = 1) const;
  // For what exists already: counts it, whatever the limit.
  Permit TakeBeyondLimit(const std::string& client, std::uint64_t amount);
  // Waits until the amount is free, behind those who wait already. More than the limit counts as
  // the limit. For the few threads of a lane, where clients take turns already.
  Permit Wait(std::uint64_t amount);
  // Threads in Wait.
  std::uint64_t waiting() const;

  // What is out may be more than the new limit; it is then given back first.
  void SetLimit(std::uint64_t limit);
  std::uint64_t limit() const;
  std::string_view name() const { return name_; }
  void Close();
  bool closed() const;
  std::uint64_t count() const;
  std::uint64_t held(const std::string& client) const;
  std::uint64_t most_held() const;  // by one client
  // Waits up to `timeout` until no permit is out. True: none is.
  bool WaitEmpty(std::chrono::milliseconds timeout);

 private:
  // What `client` may hold if the others hold `others`: one unit at least.
  std::uint64_t MostFor(const std::string& client, std::uint64_t others) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  std::string Describe(Refusal refusal, const std::string& client, std::uint64_t amount) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  Refusal Judge(const std::string& client, std::uint64_t amount) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  std::uint64_t HeldBy(const std::string& client) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  bool Empty() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return count_ == 0; }
  void Count(const std::string& client, std::uint64_t amount) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Permit MakePermit(const std::string& client, std::uint64_t amount);
  void GiveBack(const std::string& client, std::uint64_t amount);

  const double share_;
  const std::string_view name_, unit_, subject_;
  const std::chrono::seconds retry_;
  mutable absl::Mutex mutex_;
  std::uint64_t limit_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, std::uint64_t> held_ ABSL_GUARDED_BY(mutex_);  // by client; none holds 0
  std::uint64_t last_turn_ ABSL_GUARDED_BY(mutex_) = 0;                // of those who wait
  std::uint64_t next_turn_ ABSL_GUARDED_BY(mutex_) = 1;                // whose it is
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sinew::server
