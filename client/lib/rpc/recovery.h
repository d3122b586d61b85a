// recovery.h - what happens after a failed attempt: wait and repeat it, restore what the server
// lost, or give up. Every call and stream of the library decides this here.
#pragma once

#include <absl/status/status.h>
#include <absl/time/time.h>

#include <functional>
#include <stop_token>

namespace sinew::client {

class Connection;

// How long an attempt is repeated while its errors are IsBroken or IsRefused.
enum class Repeat {
  kAttempts,  // RetryPolicy::max_attempts and repeat_for
  kPersist,   // for RetryPolicy::resume_for
};

// Makes the sessions and rigs again that the server no longer has.
using Restore = std::function<absl::Status(const std::stop_token&)>;

// For one piece of work and one thread.
class Recovery {
 public:
  // Gives up at `deadline` at the latest. Without `restore`, a lost session or rig is a final
  // error. `connection` must outlive it.
  Recovery(const Connection& connection, Repeat repeat, absl::Time deadline, std::stop_token stop,
           Restore restore = {});

  // After a failed attempt. True: repeat it; this call has waited, or restored what was lost.
  // False: give up with `status`, which says kCancelled after a stop, why restoring failed, or
  // kDeadlineExceeded and the last failure where the deadline leaves no time for an attempt.
  bool TryAgain(absl::Status& status);

  // The work got further: the next failure counts as the first.
  void Progress();

  // An attempt of kPersist got through, lasted for `held`, and failed without progress. The time to
  // come back begins anew if no work was waiting; else it goes on, without the time that the
  // attempt lasted.
  //   owing  work was waiting when the attempt began
  void Reopened(absl::Duration held, bool owing);

 private:
  bool Restored(absl::Status& status);
  bool WaitsToRestore(const absl::Status& status);
  bool Renewed(const absl::Status& status);
  bool Waited(const absl::Status& status);
  bool HasTimeFor(absl::Duration delay);
  absl::Status Final(const absl::Status& status) const;

  const Connection& connection_;
  const Repeat repeat_;
  const absl::Time deadline_;
  const std::stop_token stop_;
  const Restore restore_;
  int failures_ = 0, restores_ = 0;  // since the last progress
  bool renewed_ = false;             // the token, since the last progress
  bool late_ = false;                // the next attempt would begin after the deadline
  bool hurried_ = false;             // one wait was cut short, since the last progress
  bool shortened_ = false;           // one wait, to the patience, since the last progress
  absl::Status last_failure_;        // since the last progress
  absl::Time first_failure_ = absl::InfiniteFuture();
  absl::Time first_wait_ = absl::InfiniteFuture();  // before restoring
};

}  // namespace sinew::client
