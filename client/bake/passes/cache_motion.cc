#include "client/bake/passes/cache_motion.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "client/bake/base/quantity.h"
#include "client/bake/files/cache_output.h"
#include "client/bake/passes/bake_manifest.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// The motion that the cache was baked from.
absl::StatusOr<MotionRequest> MotionOf(const std::string& cache, const Manifest& manifest,
                                       const CharacterFile& character, MotionRequest motion) {
  if (motion.poses.empty()) motion.clip = manifest.clip;
  motion.fps = manifest.fps;
  const auto start = static_cast<std::int64_t>(manifest.start_frame);
  motion.frames.start = start;
  for (std::uint32_t k = 0; k < manifest.frames; ++k) {
    const double number = manifest.FrameNumber(k);
    if (number < static_cast<double>(start - (manifest.shutter ? 1 : 0)) ||
        number > static_cast<double>(kMaxFrame)) {
      return absl::InvalidArgumentError(absl::StrCat(ManifestPath(cache), ": has frame ",
                                                     ExactText(number), ", need ", start, " to ",
                                                     kMaxFrame));
    }
    motion.times.push_back(number);
    motion.frames.ranges.push_back({.first = std::floor(number), .last = std::floor(number)});
  }
  motion.velocity_step = manifest.velocity_step;
  if (const auto& shutter = manifest.shutter) {
    motion.holds_ends = true;
    motion.shutter = {.open = shutter->open,
                      .close = shutter->close,
                      .samples = static_cast<std::int64_t>(shutter->samples)};
  } else if (std::ranges::all_of(motion.times, [](double n) { return n == std::floor(n); })) {
    motion.times.clear();
  }
  const bool has_clip = std::ranges::any_of(
      character.clips, [&](const client::ClipInfo& clip) { return clip.name == manifest.clip; });
  if (motion.poses.empty() && !has_clip) {
    return absl::FailedPreconditionError(absl::StrCat(
        cache, ": was baked from the clip '", manifest.clip, "', which ", character.label,
        " does not have; ",
        manifest.clip_source.empty() ? "if it was baked from `poses`, need their file"
                                     : absl::StrCat("need the file of the clip, ",
                                                    manifest.clip_source, ", as `clip_file`")));
  }
  return motion;
}

}  // namespace

absl::StatusOr<client::ClipData> ReadCacheMotion(const std::string& cache, const Manifest& manifest,
                                                 const CharacterFile& character,
                                                 MotionRequest& motion) {
  if (manifest.clip.empty() || manifest.pose_hashes.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(ManifestPath(cache),
                     ": does not say what the cache was baked from, as those of earlier versions; "
                     "bake it again"));
  }
  SINEW_ASSIGN_OR_RETURN(motion, MotionOf(cache, manifest, character, std::move(motion)));
  SINEW_ASSIGN_OR_RETURN(client::ClipData clip, ReadMotion(character, motion));
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> hashes,
                         PoseHashes(character, motion, clip));
  if (hashes != manifest.pose_hashes) {
    return absl::FailedPreconditionError(
        absl::StrCat(cache, ": was baked from other poses than those of '", clip.name, "'"));
  }
  return clip;
}

}  // namespace sinew::bake
