#include "client/cli/character/clip_stream.h"

#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "client/cli/base/exit_code.h"
#include "core/base/status.h"

namespace sinew::cli {

absl::StatusOr<bool> IsStateful(const client::Character& character,
                                const client::CallOptions& call) {
  SINEW_ASSIGN_OR_RETURN(client::Stream stream, character.OpenStream({}, call));
  const bool stateful = stream.info().stateful;
  stream.Finish();
  SINEW_RETURN_IF_ERROR(stream.Next().status());  // the end: the server has closed the stream
  return stateful;
}

absl::Status StreamClip(const Context& context, const CharacterFile& character,
                        const client::Character& bound, MotionRequest motion,
                        const client::ClipData& clip, const client::OutputOptions& output,
                        const std::string& label, const FrameSink& sink) {
  client::ClipData whole;
  const client::ClipData* streamed = &clip;
  std::vector<std::size_t> outputs;  // of `streamed`, where it is longer than the clip
  if (clip.first_frame != 0 || clip.step != 1 || !clip.frame_numbers.empty()) {
    SINEW_ASSIGN_OR_RETURN(const bool stateful, IsStateful(bound, context.call()));
    if (stateful && !clip.frame_numbers.empty()) {
      return absl::InvalidArgumentError(
          "--times: frames of this recipe depend on those before them, need --frames");
    }
    if (stateful) {
      for (std::size_t k = 0; k < clip.frames; ++k) {
        outputs.push_back(static_cast<std::size_t>(clip.first_frame) +
                          k * static_cast<std::size_t>(clip.step));
      }
      motion.frames = {.first = 0, .last = static_cast<std::int64_t>(outputs.back())};
      SINEW_ASSIGN_OR_RETURN(whole, ReadMotion(character, motion));
      streamed = &whole;
      context.Note(absl::StrCat("frames depend on those before them: all ", whole.frames,
                                " from frame 0 on are computed, ", clip.frames,
                                clip.frames == 1 ? " is kept" : " are kept"));
    }
  }
  std::vector<double> times;
  for (std::size_t k = 0; k < streamed->frames; ++k) {
    times.push_back(streamed->FrameNumber(k) / streamed->fps);
  }
  const auto line = context.MakeProgress(label);
  std::size_t evaluated = 0;
  const client::ClipOptions options = {
      .output = output, .progress = [&](std::size_t done, std::size_t total) {
        if (done < evaluated) {
          context.Note("connection lost; recomputing the clip from its first pose");
        }
        evaluated = done;
        if (total == 1) return;
        line->Update(static_cast<double>(done) / static_cast<double>(total),
                     absl::StrCat("frame ", done, " of ", total));
      }};
  const auto take = [&](const client::StreamItem& item) {
    if (item.problem.ok()) return sink(item.view);
    const double frame = streamed->FrameNumber(static_cast<std::size_t>(item.frame) - 1);
    return Prefixed(absl::StrCat("frame ", frame), item.problem);
  };
  const client::ClipPoses poses = {.joint_transforms = streamed->joint_transforms,
                                   .controls = streamed->controls,
                                   .frames = streamed->frames,
                                   .times = times,
                                   .outputs = outputs};
  SINEW_RETURN_IF_ERROR(bound.DeformClip(poses, options, take, context.call()));
  return context.CheckStop();
}

}  // namespace sinew::cli
