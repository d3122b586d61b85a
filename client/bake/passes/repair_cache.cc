#include "client/bake/passes/repair_cache.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/files/cache_output.h"
#include "client/bake/files/cache_parts.h"
#include "client/bake/files/cache_writer.h"
#include "client/bake/files/input_file.h"
#include "client/bake/passes/bake_manifest.h"
#include "client/bake/passes/bake_targets.h"
#include "client/bake/passes/cache_motion.h"
#include "client/bake/passes/clip_stream.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// The points that the cache has of the character.
absl::StatusOr<CacheTarget> TargetOf(const RepairRequest& request, const CharacterFile& character,
                                     const Manifest& manifest) {
  if (manifest.space == "custom") {
    return absl::FailedPreconditionError(
        absl::StrCat(request.cache,
                     ": was baked with spaces of its own, which its manifest does "
                     "not describe; need to bake it again"));
  }
  BakeOutput output = {.out = request.cache, .format = manifest.format, .space = manifest.space};
  if (manifest.meshes.size() < character.rig.meshes.size()) {
    for (const ManifestMesh& mesh : manifest.meshes) output.meshes.push_back(mesh.name);
  }
  SINEW_ASSIGN_OR_RETURN(CacheTarget common, CommonTarget(output));
  for (const ManifestAttribute& attribute : manifest.attributes) {
    common.attributes.push_back(attribute.name);
  }
  if (manifest.up_axis == "Y") common.up = client::UpAxis::kY;
  if (manifest.up_axis == "Z") common.up = client::UpAxis::kZ;
  SelectVertices(character, common);
  common.rest_mesh = RestMeshOf(character);
  std::vector<std::string> inputs = character.clip_files;
  inputs.insert(inputs.end(), {character.path, request.motion.poses});
  SINEW_ASSIGN_OR_RETURN(std::vector<BakePass> passes,
                         BakePasses(output, common, character.rig, {manifest.clip}, {""}, inputs));
  if (manifest.space == "object") SINEW_RETURN_IF_ERROR(UseObjectSpace(character, passes));
  return std::move(passes[0].targets[0]);
}

// Writes the cache again: frames that are whole from the file, the others as they arrive.
class Repair {
 public:
  Repair(OpenCache& cache, const Manifest& manifest, CacheOutput output)
      : cache_(cache), manifest_(manifest), output_(std::move(output)) {}

  absl::Status Replace(std::uint32_t sample, const FrameArrays& frame) {
    SINEW_RETURN_IF_ERROR(CopyTo(sample));
    if (const absl::Status status = CheckFrame("baked again", manifest_, sample, frame);
        !status.ok()) {
      return Reworded(status, absl::StrCat(status.message(), "; the cache is unchanged"));
    }
    ++next_;
    return output_.Append(frame);
  }

  absl::Status Finish() {
    SINEW_RETURN_IF_ERROR(CopyTo(static_cast<std::uint32_t>(manifest_.frames)));
    SINEW_RETURN_IF_ERROR(output_.Close(manifest_, "").status());
    SINEW_RETURN_IF_ERROR(output_.CommitData());
    return output_.CommitManifest();
  }

 private:
  absl::Status CopyTo(std::uint32_t end) {
    for (; next_ < end; ++next_) {
      SINEW_ASSIGN_OR_RETURN(const FrameArrays frame, cache_.Read(next_));
      SINEW_RETURN_IF_ERROR(output_.Append(frame));
    }
    return absl::OkStatus();
  }

  OpenCache& cache_;
  const Manifest& manifest_;
  CacheOutput output_;
  std::uint32_t next_ = 0;
};

// A recipe of an earlier version may have parameters that this one does not know.
absl::StatusOr<client::Character> BindAgain(const Monitor& monitor, const RepairRequest& request,
                                            const CharacterFile& character,
                                            const Manifest& manifest) {
  absl::StatusOr<client::Character> bound =
      BindCharacter(request.connect(), monitor, character, manifest.recipe);
  const absl::Status& status = bound.status();
  if (!absl::IsInvalidArgument(status) ||
      !absl::StartsWith(client::Details(status).field, "source.recipe")) {
    return bound;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      ManifestPath(request.cache), ": the server refuses its recipe, '", manifest.recipe,
      "': ", absl::StripPrefix(status.message(), "source.recipe."), "; bake the cache again"));
}

