// sinew bake: streams a clip through a deformer into a point cache, whole or in parts.
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/character/bake_manifest.h"
#include "client/cli/character/bound_character.h"
#include "client/cli/character/clip_stream.h"
#include "client/cli/character/import_warnings.h"
#include "client/cli/character/join_parts.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/recipe_argument.h"
#include "client/cli/character/shutter.h"
#include "client/cli/commands/bake_options.h"
#include "client/cli/commands/bake_plan.h"
#include "client/cli/commands/bake_report.h"
#include "client/cli/commands/bake_targets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/pass_writer.h"
#include "client/cli/files/cache_parts.h"
#include "client/cli/files/cache_writer.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr char kAllClips[] = "all";

using Options = BakeOptions;

// Binds a deformer when its first pass begins, and releases it after its last.
class Deformers {
 public:
  Deformers(Context& context, const CharacterFile& character, std::vector<std::string> recipes)
      : context_(context), character_(character), recipes_(std::move(recipes)) {}
  ~Deformers() {
    if (bound_) ReleaseCharacter(context_, *bound_);
  }
  Deformers(const Deformers&) = delete;
  Deformers& operator=(const Deformers&) = delete;

  absl::StatusOr<client::Character> Get(std::size_t index) {
    if (bound_ && current_ == index) return *bound_;
    if (bound_) ReleaseCharacter(context_, *std::exchange(bound_, std::nullopt));
    SINEW_ASSIGN_OR_RETURN(bound_, BindCharacter(context_, character_, recipes_[index]));
    current_ = index;
    return *bound_;
  }

 private:
  Context& context_;
  const CharacterFile& character_;
  const std::vector<std::string> recipes_;
  std::size_t current_ = 0;
  std::optional<client::Character> bound_;
};

// Streams the frames of `chunks` to their files.
absl::Status Deform(Context& context, const PassInput& in, const Options& options,
                    const Chunks& chunks, Deformers& deformers, Baked& baked) {
  PassWriter writer(in.character, in.clip, in.pass.targets, chunks, options.parts.enabled());
  SINEW_RETURN_IF_ERROR(writer.Begin());
  SINEW_ASSIGN_OR_RETURN(const client::Character bound, deformers.Get(in.pass.deformer));
  WarnUnusedControls(context, in.character.rig, bound, in.clip);
  baked.manifest = ManifestOf(in.character, in.digests, in.clip, bound.session());
  DescribeSamples(in.motion, baked.manifest);
  SINEW_ASSIGN_OR_RETURN(std::vector<std::uint64_t> hashes,
                         PoseHashes(in.character, in.motion, in.clip));
  writer.SetOrigin(baked.manifest, std::move(hashes));
  const auto write = [&](const ClipSample& sample) -> absl::Status {
    ++baked.received;
    const absl::Status status = writer.Append({sample.points, sample.normals, sample.velocities});
    baked.finished = writer.finished();
    return status;
  };
  ClipStreamOptions stream = {.label = "Bake",
                              .output = OutputOf(in.pass.targets[0]),
                              .progress_begin = in.progress_begin,
                              .progress_end = in.progress_end};
  for (const std::vector<std::size_t>& chunk : chunks) {
    stream.wanted.insert(stream.wanted.end(), chunk.begin(), chunk.end());
  }
  SINEW_RETURN_IF_ERROR(
      StreamSamples(context, in.character, bound, in.motion, in.clip, stream, write));
  SINEW_RETURN_IF_ERROR(writer.Finish());
  baked.finished = writer.finished();
  baked.bytes = writer.bytes();
  return absl::OkStatus();
}

absl::Status Join(const Context& context, const PassInput& in, Baked& baked) {
  baked.bytes = 0;
  const auto line = context.MakeProgress("Join", Progress::Part::kFirst);
  for (const CacheTarget& target : in.pass.targets) {
    const JoinRequest request = {.cache = target.path,
                                 .format = target.format,
                                 .overwrite = target.overwrite,
                                 .frames = TimesOf(in.clip)};
    SINEW_ASSIGN_OR_RETURN(JoinOutcome outcome, JoinAndRemoveParts(request, [&](double fraction) {
                             line->Update(fraction, target.path);
                             return context.CheckStop();
                           }));
    baked.bytes += outcome.cache.bytes;
    baked.manifest = std::move(outcome.cache.manifest);
  }
  return absl::OkStatus();
}

