#include "client/cli/character/join_parts.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "client/cli/base/quantity.h"
#include "client/cli/character/bake_manifest.h"
#include "client/cli/character/frame_set.h"
#include "client/cli/character/shutter.h"
#include "client/cli/files/input_file.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

// All frames of the parts, which must be at even distances: a gap may be a part that is missing.
absl::StatusOr<CacheInfo> FramesOf(const std::vector<CachePart>& parts) {
  std::set<std::int64_t> numbers;
  for (const CachePart& part : parts) {
    for (std::uint32_t k = 0; k < part.manifest.frames; ++k) {
      const double number = part.manifest.FrameNumber(k);
      if (number != std::floor(number)) {
        return absl::FailedPreconditionError(absl::StrCat(
            part.path, ": has frame ", ExactText(number),
            part.manifest.shutter ? "; samples of a shutter need --frames with their whole frames"
                                  : "; only whole frames can be joined"));
      }
      numbers.insert(static_cast<std::int64_t>(number));
    }
  }
  const std::vector<std::int64_t> sorted(numbers.begin(), numbers.end());
  const CacheInfo info = TimesOf(sorted);
  if (info.frame_numbers.empty()) return info;
  const std::int64_t step = sorted[1] - sorted[0];
  const auto gap = std::ranges::adjacent_find(
      sorted, [&](std::int64_t a, std::int64_t b) { return b - a != step; });
  return absl::FailedPreconditionError(
      absl::StrCat("the parts have frame ", *gap, " and then ", *(gap + 1),
                   "; is one missing? If not, name all frames with --frames"));
}

// All samples of whole frames: those of the shutter that the parts, or the cache itself, have.
CacheInfo SamplesOf(const JoinRequest& request, const FoundParts& found) {
  absl::StatusOr<Manifest> written = absl::NotFoundError("");
  if (found.parts.empty()) written = ReadManifest(request.cache);
  std::optional<ManifestShutter> shutter;
  if (written.ok()) shutter = written->shutter;
  if (!found.parts.empty()) shutter = found.parts[0].manifest.shutter;
  if (!shutter) return TimesOf(request.frame_numbers);
  client::ClipData clip;
  clip.frame_numbers = SampleNumbers(request.frame_numbers,
                                     {.open = shutter->open,
                                      .close = shutter->close,
                                      .samples = static_cast<std::int64_t>(shutter->samples)});
  clip.frames = clip.frame_numbers.size();
  return TimesOf(clip);
}

// The cache, if an earlier call has written all these frames, and no part is of another bake.
absl::StatusOr<JoinedCache> WrittenCache(const JoinRequest& request, const CacheInfo& frames,
                                         const FoundParts& found, const CacheProgress& progress) {
  JoinedCache cache;
  SINEW_ASSIGN_OR_RETURN(cache.manifest, ReadManifest(request.cache));
  SINEW_ASSIGN_OR_RETURN(const OpenCache open, OpenCache::Open(request.cache, cache.manifest));
  cache.bytes = open.bytes();
  const std::set<std::int64_t> wanted = FrameKeys(frames);
  bool same = FrameKeys(InfoOf(cache.manifest)) == wanted &&
              cache.manifest.format == CacheFormatName(request.format);
  for (const CachePart& part : found.parts) {
    same = same &&
           (!HasAnyOf(part.manifest, wanted) || !OriginDifference(part.manifest, cache.manifest));
  }
  if (!same) return absl::NotFoundError("another cache");
  SINEW_ASSIGN_OR_RETURN(const CacheDamage damage, open.FindDamage(progress));
  if (damage.any()) return absl::DataLossError(damage.first);
  return cache;
}

// Those whose frames are all in the cache. Returns how many.
std::size_t RemoveJoined(const std::vector<CachePart>& parts, const Manifest& cache) {
  const std::set<std::int64_t> frames = FrameKeys(InfoOf(cache));
  std::size_t removed = 0;
  for (const CachePart& part : parts) {
    if (!std::ranges::includes(frames, FrameKeys(InfoOf(part.manifest)))) continue;
    RemovePart(part.path);
    ++removed;
  }
  return removed;
}

// What to do with the frames of the cache itself that no part has.
struct OwnFrames {
  std::vector<double> numbers;  // rising
  bool readable = false;        // single frames of its format can be read
  CachePart cache;
};

