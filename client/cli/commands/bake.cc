// sinew bake: streams a clip through a deformer into a point cache.
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"
#include "client/cli/character/bake_manifest.h"
#include "client/cli/character/bound_character.h"
#include "client/cli/character/clip_stream.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/character/recipe_argument.h"
#include "client/cli/commands/bake_targets.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/cache_writer.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr char kAllClips[] = "all", kObjectSpace[] = "object";

struct Options {
  ReadOptions read;
  std::string file, frames, times;
  std::vector<std::string> deformers;
  MotionRequest motion;
  BakeOutput output;
};

struct Baked {
  std::uint64_t bytes = 0;  // of all caches of the pass
  absl::Duration elapsed;
  Manifest manifest;
};

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

absl::StatusOr<Baked> Run(Context& context, const CharacterFile& character,
                          const client::ClipData& clip, const MotionRequest& motion,
                          const BakePass& pass, Deformers& deformers, std::size_t& received) {
  std::vector<CacheWriter> writers;
  for (const CacheTarget& target : pass.targets) {
    SINEW_ASSIGN_OR_RETURN(CacheWriter writer,
                           CacheWriter::Create(target, TimesOf(clip), character.rig));
    writers.push_back(std::move(writer));
  }
  SINEW_ASSIGN_OR_RETURN(const client::Character bound, deformers.Get(pass.deformer));
  WarnUnusedControls(context, character.rig, bound, clip);
  const absl::Time start = absl::Now();
  std::vector<float> positions(character.rig.vertices() * 3);
  const auto write = [&](const client::FrameView& frame) -> absl::Status {
    SINEW_RETURN_IF_ERROR(frame.CopyPositions(positions));
    ++received;
    for (CacheWriter& writer : writers) SINEW_RETURN_IF_ERROR(writer.Append(positions));
    return absl::OkStatus();
  };
  SINEW_RETURN_IF_ERROR(StreamClip(context, character, bound, motion, clip, {}, "Bake", write));
  Baked baked;
  baked.elapsed = absl::Now() - start;
  baked.manifest = ManifestOf(character, bound);
  SINEW_ASSIGN_OR_RETURN(baked.bytes, CacheWriter::Finish(writers, baked.manifest));
  return baked;
}

nlohmann::ordered_json JsonOf(const CharacterFile& character, const client::ClipData& clip,
                              const CacheTarget& target, const Baked& baked) {
  const double seconds = std::max(absl::ToDoubleSeconds(baked.elapsed), 1e-9);
  std::uint64_t vertices = 0;
  std::vector<std::string> meshes;
  for (const std::size_t m : target.meshes) {
    vertices += character.rig.meshes[m].vertices();
    meshes.push_back(character.rig.meshes[m].name);
  }
  std::error_code error;
  const CacheInfo times = TimesOf(clip);
  nlohmann::ordered_json json = {{"out", target.path},
                                 {"manifest", ManifestPath(target.path)},
                                 {"format", CacheFormatName(target.format)},
                                 {"clip", clip.name},
                                 {"meshes", meshes},
                                 {"frames", clip.frames},
                                 {"first_frame", times.first_frame},
                                 {"frame_step", times.frame_step},
                                 {"fps", clip.fps},
                                 {"vertices", vertices},
                                 {"bytes", std::filesystem::file_size(target.path, error)},
                                 {"seconds", seconds},
                                 {"frames_per_second", static_cast<double>(clip.frames) / seconds},
                                 {"rig", baked.manifest.rig},
                                 {"recipe", baked.manifest.recipe},
                                 {"determinism_digest", baked.manifest.determinism_digest}};
  if (!times.frame_numbers.empty()) json["frame_numbers"] = times.frame_numbers;
  if (target.rest_mesh) json["rest"] = RestPath(target.path);
  return json;
}

void Report(const Context& context, const CharacterFile& character, const client::ClipData& clip,
            const BakePass& pass, const Baked& baked, nlohmann::ordered_json& caches) {
  for (const CacheTarget& target : pass.targets) {
    if (target.rest_mesh) {
      context.Warn(absl::StrCat("the file's vertex order could not be kept: apply the cache to ",
                                RestPath(target.path)));
    }
    if (context.json()) {
      caches.push_back(JsonOf(character, clip, target, baked));
    } else {
      context.Print(target.path + "\n");
    }
  }
  context.Note(absl::StrCat(
      clip.frames, " frames of ", CountText(character.rig.vertices()), " vertices, clip '",
      clip.name, "', in ", DurationText(baked.elapsed), "; ", BytesText(baked.bytes),
      pass.targets.size() == 1
          ? "; manifest " + ManifestPath(pass.targets[0].path)
          : absl::StrCat(" in ", pass.targets.size(), " caches, each with a manifest")));
}

// What is left of a bake that failed.
std::string KeptText(const std::string& out, std::size_t received, std::size_t frames) {
  std::error_code error;
  return absl::StrCat(received, " of ", frames, " frames were received, none is kept; ", out,
                      std::filesystem::exists(out, error) ? " is unchanged" : " is not written");
}

// The clips that --clip names: "all" of the file, or one.
std::vector<MotionRequest> MotionsOf(const CharacterFile& character, const MotionRequest& motion) {
  const bool has_clip_all = std::ranges::any_of(
      character.clips, [](const client::ClipInfo& clip) { return clip.name == kAllClips; });
  if (motion.clip != kAllClips || has_clip_all || character.clips.empty()) return {motion};
  std::vector<MotionRequest> motions;
  for (std::size_t c = 0; c < character.clips.size(); ++c) {
    motions.emplace_back(motion).clip = absl::StrCat(c);
  }
  return motions;
}