absl::Status BakeAgain(const Monitor& monitor, const RepairRequest& request, OpenCache& cache,
                       const Manifest& manifest, const CacheDamage& damage) {
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character, request.read());
  SINEW_ASSIGN_OR_RETURN(const CacheTarget target, TargetOf(request, character, manifest));
  MotionRequest motion = request.motion;
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ReadCacheMotion(request.cache, manifest, character, motion));
  SINEW_ASSIGN_OR_RETURN(CacheOutput output, CacheOutput::Create({.path = request.cache,
                                                                  .format = target.format,
                                                                  .attributes = target.attributes},
                                                                 InfoOf(manifest)));
  SINEW_ASSIGN_OR_RETURN(const client::Character bound,
                         BindAgain(monitor, request, character, manifest));
  const absl::Cleanup release = [&] { ReleaseCharacter(monitor, bound); };
  SINEW_ASSIGN_OR_RETURN(const SourceDigests digests, DigestsOf(character, motion));
  Manifest now = ManifestOf(character, digests, clip, bound.session());
  DescribePoints(target, character.rig, now);
  DescribeSamples(motion, now);
  // Manifests of earlier versions have none.
  if (manifest.layout_digest.empty()) now.layout_digest.clear();
  now.software_version = manifest.software_version;  // the digest says whether results are equal
  if (const auto difference = OriginDifference(manifest, now)) {
    return absl::FailedPreconditionError(
        absl::StrCat(request.cache, ": was baked with the ", difference->what, " '", difference->a,
                     "', not '", difference->b, "'; it is unchanged"));
  }
  Repair repair(cache, manifest, std::move(output));
  FrameSelection selection;
  std::size_t received = 0;
  const auto write = [&](const ClipSample& sample) -> absl::Status {
    return repair.Replace(damage.samples[received++],
                          selection.Select(target, character.rig,
                                           {sample.points, sample.normals, sample.velocities}));
  };
  ClipStreamOptions stream = {.label = "Repair", .output = OutputOf(target)};
  stream.wanted.assign(damage.samples.begin(), damage.samples.end());
  if (!stream.wanted.empty()) {  // else only the header is damaged
    SINEW_RETURN_IF_ERROR(StreamSamples(monitor, character, bound, motion, clip, stream, write));
  }
  return repair.Finish();
}

// The manifest beside a cache; if there is no cache either, that is the error.
absl::StatusOr<Manifest> ManifestBeside(const std::string& path) {
  absl::StatusOr<Manifest> manifest = ReadManifest(path);
  if (!manifest.ok()) SINEW_RETURN_IF_ERROR(InputFile::Open(path, kMaxCacheBytes).status());
  return manifest;
}

absl::StatusOr<CacheDamage> Verify(const Monitor& monitor, const std::string& path,
                                   const OpenCache& cache, Monitor::Part part) {
  const auto line = monitor.MakeProgress("Verify", part);
  return cache.FindDamage([&](double fraction) {
    line->Update(fraction, path);
    return monitor.CheckStop();
  });
}

}  // namespace

absl::StatusOr<CheckedCache> CheckCache(const Monitor& monitor, const std::string& path) {
  CheckedCache checked;
  SINEW_ASSIGN_OR_RETURN(checked.manifest, ManifestBeside(path));
  SINEW_ASSIGN_OR_RETURN(const OpenCache cache, OpenCache::Open(path, checked.manifest));
  SINEW_ASSIGN_OR_RETURN(checked.damage, Verify(monitor, path, cache, Monitor::Part::kMain));
  return checked;
}

absl::StatusOr<CheckedCache> RepairCache(const Monitor& monitor, const RepairRequest& request) {
  CheckedCache checked;
  SINEW_ASSIGN_OR_RETURN(checked.manifest, ManifestBeside(request.cache));
  const Manifest& manifest = checked.manifest;
  if (const auto format = ParseCacheFormat(manifest.format);
      format.ok() && IsSceneFormat(*format)) {
    return absl::FailedPreconditionError(absl::StrCat(
        request.cache, ": a .", manifest.format, " is not repaired, bake it again",
        *format == CacheFormat::kObj ? "; `resume` keeps the frames that are right" : ""));
  }
  absl::StatusOr<OpenCache> cache = OpenCache::Open(request.cache, manifest);
  if (!cache.ok()) {
    std::error_code error;
    if (std::filesystem::exists(request.cache, error) || error) return cache.status();
    return Reworded(cache.status(),
                    absl::StrCat(cache.status().message(), "; ", ManifestPath(request.cache),
                                 " is there: only damaged frames are repaired, not missing files; "
                                 "bake it again"));
  }
  SINEW_ASSIGN_OR_RETURN(checked.damage,
                         Verify(monitor, request.cache, *cache, Monitor::Part::kFirst));
  if (checked.damage.any()) {
    SINEW_RETURN_IF_ERROR(BakeAgain(monitor, request, *cache, manifest, checked.damage));
  }
  return checked;
}

}  // namespace sinew::bake
