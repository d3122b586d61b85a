// sinew bake: streams a clip through a deformer into a point cache, whole or in parts.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/character/recipe_argument.h"
#include "client/bake/passes/bake_manifest.h"
#include "client/bake/passes/bake_plan.h"
#include "client/bake/passes/bake_targets.h"
#include "client/bake/passes/bound_character.h"
#include "client/bake/passes/pass_runner.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/bake_options.h"
#include "client/cli/commands/bake_report.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr char kAllClips[] = "all";

using Options = BakeOptions;

// Binds a deformer when its first pass begins, and releases it after its last.
class Deformers {
 public:
  Deformers(Context& context, const bake::CharacterFile& character,
            std::vector<std::string> recipes)
      : context_(context), character_(character), recipes_(std::move(recipes)) {}
  ~Deformers() {
    if (bound_) bake::ReleaseCharacter(context_, *bound_);
  }
  Deformers(const Deformers&) = delete;
  Deformers& operator=(const Deformers&) = delete;

  absl::StatusOr<client::Character> Get(std::size_t index) {
    if (bound_ && current_ == index) return *bound_;
    if (bound_) bake::ReleaseCharacter(context_, *std::exchange(bound_, std::nullopt));
    SINEW_ASSIGN_OR_RETURN(
        bound_, bake::BindCharacter(context_.Connect(), context_, character_, recipes_[index]));
    current_ = index;
    return *bound_;
  }

 private:
  Context& context_;
  const bake::CharacterFile& character_;
  const std::vector<std::string> recipes_;
  std::size_t current_ = 0;
  std::optional<client::Character> bound_;
};

// The clips that --clip names: "all" of the file, or one.
std::vector<bake::MotionRequest> MotionsOf(const bake::CharacterFile& character,
                                           const bake::MotionRequest& motion) {
  const bool has_clip_all = std::ranges::any_of(
      character.clips, [](const client::ClipInfo& clip) { return clip.name == kAllClips; });
  if (motion.clip != kAllClips || has_clip_all || character.clips.empty()) return {motion};
  std::vector<bake::MotionRequest> motions;
  for (std::size_t c = 0; c < character.clips.size(); ++c) {
    motions.emplace_back(motion).clip = character.clips[c].name;  // a number may be another's name
  }
  return motions;
}

// One validated session for each recipe, so that of several deformers none is baked if one of them
// cannot be.
absl::StatusOr<std::vector<client::Session>> Validate(Context& context,
                                                      const bake::CharacterFile& character,
                                                      const std::vector<std::string>& deformers,
                                                      const std::vector<std::string>& recipes) {
  SINEW_RETURN_IF_ERROR(bake::CheckSkins(character));
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded,
                         bake::UploadCharacter(context.Connect(), context, character));
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  std::vector<client::Session> sessions;
  for (std::size_t d = 0; d < recipes.size(); ++d) {
    const client::SessionRequest request{
        .rig = uploaded.rig.name, .recipe = recipes[d], .validate_only = true};
    absl::StatusOr<client::Session> session = connection.CreateSession(request, context.call());
    if (!session.ok()) {
      return recipes.size() == 1
                 ? session.status()
                 : bake::OfDeformer(deformers[d], character, context.NameOptions(session.status()));
    }
    session->rig = uploaded.rig.name;
    sessions.push_back(*std::move(session));
  }
  return sessions;
}

