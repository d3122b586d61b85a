#include "client/lib/stream/deform_clip.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <utility>

#include "client/lib/codec/status_codec.h"
#include "client/lib/stream/clip_poses.h"
#include "client/lib/stream/pose_queue.h"
#include "client/lib/stream/stream_core.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr int kMaxBreaks = 5;  // in a row, without a new frame

class ClipRun {
 public:
  ClipRun(const ClipPoses& poses, const ClipOptions& options, const ClipSink& sink,
          const CallOptions& call)
      : poses_(poses), options_(options), sink_(sink), stop_(call.stop) {
    if (call.deadline > absl::ZeroDuration()) end_ = absl::Now() + call.deadline;
  }

  absl::Status Run(absl::FunctionRef<absl::StatusOr<Stream>()> open) {
    for (int breaks = 0; breaks < kMaxBreaks; ++breaks) {
      const std::size_t before = next_;
      SINEW_ASSIGN_OR_RETURN(Stream stream, open());
      SINEW_ASSIGN_OR_RETURN(const bool complete, RunStream(stream));
      if (complete) return absl::OkStatus();
      if (next_ > before) breaks = 0;
    }
    return absl::UnavailableError(absl::StrCat("the connection broke ", kMaxBreaks,
                                               " times before frame ", poses_.first_frame + next_,
                                               " was reached"));
  }

 private:
  // A stream without state resumes by itself. One with state would go on from the rest pose, so
  // every pose is sent again from the first: false asks for a new stream.
  absl::StatusOr<bool> RunStream(Stream& stream) {
    const std::stop_callback cancel(stop_, [&] { stream.Cancel(); });
    const StreamInfo opened = stream.info();
    SINEW_RETURN_IF_ERROR(CheckDigest(opened.determinism_digest));
    std::size_t sent = 0;
    while (true) {
      SINEW_RETURN_IF_ERROR(SendSome(stream, opened.stateful, sent));
      const absl::Duration left = end_ - absl::Now();
      if (left <= absl::ZeroDuration()) return OutOfTime();
      const absl::StatusOr<std::optional<StreamItem>> next = stream.Next(left);
      if (absl::IsDeadlineExceeded(next.status()) && absl::Now() >= end_) return OutOfTime();
      SINEW_RETURN_IF_ERROR(next.status());
      const std::optional<StreamItem>& item = *next;
      if (!item) return true;
      if (opened.stateful && stream.info().resumed > 0) return false;
      SINEW_RETURN_IF_ERROR(Take(*item));
    }
  }

  absl::Status OutOfTime() const {
    return absl::DeadlineExceededError(
        absl::StrCat("the clip is not complete in time: ", next_, " of ", poses_.frames, " poses"));
  }

  absl::Status SendSome(Stream& stream, bool stateful, std::size_t& sent) const {
    for (; sent < poses_.frames && stream.room() > 0; ++sent) {
      const bool wanted = sent >= next_ && IsOutput(sent);
      if (!wanted && !stateful) continue;
      Pose pose = ClipPose(poses_, sent);
      // Next returns only with a frame: without one now and then, a long run of poses without
      // output would fill the queue and leave nothing to wait for.
      pose.no_output = !wanted && sent % kProbeEvery != 0;
      SINEW_RETURN_IF_ERROR(stream.Send(pose).status());
    }
    if (sent == poses_.frames) stream.Finish();
    return absl::OkStatus();
  }

  absl::Status Take(const StreamItem& item) {
    const auto index = static_cast<std::size_t>(item.frame - poses_.first_frame);
    if (options_.progress) options_.progress(index + 1, poses_.frames);
    if (index < next_ || (item.problem.ok() && !IsOutput(index))) return absl::OkStatus();
    next_ = index + 1;
    return sink_(item);
  }

  bool IsOutput(std::size_t index) const {
    return poses_.outputs.empty() || std::ranges::binary_search(poses_.outputs, index);
  }

  absl::Status CheckDigest(const std::string& digest) {
    if (determinism_digest_.empty()) determinism_digest_ = digest;
    if (determinism_digest_ == digest) return absl::OkStatus();
    return DeterminismMismatch(digest, determinism_digest_);
  }

  const ClipPoses& poses_;
  const ClipOptions& options_;
  const ClipSink& sink_;
  const std::stop_token& stop_;
  absl::Time end_ = absl::InfiniteFuture();
  std::size_t next_ = 0;  // behind the last pose whose frame or problem the sink got
  std::string determinism_digest_;
};

}  // namespace

absl::Status DeformClip(const ClipPoses& poses, const ClipOptions& options, const ClipSink& sink,
                        absl::FunctionRef<absl::StatusOr<Stream>()> open, const CallOptions& call) {
  if (!sink) return absl::InvalidArgumentError("sink: got none, need a function");
  SINEW_RETURN_IF_ERROR(CheckClipPoses(poses));
  if (poses.frames == 0) return absl::OkStatus();
  return ClipRun(poses, options, sink, call).Run(open);
}

absl::Status Client::DeformClip(const Target& target, const ClipPoses& poses,
                                const ClipOptions& options, const ClipSink& sink,
                                const CallOptions& call) const {
  const auto open = [&] {
    return OpenStream(target, {.layout = options.layout, .output = options.output}, call);
  };
  return client::DeformClip(poses, options, sink, open, call);
}

}  // namespace sinew::client
