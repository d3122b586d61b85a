#include "server/threads/time_limit.h"

#include <cstdint>
#include <utility>

#include "server/base/status.h"

namespace sinew::server {

TimeLimit::TimeLimit(Timers& timers, double seconds, std::string_view what, std::string_view option,
                     std::function<void()> stop)
    : timers_(timers),
      seconds_(seconds),
      what_(what),
      option_(option),
      start_(timers.clock().Now()),
      id_(timers.After(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)),
                       [late = late_, stop = std::move(stop)] {
                         late->store(true);
                         stop();
                       })) {}

TimeLimit::~TimeLimit() {
  timers_.Cancel(id_);
}

absl::Status TimeLimit::Named(const absl::Status& status) const {
  if (!absl::IsCancelled(status) || !late_->load()) return status;
  const std::chrono::duration<double> taken = timers_.clock().Now() - start_;
  return TimeExceeded(what_, taken.count(), seconds_, option_);
}

}  // namespace sinew::server
