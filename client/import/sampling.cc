// Clip sampling.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "client/import/motion.h"
#include "client/import/scene_graph.h"
#include "core/base/closest_names.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "sinew/import.h"

namespace sinew::client {
namespace {

constexpr std::uint64_t kMaxSampleBytes = std::uint64_t{4} << 30;

// Poses a scene at one time and appends the result; keeps its buffers between frames.
class Poser {
 public:
  Poser(const AnimatedScene& scene, const RigData& rig)
      : scene_(scene), rest_(PoseAtRest(scene, rig)) {}

  // motion may be null: the rest pose.
  absl::Status Append(const Motion* motion, double t, ClipData& out) {
    pose_ = rest_;
    if (motion != nullptr) SINEW_RETURN_IF_ERROR(motion->Evaluate(scene_, t, pose_));
    for (const std::uint32_t n : scene_.joint_nodes) {
      for (const double x : pose_.global[n].m) {
        out.joint_transforms.push_back(static_cast<float>(x));
      }
    }
    out.controls.insert(out.controls.end(), pose_.controls.begin(), pose_.controls.end());
    ++out.frames;
    return absl::OkStatus();
  }

 private:
  const AnimatedScene& scene_;
  const ScenePose rest_;
  ScenePose pose_;
};

absl::Status CheckFrameNumbers(const std::vector<double>& numbers) {
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (std::isfinite(numbers[k]) && numbers[k] >= (k == 0 ? 0 : numbers[k - 1])) continue;
    return InvalidArgument("frame_numbers[", k, "]: got ", numbers[k],
                           ", need finite numbers from 0 on that do not fall");
  }
  return absl::OkStatus();
}

}  // namespace

std::int64_t ClipFrames(const ClipInfo& clip, double fps) {
  return static_cast<std::int64_t>(std::min(std::floor(clip.end * fps + 1e-6), 9e15)) + 1;
}

absl::StatusOr<std::size_t> FindClip(const ImportedScene& scene, const std::string& name_or_index) {
  for (std::size_t c = 0; c < scene.clips.size(); ++c) {
    if (scene.clips[c].name == name_or_index) return c;
  }
  std::uint64_t index = 0;
  if (absl::SimpleAtoi(name_or_index, &index) && index < scene.clips.size()) {
    return static_cast<std::size_t>(index);
  }
  const auto quoted = [](std::string* out, const ClipInfo& clip) {
    absl::StrAppend(out, "'", clip.name, "'");
  };
  std::vector<std::string> names;
  for (const ClipInfo& clip : scene.clips) names.push_back(clip.name);
  return InvalidArgument("clip: got '", name_or_index, "', the file has ", scene.clips.size(),
                         scene.clips.empty() ? "" : ": ", absl::StrJoin(scene.clips, ", ", quoted),
                         DidYouMean(name_or_index, names));
}

absl::StatusOr<ClipData> SampleClip(const ImportedScene& scene, std::size_t clip,
                                    const SampleOptions& options) {
  if (scene.animation == nullptr || clip >= scene.clips.size()) {
    return InvalidArgument("clip: got ", clip, ", the file has ", scene.clips.size());
  }
  if (!std::isfinite(options.fps) || options.fps <= 0) {
    return InvalidArgument("fps: got ", options.fps, ", need more than 0");
  }
  const ClipInfo& info = scene.clips[clip];
  const std::int64_t last = options.last_frame == -1
                                ? std::max(ClipFrames(info, options.fps) - 1, options.first_frame)
                                : options.last_frame;
  if (options.first_frame < 0 || last < options.first_frame || options.step < 1) {
    return InvalidArgument("frames: got ", options.first_frame, "-", last, "x", options.step,
                           ", need 0 <= first <= last and a step >= 1");
  }
  SINEW_RETURN_IF_ERROR(CheckFrameNumbers(options.frame_numbers));
  const std::uint64_t frames =
      options.frame_numbers.empty()
          ? static_cast<std::uint64_t>((last - options.first_frame) / options.step) + 1
          : options.frame_numbers.size();
  const std::uint64_t floats = scene.rig.joints.size() * 12 + scene.rig.controls.size();
  if (frames > kMaxSampleBytes / sizeof(float) / std::max<std::uint64_t>(floats, 1)) {
    return InvalidArgument("frames: ", CountedText(frames, "frame"), " of ",
                           CountedText(floats, "number"), ", need at most 4 GiB in all");
  }
  ClipData out;
  out.name = info.name;
  out.fps = options.fps;
  out.first_frame = options.first_frame;
  out.step = options.step;
  out.frame_numbers = options.frame_numbers;
  out.joint_transforms.reserve(frames * scene.rig.joints.size() * 12);
  out.controls.reserve(frames * scene.rig.controls.size());
  Poser poser(*scene.animation, scene.rig);
  for (std::uint64_t i = 0; i < frames; ++i) {
    SINEW_RETURN_IF_ERROR(
        poser.Append(scene.animation->clips[clip].get(), out.FrameNumber(i) / options.fps, out));
  }
  const auto finite = [](float x) { return std::isfinite(x); };
  if (!std::all_of(out.joint_transforms.begin(), out.joint_transforms.end(), finite) ||
      !std::all_of(out.controls.begin(), out.controls.end(), finite)) {
    return InvalidArgument("clip '", info.name,
                           "': a joint or control leaves the range of float32");
  }
  return out;
}

ClipData RestPose(const ImportedScene& scene) {
  ClipData out;
  out.name = "rest";
  if (scene.animation == nullptr) return out;
  Poser(*scene.animation, scene.rig).Append(nullptr, 0, out).IgnoreError();  // nothing to evaluate
  return out;
}

}  // namespace sinew::client
