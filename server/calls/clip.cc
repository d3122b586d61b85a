#include "server/calls/clip.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/calls/open_session.h"
#include "server/convert/pose.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::uint64_t kBuffers = 3;  // in the transport, ready, being filled

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* ClipCall::Start(Runtime& runtime,
                                                            const RpcMethod& method,
                                                            grpc::CallbackServerContext* context,
                                                            const grpc::ByteBuffer* request) {
  auto clip = std::make_shared<ClipCall>(runtime, method, context);
  clip->self_ = clip;
  const std::lock_guard lock(clip->mutex_);
  absl::Status status = clip->call_.Begin();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.deforms.Enter();
    status = pass.status();
    if (pass.ok()) clip->permit_ = *std::move(pass);
  }
  if (status.ok()) status = CatchExceptions([&] { return clip->Receive(*request); });
  if (!status.ok()) {
    clip->End(status);
    return clip.get();
  }
  runtime.AddStream(clip);
  FindTarget(runtime, clip->request_.target(), clip->call_.stop_token(),
             [clip](absl::StatusOr<std::shared_ptr<Session>> session) {
               clip->runtime_.arenas.Post([clip, session = std::move(session)] {
                 const std::lock_guard locked(clip->mutex_);
                 const absl::Status found =
                     session.ok() ? CatchExceptions([&] { return clip->Prepare(*session); })
                                  : session.status();
                 if (!found.ok()) clip->End(found);
               });
             });
  return clip.get();
}

absl::Status ClipCall::Receive(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer copy(bytes);  // refers to the same slices
  if (!grpc::SerializationTraits<v1::DeformClipRequest>::Deserialize(&copy, &request_).ok()) {
    return InvalidField("request", "the bytes are not a DeformClipRequest");
  }
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request_, ""));
  return CheckPoseBlock(request_.poses(), runtime_.config.streams.clip_poses, "max-clip-poses");
}

absl::Status ClipCall::Prepare(std::shared_ptr<Session> session) {
  if (ended_) return absl::OkStatus();
  session_ = session;
  SINEW_ASSIGN_OR_RETURN(evaluator_, Evaluator::Create(runtime_.evaluators, std::move(session),
                                                       request_.layout(), request_.output()));
  SINEW_ASSIGN_OR_RETURN(reservation_,
                         runtime_.frames->Reserve(kBuffers * evaluator_->frame_bytes()));
  bind_wait_ = session_->bound->WhenDone([self = shared_from_this()] {
    self->runtime_.arenas.Post([self] {
      const std::lock_guard lock(self->mutex_);
      self->Ready();
    });
  });
  return absl::OkStatus();
}

void ClipCall::Ready() {
  if (ended_) return;
  if (const absl::Status status = evaluator_->Ready(); !status.ok()) {
    End(status);
    return;
  }
  v1::DeformClipResponse first;
  first.set_determinism_digest(session_->determinism_digest);
  first.set_stateful(evaluator_->stateful());
  outbox_.Push(first);
  ready_ = true;
  Pump();
}

void ClipCall::Pump() {
  WriteNext();
  if (ended_ || !ready_ || evaluating_) return;
  const int count = request_.poses().poses_size();
  if (next_ == count) {
    if (!writing_ && outbox_.empty()) End(absl::OkStatus());
    return;
  }
  // Small frames may gather while a write is under way; a large one waits for the one before.
  if (outbox_.frames_ready() >= 1) return;
  evaluating_ = true;
  const int index = next_++;
  runtime_.arenas.Post([self = shared_from_this(), index] {
    const v1::PoseBlock& block = self->request_.poses();
    const v1::Pose& pose = block.poses(index);
    self->Evaluate(pose, static_cast<std::uint32_t>(index) >= block.preroll() && !pose.no_output());
  });
}

void ClipCall::Evaluate(const v1::Pose& pose, bool output) {
  auto result = CatchExceptions([&] { return evaluator_->Evaluate(pose, true, output); });
  const std::lock_guard lock(mutex_);
  evaluating_ = false;
  if (!result.ok()) {
    v1::DeformClipResponse response;
    v1::FrameProblem& problem = *response.add_problems();
    problem.set_frame(pose.frame());
    *problem.mutable_problem() = ToProblem(result.status());
    outbox_.Push(response);
    runtime_.metrics.frame_problems.Increment();
  } else if (result->has_value()) {
    outbox_.Push(**std::move(result));
  }
  Pump();
}

void ClipCall::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  if (Wrote(ok)) Pump();
}

void ClipCall::OnCancel() {
  call_.Cancel();
  std::uint64_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    End(absl::CancelledError("clip: cancelled"));
    if (evaluator_ != nullptr) evaluator_->Stop();  // what runs is for nobody
    waiting = bind_wait_;
  }
  if (waiting != 0) session_->bound->Forget(waiting);
}

void ClipCall::OnDone() {
  if (bind_wait_ != 0) session_->bound->Forget(bind_wait_);
  self_.reset();
}

void ClipCall::Tick(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  CutIfBlocked(now, std::chrono::duration<double>(runtime_.config.streams.stall_seconds));
  if (ended_ || session_ == nullptr) return;
  if (session_->ended.load()) {
    End(absl::NotFoundError("session: it was deleted"));
  } else {  // an open call is a use
    runtime_.sessions.Use(session_->name, std::chrono::system_clock::now()).IgnoreError();
  }
}

}  // namespace sinew::server
