#include "server/store/bound_deformer.h"

#include <absl/strings/str_cat.h>

#include <utility>

#include "server/base/status.h"

namespace sinew::server {

void CostMean::Add(double seconds) {
  constexpr double kWeight = 0.125;  // of the newest frame
  const double old = seconds_.load(std::memory_order_relaxed);
  seconds_.store(old == 0 ? seconds : old + kWeight * (seconds - old), std::memory_order_relaxed);
}

BoundDeformer::BoundDeformer(std::string key, std::shared_ptr<const Rig> rig, Recipe recipe,
                             std::shared_ptr<const Forecast> forecast)
    : key_(std::move(key)),
      rig_(std::move(rig)),
      recipe_(std::move(recipe)),
      forecast_(std::move(forecast)) {}

BoundDeformer::Snapshot BoundDeformer::snapshot() const {
  const absl::MutexLock lock(&mutex_);
  const double progress = state_ == State::kReady ? 1.0 : progress_.load(std::memory_order_relaxed);
  return {state_, progress, error_};
}

std::shared_ptr<const Deformer> BoundDeformer::deformer() const {
  const absl::MutexLock lock(&mutex_);
  return deformer_;
}

absl::Status BoundDeformer::CheckReady() const {
  const Snapshot now = snapshot();
  if (now.state == State::kReady) return absl::OkStatus();
  const std::string why = now.state == State::kFailed
                              ? absl::StrCat("its bind failed: ", now.error.message())
                              : std::string("it is still binding");
  return WithReason(absl::FailedPreconditionError("session: " + why), v1::REASON_NOT_READY);
}

std::uint64_t BoundDeformer::WhenDone(std::function<void()> done) {
  {
    const absl::MutexLock lock(&mutex_);
    if (state_ == State::kBinding) {
      waiting_.emplace(++last_id_, std::move(done));
      return last_id_;
    }
  }
  done();
  return 0;
}

void BoundDeformer::Forget(std::uint64_t id) {
  std::function<void()>
      dropped;  // destroyed after unlocking: it may hold the last reference to a call
  const absl::MutexLock lock(&mutex_);
  if (const auto found = waiting_.find(id); found != waiting_.end()) {
    dropped = std::move(found->second);
    waiting_.erase(found);
  }
}

void BoundDeformer::Finish(absl::StatusOr<Deformer> result) {
  std::map<std::uint64_t, std::function<void()>> waiting;
  {
    const absl::MutexLock lock(&mutex_);
    if (result.ok()) {
      deformer_ = std::make_shared<const Deformer>(*std::move(result));
      state_ = State::kReady;
    } else {
      error_ = result.status();
      state_ = State::kFailed;
    }
    waiting.swap(waiting_);
  }
  for (const auto& [id, done] : waiting) done();
}

}  // namespace sinew::server
