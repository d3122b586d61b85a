#include "client/bake/passes/join_parts.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "client/bake/base/quantity.h"
#include "client/bake/character/shutter.h"
#include "client/bake/files/input_file.h"
#include "client/bake/passes/bake_manifest.h"
#include "core/base/status.h"

namespace sinew::bake {
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
            part.manifest.shutter ? "; samples of a shutter need `frames` with their whole frames"
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
                   "; is one missing? If not, name all of them with `frames`"));
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

// Joins again, with frames that the cache has already: tasks whose frames are in it have baked
// nothing. They are written as a part first, so that a join that is killed while it replaces the
// cache can be repeated. `status` is that of the parts alone, and stays if frames are missing
// still.
absl::StatusOr<JoinedCache> JoinWithOwnFrames(const absl::Status& status,
                                              const JoinRequest& request, const CacheInfo& frames,
                                              FoundParts& found, const CacheProgress& progress) {
  const absl::StatusOr<Manifest> manifest = ReadManifest(request.cache);
  if (!manifest.ok()) return status;
  const std::set<std::int64_t> wanted = FrameKeys(frames);
  std::set<std::int64_t> missing = wanted;
  for (const CachePart& part : found.parts) {
    if (!HasAnyOf(part.manifest, wanted)) continue;
    if (OriginDifference(part.manifest, *manifest)) return status;
    for (const std::int64_t frame : FrameKeys(InfoOf(part.manifest))) missing.erase(frame);
  }
  client::ClipData own;
  own.fps = manifest->fps;
  for (std::uint32_t k = 0; k < manifest->frames; ++k) {
    const double number = manifest->FrameNumber(k);
    if (missing.erase(FrameKey(number)) > 0) own.frame_numbers.push_back(number);
  }
  own.frames = own.frame_numbers.size();
  if (own.frames == 0 || !missing.empty()) return status;
  const absl::StatusOr<CacheFormat> format = ParseCacheFormat(manifest->format);
  // The intact frames of a sequence are among the sources of every join.
  if (!format.ok() || *format == CacheFormat::kObj) return status;
  if (IsSceneFormat(*format)) {
    return absl::Status(status.code(),
                        absl::StrCat(status.message(), "; ", request.cache,
                                     " has them, but no frames can be taken from a .",
                                     manifest->format, ": remove it, and bake all parts again"));
  }
  SINEW_RETURN_IF_ERROR(CreatePartsFolder(request.cache));
  const CachePart cache = {request.cache, *manifest, /*is_cache=*/true};
  SINEW_RETURN_IF_ERROR(JoinParts(PartPath(request.cache, own.frame_numbers), kPartFormat,
                                  TimesOf(own), std::span(&cache, 1), /*overwrite=*/true, progress)
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

}  // namespace sinew::bake
