#include "server/threads/workers.h"

#include <optional>
#include <system_error>
#include <utility>

#include "core/base/status.h"
#include "server/base/metrics.h"
#include "server/base/status.h"

namespace sinew::server {

Workers::Workers(std::size_t threads, Quota& waiting, prometheus::Histogram& seconds)
    : most_(threads), waiting_(waiting), seconds_(seconds) {
  if (most_ > 0) threads_.emplace_back([this] { Loop(); });
}

Workers::~Workers() {
  Stop();
}

void Workers::Stop() {
  std::vector<std::thread> ended;
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    ended.swap(threads_);
  }
  for (std::thread& thread : ended) thread.join();
}

absl::StatusOr<Workers::Ticket> Workers::Post(const std::string& client, Work work) {
  SINEW_ASSIGN_OR_RETURN(Quota::Permit permit, waiting_.Take(client));
  return Push(client, {std::move(work), std::move(permit)});
}

Workers::Ticket Workers::PostStep(const std::string& client, Work work) {
  return Push(client, {std::move(work), nullptr}).value_or(0);
}

absl::StatusOr<Workers::Ticket> Workers::Push(const std::string& client, Waiting waiting) {
  const absl::MutexLock lock(&mutex_);
  if (stopping_) return Draining();
  queue_.Push(++last_, client, std::move(waiting));
  return last_;
}

bool Workers::Remove(Ticket ticket) {
  std::optional<Waiting> removed;  // freed after unlocking: may be the last reference to a call
  const absl::MutexLock lock(&mutex_);
  removed = queue_.Remove(ticket);
  return removed.has_value();
}

void Workers::Drop(const absl::Status& why) {
  std::vector<Waiting> dropped;
  {
    const absl::MutexLock lock(&mutex_);
    while (std::optional<Waiting> next = queue_.Pop()) dropped.push_back(*std::move(next));
  }
  for (Waiting& waiting : dropped) {
    waiting.permit.reset();  // before the call ends, so that an immediate retry is admitted
    waiting.work(why);
  }
}

std::size_t Workers::queued() const {
  const absl::MutexLock lock(&mutex_);
  return queue_.size();
}

std::size_t Workers::running() const {
  const absl::MutexLock lock(&mutex_);
  return running_;
}

bool Workers::idle() const {
  const absl::MutexLock lock(&mutex_);
  return queue_.empty() && running_ == 0;
}

void Workers::KeepOneIdle() {
  if (stopping_ || running_ < threads_.size() || threads_.size() == most_) return;
  try {
    threads_.emplace_back([this] { Loop(); });
  } catch (const std::system_error&) {  // the system has none left: this one goes on
  }
}

void Workers::Loop() {
  const absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(this, &Workers::Wanted));
    std::optional<Waiting> next = queue_.Pop();
    if (!next) return;
    ++running_;
    KeepOneIdle();
    mutex_.Unlock();
    next->permit.reset();
    Observe(std::chrono::steady_clock::now() - next->posted, seconds_);
    next->work(absl::OkStatus());
    next.reset();  // what it holds may be the last reference to a call
    mutex_.Lock();
    --running_;
  }
}

}  // namespace sinew::server
