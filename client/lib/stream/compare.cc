#include "client/lib/stream/compare.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_codec.h"
#include "client/lib/rpc/connection.h"
#include "client/lib/rpc/recovery.h"
#include "client/lib/stream/clip_poses.h"
#include "client/lib/stream/metrics_summary.h"
#include "core/base/status.h"
#include "sinew/client.h"
#include "sinew/v1/deform_service.grpc.pb.h"

namespace sinew::client {
namespace {

constexpr std::size_t kMaxBlockFrames = 250;  // bounds what a broken connection repeats
// Poses sent again before each block: jerk is a third difference.
constexpr std::size_t kPreroll = 3;

FrameMetrics ToMetrics(const v1::FrameMetrics& proto) {
  FrameMetrics metrics;
  metrics.frame = proto.frame();
  metrics.evaluate_seconds = proto.evaluate_seconds();
  if (proto.has_volume_ratio()) metrics.volume_ratio = proto.volume_ratio();
  if (proto.has_minimum_thickness()) metrics.minimum_thickness = proto.minimum_thickness();
  if (proto.has_bulge()) metrics.bulge = proto.bulge();
  if (proto.has_edge_distortion()) metrics.edge_distortion = proto.edge_distortion();
  if (proto.has_worst_edge()) metrics.worst_edge = proto.worst_edge();
  if (proto.has_area_distortion()) metrics.area_distortion = proto.area_distortion();
  if (proto.has_flipped_fraction()) metrics.flipped_fraction = proto.flipped_fraction();
  if (proto.has_flipped_beyond_linear()) {
    metrics.flipped_beyond_linear = proto.flipped_beyond_linear();
  }
  if (proto.has_self_intersections()) metrics.self_intersections = proto.self_intersections();
  if (proto.has_overlap()) metrics.overlap = proto.overlap();
  if (proto.has_roughness()) metrics.roughness = proto.roughness();
  if (proto.has_roughness_999()) metrics.roughness_999 = proto.roughness_999();
  if (proto.has_rough_fraction()) metrics.rough_fraction = proto.rough_fraction();
  if (proto.has_jerk()) metrics.jerk = proto.jerk();
  if (proto.has_pop()) metrics.pop = proto.pop();
  if (proto.has_pop_999()) metrics.pop_999 = proto.pop_999();
  return metrics;
}

// Fills in mean and worst from the frames of all blocks.
void Summarise(TargetMetrics& target) {
  MetricsSummary summary;
  double seconds = 0, max_seconds = 0;
  for (const FrameMetrics& frame : target.frames) {
    summary.Add(frame);
    seconds += frame.evaluate_seconds;
    max_seconds = std::max(max_seconds, frame.evaluate_seconds);
  }
  target.mean = summary.Mean();
  target.worst = summary.worst();
  target.worst.evaluate_seconds = max_seconds;
  if (!target.frames.empty()) {
    target.mean.evaluate_seconds = seconds / static_cast<double>(target.frames.size());
  }
}

// Measures block after block.
class Comparison {
 public:
  Comparison(Connection& connection, v1::CompareDeformersRequest header, const ClipPoses& poses,
             const CompareProgress& progress)
      : connection_(connection),
        stub_(v1::DeformService::NewStub(connection.channel())),
        header_(std::move(header)),
        poses_(poses),
        progress_(progress),
        targets_(static_cast<std::size_t>(header_.targets_size())) {}

  absl::StatusOr<std::vector<TargetMetrics>> Run(const CallOptions& call,
                                                 const RestoreTargets& restore) {
    Recovery recovery(
        connection_, restore ? Repeat::kPersist : Repeat::kAttempts, absl::InfiniteFuture(),
        call.stop,
        restore ? Restore([&](const auto& stop) { return SetTargets(restore(stop)); }) : Restore());
    std::size_t max_frames = kMaxBlockFrames;
    while (next_ < poses_.frames) {
      const std::size_t end = BlockEnd(max_frames);
      absl::Status status =
          connection_.RunOnce(connection_.Deadline(call), call.stop, Route(),
                              [&](grpc::ClientContext& context) { return RunBlock(context, end); });
      if (status.ok()) {
        next_ = end;
        recovery.Progress();
      } else if (ExceededLimit(status, "max-compare-poses") && end - next_ > 1) {
        max_frames = (end - next_) / 2;
      } else if (!recovery.TryAgain(status)) {
        return status;
      }
    }
    for (TargetMetrics& target : targets_) Summarise(target);
    return std::move(targets_);
  }

 private:
  std::size_t Preroll() const { return std::min(next_, kPreroll); }

  // The preroll counts against the bytes of the block.
  std::size_t BlockEnd(std::size_t max_frames) const {
    const std::size_t bytes = connection_.options().compare_block_bytes;
    const std::size_t fit = BlockFrames(bytes, max_frames + Preroll());
    const std::size_t fresh = fit > Preroll() ? fit - Preroll() : 1;
    return std::min(poses_.frames, next_ + fresh);
  }

  std::string Route() const {
    return header_.targets().empty() ? std::string() : connection_.routes().Of(header_.targets(0));
  }

  absl::Status SetTargets(const absl::StatusOr<std::vector<Target>>& targets) {
    SINEW_RETURN_IF_ERROR(targets.status());
    header_.clear_targets();
    for (const Target& target : *targets) {
      SINEW_ASSIGN_OR_RETURN(*header_.add_targets(), FromTarget(target));
    }
    return absl::OkStatus();
  }

