// time_limit.h - ends work that takes longer than a limit of the configuration, and says so.
#pragma once

#include <absl/status/status.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "server/threads/timers.h"

namespace sinew::server {

class TimeLimit {
 public:
  // Calls `stop` after `seconds`, unless this is destroyed before. what, option: the path and the
  // limit in messages; both must outlive it.
  TimeLimit(Timers& timers, double seconds, std::string_view what, std::string_view option,
            std::function<void()> stop);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // A kCancelled that came of the limit names it: kResourceExhausted. Else `status`.
  absl::Status Named(const absl::Status& status) const;

 private:
  Timers& timers_;
  const double seconds_;
  const std::string_view what_, option_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const std::shared_ptr<std::atomic<bool>> late_ = std::make_shared<std::atomic<bool>>(false);
  const Timers::Id id_;
};

}  // namespace sinew::server
