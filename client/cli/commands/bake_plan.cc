#include "client/cli/commands/bake_plan.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "client/cli/character/bake_manifest.h"
#include "client/cli/files/cache_check.h"
#include "client/cli/files/cache_parts.h"
#include "client/cli/files/input_file.h"

namespace sinew::cli {
namespace {

constexpr std::size_t kFramesOfAPart = 50;

// What is wrong with a part of this bake, or empty.
std::string FaultOf(const CachePart& part, Manifest expected, const std::string& preroll,
                    const std::map<std::int64_t, std::uint64_t>& pose_hashes) {
  expected.preroll = part.manifest.preroll.empty() ? "" : preroll;
  const std::string difference = OriginDifference(expected, part.manifest);
  if (!difference.empty()) return absl::StrCat("of another bake: ", difference);
  for (std::uint32_t k = 0; k < part.manifest.pose_hashes.size(); ++k) {
    const auto found = pose_hashes.find(FrameKey(part.manifest.FrameNumber(k)));
    if (found != pose_hashes.end() && found->second != part.manifest.pose_hashes[k]) {
      return "of other poses";
    }
  }
  const absl::StatusOr<InputFile> file = InputFile::Open(part.path, kMaxCacheBytes);
  if (!file.ok()) return std::string(file.status().message());
  const absl::StatusOr<CacheDamage> damage =
      FindDamage(file->bytes(), part.manifest, [](double) { return absl::OkStatus(); });
  return damage.ok() ? damage->first : std::string(damage.status().message());
}

bool Overlaps(const CachePart& part, const std::map<std::int64_t, std::uint64_t>& frames) {
  for (std::uint32_t k = 0; k < part.manifest.frames; ++k) {
    if (frames.contains(FrameKey(part.manifest.FrameNumber(k)))) return true;
  }
  return false;
}

}  // namespace

Manifest ExpectedManifest(const CacheTarget& target, const client::RigData& rig,
                          const Manifest& origin) {
  Manifest manifest = origin;
  DescribePoints(target, rig, manifest);
  return manifest;
}

bool IsCurrent(const CacheTarget& target, const client::RigData& rig, const client::ClipData& clip,
               const Manifest& origin, const std::string& preroll) {
  const absl::StatusOr<Manifest> manifest = ReadManifest(target.path);
  if (!manifest.ok()) return false;
  Manifest expected = ExpectedManifest(target, rig, origin);
  expected.preroll = manifest->preroll.empty() ? "" : preroll;
  if (!OriginDifference(expected, *manifest).empty() || manifest->frames != clip.frames ||
      manifest->format != CacheFormatName(target.format) ||
      manifest->pose_hashes != PoseHashes(clip)) {
    return false;
  }
  for (std::size_t k = 0; k < clip.frames; ++k) {
    if (FrameKey(manifest->FrameNumber(k)) != FrameKey(clip.FrameNumber(k))) return false;
  }
  CacheInfo info = TimesOf(clip);
  info.vertices = static_cast<std::uint32_t>(expected.vertices);
  const absl::StatusOr<std::string> header = EncodeCacheHeader(target.format, info);
  std::error_code error;
  return header.ok() &&
         std::filesystem::file_size(target.path, error) ==
             header->size() + expected.vertices * clip.frames * 3 * sizeof(float) &&
         (target.rest_mesh == nullptr || std::filesystem::exists(RestPath(target.path), error));
}

Chunks ChunksOf(const client::ClipData& clip, const PartsRequest& request) {
  const std::size_t frames = request.frames ? *request.frames
                             : request.only ? clip.frames
                                            : kFramesOfAPart;
  Chunks chunks;
  for (std::size_t k = 0; k < clip.frames; ++k) {
    if (k % frames == 0) chunks.emplace_back();
    chunks.back().push_back(k);
  }
  return chunks;
}

Chunks MissingChunks(const Context& context, const std::vector<CacheTarget>& targets,
                     const client::RigData& rig, const client::ClipData& clip,
                     const Manifest& origin, const std::string& preroll,
                     const PartsRequest& request) {
  std::map<std::int64_t, std::uint64_t> poses;
  const std::vector<std::uint64_t> hashes = PoseHashes(clip);
  for (std::size_t k = 0; k < clip.frames; ++k) poses[FrameKey(clip.FrameNumber(k))] = hashes[k];
  std::map<std::int64_t, std::size_t> done;  // of how many targets
  for (const CacheTarget& target : targets) {
    const Manifest expected = ExpectedManifest(target, rig, origin);
    const FoundParts found = FindParts(target.path);
    for (const auto& [path, why] : found.unreadable) {
      context.Note(absl::StrCat(path, " is baked again: ", why.message()));
      RemovePart(path);
    }
    std::set<std::int64_t> held;
    for (const CachePart& part : found.parts) {
      // Parts of frames that this process does not bake may be another's.
      if (request.only && !Overlaps(part, poses)) continue;
      if (const std::string fault = FaultOf(part, expected, preroll, poses); !fault.empty()) {
        context.Note(absl::StrCat(part.path, " is baked again: ", fault));
        RemovePart(part.path);
        continue;
      }
      for (std::uint32_t k = 0; k < part.manifest.frames; ++k) {
        held.insert(FrameKey(part.manifest.FrameNumber(k)));
      }
    }
    for (const std::int64_t frame : held) ++done[frame];
  }
  Chunks missing;
  for (std::vector<std::size_t>& chunk : ChunksOf(clip, request)) {
    const bool complete = std::ranges::all_of(chunk, [&](std::size_t k) {
      const auto found = done.find(FrameKey(clip.FrameNumber(k)));
      return found != done.end() && found->second == targets.size();
    });
    if (!complete) missing.push_back(std::move(chunk));
  }
  return missing;
}

void RemoveParts(const std::vector<CacheTarget>& targets) {
  for (const CacheTarget& target : targets) {
    const FoundParts found = FindParts(target.path);
    for (const CachePart& part : found.parts) RemovePart(part.path);
    for (const auto& [path, why] : found.unreadable) RemovePart(path);
    RemovePartsFolder(target.path);
  }
}

}  // namespace sinew::cli
