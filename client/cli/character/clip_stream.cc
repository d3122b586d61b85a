#include "client/cli/character/clip_stream.h"

#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "client/cli/base/exit_code.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

// Only an open stream says whether the recipe has state.
absl::StatusOr<bool> IsStateful(const Context& context, const client::Character& character) {
  SINEW_ASSIGN_OR_RETURN(client::Stream stream, character.OpenStream({}, context.call()));
  const bool stateful = stream.info().stateful;
  stream.Finish();
  SINEW_RETURN_IF_ERROR(stream.Next().status());  // the end: the server has closed the stream
  return stateful;
}

}  // namespace

absl::Status StreamClip(const Context& context, const client::Character& character,
                        const client::ClipData& clip, const WholeMotion& whole,
                        const client::OutputOptions& output, const LeadProgress& lead,
                        const FrameSink& sink) {
  client::ClipData longer;
  const client::ClipData* motion = &clip;
  std::vector<std::size_t> outputs;  // of `motion`, where it is longer than the clip
  if (clip.first_frame != 0 || clip.step != 1) {
    SINEW_ASSIGN_OR_RETURN(const bool stateful, IsStateful(context, character));
    if (stateful) {
      SINEW_ASSIGN_OR_RETURN(longer, whole());
      motion = &longer;
      for (std::size_t k = 0; k < clip.frames; ++k) {
        outputs.push_back(static_cast<std::size_t>(clip.first_frame) +
                          k * static_cast<std::size_t>(clip.step));
      }
      context.Note(absl::StrCat("frames depend on those before them: all ", longer.frames,
                                " from frame 0 on are computed, ", clip.frames,
                                clip.frames == 1 ? " is kept" : " are kept"));
    }
  }
  const auto frame_number = [&](std::size_t index) {
    return motion->first_frame + static_cast<std::int64_t>(index) * motion->step;
  };
  std::vector<double> times;
  for (std::size_t k = 0; k < motion->frames; ++k) {
    times.push_back(static_cast<double>(frame_number(k)) / motion->fps);
  }
  std::size_t received = 0, evaluated = 0;
  const client::ClipOptions options = {
      .output = output, .progress = [&](std::size_t done, std::size_t) {
        if (done < evaluated) {
          context.Note("the connection broke: the poses so far are computed again");
        }
        evaluated = done;
        if (received == clip.frames) return;
        const std::size_t next = outputs.empty() ? received : outputs[received];
        if (done <= next) lead(done, next);
      }};
  const auto take = [&](const client::StreamItem& item) {
    if (!item.problem.ok()) {
      const std::int64_t frame = frame_number(static_cast<std::size_t>(item.frame) - 1);
      return Prefixed(absl::StrCat("frame ", frame), item.problem);
    }
    return sink(received++, item.view);
  };
  const client::ClipPoses poses = {.joint_transforms = motion->joint_transforms,
                                   .controls = motion->controls,
                                   .frames = motion->frames,
                                   .times = times,
                                   .outputs = outputs};
  SINEW_RETURN_IF_ERROR(character.DeformClip(poses, options, take, context.call()));
  return context.CheckStop();
}

}  // namespace sinew::cli
