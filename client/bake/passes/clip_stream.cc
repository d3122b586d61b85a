#include "client/bake/passes/clip_stream.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "core/base/status.h"

namespace sinew::bake {

namespace {

constexpr double kStepRounding = 1e-6;  // frames: rounding

bool IsWhole(double number) {
  return number == std::floor(number);
}

// The wanted samples and their neighbours.
absl::StatusOr<client::ClipData> ReadNeighbours(const CharacterFile& character,
                                                MotionRequest motion,
                                                std::span<const double> numbers) {
  if (!motion.poses.empty() && !IsWhole(motion.velocity_step)) {
    return absl::InvalidArgumentError(absl::StrCat("velocity_step: got ", motion.velocity_step,
                                                   ", need a whole number for `poses`"));
  }
  SINEW_ASSIGN_OR_RETURN(const double last, LastFrame(character, motion));
  std::vector<double> all;
  for (const double number : numbers) {
    all.push_back(number);
    for (const double step : {-motion.velocity_step, motion.velocity_step}) {
      const double at = OnSampleGrid(number + step);
      if (at >= 0 && at <= last + kStepRounding) all.push_back(at);
    }
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  motion.times = std::move(all);
  motion.frames.start = 0;
  motion.holds_ends = true;
  motion.shutter.reset();
  return ReadMotion(character, motion);
}

// Indices of samples by their numbers.
class SampleIndex {
 public:
  explicit SampleIndex(const client::ClipData& clip) {
    for (std::size_t k = 0; k < clip.frames; ++k) numbers_.push_back(clip.FrameNumber(k));
  }
  // `otherwise` if there is none.
  std::size_t Find(double number, std::size_t otherwise = 0) const {
    const auto found = std::ranges::lower_bound(numbers_, number);
    const bool is_there = found != numbers_.end() && *found == number;
    return is_there ? static_cast<std::size_t>(found - numbers_.begin()) : otherwise;
  }

 private:
  std::vector<double> numbers_;
};

// Evaluates `clip` and hands the frames of `outputs` (empty = all) to `sink`. Messages have numbers
// that are `start` later than those of the clip.
absl::Status Evaluate(const Monitor& monitor, const client::Character& bound,
                      const client::ClipData& clip, std::int64_t start,
                      std::span<const std::size_t> outputs, const ClipStreamOptions& options,
                      const FrameSink& sink) {
  std::vector<double> times;
  for (std::size_t k = 0; k < clip.frames; ++k) times.push_back(clip.FrameNumber(k) / clip.fps);
  const auto line = monitor.MakeProgress(options.label);
  const client::ClipOptions deform = {
      .output = options.output, .progress = [&](std::size_t done, std::size_t total) {
        if (total == 1) return;
        const double fraction = static_cast<double>(done) / static_cast<double>(total);
        line->Update(std::lerp(options.progress_begin, options.progress_end, fraction),
                     absl::StrCat("frame ", done, " of ", total));
      }};
  const auto take = [&](const client::StreamItem& item) {
    if (item.problem.ok()) return sink(item.view);
    const double frame = clip.FrameNumber(static_cast<std::size_t>(item.frame) - 1);
    return Prefixed(absl::StrCat("frame ", ExactText(MovedFrame(frame, start))), item.problem);
  };
  const client::ClipPoses poses = {.joint_transforms = clip.joint_transforms,
                                   .controls = clip.controls,
                                   .frames = clip.frames,
                                   .times = times,
                                   .outputs = outputs};
  SINEW_RETURN_IF_ERROR(bound.DeformClip(poses, deform, take, monitor.call()));
  return monitor.CheckStop();
}

// The samples that velocities still have to be taken from.
class SampleWindow {
 public:
  SampleWindow(const Evaluation& evaluation, std::size_t vertices, const SampleSink& sink)
      : evaluation_(evaluation), vertices_(vertices), sink_(sink) {
    // Neighbours before do not rise where the clip begins.
    std::size_t first = evaluation.clip.frames;
    needed_from_.assign(evaluation.outputs.size() + 1, first);
    for (std::size_t k = evaluation.outputs.size(); k-- > 0;) {
      first = std::min(first, evaluation.before[k]);
      needed_from_[k] = first;
    }
  }

  // Index `at` of the evaluated clip has arrived; indices rise.
  absl::Status Add(std::size_t at, const client::FrameView& frame) {
    Kept& kept = kept_[at];
    kept.points.resize(vertices_ * 3);
    SINEW_RETURN_IF_ERROR(frame.CopyPositions(kept.points));
    if (frame.encoding(client::Attribute::kNormals) != client::Encoding::kUnspecified) {
      kept.normals.resize(vertices_ * 3);
      SINEW_RETURN_IF_ERROR(frame.CopyNormals(kept.normals));
    }
    while (next_ < evaluation_.outputs.size() && evaluation_.after[next_] <= at) {
      SINEW_RETURN_IF_ERROR(Emit(next_));
      ++next_;
      kept_.erase(kept_.begin(), kept_.lower_bound(needed_from_[next_]));
    }
    return absl::OkStatus();
  }

 private:
  struct Kept {
    std::vector<float> points, normals;
  };

  absl::Status Emit(std::size_t k) {
    const Kept& own = kept_[evaluation_.outputs[k]];
    SetVelocities(evaluation_.before[k], evaluation_.after[k]);
    return sink_({.points = own.points, .normals = own.normals, .velocities = velocities_});
  }

  void SetVelocities(std::size_t before, std::size_t after) {
    velocities_.assign(vertices_ * 3, 0);
    if (before == after) return;
    const client::ClipData& clip = evaluation_.clip;
    const double rate = clip.fps / (clip.FrameNumber(after) - clip.FrameNumber(before));
    const std::vector<float>&from = kept_[before].points, &to = kept_[after].points;
    for (std::size_t i = 0; i < velocities_.size(); ++i) {
      velocities_[i] = static_cast<float>((double{to[i]} - double{from[i]}) * rate);
    }
  }

  const Evaluation& evaluation_;
  const std::size_t vertices_;
  const SampleSink& sink_;
  std::vector<std::size_t> needed_from_;  // [outputs + 1] by this sample and those after it
  std::map<std::size_t, Kept> kept_;
  std::vector<float> velocities_;
  std::size_t next_ = 0;
};

}  // namespace

absl::StatusOr<Evaluation> ReadEvaluation(const CharacterFile& character,
                                          const MotionRequest& motion, const client::ClipData& clip,
                                          std::span<const std::size_t> wanted) {
  std::vector<double> numbers;
  for (std::size_t k = 0; k < (wanted.empty() ? clip.frames : wanted.size()); ++k) {
    const double number = clip.FrameNumber(wanted.empty() ? k : wanted[k]);
    numbers.push_back(MovedFrame(number, -motion.frames.start));
  }
  Evaluation evaluation;
  SINEW_ASSIGN_OR_RETURN(evaluation.clip, ReadNeighbours(character, motion, numbers));
  SINEW_ASSIGN_OR_RETURN(const double last, LastFrame(character, motion));
  const SampleIndex index(evaluation.clip);
  for (const double number : numbers) {
    const std::size_t own = index.Find(number);
    evaluation.outputs.push_back(own);
    const auto neighbour = [&](double step) {
      const double at = OnSampleGrid(number + step);
      return at < 0 || at > last + kStepRounding ? own : index.Find(at, own);
    };
    evaluation.before.push_back(neighbour(-motion.velocity_step));
    evaluation.after.push_back(neighbour(motion.velocity_step));
  }
  return evaluation;
}

absl::Status StreamClip(const Monitor& monitor, const client::Character& bound,
                        const client::ClipData& clip, const ClipStreamOptions& options,
                        const FrameSink& sink) {
  return Evaluate(monitor, bound, clip, /*start=*/0, options.wanted, options, sink);
}

absl::Status StreamSamples(const Monitor& monitor, const CharacterFile& character,
                           const client::Character& bound, const MotionRequest& motion,
                           const client::ClipData& clip, const ClipStreamOptions& options,
                           const SampleSink& sink) {
  const std::size_t vertices = character.rig.vertices();
  if (motion.velocity_step == 0) {
    std::vector<float> points(vertices * 3), normals;
    const auto take = [&](const client::FrameView& frame) -> absl::Status {
      SINEW_RETURN_IF_ERROR(frame.CopyPositions(points));
      if (frame.encoding(client::Attribute::kNormals) != client::Encoding::kUnspecified) {
        normals.resize(points.size());
        SINEW_RETURN_IF_ERROR(frame.CopyNormals(normals));
      }
      return sink({.points = points, .normals = normals});
    };
    return StreamClip(monitor, bound, clip, options, take);
  }
  SINEW_ASSIGN_OR_RETURN(const Evaluation evaluation,
                         ReadEvaluation(character, motion, clip, options.wanted));
  std::set<std::size_t> needed(evaluation.outputs.begin(), evaluation.outputs.end());
  needed.insert(evaluation.before.begin(), evaluation.before.end());
  needed.insert(evaluation.after.begin(), evaluation.after.end());
  const std::vector<std::size_t> outputs(needed.begin(), needed.end());
  SampleWindow window(evaluation, vertices, sink);
  std::size_t arrived = 0;
  return Evaluate(
      monitor, bound, evaluation.clip, motion.frames.start, outputs, options,
      [&](const client::FrameView& frame) { return window.Add(outputs[arrived++], frame); });
}

}  // namespace sinew::bake
