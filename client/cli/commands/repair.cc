// sinew repair: bakes the damaged frames of a point cache again.
#include <absl/strings/str_cat.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "client/bake/passes/repair_cache.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string cache, file;
  bake::ReadOptions read;
  bake::MotionRequest motion;
};

absl::Status Repair(Context& context, const Options& options) {
  const bake::RepairRequest request = {
      .cache = options.cache,
      .read = [&] { return ReadAndWarn(context, options.file, options.read); },
      .connect = [&] { return context.Connect(); },
      .motion = options.motion};
  const absl::StatusOr<bake::CheckedCache> repaired = bake::RepairCache(context, request);
  if (!repaired.ok()) return context.Lost(repaired.status(), options.cache + " is unchanged");
  const bake::CacheDamage& damage = repaired->damage;
  const std::string frames = bake::FramesText(bake::InfoOf(repaired->manifest), damage.samples);
  nlohmann::ordered_json numbers = nlohmann::ordered_json::array();
  for (const std::uint32_t k : damage.samples) numbers.push_back(repaired->manifest.FrameNumber(k));
  context.PrintResult(
      {{"cache", options.cache}, {"repaired", damage.any()}, {"repaired_frames", numbers}},
      !damage.any()    ? absl::StrCat("ok ", options.cache, "\n")
      : frames.empty() ? absl::StrCat("repaired ", options.cache, ": header or length\n")
                       : absl::StrCat("repaired ", options.cache, ": frames ", frames, "\n"));
  return absl::OkStatus();
}

}  // namespace

void AddRepair(CommandList& commands) {
  auto [set, options] =
      commands.Add<Options>("repair", "Bake the damaged frames of a point cache again", Repair);
  set.AddText("CACHE", options.cache, ".pc2, .mdd or .npy with its manifest beside it").Required();
  set.AddText("FILE", options.file, "The character file that it was baked from").Required();
  AddReadOptions(set, options.read);
  AddClipFileOption(set, options.read);
  const Option poses =
      set.AddText("--poses", options.motion.poses, "The poses, if it was baked from --poses");
  set.AddText("--controls", options.motion.controls, "The control values of these poses")
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
