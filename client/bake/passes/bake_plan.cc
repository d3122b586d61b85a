#include "client/bake/passes/bake_plan.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "client/bake/files/input_file.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

constexpr std::size_t kFramesOfAPart = 50;

// What is wrong with the frames of a cache, or empty. kCancelled by `progress`.
absl::StatusOr<std::string> DamageOf(const std::string& cache, const Manifest& manifest,
                                     const CacheProgress& progress) {
  const absl::StatusOr<OpenCache> file = OpenCache::Open(cache, manifest);
  if (!file.ok()) return std::string(file.status().message());
  const absl::StatusOr<CacheDamage> damage = file->FindDamage(progress);
  if (absl::IsCancelled(damage.status())) return damage.status();
  return damage.ok() ? damage->first : std::string(damage.status().message());
}

}  // namespace

Chunks ChunksOf(const client::ClipData& clip, const PartsRequest& request) {
  const bool whole = !request.frames && (request.only || !request.enabled());
  const std::size_t frames = whole ? clip.frames : request.frames.value_or(kFramesOfAPart);
  Chunks chunks;
  for (std::size_t k = 0; k < clip.frames; ++k) {
    if (k % frames == 0) chunks.emplace_back();
    chunks.back().push_back(k);
  }
  return chunks;
}

absl::Status BakePlan::FindHashes() {
  if (!hashes_.empty()) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> hashes,
                         PoseHashes(in_.character, in_.motion, in_.clip));
  for (std::size_t k = 0; k < hashes.size(); ++k) {
    hashes_[FrameKey(in_.clip.FrameNumber(k))] = hashes[k];
  }
  return absl::OkStatus();
}

Manifest BakePlan::Expected(const CacheTarget& target) const {
  Manifest manifest = origin_;
  DescribePoints(target, in_.character.rig, manifest);
  DescribeSamples(in_.motion, manifest);
  return manifest;
}

absl::StatusOr<bool> BakePlan::IsCurrent(const CacheProgress& progress) {
  for (const CacheTarget& target : in_.pass.targets) {
    SINEW_ASSIGN_OR_RETURN(const bool current, IsCurrent(target, progress));
    if (!current) return false;
  }
  return true;
}

absl::StatusOr<bool> BakePlan::IsCurrent(const CacheTarget& target, const CacheProgress& progress) {
  const absl::StatusOr<Manifest> manifest = ReadManifest(target.path);
  if (!manifest.ok() || OriginDifference(Expected(target), *manifest) ||
      manifest->format != CacheFormatName(target.format) ||
      manifest->pose_hashes.size() != manifest->frames ||
      (manifest->frames != in_.clip.frames && !parts_.only)) {
    return false;
  }
  SINEW_ASSIGN_OR_RETURN(const Compared poses, ComparePoses(*manifest));
  std::error_code error;
  if (poses.same != in_.clip.frames ||
      (target.WritesRest() && !std::filesystem::exists(RestPath(target.path), error))) {
    return false;
  }
  SINEW_ASSIGN_OR_RETURN(const std::string damage, DamageOf(target.path, *manifest, progress));
  return damage.empty();
}

absl::StatusOr<BakePlan::Compared> BakePlan::ComparePoses(const Manifest& manifest) {
  SINEW_RETURN_IF_ERROR(FindHashes());
  Compared compared;
  for (std::uint32_t k = 0; k < manifest.pose_hashes.size(); ++k) {
    const auto found = hashes_.find(FrameKey(manifest.FrameNumber(k)));
    if (found == hashes_.end()) continue;
    ++(found->second == manifest.pose_hashes[k] ? compared.same : compared.different);
  }
  return compared;
}

// What is wrong with a part, or empty.
absl::StatusOr<std::string> BakePlan::FaultOf(const CachePart& part, const Manifest& expected,
                                              const CacheProgress& progress) {
  if (const auto difference = OriginDifference(part.manifest, expected)) {
    return absl::StrCat("it has the ", difference->what, " '", difference->a, "', not '",
                        difference->b, "'");
  }
  SINEW_ASSIGN_OR_RETURN(const Compared poses, ComparePoses(part.manifest));
  if (poses.different > 0) return std::string("it is of other poses");
  return DamageOf(part.path, part.manifest, progress);
}

