// clip.h - DeformClip: a block of poses in one message, all frames back in order.
//
// The client cannot acknowledge frames, so gRPC's flow control and two frames here bound what
// accumulates for a slow reader.
#pragma once

#include <memory>

#include "server/calls/frame_call.h"
#include "server/frames/evaluator.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class ClipCall final : public FrameCall<ClipCall> {
 public:
  using FrameCall::FrameCall;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Pump() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Prepare(std::shared_ptr<Session> session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnBound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Evaluates the next pose; unlocks the mutex meanwhile.
  void EvaluateNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  v1::DeformClipRequest request_;  // constant after OnStart
  Quota::Permit reservation_ ABSL_GUARDED_BY(mutex_);
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;
  bool evaluating_ ABSL_GUARDED_BY(mutex_) = false;
  int next_ ABSL_GUARDED_BY(mutex_) = 0;  // pose
  // Set once, before ready_; then used by one evaluation at a time.
  std::unique_ptr<Evaluator> evaluator_;
};

}  // namespace sinew::server