// Those among the wanted ones; none if the cache is of another bake than the parts with wanted
// frames.
OwnFrames FindOwnFrames(const JoinRequest& request, const std::set<std::int64_t>& wanted,
                        const std::vector<CachePart>& parts) {
  OwnFrames own;
  absl::StatusOr<Manifest> manifest = ReadManifest(request.cache);
  if (!manifest.ok()) return own;
  const absl::StatusOr<CacheFormat> format = ParseCacheFormat(manifest->format);
  if (!format.ok()) return own;
  std::set<std::int64_t> held;
  for (const CachePart& part : parts) {
    if (!HasAnyOf(part.manifest, wanted)) continue;
    if (OriginDifference(part.manifest, *manifest)) return own;
    held.merge(FrameKeys(InfoOf(part.manifest)));
  }
  for (std::uint32_t k = 0; k < manifest->frames; ++k) {
    const double number = manifest->FrameNumber(k);
    if (!wanted.contains(FrameKey(number)) || held.contains(FrameKey(number))) continue;
    own.numbers.push_back(number);
  }
  own.readable = !IsSceneFormat(*format);
  own.cache = {request.cache, *std::move(manifest), /*is_cache=*/true};
  return own;
}

// Joins again, with frames that the cache has already: tasks whose frames are in it have baked
// nothing. They are written as a part first, so that a join that is killed while it replaces the
// cache can be repeated. `status` is that of the parts alone.
absl::StatusOr<JoinedCache> JoinWithOwnFrames(const absl::Status& status,
                                              const JoinRequest& request, const CacheInfo& frames,
                                              FoundParts& found, const CacheProgress& progress) {
  OwnFrames own = FindOwnFrames(request, FrameKeys(frames), found.parts);
  if (own.numbers.empty()) return status;
  if (!own.readable) {
    return absl::Status(
        status.code(),
        absl::StrCat(status.message(), "; ", request.cache, " has ", own.numbers.size(),
                     " of these, but no frames can be taken from a .", own.cache.manifest.format,
                     ": remove it, and bake all parts again"));
  }
  client::ClipData clip;
  clip.frames = own.numbers.size();
  clip.fps = own.cache.manifest.fps;
  clip.frame_numbers = own.numbers;
  SINEW_RETURN_IF_ERROR(CreatePartsFolder(request.cache));
  SINEW_RETURN_IF_ERROR(JoinParts(PartPath(request.cache, own.numbers), kPartFormat, TimesOf(clip),
                                  std::span(&own.cache, 1), /*overwrite=*/true, progress)
                            .status());
  found = FindParts(request.cache);
  return JoinParts(request.cache, request.format, frames, found.parts, request.overwrite, progress);
}

}  // namespace

absl::StatusOr<JoinOutcome> JoinAndRemoveParts(const JoinRequest& request,
                                               const CacheProgress& progress) {
  FoundParts found = FindParts(request.cache);
  JoinOutcome outcome;
  CacheInfo frames;
  if (request.frames) {
    frames = *request.frames;
  } else if (request.names_frames()) {
    frames = SamplesOf(request, found);
  } else if (!found.parts.empty()) {
    SINEW_ASSIGN_OR_RETURN(frames, FramesOf(found.parts));
  }
  std::vector<CachePart> sources = found.parts;
  if (request.format == CacheFormat::kObj) {
    if (auto kept = IntactSequence(request.cache, found.parts)) sources.push_back(*std::move(kept));
  }
  const std::set<std::int64_t> wanted = FrameKeys(frames);
  for (const CachePart& source : sources) {
    if (!HasAnyOf(source.manifest, wanted)) continue;
    frames.fps = source.manifest.fps;
    break;
  }
  absl::StatusOr<JoinedCache> joined =
      JoinParts(request.cache, request.format, frames, sources, request.overwrite, progress);
  outcome.was_joined = joined.ok() && found.parts.empty();
  if (!joined.ok() && request.names_frames() &&
      (absl::IsNotFound(joined.status()) || absl::IsFailedPrecondition(joined.status()))) {
    const absl::StatusOr<JoinedCache> written = WrittenCache(request, frames, found, progress);
    outcome.was_joined = written.ok();
    joined = written.ok() ? written
                          : JoinWithOwnFrames(joined.status(), request, frames, found, progress);
  }
  if (!joined.ok()) {
    // A part that cannot be read may be the one that is missing.
    return found.unreadable.empty() ? joined.status() : found.unreadable.front().second;
  }
  outcome.cache = *std::move(joined);
  // Frames of a sequence may be those that it has already.
  outcome.used = outcome.cache.parts.size() - outcome.cache.parts.count(request.cache);
  if (request.names_frames()) {
    outcome.removed = RemoveJoined(found.parts, outcome.cache.manifest);
    RemovePartsFolder(request.cache);
  }
  outcome.kept = found.parts.size() - outcome.removed;
  return outcome;
}

}  // namespace sinew::cli