// The error of frames or samples that a .pc2 cannot hold.
absl::Status UnevenPc2(const PassInput& in, const Options& options) {
  constexpr char kOthers[] = "; or bake .mdd or .npy, which hold any";
  const CacheInfo frames = FramesOfPass(in);
  const bool is_row = frames.frame_numbers.empty() && frames.frame_step == 1;
  if (in.motion.shutter && is_row) {
    return absl::InvalidArgumentError(
        absl::StrCat("--shutter: .pc2 holds samples at even distances; ",
                     EvenSamplesText(*in.motion.shutter), kOthers));
  }
  const auto first = static_cast<std::int64_t>(std::floor(frames.FrameNumber(0)));
  const auto last = static_cast<std::int64_t>(std::ceil(frames.FrameNumber(frames.frames - 1)));
  const std::string range = absl::StrCat(first, "-", last);
  return absl::InvalidArgumentError(absl::StrCat(
      options.times.empty() ? "--frames" : "--times", ": got ", FramesText(frames),
      in.motion.shutter ? "; with --shutter, .pc2 holds frames without gaps"
                        : "; .pc2 holds frames at even distances",
      ", such as --frames ", range,
      in.motion.shutter || last - first < 4 ? "" : absl::StrCat(" or ", range, "x2"), kOthers));
}

// Whether the caches can be written at the end, which is hours away.
absl::Status CheckTargets(const PassInput& in, const Options& options) {
  for (const CacheTarget& target : in.pass.targets) {
    CacheInfo info = TimesOf(in.clip);
    Manifest described;
    DescribePoints(target, in.character.rig, described);
    info.vertices =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(described.vertices, kMaxCacheCount));
    // Parts hold any frames, but a sequence or a .glb says early what it cannot hold.
    if (!options.parts.only || IsSceneFormat(target.format)) {
      const absl::Status status = CacheOutput::Check({.path = target.path,
                                                      .format = target.format,
                                                      .attributes = target.attributes,
                                                      .overwrite = target.overwrite,
                                                      .usd = target.usd},
                                                     info);
      if (!status.ok() && target.format == CacheFormat::kPc2 && !info.frame_numbers.empty()) {
        return UnevenPc2(in, options);
      }
      SINEW_RETURN_IF_ERROR(status);
    }
    SINEW_RETURN_IF_ERROR(OutputFile::Check(target.path, target.overwrite));
    SINEW_RETURN_IF_ERROR(OutputFile::Check(ManifestPath(target.path), target.overwrite));
  }
  return absl::OkStatus();
}

// What is left to do; changes nothing. `plan` is there with --resume, --skip-if-current and
// --dry-run.
absl::StatusOr<BakePlan::Missing> FindWork(const Context& context, const PassInput& in,
                                           const Options& options, BakePlan* plan, Baked& baked) {
  const auto line = context.MakeProgress("Compare", Progress::Part::kFirst);
  const CacheProgress progress = [&](double fraction) {
    line->Update(fraction);
    return context.CheckStop();
  };
  if (options.skip_if_current || options.parts.resume) {
    SINEW_ASSIGN_OR_RETURN(baked.current, plan->IsCurrent(options.parts.resume, progress));
    if (baked.current) return BakePlan::Missing();
  }
  SINEW_RETURN_IF_ERROR(CheckTargets(in, options));
  if (options.parts.resume) return plan->FindMissing(progress);
  return BakePlan::Missing{.chunks = ChunksOf(in.clip, options.parts), .useless = {}};
}

absl::Status RunPass(Context& context, const PassInput& in, const Options& options, BakePlan* plan,
                     Deformers& deformers, Baked& baked) {
  const bool joins = options.parts.enabled() && !options.parts.only;
  SINEW_ASSIGN_OR_RETURN(const BakePlan::Missing work, FindWork(context, in, options, plan, baked));
  if (baked.current) {
    // An earlier run may have ended before it did.
    if (joins) {
      RemoveParts(in.pass.targets, in.clip);
    } else if (options.parts.only && options.parts.resume) {
      const std::size_t removed = RemovePartsOfOtherBakes(in.pass.targets, in.clip);
      if (removed > 0) {
        context.Note(absl::StrCat(CountedText(removed, "part"), " of another bake removed"));
      }
    }
    return absl::OkStatus();
  }
  std::size_t wanted = 0;
  for (const std::vector<std::size_t>& chunk : work.chunks) wanted += chunk.size();
  baked.kept = in.clip.frames - wanted;
  // Nothing is removed unless what replaces it can be bound.
  const bool starts_again = joins && !options.parts.resume;
  if (!work.chunks.empty() && (starts_again || !work.useless.empty())) {
    SINEW_RETURN_IF_ERROR(deformers.Get(in.pass.deformer).status());
  }
  for (const auto& [path, why] : work.useless) {
    context.Note(absl::StrCat(path, " is removed: ", why));
    RemovePart(path);
  }
  if (starts_again) {
    const std::size_t removed = RemoveParts(in.pass.targets, in.clip);
    if (removed > 0) {
      context.Note(absl::StrCat(CountedText(removed, "part"),
                                " of an earlier run removed; --resume would have kept them"));
    }
  }
  if (!work.chunks.empty()) {
    SINEW_RETURN_IF_ERROR(Deform(context, in, options, work.chunks, deformers, baked));
  }
  return joins ? Join(context, in, baked) : absl::OkStatus();
}

