#include "server/threads/timers.h"

#include <algorithm>
#include <utility>

#include "server/base/thread_name.h"

namespace sinew::server {

Timers::Timers(Clock& clock) : clock_(clock), thread_([this] { Loop(); }) {}

Timers::~Timers() {
  Stop();
}

void Timers::Stop() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    entries_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Timers::Id Timers::After(std::chrono::nanoseconds delay, std::function<void()> call) {
  return Add(delay, std::chrono::nanoseconds(0), std::move(call));
}

Timers::Id Timers::Every(std::chrono::nanoseconds period, std::function<void()> call) {
  return Add(period, period, std::move(call));
}

Timers::Id Timers::Add(std::chrono::nanoseconds delay, std::chrono::nanoseconds period,
                       std::function<void()> call) {
  const absl::MutexLock lock(&mutex_);
  const Id id = ++last_;
  if (!stopping_) entries_.emplace(clock_.Now() + delay, Entry{id, period, std::move(call)});
  changed_.notify_all();
  return id;
}

void Timers::Cancel(Id id) {
  const absl::MutexLock lock(&mutex_);
  if (id == running_) running_cancelled_ = true;
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.second.id == id; });
  if (found != entries_.end()) entries_.erase(found);
}

void Timers::Loop() {
  NameThread("timers");
  const absl::MutexLock lock(&mutex_);
  while (!stopping_) {
    const auto first = entries_.begin();
    const Clock::Time due = first == entries_.end() ? Clock::Time::max() : first->first;
    if (due > clock_.Now()) {
      clock_.WaitUntil(due, changed_, mutex_);
      continue;
    }
    Entry entry = std::move(first->second);
    entries_.erase(first);
    running_ = entry.id;
    running_cancelled_ = false;
    mutex_.Unlock();
    entry.call();
    mutex_.Lock();
    running_ = 0;
    if (entry.period.count() > 0 && !running_cancelled_ && !stopping_) {
      entries_.emplace(clock_.Now() + entry.period, std::move(entry));
    }
  }
}

}  // namespace sinew::server
