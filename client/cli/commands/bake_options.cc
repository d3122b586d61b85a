#include "client/cli/commands/bake_options.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include "client/bake/files/usd_file.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr std::int64_t kShutterSamples = 3;
constexpr double kLeastStep = 0.01, kMostStep = 10;  // frames, of velocities

}  // namespace

std::uint64_t SamplesOfFrames(const BakeOptions& options, std::uint64_t frames) {
  if (!options.motion.shutter) return frames;
  const bake::Shutter& shutter = *options.motion.shutter;
  const bool shares = shutter.samples > 1 && shutter.close - shutter.open == 1;
  return frames * static_cast<std::uint64_t>(shares ? shutter.samples - 1 : shutter.samples);
}

absl::Status ReadSampling(BakeOptions& options) {
  bake::MotionRequest& motion = options.motion;
  if (options.shutter) {
    if (!motion.poses.empty()) return UsageError("--shutter: is for clips, not for --poses");
    if (motion.frames.HasFractions()) return UsageError("--shutter: is for whole --frames");
    SINEW_ASSIGN_OR_RETURN(
        motion.shutter,
        bake::ParseShutter(*options.shutter, options.samples.value_or(kShutterSamples)));
    if (options.parts.frames) {
      options.parts.frames = SamplesOfFrames(options, *options.parts.frames);
    }
  } else if (options.samples) {
    return UsageError("--samples: are those of --shutter, such as --shutter -0.25..0.25");
  }
  if (options.output.velocities) {
    motion.velocity_step = options.velocity_step.value_or(1);
  } else if (options.velocity_step) {
    return UsageError("--velocity-step: is that of --velocities, need both");
  }
  return absl::OkStatus();
}

void AddBakeOptions(OptionSet& set, BakeOptions& options) {
  set.AddText("FILE", options.file, "Character file, .sinewrig (with --poses) or model:NAME")
      .Required();
  AddReadOptions(set, options.read);
  set.AddList("--deformer", options.deformers,
              "Recipe such as ddm, or @recipe.json; may be given several times")
      .OneEach()
      .Required();
  AddMotionOptions(set, options.read, options.motion);
  AddFramesOption(set, options.frames);
  set.AddText("--shutter", options.shutter,
              absl::StrCat("Motion blur: samples of every frame from OPEN..CLOSE relative to it, ",
                           "such as -0.25..0.25; both from ", -bake::kWidestShutter, " to ",
                           bake::kWidestShutter));
  set.AddNumber("--samples", options.samples, 1, bake::kMostSamples,
                absl::StrCat("Of --shutter: 1 to ", bake::kMostSamples,
                             " samples of a frame at even distances, both ends included; 1 is in "
                             "the middle (default: ",
                             kShutterSamples, ")"));
  set.AddNumber(
      "--start-frame", options.motion.frames.start, 0, bake::kMaxStartFrame,
      "The number of the first frame of the clip, such as 1001: --frames, files and messages "
      "count from it");
  set.AddFlag("--normals", options.output.normals,
              "Also normals of unit length, in OUT.normals.npy, the .usda, .obj or .glb");
  set.AddFlag("--velocities", options.output.velocities,
              "Also velocities in units per second, in OUT.velocities.npy or the .usda");
  set.AddNumber("--velocity-step", options.velocity_step, kLeastStep, kMostStep,
                absl::StrCat("Of --velocities: frames before and after a sample that it is taken "
                             "from, ",
                             kLeastStep, " to ", kMostStep, " (default: 1)"));
  bake::BakeOutput& output = options.output;
  set.AddText("--out", output.out,
              "The cache; its manifest is PATH.json. {mesh}, {clip} and {deformer} become names, "
              "#### or %04d of an .obj the number of the frame")
      .Required();
  set.AddChoice("--format", output.format, {"pc2", "mdd", "npy", "usda", "obj", "glb"},
                "Of the cache (default: by the extension)");
  set.AddList("--mesh", output.meshes, "Only this mesh; may be given several times").OneEach();
  set.AddFlag("--split", output.split, "One cache for each mesh; --out contains {mesh}");
  set.AddChoice("--usd", output.usd, {bake::kUsdMesh, bake::kUsdOver, bake::kUsdClips},
                "Of .usda: meshes with faces, overs for meshes of another layer, or value clips "
                "of --chunk frames (default: mesh)");
  set.AddText("--usd-root", output.usd_root,
              "Of .usda: path of the prim above the meshes, such as /Hero/geo (default: /NAME of "
              "FILE)");
  set.AddChoice("--axes", output.axes, {"file", "blender", "gltf", "maya"},
                "Turn the points: blender has Z up, and of .glb, .gltf and .vrm the vertices that "
                "Blender imports; gltf and maya have Y up");
  set.AddChoice(
      "--space", output.space, {"model", kObjectSpace},
      "Space of the points: of the character, or of each mesh's object as FILE places it");
  set.AddFlag("--no-clobber", output.no_clobber, "Fail if a file of that name exists");
  set.AddNumber("--chunk", options.parts.frames, 1, 1e9,
                "Bake in parts of this many frames, in the folder OUT.parts, and join them");
  set.AddFlag(
      "--resume", options.parts.resume,
      "Bake in parts, of 50 frames unless --chunk is given, and keep those that an earlier run has "
      "finished");
  set.AddFlag("--part", options.parts.only,
              "Bake --frames as parts and leave them for `sinew join`: a task of a render farm");
  set.AddFlag("--dry-run", options.dry_run,
              "Write nothing: print what would be baked, with estimates of time and memory");
}

}  // namespace sinew::cli