absl::Status Run(Context& context, const PassInput& in, const Options& options, BakePlan* plan,
                 Deformers& deformers, Baked& baked) {
  const absl::Time start = absl::Now();
  absl::Status status = RunPass(context, in, options, plan, deformers, baked);
  // Another process may have joined the same parts meanwhile, and removed them.
  if (!status.ok() && options.parts.resume && context.CheckStop().ok()) {
    const absl::StatusOr<bool> current =
        plan->IsCurrent(/*reads_frames=*/true, [&](double) { return context.CheckStop(); });
    baked.current = current.ok() && *current;
    if (baked.current) status = absl::OkStatus();
  }
  baked.elapsed = absl::Now() - start;
  return status;
}

// The clips that --clip names: "all" of the file, or one.
std::vector<MotionRequest> MotionsOf(const CharacterFile& character, const MotionRequest& motion) {
  const bool has_clip_all = std::ranges::any_of(
      character.clips, [](const client::ClipInfo& clip) { return clip.name == kAllClips; });
  if (motion.clip != kAllClips || has_clip_all || character.clips.empty()) return {motion};
  std::vector<MotionRequest> motions;
  for (std::size_t c = 0; c < character.clips.size(); ++c) {
    motions.emplace_back(motion).clip = character.clips[c].name;  // a number may be another's name
  }
  return motions;
}

// One validated session for each recipe, so that of several deformers none is baked if one of them
// cannot be.
absl::StatusOr<std::vector<client::Session>> Validate(Context& context,
                                                      const CharacterFile& character,
                                                      const std::vector<std::string>& deformers,
                                                      const std::vector<std::string>& recipes) {
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded, UploadCharacter(context, character));
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  std::vector<client::Session> sessions;
  for (std::size_t d = 0; d < recipes.size(); ++d) {
    const client::SessionRequest request{
        .rig = uploaded.rig.name, .recipe = recipes[d], .validate_only = true};
    absl::StatusOr<client::Session> session = connection.CreateSession(request, context.call());
    if (!session.ok()) {
      return recipes.size() == 1 ? session.status()
                                 : OfDeformer(deformers[d], character, session.status());
    }
    session->rig = uploaded.rig.name;
    sessions.push_back(*std::move(session));
  }
  return sessions;
}

absl::Status Bake(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(ReadSampling(options));
  if (options.parts.only && options.output.no_clobber) {
    return UsageError("--no-clobber: does not apply to --part, but to `sinew join`");
  }
  if (options.parts.only && !options.times.empty()) {
    return UsageError("--times: cannot be joined from --part; need --frames, or --chunk");
  }
  if (options.frames) {
    SINEW_ASSIGN_OR_RETURN(options.motion.frames, ParseFrames(*options.frames));
  }
  if (!options.times.empty()) {
    if (!options.motion.poses.empty()) {
      return UsageError("--times: is for clips, need --frames to choose from --poses");
    }
    SINEW_ASSIGN_OR_RETURN(options.motion.times, ParseTimes(options.times));
  }
  SINEW_ASSIGN_OR_RETURN(CacheTarget common, CommonTarget(options.output));
  std::vector<std::string> recipes, labels;
  for (const std::string& deformer : options.deformers) {
    SINEW_ASSIGN_OR_RETURN(recipes.emplace_back(), ReadRecipe(deformer));
    labels.push_back(RecipeLabel(deformer));
  }
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  constexpr std::uint64_t kClipFrames = 50;
  SINEW_RETURN_IF_ERROR(
      AddScene(options.output, character,
               options.parts.frames.value_or(SamplesOfFrames(options, kClipFrames)), common));
  const std::vector<MotionRequest> motions = MotionsOf(character, options.motion);
  std::vector<client::ClipData> clips;
  std::vector<std::string> clip_names;
  for (const MotionRequest& motion : motions) {
    SINEW_ASSIGN_OR_RETURN(clips.emplace_back(), ChooseMotion(context, character, motion));
    clip_names.push_back(clips.back().name);
  }
  std::vector<std::string> inputs = {options.file, options.read.muscles, options.motion.poses,
                                     options.motion.controls};
  inputs.insert(inputs.end(), options.read.clip_files.begin(), options.read.clip_files.end());
  SINEW_ASSIGN_OR_RETURN(
      std::vector<BakePass> passes,
      BakePasses(options.output, common, character.rig, clip_names, labels, inputs));
  if (options.output.space == kObjectSpace) {
    SINEW_RETURN_IF_ERROR(UseObjectSpace(character, passes));
  }
  SINEW_RETURN_IF_ERROR(context.CheckStop());
  std::vector<client::Session> sessions;
  if (recipes.size() > 1 || options.skip_if_current || options.parts.resume || options.dry_run) {
    absl::StatusOr<std::vector<client::Session>> validated =
        Validate(context, character, options.deformers, recipes);
    if (!validated.ok()) return context.Lost(validated.status(), "nothing is baked");
    sessions = *std::move(validated);
  }
  // All motions have the same files.
  SINEW_ASSIGN_OR_RETURN(const SourceDigests digests, DigestsOf(character, options.motion));
  Deformers deformers(context, character, recipes);
  nlohmann::ordered_json caches = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const BakePass& pass = passes[p];
    const auto count = static_cast<double>(passes.size());
    const PassInput in = {.character = character,
                          .clip = clips[pass.clip],
                          .motion = motions[pass.clip],
                          .digests = digests,
                          .pass = pass,
                          .progress_begin = static_cast<double>(p) / count,
                          .progress_end = static_cast<double>(p + 1) / count};
    Baked baked;
    std::optional<BakePlan> plan;
    if (!sessions.empty()) {
      baked.manifest = ManifestOf(character, digests, in.clip, sessions[pass.deformer]);
      plan.emplace(in, options.parts, baked.manifest);
    }
    BakePlan* const known = plan ? &*plan : nullptr;
    if (options.dry_run) {
      SINEW_ASSIGN_OR_RETURN(const BakePlan::Missing work,
                             FindWork(context, in, options, known, baked));
      ReportPlan(context, in, options.parts, work.chunks, sessions[pass.deformer], baked, caches);
      continue;
    }
    const absl::Status status = Run(context, in, options, known, deformers, baked);
    if (!status.ok()) {
      const absl::Status lost = context.Lost(status, KeptText(in, options.parts, baked));
      return recipes.size() == 1 ? lost
                                 : OfDeformer(options.deformers[pass.deformer], character, lost);
    }
    Report(context, in, options.parts, baked, caches);
  }
  if (context.json()) context.PrintJson(caches.size() == 1 ? caches[0] : caches);
  return absl::OkStatus();
}

}  // namespace

