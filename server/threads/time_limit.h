// time_limit.h - stops work that takes longer than a limit of the configuration.
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
  // Calls `stop` after `seconds`, unless this is destroyed before. what, option: path and name of
  // the limit in the message; both must outlive this object.
  TimeLimit(Timers& timers, double seconds, std::string_view what, std::string_view option,
            std::function<void()> stop);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // kResourceExhausted if `status` is kCancelled because the time was up; else `status`.
  absl::Status Named(const absl::Status& status) const;

 private:
  Timers& timers_;
  const double seconds_;
  const std::string_view what_, option_;
  const Clock::Time start_;
  const std::shared_ptr<std::atomic<bool>> late_ = std::make_shared<std::atomic<bool>>(false);
  const Timers::Id id_;
};

}  // namespace sinew::server
