#include "server/threads/workers.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "server/base/metrics.h"
#include "server/base/status.h"
#include "server/base/thread_name.h"

namespace sinew::server {

Pool::Pool(const char* name, Start start) : name_(name), start_(start) {
  const absl::MutexLock lock(&mutex_);
  if (start_ == Start::kAtOnce) threads_.emplace_back([this] { Loop(); });
}

Pool::~Pool() {
  std::vector<std::thread> ended;
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
    ended.swap(threads_);
  }
  for (std::thread& thread : ended) thread.join();
}

void Pool::StartThreads() {
  const absl::MutexLock lock(&mutex_);
  StartMissing();
}

void Pool::StartMissing() {
  const std::size_t free = start_ == Start::kAtOnce ? 1 : 0;
  try {
    while (!stopping_ && threads_.size() < std::min(most_, busy_ + Ready() + free)) {
      threads_.emplace_back([this] { Loop(); });
    }
  } catch (const std::exception&) {  // the system has none left: those that exist go on
  }
}

std::size_t Pool::Ready() const {
  std::size_t ready = 0;
  for (const Workers* lane : lanes_) {
    lane->pool_.mutex_.AssertReaderHeld();  // the same one
    ready += std::min(lane->queue_.size(), lane->most_ - lane->running_);
  }
  return ready;
}

void Pool::Loop() {
  NameThread(name_);
  const absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(this, &Pool::Wanted));
    const auto turn = std::ranges::find_if(lanes_, [](const Workers* lane) {
      lane->pool_.mutex_.AssertReaderHeld();
      return !lane->queue_.empty() && lane->running_ < lane->most_;
    });
    if (turn == lanes_.end()) return;  // stopping
    Workers& lane = **turn;
    std::rotate(turn, turn + 1, lanes_.end());
    lane.pool_.mutex_.AssertHeld();
    std::optional<Workers::Waiting> next = lane.queue_.Pop();
    ++lane.running_;
    ++busy_;
    if (start_ == Start::kAtOnce) StartMissing();
    mutex_.Unlock();
    next->permit.reset();
    Observe(std::chrono::steady_clock::now() - next->posted, lane.seconds_);
    next->work(absl::OkStatus());
    next.reset();  // what it holds may be the last reference to a call
    mutex_.Lock();
    --lane.running_;
    --busy_;
  }
}

Workers::Workers(Pool& pool, std::size_t threads, Quota& waiting, prometheus::Histogram& seconds)
    : pool_(pool), most_(threads), waiting_(waiting), seconds_(seconds) {
  const absl::MutexLock lock(&pool_.mutex_);
  pool_.lanes_.push_back(this);
  pool_.most_ += most_;
}

Workers::~Workers() {
  Stop();
  const absl::MutexLock lock(&pool_.mutex_);
  std::erase(pool_.lanes_, this);
}

void Workers::Stop() {
  {
    const absl::MutexLock lock(&pool_.mutex_);
    stopping_ = true;
    if (!pool_.threads_.empty()) {
      pool_.mutex_.Await(absl::Condition(this, &Workers::Idle));
      return;
    }
  }
  Drop(Draining());  // no thread could be started
  const absl::MutexLock lock(&pool_.mutex_);
  pool_.mutex_.Await(absl::Condition(this, &Workers::Idle));  // one has been, meanwhile
}

absl::StatusOr<Workers::Ticket> Workers::Post(const std::string& client, Work work) {
  SINEW_ASSIGN_OR_RETURN(Quota::Permit permit, waiting_.Take(client));
  return Push(client, {std::move(work), std::move(permit)});
}

Workers::Ticket Workers::PostStep(const std::string& client, Work work) {
  return Push(client, {std::move(work), nullptr}).value_or(0);
}

absl::StatusOr<Workers::Ticket> Workers::Push(const std::string& client, Waiting waiting) {
  const absl::MutexLock lock(&pool_.mutex_);
  if (stopping_) return Draining();
  queue_.Push(++last_, client, std::move(waiting));
  if (pool_.start_ == Pool::Start::kWhenPosted) pool_.StartMissing();
  return last_;
}

bool Workers::Remove(Ticket ticket) {
  std::optional<Waiting> removed;  // freed after unlocking: may be the last reference to a call
  const absl::MutexLock lock(&pool_.mutex_);
  removed = queue_.Remove(ticket);
  return removed.has_value();
}

void Workers::Drop(const absl::Status& why) {
  std::vector<Waiting> dropped;
  {
    const absl::MutexLock lock(&pool_.mutex_);
    while (std::optional<Waiting> next = queue_.Pop()) dropped.push_back(*std::move(next));
  }
  for (Waiting& waiting : dropped) {
    waiting.permit.reset();  // before the call ends, so that an immediate retry is admitted
    waiting.work(why);
  }
}

std::size_t Workers::queued() const {
  const absl::MutexLock lock(&pool_.mutex_);
  return queue_.size();
}

std::size_t Workers::running() const {
  const absl::MutexLock lock(&pool_.mutex_);
  return running_;
}

bool Workers::idle() const {
  const absl::MutexLock lock(&pool_.mutex_);
  return Idle();
}

}  // namespace sinew::server
