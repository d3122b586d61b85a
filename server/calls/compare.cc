#include "server/calls/compare.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/calls/open_session.h"
#include "server/convert/metrics.h"
#include "server/convert/pose.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr double kFramesPerSecond = 24;  // when the client names none
constexpr double kMaxFramesPerSecond = 1e6;
constexpr std::uint64_t kFramesHeld = 4;  // the one being measured, and three for jerk

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string TargetPath(std::size_t index) {
  return absl::StrCat("targets[", index, "]");
}

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* CompareCall::Start(Runtime& runtime,
                                                               const RpcMethod& method,
                                                               grpc::CallbackServerContext* context,
                                                               const grpc::ByteBuffer* request) {
  auto compare = std::make_shared<CompareCall>(runtime, method, context);
  compare->self_ = compare;
  const std::lock_guard lock(compare->mutex_);
  absl::Status status = compare->call_.Begin();
  if (status.ok()) {
    absl::StatusOr<ConcurrencyLimit::Permit> pass = runtime.compares.Enter();
    status = pass.status();
    if (pass.ok()) compare->permit_ = *std::move(pass);
  }
  if (status.ok()) status = CatchExceptions([&] { return compare->Receive(*request); });
  if (!status.ok()) {
    compare->End(status);
    return compare.get();
  }
  runtime.AddStream(compare);
  compare->FindNext();
  return compare.get();
}

absl::Status CompareCall::Receive(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer copy(bytes);  // refers to the same slices
  if (!grpc::SerializationTraits<v1::CompareDeformersRequest>::Deserialize(&copy, &request_).ok()) {
    return InvalidField("request", "the bytes are not a CompareDeformersRequest");
  }
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request_, ""));
  const CompareConfig& limits = runtime_.config.compare;
  const auto targets = static_cast<std::uint64_t>(request_.targets_size());
  if (targets == 0) return InvalidField("targets", "got none, need one or more");
  if (targets > limits.targets) {
    return LimitPassed("targets", targets, limits.targets, "targets", "max-compare-targets");
  }
  SINEW_RETURN_IF_ERROR(CheckPoseBlock(request_.poses(), limits.poses, "max-compare-poses"));
  const double fps = request_.frames_per_second();
  if (!(fps >= 0 && fps <= kMaxFramesPerSecond)) {
    return InvalidField("frames_per_second",
                        absl::StrCat("got ", fps, ", need 0 (for ", kFramesPerSecond, ") to ",
                                     kMaxFramesPerSecond));
  }
  return absl::OkStatus();
}

double CompareCall::FramesPerSecond() const {
  return request_.frames_per_second() > 0 ? request_.frames_per_second() : kFramesPerSecond;
}

void CompareCall::FindNext() {
  const std::size_t index = sessions_.size();
  FindTarget(
      runtime_, request_.targets(static_cast<int>(index)), call_.stop_token(),
      [self = shared_from_this()](absl::StatusOr<std::shared_ptr<Session>> session) {
        self->runtime_.arenas.Post([self, session = std::move(session)] {
          const std::lock_guard lock(self->mutex_);
          if (self->ended_) return;
          const absl::Status status = session.ok()
                                          ? CatchExceptions([&] { return self->Found(*session); })
                                          : session.status();
          if (!status.ok()) self->Stop(status);
        });
      },
      TargetPath(index));
}

absl::Status CompareCall::Found(std::shared_ptr<Session> session) {
  const std::size_t index = sessions_.size();
  sessions_.push_back(std::move(session));
  if (sessions_[index]->bound->rig().digest() != sessions_[0]->bound->rig().digest()) {
    return InvalidField(TargetPath(index), absl::StrCat("its rig is another than that of ",
                                                        TargetPath(0), ", need one rig"));
  }
  if (static_cast<int>(sessions_.size()) < request_.targets_size()) {
    FindNext();
    return absl::OkStatus();
  }
  return Prepare();
}

