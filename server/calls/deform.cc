#include "server/calls/deform.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::uint64_t kResponseBytes = 4 << 20;  // gRPC's default receive limit
constexpr std::uint64_t kHeaderBytes = 512;        // all of the reply except vertices and muscles

}  // namespace

absl::Status DeformCall::OnStart() {
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request_));
  return RefuseUnknownFields(request_, "");
}

void DeformCall::OnStarted() {
  // Not CallWork::FindSession, which continues on a worker: a cheap pose is evaluated here.
  const auto found = [call = Self()](absl::StatusOr<std::shared_ptr<Session>> session) {
    call->Found(std::move(session));
  };
  const StepMoved moved = MovesStep();
  moved(FindTarget(call_, request_.target(), found, moved));
}

void DeformCall::Found(absl::StatusOr<std::shared_ptr<Session>> session) {
  const absl::MutexLock lock(&mutex_);
  if (ended_) return;
  const absl::Status status = session.ok() ? CatchExceptions([&] {
    mutex_.AssertHeld();
    return Prepare(*std::move(session));
  })
                                           : session.status();
  if (!status.ok()) {
    End(status);
    return;
  }
  if (session_->bound->CheckReady().ok() && evaluator_->Cheap()) {
    EvaluatePose(false);
  } else {
    WhenBound(session_, [](DeformCall& call) {
      call.PostFrame(call.evaluator_->lane(), &DeformCall::OnBound);
    });
  }
}

absl::Status DeformCall::Prepare(std::shared_ptr<Session> session) {
  session_ = std::move(session);
  SINEW_ASSIGN_OR_RETURN(
      evaluator_,
      Evaluator::Create(runtime_.evaluators, session_, request_.layout(), request_.output(),
                        call_.stop_token(), Evaluator::Frames::kOnePiece));
  SINEW_RETURN_IF_ERROR(CheckSize());
  SINEW_ASSIGN_OR_RETURN(
      reservation_, runtime_.frame_bytes.Take(call_.caller().client(), evaluator_->frame_bytes(1)));
  return absl::OkStatus();
}

absl::Status DeformCall::CheckSize() const {
  const std::uint64_t asked =
      request_.max_response_bytes() == 0 ? kResponseBytes : request_.max_response_bytes();
  const std::uint64_t most = runtime_.config.streams.response_bytes;
  const std::uint64_t bytes =
      kHeaderBytes + evaluator_->muscle_bytes() +
      std::uint64_t{evaluator_->vertices()} * evaluator_->output().BytesPerVertex();
  if (bytes <= std::min(asked, most)) return absl::OkStatus();
  const std::string need =
      bytes <= most ? absl::StrCat(asked, "; use StreamDeform, or raise max_response_bytes")
                    : absl::StrCat(most, "; use StreamDeform (max-response-bytes)");
  return WithReason(absl::FailedPreconditionError(absl::StrCat("deform: the reply has ", bytes,
                                                               " bytes, need at most ", need)),
                    v1::REASON_USE_STREAM);
}

void DeformCall::EvaluatePose(bool parallel) {
  auto permit = permit_;  // a cancelled call counts until its evaluation has returned
  absl::StatusOr<OutgoingFrame> frame = Unlocked([&]() -> absl::StatusOr<OutgoingFrame> {
    SINEW_RETURN_IF_ERROR(evaluator_->Ready());
    return evaluator_->EvaluateFrame(request_.pose(), parallel);
  });
  permit.reset();
  evaluator_.reset();  // its scratch memory need not wait until the reply has been read
  if (ended_) return;
  if (frame.ok()) Answer(*std::move(frame));
  End(frame.status());
}

void DeformCall::Answer(OutgoingFrame frame) {
  static_assert(int{v1::DeformResponse::kFrameFieldNumber} ==
                int{v1::StreamDeformResponse::kFramesFieldNumber});
  v1::DeformResponse rest;  // all fields but the frame
  rest.set_determinism_digest(session_->determinism_digest);
  std::vector<grpc::Slice> slices;
  frame.AppendPiece(0, slices);
  slices.emplace_back(rest.SerializeAsString());
  SetReply(grpc::ByteBuffer(slices.data(), slices.size()));
  runtime_.metrics.frames.Increment();
  runtime_.metrics.frame_bytes.Increment(static_cast<double>(frame.sent_bytes()));
}

}  // namespace sinew::server
