#include "server/frames/evaluator.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/status.h"
#include "core/deform/engine/registry.h"
#include "server/base/catch_exceptions.h"
#include "server/base/clock.h"
#include "server/base/status.h"
#include "server/convert/posed_muscle.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

using Stopwatch = std::chrono::steady_clock;

// Frames that take longer are no interaction. Far above what load does to a short frame.
constexpr double kBatchSeconds = 0.1;
// What compressing a vertex takes, roughly.
constexpr double kCompressionMicroseconds = 0.03;

}  // namespace

absl::StatusOr<std::unique_ptr<Evaluator>> Evaluator::Create(const EvaluatorContext& context,
                                                             std::shared_ptr<Session> session,
                                                             const v1::PoseLayout& layout,
                                                             const v1::OutputOptions& output,
                                                             std::stop_token stop, Frames frames) {
  SINEW_ASSIGN_OR_RETURN(PoseFormat format, ToPoseFormat(layout, session->bound->rig()));
  SINEW_ASSIGN_OR_RETURN(Output wanted, ToOutput(output, context.limits));
  if (frames == Frames::kOnePiece) wanted.chunk_bytes = std::numeric_limits<std::uint32_t>::max();
  if (wanted.tangents && session->bound->rig().mesh().tangents().empty()) {
    return InvalidField(
        "output.attributes",
        "got ATTRIBUTE_TANGENTS, but the rig has no tangents: need meshes.tangents");
  }
  if (wanted.vertex_status && !WritesVertexStatus(session->bound->recipe())) {
    return InvalidField(
        "output.attributes",
        absl::StrCat("no stage of the recipe writes vertex status, need ", VertexStatusMethods()));
  }
  if (wanted.normal_rule == NormalRule::kCarried) {
    if (const std::string stage = StageWithoutSlopes(session->bound->recipe()); !stage.empty()) {
      return InvalidField("output.normal_rule",
                          absl::StrCat("got CARRIED, but ", stage,
                                       " cannot carry normals, need RECOMPUTED or none"));
    }
  }
  if (wanted.muscles && session->bound->rig().muscles().empty()) {
    return InvalidField("output.muscles", "set, but the rig has no muscles");
  }
  return std::unique_ptr<Evaluator>(new Evaluator(context, std::move(session), std::move(format),
                                                  wanted, std::move(stop),
                                                  frames == Frames::kInOrder));
}

Evaluator::Evaluator(const EvaluatorContext& context, std::shared_ptr<Session> session,
                     PoseFormat format, Output output, std::stop_token stop, bool deltas)
    : context_(context),
      session_(std::move(session)),
      format_(std::move(format)),
      output_(output),
      vertices_(static_cast<std::uint32_t>(session_->bound->rig().vertices())),
      stop_(std::move(stop)) {
  if (output_.zstd) compressor_.emplace(context_.pool, deltas);
}

std::size_t Evaluator::muscle_bytes() const {
  return output_.muscles ? session_->bound->rig().muscles().size() * kMuscleBytes : 0;
}

absl::Status Evaluator::Ready() {
  SINEW_RETURN_IF_ERROR(session_->bound->CheckReady());
  deformer_ = session_->bound->deformer();
  return absl::OkStatus();
}

bool Evaluator::Cheap() const {
  const double seconds = session_->bound->frame_cost.seconds();
  const double compression = output_.zstd ? kCompressionMicroseconds * vertices_ : 0;
  return seconds > 0 && seconds * 1e6 + compression < context_.inline_microseconds;
}

Arenas::Frames Evaluator::lane() const {
  const BoundDeformer& bound = *session_->bound;
  const double measured = bound.evaluation_cost.seconds();
  const double seconds = measured > 0 ? measured : bound.forecast().estimate.frame_seconds;
  return seconds > kBatchSeconds ? Arenas::Frames::kBatch : Arenas::Frames::kInteractive;
}