// Of several deformers none is baked if one of them cannot be.
absl::Status CheckDeformers(Context& context, const CharacterFile& character,
                            const std::vector<std::string>& deformers,
                            const std::vector<std::string>& recipes) {
  if (recipes.size() == 1) return absl::OkStatus();
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded, UploadCharacter(context, character));
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  for (std::size_t d = 0; d < recipes.size(); ++d) {
    const client::SessionRequest request{
        .rig = uploaded.rig.name, .recipe = recipes[d], .validate_only = true};
    const absl::Status status = connection.CreateSession(request, context.call()).status();
    if (!status.ok()) return OfDeformer(deformers[d], character, status);
  }
  return absl::OkStatus();
}

absl::Status Bake(Context& context, Options options) {
  if (!options.frames.empty()) {
    SINEW_ASSIGN_OR_RETURN(options.motion.frames, ParseFrameRange(options.frames));
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
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character, ReadCharacter(options.file, options.read));
  common.rest_mesh = RestMeshOf(character);
  const std::vector<MotionRequest> motions = MotionsOf(character, options.motion);
  std::vector<client::ClipData> clips;
  std::vector<std::string> clip_names;
  for (const MotionRequest& motion : motions) {
    SINEW_ASSIGN_OR_RETURN(clips.emplace_back(), ChooseMotion(context, character, motion));
    clip_names.push_back(clips.back().name);
  }
  SINEW_ASSIGN_OR_RETURN(std::vector<BakePass> passes,
                         BakePasses(options.output, common, character.rig, clip_names, labels,
                                    {options.file, options.read.muscles, options.motion.poses,
                                     options.motion.controls}));
  if (options.output.space == kObjectSpace) {
    SINEW_RETURN_IF_ERROR(UseObjectSpace(character, passes));
  }
  SINEW_RETURN_IF_ERROR(context.CheckStop());
  if (const absl::Status status = CheckDeformers(context, character, options.deformers, recipes);
      !status.ok()) {
    return context.Lost(status, "nothing is baked");
  }
  Deformers deformers(context, character, recipes);
  nlohmann::ordered_json caches = nlohmann::ordered_json::array();
  for (const BakePass& pass : passes) {
    const client::ClipData& clip = clips[pass.clip];
    std::size_t received = 0;
    const absl::StatusOr<Baked> baked =
        Run(context, character, clip, motions[pass.clip], pass, deformers, received);
    if (!baked.ok()) {
      const absl::Status lost =
          context.Lost(baked.status(), KeptText(pass.targets[0].path, received, clip.frames));
      return recipes.size() == 1 ? lost
                                 : OfDeformer(options.deformers[pass.deformer], character, lost);
    }
    Report(context, character, clip, pass, *baked, caches);
  }
  WarnLosses(context, character);
  if (context.json()) context.PrintJson(caches.size() == 1 ? caches[0] : caches);
  return absl::OkStatus();
}

}  // namespace

void AddBake(CommandList& commands) {
  auto options = std::make_shared<Options>();
  OptionSet set =
      commands.Add("bake", "Deform a clip and write it as a point cache with a manifest",
                   [options](Context& context) { return Bake(context, *options); });
  set.AddText("FILE", options->file, "Character file, .sinewrig (with --poses) or model:NAME")
      .Required();
  AddReadOptions(set, options->read);
  set.AddList("--deformer", options->deformers,
              "Recipe such as ddm, or @recipe.json; may be given several times")
      .OneEach()
      .Required();
  AddMotionOptions(set, options->motion);
  const Option frames = AddFramesOption(set, options->frames);
  set.AddText("--times", options->times,
              "Frames with fractions, such as 10,10.25 or 10-12x0.25, instead of --frames")
      .Excludes(frames);
  BakeOutput& output = options->output;
  set.AddText("--out", output.out,
              "The cache; its manifest is PATH.json. {mesh}, {clip} and {deformer} become names")
      .Required();
  set.AddChoice("--format", output.format, {"pc2", "mdd", "npy"},
                "Of the cache (default: by the extension)");
  set.AddList("--mesh", output.meshes, "Only this mesh; may be given several times").OneEach();
  set.AddFlag("--split", output.split, "One cache for each mesh; --out contains {mesh}");
  set.AddChoice("--axes", output.axes, {"file", "blender", "gltf", "maya"},
                "Turn the points: blender has Z up, gltf and maya have Y up");
  set.AddChoice(
      "--space", output.space, {"model", kObjectSpace},
      "Space of the points: of the character, or of each mesh's object as FILE places it");
  set.AddFlag("--no-clobber", output.no_clobber, "Fail if a file of that name exists");
  set.SetFooter(
      R"(The cache holds points in model space, vertices in the order of the file, all meshes in one cache unless --split or
--mesh is given. Where the importer cannot keep that order, NAME.rest.obj is the rest mesh to apply the cache to. Files of
a clip and deformer appear complete or not at all. --clip all bakes every clip.
If the connection drops, waits up to 30 s for the server and says so.
Stateful recipes, such as implicit(tracking=true), always compute every frame from 0, whatever
--frames selects, and again after a lost connection: any range and step has the bits of the whole clip.
Examples:
  sinew bake hero.glb --deformer ddm --out hero.pc2
  sinew bake hero.glb --deformer 'dqs(blend=0.5)' --clip Walk --frames 0-x2 --fps 30 --out walk.mdd
  sinew bake hero.glb --deformer ddm --clip all --split --axes blender --out 'hero.{clip}.{mesh}.pc2'
  sinew bake hero.glb --deformer dqs --times 11.75,12,12.25 --out blur.mdd
  sinew bake hero.sinewrig --poses walk.npy --deformer lbs --out walk.npy.cache --format npy
See also: sinew verify, sinew inspect (clips), sinew render.)");
}

}  // namespace sinew::cli