  // Poses that make about `bytes` of a request, from 1 to `max_frames`.
  std::size_t BlockFrames(std::size_t bytes, std::size_t max_frames) const {
    constexpr std::size_t kPoseHeader = 48;
    const std::size_t floats =
        (poses_.joint_transforms.size() + poses_.controls.size()) / poses_.frames;
    return std::clamp<std::size_t>(bytes / (floats * sizeof(float) + kPoseHeader), 1, max_frames);
  }

  v1::CompareDeformersRequest Request(std::size_t end) const {
    v1::CompareDeformersRequest request = header_;
    const std::size_t preroll = Preroll();
    for (std::size_t i = next_ - preroll; i < end; ++i) {
      *request.mutable_poses()->add_poses() = FromPose(ClipPose(poses_, i));
    }
    request.set_preroll(static_cast<std::uint32_t>(preroll));
    return request;
  }

  // Measures the poses from next_ to `end`. Keeps the result only if it is complete.
  absl::Status RunBlock(grpc::ClientContext& context, std::size_t end) {
    const auto reader = stub_->CompareDeformers(&context, Request(end));
    std::vector<TargetMetrics> block(targets_.size());
    v1::CompareDeformersResponse reply;
    bool valid = true;
    while (reader->Read(&reply)) {
      valid = valid && reply.target() < block.size();
      if (!valid) {
        context.TryCancel();
        continue;
      }
      Take(reply, block[reply.target()]);
      Report(block);
    }
    const absl::Status status = FromGrpc(reader->Finish());
    if (!valid) return absl::InternalError("CompareDeformers: got an invalid reply");
    SINEW_RETURN_IF_ERROR(status);
    for (const TargetMetrics& target : block) {
      if (target.frames.size() + target.problems.size() != end - next_) {
        return absl::InternalError(absl::StrCat("CompareDeformers: got ", target.frames.size(),
                                                " frames, need ", end - next_));
      }
    }
    return Join(std::move(block));
  }

  void Take(const v1::CompareDeformersResponse& reply, TargetMetrics& target) const {
    if (!reply.determinism_digest().empty()) target.determinism_digest = reply.determinism_digest();
    for (const v1::FrameMetrics& frame : reply.frames()) target.frames.push_back(ToMetrics(frame));
    for (const v1::FrameProblem& problem : reply.problems()) {
      if (problem.frame() < poses_.first_frame + next_) continue;  // of the preroll
      target.problems.push_back({problem.frame(), ToStatus(problem.problem())});
    }
    if (reply.has_summary()) {
      target.bind_seconds = reply.summary().bind_seconds();
      target.bound_bytes = reply.summary().bound_bytes();
    }
  }

  void Report(const std::vector<TargetMetrics>& block) const {
    if (!progress_) return;
    std::size_t done = next_ * targets_.size();
    for (const TargetMetrics& target : block) {
      done += target.frames.size() + target.problems.size();
    }
    progress_(done, poses_.frames * targets_.size());
  }

  absl::Status Join(std::vector<TargetMetrics> block) {
    for (std::size_t t = 0; t < block.size(); ++t) {
      TargetMetrics& target = targets_[t];
      if (!target.determinism_digest.empty() &&
          target.determinism_digest != block[t].determinism_digest) {
        return DeterminismMismatch(block[t].determinism_digest, target.determinism_digest);
      }
      target.determinism_digest = std::move(block[t].determinism_digest);
      target.bind_seconds = block[t].bind_seconds;
      target.bound_bytes = block[t].bound_bytes;
      std::move(block[t].frames.begin(), block[t].frames.end(), std::back_inserter(target.frames));
      std::move(block[t].problems.begin(), block[t].problems.end(),
                std::back_inserter(target.problems));
    }
    return absl::OkStatus();
  }

  Connection& connection_;
  const std::unique_ptr<v1::DeformService::Stub> stub_;
  v1::CompareDeformersRequest header_;
  const ClipPoses& poses_;
  const CompareProgress& progress_;
  std::vector<TargetMetrics> targets_;
  std::size_t next_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<TargetMetrics>> Compare(
    Connection& connection, std::span<const Target> targets, const ClipPoses& poses,
    const CompareOptions& options, const RestoreTargets& restore, const CallOptions& call) {
  if (targets.empty()) return absl::InvalidArgumentError("targets: got none, need one or more");
  if (poses.frames == 0) return absl::InvalidArgumentError("poses: got none, need one or more");
  SINEW_RETURN_IF_ERROR(CheckClipPoses(poses));
  if (!std::isfinite(options.frames_per_second) || options.frames_per_second <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("options.frames_per_second: got ",
                                                   options.frames_per_second, ", need above 0"));
  }
  v1::CompareDeformersRequest header;
  for (const Target& target : targets) {
    SINEW_ASSIGN_OR_RETURN(*header.add_targets(), FromTarget(target));
  }
  *header.mutable_layout() = FromLayout(options.layout);
  header.set_frames_per_second(options.frames_per_second);
  header.set_self_intersections(options.self_intersections);
  return Comparison(connection, std::move(header), poses, options.progress).Run(call, restore);
}

absl::StatusOr<std::vector<TargetMetrics>> Client::Compare(std::span<const Target> targets,
                                                           const ClipPoses& poses,
                                                           const CompareOptions& options,
                                                           const CallOptions& call) const {
  return client::Compare(*connection_, targets, poses, options, /*restore=*/{}, call);
}

}  // namespace sinew::client