absl::Status CompareCall::Prepare() {
  const Rig& rig = sessions_[0]->bound->rig();
  SINEW_RETURN_IF_ERROR(ToPoseFormat(request_.layout(), rig).status());
  const std::uint64_t bytes =
      kFramesHeld * rig.vertices() * sizeof(Vec3f) +
      metrics::Meter::Cost(rig, {.self_intersections = request_.self_intersections()});
  SINEW_ASSIGN_OR_RETURN(reservation_, runtime_.comparisons->Reserve(bytes));
  WaitForBind();
  return absl::OkStatus();
}

void CompareCall::WaitForBind() {
  ready_ = false;
  const auto& session = sessions_[static_cast<std::size_t>(target_)];
  bind_wait_ = session->bound->WhenDone([self = shared_from_this()] {
    self->runtime_.arenas.Post([self] {
      const std::lock_guard lock(self->mutex_);
      self->ready_ = true;
      self->Pump();
    });
  });
}

void CompareCall::Pump() {
  WriteNext();
  if (ended_) return;
  if (target_ == request_.targets_size()) {
    if (!writing_ && outbox_.empty()) End(absl::OkStatus());
    return;
  }
  if (!ready_ || working_ || !outbox_.empty()) return;
  working_ = true;
  runtime_.arenas.Post([self = shared_from_this()] { self->Step(); });
}

void CompareCall::Step() {
  ConcurrencyLimit::Permit pass;  // what runs counts, also for a client that is gone
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    pass = std::move(permit_);
  }
  const auto response = CatchExceptions([&] { return MeasureNext(); });
  const std::lock_guard lock(mutex_);
  working_ = false;
  if (ended_) return;
  permit_ = std::move(pass);
  if (!response.ok()) {
    Stop(response.status());
    return;
  }
  if (response->frames_size() + response->problems_size() > 0 || response->has_summary() ||
      !response->determinism_digest().empty()) {
    outbox_.Push(*response);
  }
  if (!LastPose()) {
    ++pose_;
  } else {
    pose_ = 0;
    measured_ = {};
    if (++target_ < request_.targets_size()) WaitForBind();
  }
  Pump();
}

absl::StatusOr<v1::CompareDeformersResponse> CompareCall::MeasureNext() {
  v1::CompareDeformersResponse response;
  response.set_target(static_cast<std::uint32_t>(target_));
  if (pose_ == 0) SINEW_RETURN_IF_ERROR(Begin(response));
  const v1::PoseBlock& block = request_.poses();
  const v1::Pose& pose = block.poses(pose_);
  const bool output = static_cast<std::uint32_t>(pose_) >= block.preroll() && !pose.no_output();
  SINEW_RETURN_IF_ERROR(MeasurePose(pose, output, response));
  if (LastPose()) *response.mutable_summary() = Summary();
  return response;
}

absl::Status CompareCall::Begin(v1::CompareDeformersResponse& response) {
  const auto& session = sessions_[static_cast<std::size_t>(target_)];
  const Rig& rig = session->bound->rig();
  response.set_determinism_digest(session->determinism_digest);
  SINEW_ASSIGN_OR_RETURN(measured_.evaluator,
                         Evaluator::Create(runtime_.evaluators, session, request_.layout(), {}));
  const absl::Status bound = measured_.evaluator->Ready();
  if (!bound.ok()) return WithPath(bound, TargetPath(static_cast<std::size_t>(target_)));
  measured_.jerk.emplace(FramesPerSecond(), rig.mesh().diagonal());
  if (meter_) return absl::OkStatus();
  positions_.resize(rig.vertices());
  SINEW_ASSIGN_OR_RETURN(
      meter_, metrics::Meter::Create(sessions_[0]->bound->rig(),
                                     {.self_intersections = request_.self_intersections()},
                                     Task({.stop = stop_.get_token()})));
  return absl::OkStatus();
}

