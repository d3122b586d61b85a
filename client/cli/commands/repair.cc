// sinew repair: bakes the damaged frames of a point cache again.
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"
#include "client/cli/base/request_field.h"
#include "client/cli/character/bake_manifest.h"
#include "client/cli/character/bound_character.h"
#include "client/cli/character/clip_stream.h"
#include "client/cli/character/import_warnings.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/bake_targets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/cache_check.h"
#include "client/cli/files/cache_output.h"
#include "client/cli/files/cache_parts.h"
#include "client/cli/files/cache_writer.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string cache, file;
  ReadOptions read;
  MotionRequest motion;
};

// The motion that the cache was baked from.
absl::StatusOr<MotionRequest> MotionOf(const Options& options, const CharacterFile& character,
                                       const Manifest& manifest) {
  MotionRequest motion = options.motion;
  if (motion.poses.empty()) motion.clip = manifest.clip;
  motion.fps = manifest.fps;
  for (std::uint32_t k = 0; k < manifest.frames; ++k) {
    const double number = manifest.FrameNumber(k);
    if (number < (manifest.shutter ? -1 : 0) || number > static_cast<double>(kMaxFrame)) {
      return absl::InvalidArgumentError(absl::StrCat(ManifestPath(options.cache), ": has frame ",
                                                     ExactText(number), ", need 0 to ", kMaxFrame));
    }
    motion.times.push_back(number);
    motion.frames.ranges.push_back(
        {.first = static_cast<std::int64_t>(number), .last = static_cast<std::int64_t>(number)});
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
        options.cache, ": was baked from the clip '", manifest.clip, "', which ", character.label,
        " does not have; ",
        manifest.clip_source.empty() ? "if it was baked from --poses, name the file with --poses"
                                     : absl::StrCat("name the file of the clip, ",
                                                    manifest.clip_source, ", with --clip-file")));
  }
  return motion;
}

// The points that the cache has of the character.
absl::StatusOr<CacheTarget> TargetOf(const Options& options, const CharacterFile& character,
                                     const Manifest& manifest) {
  if (manifest.space == "custom") {
    return absl::FailedPreconditionError(
        absl::StrCat(options.cache,
                     ": was baked with spaces of its own, which its manifest does "
                     "not describe; need to bake it again"));
  }
  BakeOutput output = {.out = options.cache, .format = manifest.format, .space = manifest.space};
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
  std::vector<std::string> inputs = {options.file, options.motion.poses};
  inputs.insert(inputs.end(), options.read.clip_files.begin(), options.read.clip_files.end());
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
absl::StatusOr<client::Character> BindAgain(Context& context, const Options& options,
                                            const CharacterFile& character,
                                            const Manifest& manifest) {
  absl::StatusOr<client::Character> bound = BindCharacter(context, character, manifest.recipe);
  const absl::Status& status = bound.status();
  if (!absl::IsInvalidArgument(status) || !IsRecipeField(client::Details(status).field)) {
    return bound;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      ManifestPath(options.cache), ": the server refuses its recipe, '", manifest.recipe,
      "': ", absl::StripPrefix(status.message(), "source.recipe."), "; bake the cache again"));
}

absl::Status BakeAgain(Context& context, const Options& options, OpenCache& cache,
                       const Manifest& manifest, const CacheDamage& damage) {
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  SINEW_ASSIGN_OR_RETURN(const CacheTarget target, TargetOf(options, character, manifest));
  if (manifest.clip.empty() || manifest.pose_hashes.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(ManifestPath(options.cache),
                     ": does not say what the cache was baked from, as those of earlier versions; "
                     "bake it again"));
  }
  SINEW_ASSIGN_OR_RETURN(const MotionRequest motion, MotionOf(options, character, manifest));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip, ReadMotion(character, motion));
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint64_t> hashes,
                         PoseHashes(character, motion, clip));
  if (hashes != manifest.pose_hashes) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.cache, ": was baked from other poses than those of '", clip.name, "'"));
  }
  SINEW_ASSIGN_OR_RETURN(CacheOutput output, CacheOutput::Create({.path = options.cache,
                                                                  .format = target.format,
                                                                  .attributes = target.attributes},
                                                                 InfoOf(manifest)));
  SINEW_ASSIGN_OR_RETURN(const client::Character bound,
                         BindAgain(context, options, character, manifest));
  const absl::Cleanup release = [&] { ReleaseCharacter(context, bound); };
  SINEW_ASSIGN_OR_RETURN(const SourceDigests digests, DigestsOf(character, motion));
  Manifest now = ManifestOf(character, digests, clip, bound.session());
  DescribePoints(target, character.rig, now);
  DescribeSamples(motion, now);
  now.software_version = manifest.software_version;  // the digest says whether results are equal
  if (const auto difference = OriginDifference(manifest, now)) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.cache, ": was baked with the ", difference->what, " '", difference->a,
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
    SINEW_RETURN_IF_ERROR(StreamSamples(context, character, bound, motion, clip, stream, write));
  }
  return repair.Finish();
}

