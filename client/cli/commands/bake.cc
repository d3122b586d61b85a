// sinew bake: streams a clip through a deformer into a point cache.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"
#include "client/cli/character/bound_character.h"
#include "client/cli/character/clip_stream.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/muscle_file.h"
#include "client/cli/character/recipe_argument.h"
#include "client/cli/character/recipe_text.h"
#include "client/cli/commands/commands.h"
#include "client/cli/files/cache_writer.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string muscles;
  std::string file, deformer, frames, out, format;
  MotionRequest motion;
  bool no_clobber = false;
};

absl::StatusOr<CacheTarget> TargetOf(const Options& options) {
  CacheTarget target;
  target.path = options.out;
  target.overwrite = !options.no_clobber;
  const std::string name = options.format.empty()
                               ? std::filesystem::path(options.out).extension().string()
                               : options.format;
  const absl::StatusOr<CacheFormat> format = ParseCacheFormat(name);
  if (!format.ok()) {
    return UsageError(absl::StrCat(options.format.empty() ? "--out" : "--format", ": got \"",
                                   options.format.empty() ? options.out : name,
                                   "\", need .pc2, .mdd or .npy (or --format pc2, mdd, npy)"));
  }
  target.format = *format;
  std::error_code error;
  for (const std::string& path : {options.out, ManifestPath(options.out)}) {
    if (std::filesystem::equivalent(path, options.file, error)) {
      return UsageError(
          absl::StrCat("--out: ", path, " is the character itself, need another name"));
    }
  }
  return target;
}

CacheInfo InfoOf(const CharacterFile& character, const client::ClipData& clip) {
  CacheInfo info;
  info.frames = static_cast<std::uint32_t>(std::min<std::size_t>(clip.frames, kMaxCacheCount));
  info.vertices =
      static_cast<std::uint32_t>(std::min<std::size_t>(character.rig.vertices(), kMaxCacheCount));
  info.first_frame = static_cast<double>(clip.first_frame);
  info.frame_step = static_cast<double>(clip.step);
  info.fps = clip.fps;
  return info;
}

const char* UpAxisName(client::UpAxis axis) {
  return axis == client::UpAxis::kY ? "Y" : axis == client::UpAxis::kZ ? "Z" : "";
}

Manifest ManifestOf(const CharacterFile& character, const client::Character& bound) {
  const client::Session session = bound.session();
  Manifest manifest;
  manifest.software_version = SINEW_VERSION;
  manifest.meters_per_unit = character.rig.meters_per_unit;
  manifest.up_axis = UpAxisName(character.rig.up_axis);
  const auto digest = [](const std::string& name) { return name.substr(name.find('/') + 1); };
  manifest.rig = digest(bound.rig_name());
  manifest.recipe = RecipeText(session.recipe_json);
  manifest.recipe_digest =
      digest(client::RigName(manifest.recipe));  // the same SHA-256, of the text
  manifest.determinism_digest = session.determinism_digest;
  std::uint64_t first = 0;
  for (const client::Mesh& mesh : character.rig.meshes) {
    manifest.meshes.push_back({mesh.name, first, mesh.vertices()});
    first += mesh.vertices();
  }
  return manifest;
}

struct Baked {
  std::uint64_t bytes = 0;
  absl::Duration elapsed;
  Manifest manifest;
};

absl::StatusOr<Baked> Run(Context& context, const CharacterFile& character,
                          const client::ClipData& clip, const MotionRequest& motion,
                          const std::string& recipe_text, const CacheTarget& target,
                          std::size_t& received) {
  SINEW_ASSIGN_OR_RETURN(CacheWriter writer, CacheWriter::Create(target, InfoOf(character, clip)));
  SINEW_ASSIGN_OR_RETURN(const client::Character bound,
                         BindCharacter(context, character, recipe_text));
  WarnUnusedControls(context, character.rig, bound, clip);
  const absl::Time start = absl::Now();
  std::vector<float> positions(character.rig.vertices() * 3);
  const auto write = [&](const client::FrameView& frame) -> absl::Status {
    SINEW_RETURN_IF_ERROR(frame.CopyPositions(positions));
    ++received;
    return writer.Append(positions);
  };
  SINEW_RETURN_IF_ERROR(StreamClip(context, character, bound, motion, clip, {}, "Bake", write));
  Baked baked;
  baked.elapsed = absl::Now() - start;
  baked.manifest = ManifestOf(character, bound);
  SINEW_ASSIGN_OR_RETURN(baked.bytes, writer.Finish(baked.manifest, character.rig));
  ReleaseCharacter(context, bound);
  return baked;
}

