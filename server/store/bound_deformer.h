// bound_deformer.h - one rig bound with one recipe, during and after the bind.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "core/deform/engine/deformer.h"
#include "server/convert/warnings.h"

namespace sinew::server {

// Running mean of frame times; decides where the next frame is evaluated. Thread-safe.
class CostMean {
 public:
  void Add(double seconds);
  // 0 = no frame yet.
  double seconds() const { return seconds_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> seconds_{0};
};

// What is known of a bind before it runs.
struct Forecast {
  BindEstimate estimate;
  Warnings warnings;
};

// Thread-safe. The state changes once, from binding to ready or failed.
class BoundDeformer {
 public:
  enum class State { kBinding, kReady, kFailed };
  struct Snapshot {
    State state = State::kBinding;
    double progress = 0;  // 0 to 1
    absl::Status error;   // of a failed bind
  };

  BoundDeformer(std::string key, std::shared_ptr<const Rig> rig, Recipe recipe,
                std::shared_ptr<const Forecast> forecast);

  const std::string& key() const { return key_; }
  const Rig& rig() const { return *rig_; }
  const Recipe& recipe() const { return recipe_; }
  const Forecast& forecast() const { return *forecast_; }

  Snapshot snapshot() const;
  // Null unless ready.
  std::shared_ptr<const Deformer> deformer() const;
  // OK once ready; kFailedPrecondition with reason NOT_READY if it failed.
  absl::Status CheckReady() const;

  // Calls `done` once: on the bind thread when the bind ends, or immediately if it has ended.
  // `done` must be short. Returns an id for Forget.
  std::uint64_t WhenDone(std::function<void()> done);
  // Cancels the call of `done`, unless it has already started.
  void Forget(std::uint64_t id);

  void Cancel() { stop_.request_stop(); }
  std::stop_token stop_token() const { return stop_.get_token(); }
  void SetProgress(double progress) { progress_.store(progress, std::memory_order_relaxed); }
  void Finish(absl::StatusOr<Deformer> result);

  CostMean frame_cost;                  // of complete frames
  CostMean evaluation_cost;             // also of cancelled ones, which would have cost more
  std::atomic<double> bind_seconds{0};  // 0 = loaded from disk, or not finished
  std::atomic<bool> elsewhere{false};   // another server binds it

 private:
  const std::string key_;
  const std::shared_ptr<const Rig> rig_;
  const Recipe recipe_;
  const std::shared_ptr<const Forecast> forecast_;
  std::stop_source stop_;
  std::atomic<double> progress_{0};
  mutable absl::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kBinding;
  absl::Status error_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Deformer> deformer_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t last_id_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sinew::server
