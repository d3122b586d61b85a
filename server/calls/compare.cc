#include "server/calls/compare.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/metrics.h"
#include "server/convert/pose.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

constexpr double kFramesPerSecond = 24;  // default
constexpr double kMaxFramesPerSecond = 1e6;

std::string TargetPath(std::size_t index) {
  return absl::StrCat("targets[", index, "]");
}

}  // namespace

absl::Status CompareCall::OnStart() {
  SINEW_RETURN_IF_ERROR(ParseRequest(call_, read_, request_));
  SINEW_RETURN_IF_ERROR(CheckRequest());
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(request_, ""));
  FindNext();
  return absl::OkStatus();
}

absl::Status CompareCall::CheckRequest() const {
  const CompareConfig& limits = runtime_.config.compare;
  const auto targets = static_cast<std::uint64_t>(request_.targets_size());
  if (targets == 0) return InvalidField("targets", "got none, need one or more");
  SINEW_RETURN_IF_ERROR(
      CheckLimit("targets", targets, limits.targets, "targets", "max-compare-targets"));
  SINEW_RETURN_IF_ERROR(CheckPoseBlock(request_.poses(), limits.poses, "max-compare-poses"));
  const auto poses = static_cast<std::uint64_t>(request_.poses().poses_size());
  if (request_.preroll() > poses) {
    return InvalidField("preroll",
                        absl::StrCat("got ", request_.preroll(), ", there are ", poses, " poses"));
  }
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
  FindSession(request_.targets(static_cast<int>(index)), TargetPath(index), &CompareCall::Found);
}

absl::Status CompareCall::Found(std::shared_ptr<Session> session) {
  const std::size_t index = sessions_.size();
  sessions_.push_back(std::move(session));
  if (sessions_[index]->bound->rig().digest() != sessions_[0]->bound->rig().digest()) {
    return InvalidField(TargetPath(index), absl::StrCat("its rig differs from that of ",
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
      rig.vertices() * sizeof(Vec3f) + metrics::SequenceMeter::Cost(rig) +
      metrics::Meter::Cost(rig, {.self_intersections = request_.self_intersections()});
  SINEW_ASSIGN_OR_RETURN(reservation_, runtime_.compare_bytes.Take(call_.caller().client(), bytes));
  WaitForBind();
  return absl::OkStatus();
}

void CompareCall::WaitForBind() {
  ready_ = false;
  WhenBound(sessions_[static_cast<std::size_t>(target_)], &CompareCall::OnBound);
}

void CompareCall::OnBound() {
  ready_ = true;
  Pump();
}

void CompareCall::Pump() {
  WriteNext();
  if (ended_) return;
  if (target_ == request_.targets_size()) {
    if (!writing_ && outbox_.empty()) End(absl::OkStatus());
    return;
  }
  if (!ready_ || measuring_ || !outbox_.empty()) return;
  measuring_ = true;
  PostFrame(Arenas::Frames::kBatch, &CompareCall::MeasureNext);
}

void CompareCall::MeasureNext() {
  // A job counts against the limit until it is done, even if the client is gone before.
  auto permit = permit_;
  const int target = target_, pose = pose_;
  if (pose == 0) measured_.session = sessions_[static_cast<std::size_t>(target)];
  const auto response = Unlocked([&] { return Measure(target, pose); });
  permit.reset();
  measuring_ = false;
  if (ended_) return;
  if (!response.ok()) {
    End(response.status());
    return;
  }
  if (response->frames_size() + response->problems_size() > 0 || response->has_summary() ||
      !response->determinism_digest().empty()) {
    outbox_.Push(*response);
  }
  if (!IsLast(pose)) {
    ++pose_;
  } else {
    pose_ = 0;
    measured_ = {};
    if (++target_ < request_.targets_size()) WaitForBind();
  }
  Pump();
}

absl::StatusOr<v1::CompareDeformersResponse> CompareCall::Measure(int target, int index) {
  v1::CompareDeformersResponse response;
  response.set_target(static_cast<std::uint32_t>(target));
  if (index == 0) SINEW_RETURN_IF_ERROR(BeginTarget(target, response));
  SINEW_RETURN_IF_ERROR(MeasurePose(index, response));
  if (IsLast(index)) *response.mutable_summary() = Summary();
  return response;
}

absl::Status CompareCall::BeginTarget(int target, v1::CompareDeformersResponse& response) {
  const auto& session = measured_.session;
  const Rig& rig = session->bound->rig();
  response.set_determinism_digest(session->determinism_digest);
  SINEW_ASSIGN_OR_RETURN(
      measured_.evaluator,
      Evaluator::Create(runtime_.evaluators, session, request_.layout(), {}, call_.stop_token()));
  const absl::Status bound = measured_.evaluator->Ready();
  if (!bound.ok()) return WithPath(bound, TargetPath(static_cast<std::size_t>(target)));
  if (!meter_) {
    positions_.resize(rig.vertices());
    Task task({.stop = call_.stop_token()});
    SINEW_ASSIGN_OR_RETURN(
        meter_,
        metrics::Meter::Create(rig, {.self_intersections = request_.self_intersections()}, task));
  }
  measured_.sequence.emplace(*meter_, FramesPerSecond());
  return absl::OkStatus();
}

absl::Status CompareCall::MeasurePose(int index, v1::CompareDeformersResponse& response) {
  const v1::Pose& pose = request_.poses().poses(index);
  FrameOut out{.positions = std::as_writable_bytes(std::span(positions_))};
  const auto start = std::chrono::steady_clock::now();
  const absl::Status evaluated = measured_.evaluator->EvaluateInto(pose, true, out);
  const double seconds = SecondsSince(start);
  if (!evaluated.ok()) {
    measured_.sequence->Reset();
    AddProblem(pose.frame(), evaluated, response);
    return absl::OkStatus();
  }
  const Task task({.stop = call_.stop_token()});
  const metrics::SequenceMetrics sequence =
      measured_.sequence->Add(positions_, measured_.evaluator->joints(), task);
  if (std::cmp_less(index, request_.preroll())) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(metrics::FrameMetrics figures,
                         meter_->Measure(positions_, measured_.evaluator->joints(), task));
  figures.jerk = sequence.jerk;
  figures.pop = sequence.pop;
  figures.pop_999 = sequence.pop_999;
  v1::FrameMetrics& frame = *response.add_frames();
  frame = ToProto(figures);
  frame.set_frame(pose.frame());
  frame.set_evaluate_seconds(seconds);
  return absl::OkStatus();
}

v1::TargetSummary CompareCall::Summary() const {
  v1::TargetSummary summary;
  const BoundDeformer& bound = *measured_.session->bound;
  summary.set_bind_seconds(bound.bind_seconds);
  summary.set_bound_bytes(bound.deformer()->bytes());
  return summary;
}

void CompareCall::OnDrain() {
  End(Draining());
}

}  // namespace sinew::server