absl::Status CompareCall::MeasurePose(const v1::Pose& pose, bool output,
                                      v1::CompareDeformersResponse& response) {
  if (pose.reset()) measured_.jerk->Reset();  // another sequence begins
  FrameOut out{.positions = std::as_writable_bytes(std::span(positions_))};
  const auto start = std::chrono::steady_clock::now();
  const absl::Status evaluated = measured_.evaluator->EvaluateNext(pose, true, out);
  const double seconds = SecondsSince(start);
  if (!evaluated.ok()) {
    measured_.jerk->Reset();
    v1::FrameProblem& problem = *response.add_problems();
    problem.set_frame(pose.frame());
    *problem.mutable_problem() = ToProblem(evaluated);
    runtime_.metrics.frame_problems.Increment();
    return absl::OkStatus();
  }
  const Task task({.stop = stop_.get_token()});
  const std::optional<double> jerk = measured_.jerk->Add(positions_, task);
  if (!output) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(metrics::FrameMetrics figures,
                         meter_->Measure(positions_, measured_.evaluator->joints(), task));
  figures.jerk = jerk;
  measured_.summary.Add(figures);
  measured_.evaluate_seconds += seconds;
  measured_.worst_evaluate_seconds = std::max(measured_.worst_evaluate_seconds, seconds);
  v1::FrameMetrics& frame = *response.add_frames();
  frame = ToProto(figures);
  frame.set_frame(pose.frame());
  frame.set_evaluate_seconds(seconds);
  frame.set_replayed_steps(measured_.evaluator->TakeReplayed());
  return absl::OkStatus();
}

v1::MetricsSummary CompareCall::Summary() const {
  v1::MetricsSummary summary = ToProto(measured_.summary);
  const auto frames = static_cast<double>(std::max<std::uint64_t>(1, measured_.summary.frames()));
  summary.mutable_mean()->set_evaluate_seconds(measured_.evaluate_seconds / frames);
  summary.mutable_worst()->set_evaluate_seconds(measured_.worst_evaluate_seconds);
  const BoundDeformer& bound = *sessions_[static_cast<std::size_t>(target_)]->bound;
  summary.set_bind_seconds(bound.bind_seconds);
  summary.set_bound_bytes(bound.deformer()->bytes());
  return summary;
}

void CompareCall::Stop(const absl::Status& status) {
  stop_.request_stop();  // what is being measured is for nobody
  End(status);
}

void CompareCall::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  if (Wrote(ok)) {
    Pump();
  } else {
    stop_.request_stop();
  }
}

void CompareCall::OnCancel() {
  call_.Cancel();
  std::uint64_t waiting = 0;
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    Stop(absl::CancelledError("compare: cancelled"));
    waiting = bind_wait_;
    if (target_ < static_cast<int>(sessions_.size())) {
      session = sessions_[static_cast<std::size_t>(target_)];
    }
  }
  if (waiting != 0 && session != nullptr) session->bound->Forget(waiting);
}

void CompareCall::OnDone() {
  if (bind_wait_ != 0 && target_ < static_cast<int>(sessions_.size())) {
    sessions_[static_cast<std::size_t>(target_)]->bound->Forget(bind_wait_);
  }
  self_.reset();
}

void CompareCall::Drain() {
  const std::lock_guard lock(mutex_);
  Stop(Draining());
}

void CompareCall::Tick(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  CutIfBlocked(now, std::chrono::duration<double>(runtime_.config.streams.stall_seconds));
  if (ended_) {
    stop_.request_stop();
    return;
  }
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    const auto& session = sessions_[i];
    if (session->ended.load()) {
      Stop(absl::NotFoundError(absl::StrCat(TargetPath(i), ": the session was deleted")));
      return;
    }
    // An open call is a use.
    runtime_.sessions.Use(session->name, std::chrono::system_clock::now()).IgnoreError();
  }
}

}  // namespace sinew::server