absl::Status RepairCache(Context& context, const Options& options) {
  const absl::StatusOr<Manifest> read = ReadManifest(options.cache);
  if (!read.ok()) {
    SINEW_RETURN_IF_ERROR(InputFile::Open(options.cache, kMaxCacheBytes).status());
    return read.status();
  }
  const Manifest& manifest = *read;
  if (const auto format = ParseCacheFormat(manifest.format);
      format.ok() && IsSceneFormat(*format)) {
    return absl::FailedPreconditionError(absl::StrCat(
        options.cache, ": a .", manifest.format, " is not repaired, bake it again",
        *format == CacheFormat::kObj ? "; --resume keeps the frames that are right" : ""));
  }
  absl::StatusOr<OpenCache> opened = OpenCache::Open(options.cache, manifest);
  if (!opened.ok()) {
    std::error_code error;
    if (std::filesystem::exists(options.cache, error) || error) return opened.status();
    return Reworded(opened.status(),
                    absl::StrCat(opened.status().message(), "; ", ManifestPath(options.cache),
                                 " is there: only damaged frames are repaired, not missing files; "
                                 "bake it again"));
  }
  OpenCache& cache = *opened;
  CacheDamage damage;
  {
    const auto line = context.MakeProgress("Verify", Progress::Part::kFirst);
    SINEW_ASSIGN_OR_RETURN(damage, cache.FindDamage([&](double fraction) {
      line->Update(fraction, options.cache);
      return context.CheckStop();
    }));
  }
  if (damage.any()) {
    if (const absl::Status status = BakeAgain(context, options, cache, manifest, damage);
        !status.ok()) {
      return context.Lost(status, options.cache + " is unchanged");
    }
  }
  const std::string frames = FramesText(InfoOf(manifest), damage.samples);
  nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
  for (const std::uint32_t k : damage.samples) numbers.push_back(manifest.FrameNumber(k));
  context.PrintResult(
      {{"cache", options.cache}, {"repaired", damage.any()}, {"repaired_frames", numbers}},
      !damage.any()    ? absl::StrCat("ok ", options.cache, "\n")
      : frames.empty() ? absl::StrCat("repaired ", options.cache, ": header or length\n")
                       : absl::StrCat("repaired ", options.cache, ": frames ", frames, "\n"));
  return absl::OkStatus();
}

}  // namespace

void AddRepair(CommandList& commands) {
  auto options = std::make_shared<Options>();
  OptionSet set =
      commands.Add("repair", "Bake the damaged frames of a point cache again",
                   [options](Context& context) { return RepairCache(context, *options); });
  set.AddText("CACHE", options->cache, ".pc2, .mdd or .npy with its manifest beside it").Required();
  set.AddText("FILE", options->file, "The character file that it was baked from").Required();
  AddReadOptions(set, options->read);
  AddClipFileOption(set, options->read);
  const Option poses =
      set.AddText("--poses", options->motion.poses, "The poses, if it was baked from --poses");
  set.AddText("--controls", options->motion.controls, "The control values of these poses")
      .Needs(poses);
  set.SetFooter(
      R"(Recipe, clip, frames, meshes and axes are those of the manifest. The checksums of the new frames must match the manifest,
so a repaired cache is the one that was baked. The file is replaced once it is complete, or not at all.
Examples:
  sinew verify walk.pc2
  sinew repair walk.pc2 hero.glb
See also: sinew verify, sinew bake.)");
}

}  // namespace sinew::cli
