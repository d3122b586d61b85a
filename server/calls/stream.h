// stream.h - StreamDeform: poses in and frames out concurrently.
//
// The first message opens the stream (target, layout, output, mode, window). Poses that arrive
// while the session still binds wait. Then one pose is evaluated at a time, on the thread where it
// arrived if that is cheap, else in the pose arena, and frames are written one message at a time.
// Poses are always read, so that a `received` that follows them is seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "server/calls/frame_call.h"
#include "server/frames/broadcast.h"
#include "server/frames/evaluator.h"
#include "server/frames/flow_window.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class StreamCall final : public FrameCall<StreamCall> {
 public:
  using FrameCall::FrameCall;

  void OnReadDone(bool ok) override;

 private:
  friend CallReactor;
  struct Waiting {
    v1::Pose pose;
    Clock::Time arrived;
    std::uint32_t replaced;  // poses that it has replaced
    absl::Status refused;    // else evaluated in its turn
    Quota::Permit held;      // memory of its request, until Prepare
  };

  absl::Status OnAdmitted() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnTick(Clock::Time now) override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDrain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnEnd() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Pump() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // held: memory of the request, here and in gRPC, which its poses keep; null once poses_held_
  // counts them.
  absl::Status Receive(v1::StreamDeformRequest& request, const Quota::Permit& held)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Open(const v1::StreamOpen& open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Accept(v1::Pose& pose, const Quota::Permit& held)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CheckPose(Waiting& waiting) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Prepare(std::shared_ptr<Session> session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnBound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Waiting TakeFirst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Unlocks the mutex during the evaluation.
  void EvaluatePose(const Waiting& waiting, bool parallel) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(const Waiting& waiting, absl::StatusOr<OutgoingFrame> result, Clock::Time started)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Calls the viewers, if `needed`, on a worker.
  void WakeViewers(bool needed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::chrono::duration<double> idle_limit() const {
    return std::chrono::duration<double>(runtime_.config.streams.idle_seconds);
  }
  void EndIfDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Until Prepare: how the stream is opened, and memory held for it.
  v1::PoseLayout layout_ ABSL_GUARDED_BY(mutex_);
  v1::OutputOptions output_ ABSL_GUARDED_BY(mutex_);
  Quota::Permit opening_ ABSL_GUARDED_BY(mutex_);
  bool opened_ ABSL_GUARDED_BY(mutex_) = false;  // the first message was read
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;   // bound: poses may be evaluated
  bool reads_done_ ABSL_GUARDED_BY(mutex_) = false;
  bool evaluating_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool left_out_ ABSL_GUARDED_BY(mutex_) = false;  // a pose arrived after the drain began
  Quota::Permit frames_held_ ABSL_GUARDED_BY(mutex_);
  Quota::Permit poses_held_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Broadcast> broadcast_ ABSL_GUARDED_BY(mutex_);  // null: not published
  std::optional<FlowWindow> window_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // Bytes of waiting poses that cannot be checked yet, because their format is unknown.
  std::uint64_t unchecked_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint32_t skipped_ ABSL_GUARDED_BY(mutex_) = 0;  // before poses that got no frame
  std::optional<Clock::Time> full_since_ ABSL_GUARDED_BY(mutex_);
  Clock::Time last_pose_ ABSL_GUARDED_BY(mutex_);  // or when the stream became ready
  // Set once, before ready_; then used by one evaluation at a time.
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace sinew::server
