#include "client/lib/stream/deform_clip.h"

#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <optional>
#include <stop_token>

#include "client/lib/stream/clip_poses.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

bool IsWanted(const ClipPoses& poses, std::size_t index) {
  return poses.outputs.empty() || std::ranges::binary_search(poses.outputs, index);
}

}  // namespace

absl::Status DeformClip(const ClipPoses& poses, const ClipOptions& options, const ClipSink& sink,
                        absl::FunctionRef<absl::StatusOr<Stream>()> open, const CallOptions& call) {
  if (!sink) return absl::InvalidArgumentError("sink: got none, need a function");
  SINEW_RETURN_IF_ERROR(CheckClipPoses(poses));
  if (poses.frames == 0) return absl::OkStatus();
  const absl::Time end =
      call.deadline > absl::ZeroDuration() ? absl::Now() + call.deadline : absl::InfiniteFuture();
  SINEW_ASSIGN_OR_RETURN(Stream stream, open());
  const std::stop_callback cancel(call.stop, [&] { stream.Cancel(); });
  std::size_t sent = 0, done = 0;
  while (true) {
    for (; sent < poses.frames && stream.room() > 0; ++sent) {
      if (!IsWanted(poses, sent)) continue;
      SINEW_RETURN_IF_ERROR(stream.Send(ClipPose(poses, sent)).status());
    }
    if (sent == poses.frames) stream.Finish();
    const absl::StatusOr<std::optional<StreamItem>> next = stream.Next(end - absl::Now());
    if (absl::IsDeadlineExceeded(next.status()) && absl::Now() >= end) {
      return absl::DeadlineExceededError(
          absl::StrCat("the clip is not complete in time: ", done, " of ", poses.frames, " poses"));
    }
    SINEW_RETURN_IF_ERROR(next.status());
    const std::optional<StreamItem>& item = *next;
    if (!item) return absl::OkStatus();
    done = static_cast<std::size_t>(item->frame - poses.first_frame) + 1;
    if (options.progress) options.progress(done, poses.frames);
    SINEW_RETURN_IF_ERROR(sink(*item));
  }
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
