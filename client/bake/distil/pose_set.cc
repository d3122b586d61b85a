#include "client/bake/distil/pose_set.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr double kFreeAngle = 35 * std::numbers::pi / 180;
constexpr double kMargin = 0.2;
constexpr double kMostKeys = 0x1p26;  // of shapes in clips: 0.3 GB
constexpr std::size_t kLeastRandom = 60, kMostRandom = 2000;
// Without clips. With 60, animation space leaves .26 of the own weights of CesiumMan, with 180 .24.
constexpr std::size_t kLeastAlone = 180;
constexpr std::size_t kMostClipPoses = 20000;
constexpr std::size_t kMostMatrices = std::size_t{1} << 23;  // of joints in all poses: 0.8 GB

struct ClipPose {
  std::vector<AffineD> joints;
  std::string name;
};

absl::StatusOr<std::vector<ClipPose>> ReadClipPoses(const CharacterFile& character,
                                                    const PoseRequest& request) {
  std::vector<ClipPose> poses;
  for (const std::string& name : ClipNames(character, request.clips)) {
    SINEW_ASSIGN_OR_RETURN(
        const client::ClipData clip,
        ReadMotion(character, {.clip = name, .poses = {}, .fps = request.poses_per_second}));
    const std::size_t floats = character.rig.joints.size() * 12;
    if (poses.size() + clip.frames > kMostClipPoses) {
      return InvalidArgument("poses: the clips up to \"", name, "\" have more than ",
                             kMostClipPoses, " poses at ", request.poses_per_second,
                             " a second; name fewer clips");
    }
    for (std::size_t k = 0; k < clip.frames; ++k) {
      poses.push_back({ToMatrices(std::span(clip.joint_transforms).subspan(k * floats, floats)),
                       absl::StrFormat("%s at %.1f s", clip.name, clip.FrameNumber(k) / clip.fps)});
    }
  }
  return poses;
}

}  // namespace

std::vector<std::size_t> PoseSet::Training() const {
  std::vector<std::size_t> training;
  for (std::size_t k = 0; k < joints.size(); ++k) {
    if (!std::ranges::binary_search(held_out, k)) training.push_back(k);
  }
  return training;
}

std::vector<std::vector<AffineD>> PoseSet::Of(const std::vector<std::size_t>& poses) const {
  std::vector<std::vector<AffineD>> chosen;
  for (const std::size_t k : poses) chosen.push_back(joints[k]);
  return chosen;
}

std::vector<std::string> ClipNames(const CharacterFile& character,
                                   const std::vector<std::string>& wanted) {
  if (!wanted.empty()) return wanted;
  std::vector<std::string> names;
  for (const client::ClipInfo& clip : character.clips) names.push_back(clip.name);
  return names;
}

absl::StatusOr<PoseSet> MakePoses(const CharacterFile& character, const RigSkin& skin,
                                  const std::vector<bool>& moves, const PoseRequest& request) {
  std::vector<ClipPose> clips;
  if (!request.random) {
    SINEW_ASSIGN_OR_RETURN(clips, ReadClipPoses(character, request));
  }
  PoseSet set;
  set.from_clips = !clips.empty();
  const std::size_t joints = skin.bind.joints();
  set.random = std::clamp(2 * joints, set.from_clips ? kLeastRandom : kLeastAlone, kMostRandom);
  const std::size_t matrices = (1 + set.random + clips.size()) * joints;
  if (matrices > kMostMatrices) {
    return InvalidArgument("poses: ", 1 + set.random + clips.size(), " poses of ", joints,
                           " joints are ", matrices, " transforms, need at most ", kMostMatrices,
                           "; name fewer clips");
  }
  if (set.from_clips) {
    const TurnMeter meter(skin.bind);
    std::vector<std::vector<Vec3d>> turns;
    for (const ClipPose& pose : clips) turns.push_back(meter.Measure(pose.joints));
    set.ranges = RangesOf(turns, joints, kMargin);
  } else {
    set.ranges.assign(joints, FreeRange(kFreeAngle));
  }
  for (std::size_t j = 0; j < joints; ++j) {
    if (!moves[j]) set.ranges[j] = {};
  }
  set.joints.emplace_back(skin.skeleton.rest_model().begin(), skin.skeleton.rest_model().end());
  set.names.emplace_back("rest");
  for (std::size_t k = 1; k <= set.random; ++k) {
    set.joints.push_back(TurnedPose(skin.bind, RandomTurns(set.ranges, request.seed, k)));
    set.names.push_back(absl::StrCat("random pose ", k));
  }
  for (ClipPose& pose : clips) {
    set.joints.push_back(std::move(pose.joints));
    set.names.push_back(std::move(pose.name));
  }
  set.held_out = HeldOutPoses(set.joints.size(), request.seed);
  return set;
}

client::ClipData ClipOf(const client::RigData& rig,
                        const std::vector<std::vector<AffineD>>& joints) {
  client::ClipData clip;
  clip.name = "poses";
  clip.frames = joints.size();
  for (const std::vector<AffineD>& pose : joints) {
    AppendMatrices(pose, clip.joint_transforms);
    for (const client::Control& control : rig.controls) {
      clip.controls.push_back(control.default_value);
    }
  }
  return clip;
}

absl::StatusOr<std::vector<client::ClipData>> ReadClips(const CharacterFile& character,
                                                        const PoseRequest& request, double fps,
                                                        std::size_t shapes) {
  double frames = 0;
  for (const std::string& name : ClipNames(character, request.clips)) {
    SINEW_ASSIGN_OR_RETURN(const double last,
                           LastFrame(character, {.clip = name, .poses = {}, .fps = fps}));
    frames += std::floor(last) + 1;
  }
  const double keys = frames * static_cast<double>(shapes);
  if (keys > kMostKeys) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "fps: %.0f frames of clips with up to %d shapes are %.0f keys, need at most %.0f; lower it "
        "or `max_shapes`, or name fewer clips with `poses`",
        frames, shapes, keys, kMostKeys));
  }
  std::vector<client::ClipData> clips;
  for (const std::string& name : ClipNames(character, request.clips)) {
    SINEW_ASSIGN_OR_RETURN(clips.emplace_back(),
                           ReadMotion(character, {.clip = name, .poses = {}, .fps = fps}));
  }
  return clips;
}

}  // namespace sinew::bake
