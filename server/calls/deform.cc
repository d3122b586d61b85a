#include "server/calls/deform.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "core/base/bulk_checksum.h"
#include "core/base/status.h"
#include "server/base/status.h"
#include "server/calls/open_session.h"
#include "server/convert/posed_muscle.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr std::uint64_t kResponseBytes = 4
                                         << 20;  // what a client accepts unless it raised its limit
constexpr std::uint64_t kHeaderBytes = 512;      // all of the reply but its bulk

std::uint64_t Nanoseconds(std::chrono::steady_clock::duration duration) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

}  // namespace

grpc::ServerUnaryReactor* DeformCall::Start(Runtime& runtime, const RpcMethod& method,
                                            grpc::CallbackServerContext* context,
                                            const v1::DeformRequest* request,
                                            v1::DeformResponse* response) {
  auto call = std::make_shared<DeformCall>(runtime, method, context, request, response);
  call->self_ = call;
  absl::Status status = call->call_.Begin();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.deforms.Enter();
    status = pass.status();
    if (pass.ok()) call->permit_ = *std::move(pass);
  }
  if (status.ok()) status = CatchExceptions([&] { return call->Check(); });
  if (!status.ok()) {
    call->End(status);
    return call.get();
  }
  FindTarget(runtime, request->target(), call->call_.stop_token(),
             [call](absl::StatusOr<std::shared_ptr<Session>> session) {
               const absl::Status found =
                   session.ok()
                       ? CatchExceptions([&] { return call->Prepare(*std::move(session)); })
                       : session.status();
               found.ok() ? call->RunWhenBound() : call->End(found);
             });
  return call.get();
}

absl::Status DeformCall::Check() const {
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(*request_, ""));
  if (request_->pose().no_output()) {
    return InvalidField("pose.no_output",
                        "set, but there is no stream whose state it could change");
  }
  return absl::OkStatus();
}

absl::Status DeformCall::Prepare(std::shared_ptr<Session> session) {
  const std::lock_guard lock(mutex_);
  if (ended_) return absl::OkStatus();
  session_ = session;
  SINEW_ASSIGN_OR_RETURN(evaluator_, Evaluator::Create(runtime_.evaluators, std::move(session),
                                                       request_->layout(), request_->output()));
  SINEW_RETURN_IF_ERROR(CheckSize());
  SINEW_ASSIGN_OR_RETURN(reservation_, runtime_.frames->Reserve(evaluator_->frame_bytes()));
  return absl::OkStatus();
}

void DeformCall::RunWhenBound() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (!session_->bound->CheckReady().ok() || !evaluator_->Cheap()) {
      bind_wait_ = session_->bound->WhenDone(
          [self = shared_from_this()] { self->runtime_.arenas.Post([self] { self->Run(true); }); });
      return;
    }
  }
  Run(false);
}

void DeformCall::Run(bool parallel) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    evaluating_ = true;
  }
  End(CatchExceptions([&] { return Evaluate(parallel); }));
}

absl::Status DeformCall::CheckSize() const {
  const std::uint64_t asked =
      request_->max_response_bytes() == 0 ? kResponseBytes : request_->max_response_bytes();
  const std::uint64_t allowed = std::min(asked, runtime_.config.streams.response_bytes);
  const std::uint64_t bytes =
      kHeaderBytes + evaluator_->muscle_bytes() +
      std::uint64_t{evaluator_->vertices()} * evaluator_->output().BytesPerVertex();
  if (bytes <= allowed) return absl::OkStatus();
  return WithReason(absl::FailedPreconditionError(absl::StrCat(
                        "deform: the reply has ", bytes, " bytes, ", allowed,
                        " are allowed; use StreamDeform, or raise max_response_bytes")),
                    v1::REASON_USE_STREAM);
}

absl::Status DeformCall::Evaluate(bool parallel) {
  SINEW_RETURN_IF_ERROR(evaluator_->Ready());
  v1::Frame& frame = *response_->mutable_frame();
  std::string& positions = *frame.mutable_positions();
  positions.resize(std::size_t{evaluator_->vertices()} * 12);
  FrameOut out{.positions = std::as_writable_bytes(std::span<char>(positions))};
  const Output& output = evaluator_->output();
  if (output.normals) {
    std::string& normals = *frame.mutable_normals();
    normals.resize(positions.size());
    out.normals = std::as_writable_bytes(std::span<char>(normals));
    frame.set_normal_encoding(v1::ENCODING_FLOAT32);
  }
  if (output.tangents) {
    v1::Channel& channel = *frame.add_channels();
    channel.set_attribute(v1::ATTRIBUTE_TANGENTS);
    channel.set_encoding(v1::ENCODING_FLOAT32);
    std::string& tangents = *channel.mutable_data();
    tangents.resize(std::size_t{evaluator_->vertices()} * 16);
    out.tangents = std::as_writable_bytes(std::span<char>(tangents));
  }
  if (output.vertex_status) {
    v1::Channel& channel = *frame.add_channels();
    channel.set_attribute(v1::ATTRIBUTE_VERTEX_STATUS);
    channel.set_encoding(v1::ENCODING_UINT8);
    std::string& vertex_status = *channel.mutable_data();
    vertex_status.resize(evaluator_->vertices());
    out.vertex_status = std::as_writable_bytes(std::span<char>(vertex_status));
  }
  std::vector<PosedMuscle> muscles;
  if (output.muscles) out.muscles = &muscles;
  const auto start = std::chrono::steady_clock::now();
  SINEW_RETURN_IF_ERROR(evaluator_->EvaluateOnce(request_->pose(), parallel, out));
  const auto evaluated = std::chrono::steady_clock::now();
  if (output.checksums) {
    frame.set_checksum(BulkChecksum({out.positions, out.normals, out.tangents, out.vertex_status}));
  }
  frame.set_frame(request_->pose().frame());
  frame.set_time(request_->pose().time());
  frame.set_vertex_count(evaluator_->vertices());
  frame.set_last_chunk(true);
  frame.set_encoding(v1::ENCODING_FLOAT32);
  for (std::size_t i = 0; i < 3; ++i) {
    frame.mutable_bounds()->add_minimum(out.bounds[i]);
    frame.mutable_bounds()->add_maximum(out.bounds[i + 3]);
  }
  AddMuscles(muscles, frame);
  frame.mutable_timing()->set_evaluate_ns(Nanoseconds(evaluated - start));
  frame.mutable_timing()->set_encode_ns(Nanoseconds(std::chrono::steady_clock::now() - evaluated));
  response_->set_determinism_digest(session_->determinism_digest);
  runtime_.metrics.frames.Increment();
  runtime_.metrics.frame_bytes.Increment(
      static_cast<double>(std::size_t{evaluator_->vertices()} * output.BytesPerVertex()));
  return absl::OkStatus();
}

void DeformCall::End(const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  EndLocked(status);
}

void DeformCall::EndLocked(const absl::Status& status) {
  ended_ = true;
  permit_ = ConcurrencyLimit::Permit();  // before the client knows: it may come again at once
  Finish(call_.End(status));
}

void DeformCall::OnCancel() {
  call_.Cancel();
  std::uint64_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    // The response is being written while it evaluates: that job ends the call.
    if (!evaluating_ && !ended_) EndLocked(absl::CancelledError("deform: cancelled"));
    waiting = bind_wait_;
  }
  if (waiting != 0) session_->bound->Forget(waiting);
}

void DeformCall::OnDone() {
  if (bind_wait_ != 0) session_->bound->Forget(bind_wait_);
  self_.reset();
}

}  // namespace sinew::server
