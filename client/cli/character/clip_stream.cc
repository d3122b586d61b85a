#include "client/cli/character/clip_stream.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

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

absl::StatusOr<History> ReadHistory(const CharacterFile& character, MotionRequest motion,
                                    const client::ClipData& clip,
                                    std::span<const std::size_t> wanted,
                                    std::optional<std::int64_t> preroll) {
  std::vector<std::int64_t> numbers;
  for (std::size_t k = 0; k < (wanted.empty() ? clip.frames : wanted.size()); ++k) {
    const double number = clip.FrameNumber(wanted.empty() ? k : wanted[k]);
    if (number != std::floor(number)) {
      return absl::InvalidArgumentError(
          "--times: frames of this recipe depend on those before them, need --frames");
    }
    numbers.push_back(static_cast<std::int64_t>(number));
  }
  const std::int64_t first = preroll ? std::max<std::int64_t>(numbers.front() - *preroll, 0) : 0;
  motion.frames = {.ranges = {{.first = first, .last = numbers.back()}}};
  motion.times.clear();
  History history;
  SINEW_ASSIGN_OR_RETURN(history.clip, ReadMotion(character, motion));
  for (const std::int64_t number : numbers) {
    history.outputs.push_back(static_cast<std::size_t>(number - first));
  }
  return history;
}

absl::Status StreamClip(const Context& context, const CharacterFile& character,
                        const client::Character& bound, const MotionRequest& motion,
                        const client::ClipData& clip, const ClipStreamOptions& options,
                        const FrameSink& sink) {
  History history;
  const client::ClipData* streamed = &clip;
  std::vector<std::size_t> outputs = options.wanted;
  if (clip.first_frame != 0 || clip.step != 1 || !clip.frame_numbers.empty() || !outputs.empty()) {
    bool stateful = options.stateful.value_or(false);
    if (!options.stateful) {
      SINEW_ASSIGN_OR_RETURN(stateful, IsStateful(bound, context.call()));
    }
    if (stateful) {
      SINEW_ASSIGN_OR_RETURN(history,
                             ReadHistory(character, motion, clip, options.wanted, options.preroll));
      streamed = &history.clip;
      outputs = history.outputs;
      context.Note(absl::StrCat("frames depend on those before them: all ", streamed->frames,
                                " from frame ", streamed->first_frame, " on are computed, ",
                                outputs.size(), outputs.size() == 1 ? " is kept" : " are kept"));
    }
  }
  std::vector<double> times;
  for (std::size_t k = 0; k < streamed->frames; ++k) {
    times.push_back(streamed->FrameNumber(k) / streamed->fps);
  }
  const auto line = context.MakeProgress(options.label);
  std::size_t evaluated = 0;
  const client::ClipOptions deform = {
      .output = options.output, .progress = [&](std::size_t done, std::size_t total) {
        if (done < evaluated) {
          context.Note("connection lost; recomputing the clip from its first pose");
        }
        evaluated = done;
        if (total == 1) return;
        const double fraction = static_cast<double>(done) / static_cast<double>(total);
        line->Update(std::lerp(options.progress_begin, options.progress_end, fraction),
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
  SINEW_RETURN_IF_ERROR(bound.DeformClip(poses, deform, take, context.call()));
  return context.CheckStop();
}

}  // namespace sinew::cli
