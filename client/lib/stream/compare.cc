#include "client/lib/rpc/compare.h"

#include <absl/strings/str_cat.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "client/lib/codec/message_codec.h"
#include "client/lib/codec/status_macros.h"
#include "client/lib/rpc/connection.h"
#include "client/lib/rpc/raw_call.h"
#include "client/lib/rpc/retry.h"
#include "client/lib/rpc/status_codec.h"
#include "client/lib/stream/clip_poses.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

constexpr char kPosesLimit[] = "max-compare-poses";
constexpr std::size_t kMaxBlockFrames = 250;  // so that a break costs little
constexpr std::size_t kPreroll = 3;           // what jerk looks back
constexpr std::size_t kStatePreroll = 60;     // in which a recipe with state builds it up again

struct Field {
  std::optional<double> FrameMetrics::*value;
  bool small_is_worst;
};
// In the order of core/metrics/meter.cc, whose summary this is again.
constexpr Field kFields[] = {{&FrameMetrics::volume_ratio, true},
                             {&FrameMetrics::minimum_thickness, true},
                             {&FrameMetrics::bulge, false},
                             {&FrameMetrics::edge_distortion, false},
                             {&FrameMetrics::worst_edge, false},
                             {&FrameMetrics::area_distortion, false},
                             {&FrameMetrics::flipped_fraction, false},
                             {&FrameMetrics::flipped_beyond_linear, false},
                             {&FrameMetrics::overlap, false},
                             {&FrameMetrics::jerk, false}};

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
  metrics.replayed_steps = proto.replayed_steps();
  if (proto.has_jerk()) metrics.jerk = proto.jerk();
  return metrics;
}

// A comparison on its way, block after block.
class Comparison {
 public:
  Comparison(Connection& connection, v1::CompareDeformersRequest header, const ClipPoses& poses,
             const CompareProgress& progress, const HealTargets& heal)
      : connection_(connection),
        header_(std::move(header)),
        poses_(poses),
        progress_(progress),
        heal_(heal),
        targets_(static_cast<std::size_t>(header_.targets_size())) {}

  absl::StatusOr<std::vector<TargetMetrics>> Run(const CallOptions& call) {
    Retrier retrier(connection_, heal_ ? Repeat::kPersist : Repeat::kAttempts,
                    absl::InfiniteFuture(), call.stop);
    std::size_t most = kMaxBlockFrames;
    int heals = 0;
    while (next_ < poses_.frames) {
      const std::size_t end = BlockEnd(most);
      absl::Status status =
          connection_.RunOnce(connection_.Deadline(call), call.stop,
                              [&](grpc::ClientContext& context) { return RunBlock(context, end); });
      if (status.ok()) {
        next_ = end;
        heals = 0;
        retrier.Progress();
        continue;
      }
      if (PassedLimit(status, kPosesLimit) && end - next_ > 1) {
        most = (end - next_) / 2;
        continue;
      }
      if (heal_ && IsLost(status) && heals < kMaxHeals) {
        status = Heal(call.stop);
        ++heals;
        if (status.ok()) continue;
      }
      if (retrier.Again(status)) continue;
      return call.stop.stop_requested() ? absl::CancelledError("cancelled by the caller") : status;
    }
    for (TargetMetrics& target : targets_) Summarise(target);
    return std::move(targets_);
  }

 private:
  std::size_t Preroll() const {
    const bool stateful =
        std::any_of(targets_.begin(), targets_.end(), [](const TargetMetrics& target) {
          return !target.frames.empty() && target.frames.front().replayed_steps > 0;
        });
    return std::min(next_, stateful ? kStatePreroll : kPreroll);
  }

  // What is pre-rolled is sent with the block, and so counts against its bytes.
  std::size_t BlockEnd(std::size_t most) const {
    const std::size_t bytes = connection_.options().clip_block_bytes;
    const std::size_t fit = ClipBlockFrames(poses_, bytes, most + Preroll());
    const std::size_t fresh = fit > Preroll() ? fit - Preroll() : 1;
    return std::min(poses_.frames, next_ + fresh);
  }