absl::Status Bake(Context& context, Options options) {
  if (options.frames) {
    SINEW_ASSIGN_OR_RETURN(bake::FrameSet frames, bake::ParseFrames(*options.frames));
    options.motion.frames.ranges = std::move(frames.ranges);
  }
  SINEW_RETURN_IF_ERROR(ReadSampling(options));
  if (options.parts.only && options.output.no_clobber) {
    return UsageError("--no-clobber: does not apply to --part, but to `sinew join`");
  }
  if (options.motion.frames.HasFractions()) {
    if (options.parts.only) {
      return UsageError("--frames: got fractions, need whole frames for --part, or --chunk");
    }
    if (!options.motion.poses.empty()) {
      return UsageError("--frames: got fractions, need whole frames of --poses");
    }
  }
  SINEW_ASSIGN_OR_RETURN(bake::CacheTarget common, bake::CommonTarget(options.output));
  std::vector<std::string> recipes, labels;
  for (const std::string& deformer : options.deformers) {
    SINEW_ASSIGN_OR_RETURN(recipes.emplace_back(), bake::ReadRecipe(deformer));
    labels.push_back(bake::RecipeLabel(deformer));
  }
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  constexpr std::uint64_t kClipFrames = 50;
  SINEW_RETURN_IF_ERROR(
      bake::AddScene(options.output, character,
                     options.parts.frames.value_or(SamplesOfFrames(options, kClipFrames)), common));
  const std::vector<bake::MotionRequest> motions = MotionsOf(character, options.motion);
  std::vector<client::ClipData> clips;
  std::vector<std::string> clip_names;
  for (const bake::MotionRequest& motion : motions) {
    SINEW_ASSIGN_OR_RETURN(clips.emplace_back(), ChooseMotion(context, character, motion));
    clip_names.push_back(clips.back().name);
  }
  std::vector<std::string> inputs = {options.file, options.read.muscles, options.motion.poses,
                                     options.motion.controls};
  inputs.insert(inputs.end(), options.read.clip_files.begin(), options.read.clip_files.end());
  SINEW_ASSIGN_OR_RETURN(
      std::vector<bake::BakePass> passes,
      bake::BakePasses(options.output, common, character.rig, clip_names, labels, inputs));
  if (options.output.space == kObjectSpace) {
    SINEW_RETURN_IF_ERROR(bake::UseObjectSpace(character, passes));
  }
  SINEW_RETURN_IF_ERROR(context.CheckStop());
  std::vector<client::Session> sessions;
  if (recipes.size() > 1 || options.parts.resume || options.dry_run) {
    absl::StatusOr<std::vector<client::Session>> validated =
        Validate(context, character, options.deformers, recipes);
    if (!validated.ok()) return context.Lost(validated.status(), "nothing is baked");
    sessions = *std::move(validated);
  }
  // All motions have the same files.
  SINEW_ASSIGN_OR_RETURN(const bake::SourceDigests digests,
                         bake::DigestsOf(character, options.motion));
  Deformers deformers(context, character, recipes);
  nlohmann::ordered_json caches = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < passes.size(); ++p) {
    const bake::BakePass& pass = passes[p];
    const auto count = static_cast<double>(passes.size());
    const bake::PassInput in = {.character = character,
                                .clip = clips[pass.clip],
                                .motion = motions[pass.clip],
                                .digests = digests,
                                .pass = pass,
                                .progress_begin = static_cast<double>(p) / count,
                                .progress_end = static_cast<double>(p + 1) / count};
    std::optional<bake::Manifest> origin;
    if (!sessions.empty()) {
      origin = bake::ManifestOf(character, digests, in.clip, sessions[pass.deformer]);
    }
    bake::PassRunner runner(context, in, options.parts, origin,
                            [&] { return deformers.Get(pass.deformer); });
    if (options.dry_run) {
      SINEW_ASSIGN_OR_RETURN(const bake::BakePlan::Missing work, runner.FindWork());
      ReportPlan(context, in, options.parts, work.chunks, sessions[pass.deformer], runner.baked(),
                 caches);
      continue;
    }
    if (const absl::Status status = runner.Run(); !status.ok()) {
      const absl::Status lost = context.Lost(status, KeptText(in, options.parts, runner.baked()));
      return recipes.size() == 1 ? lost
                                 : bake::OfDeformer(options.deformers[pass.deformer], character,
                                                    context.NameOptions(lost));
    }
    Report(context, in, options.parts, runner.baked(), caches);
  }
  if (context.json()) context.PrintJson(caches.size() == 1 ? caches[0] : caches);
  return absl::OkStatus();
}

}  // namespace

void AddBake(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "bake", "Deform a clip and write it as a point cache with a manifest", Bake);
  AddBakeOptions(set, options);
  set.SetFooter(
      R"(The cache holds points in model space, vertices in the order of the file, all meshes in one cache unless --split or
--mesh is given. Where the importer cannot keep that order, NAME.rest.obj is the rest mesh to apply the cache to. Files of
a clip and deformer appear complete or not at all. --clip all bakes every clip.
If the connection drops, waits up to 30 s for the server and says so.
--start-frame 1001 gives the clip the numbers of a shot: its first frame is 1001 in --frames, in names of files, in what each
format stores, in the manifest and in `sinew join`. Points do not change. Tasks of one cache need the same.
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
  sinew bake hero.glb --deformer ddm --start-frame 1001 --frames 1001-1050 --out 'hero.####.obj'
  sinew bake hero.glb --deformer dqs --frames 11.75,12,12.25 --out blur.mdd
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