absl::Status Evaluator::Check(const v1::Pose& pose) const {
  if (HasUnknownFields(pose)) return RefuseUnknownFields(pose, "pose");
  if (pose.joint_transforms().size() == format_.joint_bytes() &&
      (pose.controls().empty() || pose.controls().size() == format_.control_bytes())) {
    return absl::OkStatus();
  }
  std::vector<Affine> joints;
  std::vector<float> controls;
  return WithDetails(format_.Read(session_->bound->rig(), pose.joint_transforms(), pose.controls(),
                                  joints, controls));
}

absl::Status Evaluator::Read(const v1::Pose& pose) {
  if (HasUnknownFields(pose)) return RefuseUnknownFields(pose, "pose");
  if (!std::isfinite(pose.time())) return InvalidField("pose.time", "not finite");
  const absl::Status status = format_.Read(session_->bound->rig(), pose.joint_transforms(),
                                           pose.controls(), joints_, controls_);
  return status.ok() ? status : WithDetails(status);
}

absl::Status Evaluator::RunDeformer(bool parallel, FrameOut& out) {
  const Task task({.stop = stop_, .parallel = parallel});
  const auto start = Stopwatch::now();
  const absl::Status status = CatchExceptions([&]() -> absl::Status {
    return deformer_->Evaluate({.joints = joints_, .controls = controls_}, out, workspace_, task);
  });
  const double seconds = SecondsSince(start);
  // Not of a pose that is refused at once.
  if (status.ok() || absl::IsCancelled(status)) session_->bound->evaluation_cost.Add(seconds);
  if (!status.ok()) return WithDetails(status);
  session_->bound->frame_cost.Add(seconds);
  return status;
}

absl::Status Evaluator::EvaluateInto(const v1::Pose& pose, bool parallel, FrameOut& out) {
  SINEW_RETURN_IF_ERROR(Read(pose));
  return RunDeformer(parallel, out);
}

absl::StatusOr<OutgoingFrame> Evaluator::EvaluateFrame(const v1::Pose& pose, bool parallel) {
  SINEW_RETURN_IF_ERROR(Read(pose));
  OutgoingFrame frame(context_.pool, output_, vertices_);
  FrameOut out{.encoding = output_.encoding,
               .normal_encoding = output_.normal_encoding,
               .normal_rule = output_.normal_rule,
               .positions = frame.positions(),
               .normals = frame.normals(),
               .tangents = frame.tangents(),
               .vertex_status = frame.vertex_status()};
  if (output_.muscles) out.muscles = &muscles_;
  const auto start = Stopwatch::now();
  SINEW_RETURN_IF_ERROR(RunDeformer(parallel, out));
  const auto evaluated = Stopwatch::now();
  frame.Seal();
  if (output_.muscles) frame.muscles = MuscleFields(muscles_);
  frame.header.set_frame(pose.frame());
  frame.header.set_time(pose.time());
  v1::Bounds& bounds = *frame.header.mutable_bounds();
  bounds.mutable_minimum()->Add(out.bounds.begin(), out.bounds.begin() + 3);
  bounds.mutable_maximum()->Add(out.bounds.begin() + 3, out.bounds.end());
  if (output_.encoding == Encoding::kQ16) {
    v1::Quantisation& quantisation = *frame.header.mutable_quantisation();
    quantisation.mutable_origin()->Add(out.quantisation.origin.begin(),
                                       out.quantisation.origin.end());
    quantisation.mutable_step()->Add(out.quantisation.step.begin(), out.quantisation.step.end());
  }
  if (compressor_) compressor_->Compress(frame);
  frame.timing.set_evaluate_ns(Observe(evaluated - start, context_.metrics.evaluate_seconds));
  frame.timing.set_encode_ns(
      Observe(Stopwatch::now() - evaluated, context_.metrics.encode_seconds));
  return frame;
}

}  // namespace sinew::server
