// deform.h - Deform: one pose, and one frame in the reply.
#pragma once

#include <memory>

#include "server/calls/call_reactor.h"
#include "server/frames/evaluator.h"
#include "sinew/v1/deform_service.pb.h"

namespace sinew::server {

class DeformCall final : public CallReactor<DeformCall> {
 public:
  using CallReactor::CallReactor;

 private:
  friend CallReactor;
  absl::Status OnStart() override ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnStarted() override;
  void Found(absl::StatusOr<std::shared_ptr<Session>> session);
  absl::Status Prepare(std::shared_ptr<Session> session) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckSize() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnBound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { EvaluatePose(true); }
  // Evaluates and ends the call; unlocks the mutex during the evaluation.
  void EvaluatePose(bool parallel) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(OutgoingFrame frame) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  v1::DeformRequest request_;  // constant after OnStart
  Quota::Permit reservation_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<Session> session_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Evaluator> evaluator_;  // set once, then used by one evaluation
};

}  // namespace sinew::server