// The frames of a sequence that are there and right.
absl::StatusOr<std::set<std::int64_t>> BakePlan::KeptFrames(const CacheTarget& target) {
  std::set<std::int64_t> frames;
  const std::optional<CachePart> kept = IntactSequence(target.path, {});
  if (!kept || OriginDifference(Expected(target), kept->manifest)) return frames;
  SINEW_ASSIGN_OR_RETURN(const Compared poses, ComparePoses(kept->manifest));
  if (poses.different == 0) frames = FrameKeys(InfoOf(kept->manifest));
  return frames;
}

absl::StatusOr<BakePlan::Missing> BakePlan::FindMissing(const CacheProgress& progress) {
  Missing missing;
  const std::set<std::int64_t> frames = FrameKeys(TimesOf(in_.clip));
  std::map<std::int64_t, std::size_t> done;  // of how many targets
  for (const CacheTarget& target : in_.pass.targets) {
    const FoundParts found = FindParts(target.path);
    for (const auto& [path, why] : found.unreadable) {
      if (path == PartsFolder(target.path)) continue;  // writing the first part says what is wrong
      missing.useless.emplace_back(path, std::string(why.message()));
    }
    std::set<std::int64_t> held;
    const Manifest expected = Expected(target);
    for (const CachePart& part : found.parts) {
      // Another process may bake other frames, but a whole bake leaves nothing of an earlier bake,
      // which a later join would take.
      const bool other_frames = !HasAnyOf(part.manifest, frames);
      if (other_frames && (parts_.only || !OriginDifference(part.manifest, expected))) continue;
      SINEW_ASSIGN_OR_RETURN(std::string fault, FaultOf(part, expected, progress));
      if (!fault.empty()) {
        missing.useless.emplace_back(part.path, std::move(fault));
        continue;
      }
      held.merge(FrameKeys(InfoOf(part.manifest)));
    }
    if (target.format == CacheFormat::kObj) {
      SINEW_ASSIGN_OR_RETURN(std::set<std::int64_t> kept, KeptFrames(target));
      held.merge(kept);
    }
    for (const std::int64_t frame : held) ++done[frame];
  }
  for (std::vector<std::size_t>& chunk : ChunksOf(in_.clip, parts_)) {
    const auto is_done = [&](std::size_t k) {
      const auto found = done.find(FrameKey(in_.clip.FrameNumber(k)));
      return found != done.end() && found->second == in_.pass.targets.size();
    };
    if (std::ranges::all_of(chunk, is_done)) continue;
    // A sequence has a file for each frame, so that single frames may be missing.
    if (in_.pass.targets[0].format == CacheFormat::kObj) std::erase_if(chunk, is_done);
    missing.chunks.push_back(std::move(chunk));
  }
  return missing;
}

namespace {

// Parts with frames of the clip for which is_wanted(part) is true.
template <class IsWanted>
std::size_t RemovePartsIf(const std::string& cache, const client::ClipData& clip,
                          IsWanted is_wanted) {
  const std::set<std::int64_t> frames = FrameKeys(TimesOf(clip));
  std::size_t removed = 0;
  for (const CachePart& part : FindParts(cache).parts) {
    if (!HasAnyOf(part.manifest, frames) || !is_wanted(part)) continue;
    RemovePart(part.path);
    ++removed;
  }
  return removed;
}

}  // namespace

std::size_t RemoveParts(const std::vector<CacheTarget>& targets, const client::ClipData& clip) {
  std::size_t removed = 0;
  for (const CacheTarget& target : targets) {
    removed += RemovePartsIf(target.path, clip, [](const CachePart&) { return true; });
    RemovePartsFolder(target.path);
  }
  return removed;
}

std::size_t RemovePartsOfOtherBakes(const std::vector<CacheTarget>& targets,
                                    const client::ClipData& clip) {
  std::size_t removed = 0;
  for (const CacheTarget& target : targets) {
    const absl::StatusOr<Manifest> cache = ReadManifest(target.path);
    removed += RemovePartsIf(target.path, clip, [&](const CachePart& part) {
      return cache.ok() && OriginDifference(part.manifest, *cache).has_value();
    });
  }
  return removed;
}

}  // namespace sinew::bake
