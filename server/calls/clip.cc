#include "server/calls/clip.h"

#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/pose.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::uint64_t kClipBuffers = 3;  // frames in the transport, ready and being evaluated
constexpr std::size_t kProblems = 16;      // that wait, each a message of some hundred bytes

}  // namespace

absl::Status ClipCall::OnStart() {
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request_));
  SINEW_RETURN_IF_ERROR(
      CheckPoseBlock(request_.poses(), runtime_.config.streams.clip_poses, "max-clip-poses"));
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request_, ""));
  FindSession(request_.target(), "target", &ClipCall::Prepare);
  return absl::OkStatus();
}

absl::Status ClipCall::Prepare(std::shared_ptr<Session> session) {
  sessions_.push_back(session);
  SINEW_ASSIGN_OR_RETURN(evaluator_,
                         Evaluator::Create(runtime_.evaluators, session, request_.layout(),
                                           request_.output(), call_.stop_token()));
  SINEW_ASSIGN_OR_RETURN(
      reservation_,
      runtime_.frame_bytes.Take(call_.caller().client(), evaluator_->frame_bytes(kClipBuffers)));
  WhenBound(session, &ClipCall::OnBound);
  return absl::OkStatus();
}

void ClipCall::OnBound() {
  if (const absl::Status status = evaluator_->Ready(); !status.ok()) {
    End(status);
    return;
  }
  v1::DeformClipResponse first;
  first.set_determinism_digest(sessions_[0]->determinism_digest);
  outbox_.Push(first);
  ready_ = true;
  Pump();
}

void ClipCall::Pump() {
  WriteNext();
  if (ended_ || !ready_ || evaluating_) return;
  if (next_ == request_.poses().poses_size()) {
    if (!writing_ && outbox_.empty()) End(absl::OkStatus());
    return;
  }
  // Small frames may accumulate during a write; a large one waits for the one before.
  if (outbox_.frames_ready() >= 1 || outbox_.size() >= kProblems) return;
  evaluating_ = true;
  PostFrame(evaluator_->lane(), &ClipCall::EvaluateNext);
}

void ClipCall::EvaluateNext() {
  const v1::Pose& pose = request_.poses().poses(next_++);
  auto result = Unlocked([&] { return evaluator_->EvaluateFrame(pose, true); });
  evaluating_ = false;
  if (ended_) return;
  if (!result.ok()) {
    v1::DeformClipResponse response;
    AddProblem(pose.frame(), result.status(), response);
    outbox_.Push(response);
  } else {
    outbox_.Push(*std::move(result));
  }
  Pump();
}

}  // namespace sinew::server
