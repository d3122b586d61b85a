// bound_deformer.h - one rig bound by one recipe: while it is being made, and once it is there.
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

namespace sinew::server {

// Running mean of what a frame costs; says where the next one is evaluated. Thread-safe.
class CostMean {
 public:
  void Add(double seconds);
  // 0 = nothing is known yet.
  double seconds() const { return seconds_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> seconds_{0};
};

// Thread-safe. State goes from binding to ready or failed once.
class BoundDeformer {
 public:
  enum class State { kBinding, kReady, kFailed };
  struct Snapshot {
    State state = State::kBinding;
    double progress = 0;  // 0 to 1
    absl::Status error;   // of a failed bind
  };

  BoundDeformer(std::string key, std::shared_ptr<const Rig> rig, Recipe recipe,
                BindEstimate estimate);

  const std::string& key() const { return key_; }
  const Rig& rig() const { return *rig_; }
  const Recipe& recipe() const { return recipe_; }
  const BindEstimate& estimate() const { return estimate_; }

  Snapshot snapshot() const;
  // Null unless ready.
  std::shared_ptr<const Deformer> deformer() const;
  // OK once ready; kFailedPrecondition with reason NOT_READY if it failed.
  absl::Status CheckReady() const;

  // Calls `done` once, when the bind is over: on the bind thread, or here and now. It must be
  // short.
  std::uint64_t WhenDone(std::function<void()> done);
  // `done` is not called any more, unless it is being called already.
  void Forget(std::uint64_t id);

  void Cancel() { stop_.request_stop(); }
  std::stop_token stop_token() const { return stop_.get_token(); }
  void SetProgress(double progress) { progress_.store(progress, std::memory_order_relaxed); }
  void Finish(absl::StatusOr<Deformer> result);

  CostMean frame_cost;
  std::atomic<double> bind_seconds{0};  // what computing it took; 0 = read from disk, or not done

 private:
  const std::string key_;
  const std::shared_ptr<const Rig> rig_;
  const Recipe recipe_;
  const BindEstimate estimate_;
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
