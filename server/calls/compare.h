// compare.h - CompareDeformers: a block of poses through several targets of one rig, each frame
// measured.
//
// Targets follow each other, and poses within a target. Every pose is a job of its own in the pose
// arena, so that frames of other calls run in between. At most one message waits besides the one
// being written: a slow reader slows the comparison down.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/metrics/meter.h"
#include "core/metrics/sequence.h"
#include "server/calls/frame_call.h"
#include "server/frames/evaluator.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class CompareCall final : public FrameCall<CompareCall> {
 public:
  using FrameCall::FrameCall;

 private:
  friend CallReactor;
  // The target that is being measured.
  struct Measured {
    std::shared_ptr<Session> session;
    std::unique_ptr<Evaluator> evaluator;
    std::optional<metrics::SequenceMeter> sequence;
  };

  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnDrain() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);  // it may take hours: not finished
  void Pump() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckRequest() const;
  void FindNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Found(std::shared_ptr<Session> session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Prepare() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WaitForBind() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnBound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Measures the next pose; unlocks the mutex meanwhile.
  void MeasureNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Without the mutex, by one job at a time.
  absl::StatusOr<v1::CompareDeformersResponse> Measure(int target, int pose);
  absl::Status BeginTarget(int target, v1::CompareDeformersResponse& response);
  absl::Status MeasurePose(int index, v1::CompareDeformersResponse& response);
  v1::TargetSummary Summary() const;

  double FramesPerSecond() const;
  bool IsLast(int pose) const { return pose + 1 == request_.poses().poses_size(); }

  v1::CompareDeformersRequest request_;  // constant after OnStart
  Quota::Permit reservation_ ABSL_GUARDED_BY(mutex_);
  bool ready_ ABSL_GUARDED_BY(mutex_) = false;  // the session of target_ is bound
  bool measuring_ ABSL_GUARDED_BY(mutex_) = false;
  int target_ ABSL_GUARDED_BY(mutex_) = 0, pose_ ABSL_GUARDED_BY(mutex_) = 0;  // next

  // Used by one job at a time.
  std::optional<metrics::Meter> meter_;
  Measured measured_;
  std::vector<Vec3f> positions_;  // [V] of the frame being measured
};

}  // namespace sinew::server