void Report(const Context& context, const CharacterFile& character, const client::ClipData& clip,
            const CacheTarget& target, const Baked& baked) {
  const double seconds = std::max(absl::ToDoubleSeconds(baked.elapsed), 1e-9);
  const double rate = static_cast<double>(clip.frames) / seconds;
  if (!context.json()) {
    context.Print(target.path + "\n");
    context.Note(absl::StrCat(clip.frames, " frames of ", CountText(character.rig.vertices()),
                              " vertices, clip '", clip.name, "', in ", DurationText(baked.elapsed),
                              "; ", BytesText(baked.bytes), "; manifest ",
                              ManifestPath(target.path)));
    return;
  }
  nlohmann::ordered_json json = {{"out", target.path},
                                 {"manifest", ManifestPath(target.path)},
                                 {"format", CacheFormatName(target.format)},
                                 {"clip", clip.name},
                                 {"frames", clip.frames},
                                 {"first_frame", clip.first_frame},
                                 {"frame_step", clip.step},
                                 {"fps", clip.fps},
                                 {"vertices", character.rig.vertices()},
                                 {"bytes", baked.bytes},
                                 {"seconds", seconds},
                                 {"frames_per_second", rate},
                                 {"rig", baked.manifest.rig},
                                 {"recipe", baked.manifest.recipe},
                                 {"determinism_digest", baked.manifest.determinism_digest}};
  if (target.rest_mesh) json["rest"] = RestPath(target.path);
  context.PrintJson(json);
}

// What is left of a bake that failed.
std::string KeptText(const std::string& out, std::size_t received, std::size_t frames) {
  std::error_code error;
  return absl::StrCat(received, " of ", frames, " frames were received, none is kept; ", out,
                      std::filesystem::exists(out, error) ? " is unchanged" : " is not written");
}

absl::Status Bake(Context& context, Options options) {
  if (!options.frames.empty()) {
    SINEW_ASSIGN_OR_RETURN(options.motion.frames, ParseFrameRange(options.frames));
  }
  SINEW_ASSIGN_OR_RETURN(CacheTarget target, TargetOf(options));
  SINEW_ASSIGN_OR_RETURN(const std::string recipe_text, ReadRecipe(options.deformer));
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character,
                         ReadCharacter(options.file, options.muscles));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ChooseMotion(context, character, options.motion));
  SINEW_RETURN_IF_ERROR(context.CheckStop());
  target.rest_mesh = !character.keeps_file_order;
  std::size_t received = 0;
  const absl::StatusOr<Baked> run =
      Run(context, character, clip, options.motion, recipe_text, target, received);
  if (!run.ok()) return context.Lost(run.status(), KeptText(options.out, received, clip.frames));
  const Baked& baked = *run;
  WarnLosses(context, character);
  if (target.rest_mesh) {
    context.Warn(absl::StrCat("the file's vertex order could not be kept: apply the cache to ",
                              RestPath(target.path)));
  }
  Report(context, character, clip, target, baked);
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
  AddMusclesOption(set, options->muscles);
  set.AddText("--deformer", options->deformer, "Recipe such as ddm, or @recipe.json").Required();
  AddMotionOptions(set, options->motion);
  set.AddText("--frames", options->frames,
              "FIRST-LAST, FIRST- or one frame, each with xSTEP: 0-99x2 (default: all)");
  set.AddText("--out", options->out, "The cache; its manifest is PATH.json").Required();
  set.AddText("--format", options->format, "pc2, mdd or npy (default: by the extension)");
  set.AddFlag("--no-clobber", options->no_clobber, "Fail if a file of that name exists");
  set.SetFooter(
      R"(The cache holds points in model space, all meshes in one cache, vertices in the order of the file. Where the importer
cannot keep that order, NAME.rest.obj is the rest mesh to apply the cache to. Files appear complete or not at all.
If the connection drops, waits up to 30 s for the server and says so.
Stateful recipes, such as implicit(tracking=true), always compute every frame from 0, whatever
--frames selects, and again after a lost connection: any range and step has the bits of the whole clip.
Examples:
  sinew bake hero.glb --deformer ddm --out hero.pc2
  sinew bake hero.glb --deformer 'dqs(blend=0.5)' --clip Walk --frames 0-x2 --fps 30 --out walk.mdd
  sinew bake hero.sinewrig --poses walk.npy --deformer lbs --out walk.npy.cache --format npy
See also: sinew verify, sinew inspect (clips), sinew render.)");
}

}  // namespace sinew::cli