void AddBake(CommandList& commands) {
  auto options = std::make_shared<Options>();
  OptionSet set =
      commands.Add("bake", "Deform a clip and write it as a point cache with a manifest",
                   [options](Context& context) { return Bake(context, *options); });
  AddBakeOptions(set, *options);
  set.SetFooter(
      R"(The cache holds points in model space, vertices in the order of the file, all meshes in one cache unless --split or
--mesh is given. Where the importer cannot keep that order, NAME.rest.obj is the rest mesh to apply the cache to. Files of
a clip and deformer appear complete or not at all. --clip all bakes every clip.
If the connection drops, waits up to 30 s for the server and says so.
A frame depends on its pose alone: any range and step has the bits of the whole clip.
A new cache takes the place of an older one of the same OUT: layers that only the older one had are removed, and arrays
if they are as it wrote them. Other frames of an .obj sequence stay.
Velocities are central differences, (p(t + step) - p(t - step)) over the time between; one-sided at the ends of the clip.
In parts (--chunk, --resume or --part) an interrupted bake loses at most one of them; with --resume the same command
continues. The joined cache is the same, byte for byte, as one that was baked at once.
Examples:
  sinew bake hero.glb --deformer ddm --out hero.pc2
  sinew bake hero.glb --clip-file walk.fbx --deformer ddm --out walk.pc2              # the joints of another file
  sinew bake hero.glb --deformer 'dqs(blend=0.5)' --clip Walk --frames 0-x2 --fps 30 --out walk.mdd
  sinew bake hero.glb --deformer ddm --clip all --split --axes blender --out 'hero.{clip}.{mesh}.pc2'
  sinew bake hero.glb --deformer dqs --times 11.75,12,12.25 --out blur.mdd
  sinew bake hero.glb --deformer dqs --shutter -0.25..0.25 --samples 3 --velocities --out blur.npy
  sinew bake hero.glb --deformer ddm --out hero.usda                                  # opens in usdview
  sinew bake hero.glb --deformer ddm --out hero.usda --usd clips --chunk 100          # value clips of 100 frames
  sinew bake hero.glb --deformer ddm --out 'hero.####.obj' --resume                   # only what is missing
  sinew bake hero.sinewrig --poses walk.npy --deformer lbs --out walk.npy.cache --format npy
  sinew bake hero.glb --deformer ddm --out hero.pc2 --chunk 50 --resume               # run it again after a failure
  sinew bake hero.glb --deformer ddm --out hero.pc2 --frames 0-49 --part              # on one machine,
  sinew bake hero.glb --deformer ddm --out hero.pc2 --frames 50-99 --part             # on another,
  sinew join hero.pc2 --frames 0-99                                                   # and then
See also: sinew join, sinew verify, sinew inspect (clips), sinew render.)");
}

}  // namespace sinew::cli