  absl::Status Heal(const std::stop_token& stop) {
    SINEW_ASSIGN_OR_RETURN(const std::vector<Target> targets, heal_(stop));
    header_.clear_targets();
    for (const Target& target : targets) {
      SINEW_ASSIGN_OR_RETURN(*header_.add_targets(), FromTarget(target));
    }
    return absl::OkStatus();
  }

  v1::CompareDeformersRequest Request(std::size_t end) const {
    v1::CompareDeformersRequest request = header_;
    const std::size_t preroll = Preroll();
    for (std::size_t i = next_ - preroll; i < end; ++i) {
      *request.mutable_poses()->add_poses() = FromPose(ClipPose(poses_, i));
    }
    request.mutable_poses()->set_preroll(static_cast<std::uint32_t>(preroll));
    return request;
  }

  // Measures the poses from next_ to `end` and keeps what came back, if all of it did.
  absl::Status RunBlock(grpc::ClientContext& context, std::size_t end) {
    RawCall call(connection_, kCompareMethod, context, Request(end));
    std::vector<TargetMetrics> block(targets_.size());
    grpc::ByteBuffer buffer;
    while (call.Read(buffer)) {
      v1::CompareDeformersResponse reply;
      if (!grpc::SerializationTraits<v1::CompareDeformersResponse>::Deserialize(&buffer, &reply)
               .ok() ||
          reply.target() >= block.size()) {
        return absl::InternalError("CompareDeformers: got a reply that cannot be read");
      }
      Take(reply, block[reply.target()]);
      Report(block);
    }
    SINEW_RETURN_IF_ERROR(FromGrpc(call.Finish()));
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
      if (problem.frame() < poses_.first_frame + next_) continue;  // said by the block before
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
        return absl::FailedPreconditionError(
            absl::StrCat("determinism digest: got ", block[t].determinism_digest,
                         " within a comparison that began with ", target.determinism_digest));
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
  v1::CompareDeformersRequest header_;
  const ClipPoses& poses_;
  const CompareProgress& progress_;
  const HealTargets& heal_;
  std::vector<TargetMetrics> targets_;
  std::size_t next_ = 0;
};

}  // namespace

void Summarise(TargetMetrics& target) {
  for (const auto& [member, small_is_worst] : kFields) {
    double sum = 0, count = 0;
    std::optional<double>& worst = target.worst.*member;
    for (const FrameMetrics& frame : target.frames) {
      const std::optional<double>& value = frame.*member;
      if (!value) continue;
      sum += *value;
      ++count;
      if (!worst || (small_is_worst ? *value < *worst : *value > *worst)) worst = value;
    }
    if (count > 0) target.mean.*member = sum / count;
  }
  double seconds = 0, pairs = 0, counted = 0;
  for (const FrameMetrics& frame : target.frames) {
    seconds += frame.evaluate_seconds;
    target.worst.evaluate_seconds = std::max(target.worst.evaluate_seconds, frame.evaluate_seconds);
    if (!frame.self_intersections) continue;
    pairs += static_cast<double>(*frame.self_intersections);
    ++counted;
    target.worst.self_intersections =
        std::max(target.worst.self_intersections.value_or(0), *frame.self_intersections);
  }
  if (counted > 0) {
    target.mean.self_intersections = static_cast<std::uint64_t>(std::llround(pairs / counted));
  }
  if (!target.frames.empty()) {
    target.mean.evaluate_seconds = seconds / static_cast<double>(target.frames.size());
  }
}

absl::StatusOr<std::vector<TargetMetrics>> Compare(
    Connection& connection, std::span<const Target> targets, const PoseLayout& layout,
    const ClipPoses& poses, const CompareOptions& options, const CompareProgress& progress,
    const HealTargets& heal, const CallOptions& call) {
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
  *header.mutable_layout() = FromLayout(layout);
  header.set_frames_per_second(options.frames_per_second);
  header.set_self_intersections(options.self_intersections);
  return Comparison(connection, std::move(header), poses, progress, heal).Run(call);
}

absl::StatusOr<std::vector<TargetMetrics>> Client::Compare(
    std::span<const Target> targets, const PoseLayout& layout, const ClipPoses& poses,
    const CompareOptions& options, const CompareProgress& progress, const CallOptions& call) const {
  return client::Compare(*connection_, targets, layout, poses, options, progress, /*heal=*/{},
                         call);
}

}  // namespace sinew::client
