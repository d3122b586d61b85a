#include "client/cli/character/join_parts.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "client/cli/base/quantity.h"
#include "client/cli/character/bake_manifest.h"
#include "client/cli/character/frame_set.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

// All frames of the parts, which must be at even distances: a gap may be a part that is missing.
absl::StatusOr<client::ClipData> FramesOf(const std::vector<CachePart>& parts) {
  std::set<std::int64_t> numbers;
  for (const CachePart& part : parts) {
    for (std::uint32_t k = 0; k < part.manifest.frames; ++k) {
      const double number = part.manifest.FrameNumber(k);
      if (number != std::floor(number)) {
        return absl::FailedPreconditionError(absl::StrCat(
            part.path, ": has frame ", NumberText(number), "; only whole frames can be joined"));
      }
      numbers.insert(static_cast<std::int64_t>(number));
    }
  }
  client::ClipData clip;
  clip.fps = parts[0].manifest.fps;
  const std::vector<std::int64_t> sorted(numbers.begin(), numbers.end());
  SetFrameNumbers(sorted, clip);
  if (clip.frame_numbers.empty()) return clip;
  const auto gap = std::ranges::adjacent_find(
      sorted, [&](std::int64_t a, std::int64_t b) { return b - a != clip.step; });
  return absl::FailedPreconditionError(
      absl::StrCat("the parts have frame ", *gap, " and then ", *(gap + 1),
                   "; is one missing? If not, name all frames with --frames"));
}

}  // namespace

absl::StatusOr<JoinedParts> JoinAll(const JoinRequest& request, const CacheProgress& progress) {
  const FoundParts found = FindParts(request.cache);
  if (!found.unreadable.empty()) return found.unreadable.front().second;
  if (found.parts.empty()) {
    return absl::NotFoundError(
        absl::StrCat(PartsFolder(request.cache), ": there are no parts to join"));
  }
  client::ClipData clip;
  clip.fps = found.parts[0].manifest.fps;
  if (request.frames.empty()) {
    SINEW_ASSIGN_OR_RETURN(clip, FramesOf(found.parts));
  } else {
    SetFrameNumbers(request.frames, clip);
  }
  JoinedParts joined = {.parts = found.parts.size()};
  SINEW_ASSIGN_OR_RETURN(joined.cache, JoinParts(request.cache, request.format, TimesOf(clip),
                                                 found.parts, request.overwrite, progress));
  joined.removed = !request.frames.empty() && !request.keep_parts;
  if (joined.removed) {
    for (const CachePart& part : found.parts) RemovePart(part.path);
    RemovePartsFolder(request.cache);
  }
  return joined;
}

}  // namespace sinew::cli
