// sinew export: what other programs need to send a character themselves: the rig, and a clip's
// poses and control values.
#include <absl/strings/str_cat.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "client/bake/character/character_file.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/files/output_file.h"
#include "client/bake/formats/npy.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string file, rig, poses, controls;
  std::optional<std::string> frames;
  bake::ReadOptions read;
  bake::MotionRequest motion;
  bool no_clobber = false;
};

struct Exported {
  std::string option, path, bytes;
};

absl::Status CheckPaths(const Options& options) {
  std::vector<std::string> inputs = options.read.clip_files;
  inputs.insert(inputs.end(), {options.file, options.read.muscles});
  std::set<std::filesystem::path> outputs;
  for (const std::string& path : {options.rig, options.poses, options.controls}) {
    if (path.empty()) continue;
    std::error_code error;
    for (const std::string& input : inputs) {
      if (!std::filesystem::equivalent(path, input, error)) continue;
      return UsageError(absl::StrCat(path, ": is read by this command, need another name"));
    }
    if (!outputs.insert(std::filesystem::weakly_canonical(path, error)).second) {
      return UsageError(absl::StrCat(path, ": named twice, need a file for each"));
    }
  }
  if (!outputs.empty()) return absl::OkStatus();
  return UsageError("need --rig, --poses or --controls: a file to write");
}

absl::StatusOr<bake::OutputFile> Write(const Exported& file, bool overwrite) {
  SINEW_ASSIGN_OR_RETURN(bake::OutputFile output, bake::OutputFile::Create(file.path, overwrite));
  SINEW_RETURN_IF_ERROR(output.Write(file.bytes));
  SINEW_RETURN_IF_ERROR(output.Close());
  return output;
}

// All files are complete before the first gets its name.
absl::Status WriteAll(const std::vector<Exported>& files, bool overwrite) {
  std::vector<bake::OutputFile> written;
  for (const Exported& file : files) {
    absl::StatusOr<bake::OutputFile> output = Write(file, overwrite);
    if (!output.ok()) return NameOutput(output.status(), "--" + file.option);
    written.push_back(*std::move(output));
  }
  for (bake::OutputFile& output : written) SINEW_RETURN_IF_ERROR(output.Commit());
  return absl::OkStatus();
}

absl::Status AddMotion(Context& context, const bake::CharacterFile& character,
                       const Options& options, std::vector<Exported>& files,
                       nlohmann::ordered_json& json) {
  if (character.clips.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(character.label, " has no clip, need one for --poses and --controls"));
  }
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ChooseMotion(context, character, options.motion));
  json["clip"] = clip.name;
  json["frames"] = clip.frames;
  json["fps"] = clip.fps;
  if (!options.poses.empty()) {
    const std::uint64_t shape[] = {clip.frames, character.rig.joints.size(), 12};
    files.push_back({"poses", options.poses, bake::EncodeNpy(shape, clip.joint_transforms)});
  }
  if (options.controls.empty()) return absl::OkStatus();
  if (character.rig.controls.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--controls: ", character.label, " has no controls"));
  }
  std::vector<float> values = clip.controls;
  for (std::size_t frame = 0; clip.controls.empty() && frame < clip.frames; ++frame) {
    for (const client::Control& control : character.rig.controls) {
      values.push_back(control.default_value);
    }
  }
  const std::uint64_t shape[] = {clip.frames, character.rig.controls.size()};
  files.push_back({"controls", options.controls, bake::EncodeNpy(shape, values)});
  return absl::OkStatus();
}

absl::Status Export(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(CheckPaths(options));
  if (options.frames) {
    SINEW_ASSIGN_OR_RETURN(options.motion.frames, bake::ParseFrames(*options.frames));
  }
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  std::vector<Exported> files;
  nlohmann::ordered_json json = {{"joints", character.rig.joints.size()},
                                 {"controls", character.rig.controls.size()},
                                 {"warnings", bake::ImportWarnings(character)}};
  if (!options.rig.empty()) files.push_back({"rig", options.rig, character.rig_bytes});
  if (!options.poses.empty() || !options.controls.empty()) {
    SINEW_RETURN_IF_ERROR(AddMotion(context, character, options, files, json));
  }
  SINEW_RETURN_IF_ERROR(WriteAll(files, !options.no_clobber));
  std::string text;
  for (const Exported& file : files) {
    json["files"][file.option] = {{"path", file.path}, {"bytes", file.bytes.size()}};
    absl::StrAppend(&text, file.path, "\n");
  }
  context.PrintResult(json, text);
  return absl::OkStatus();
}

}  // namespace

void AddExport(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "export", "Write the rig, poses and controls of a character to files", Export);
  set.AddText("FILE", options.file, "Character file, .sinewrig or model:NAME").Required();
  AddReadOptions(set, options.read);
  set.AddText("--rig", options.rig, "A serialised sinew.v1.Rig, .sinewrig");
  set.AddText("--poses", options.poses,
              ".npy, float32 of frames x joints x 12: joint to model, 3x4 row-major");
  set.AddText("--controls", options.controls, ".npy, float32 of frames x controls");
  AddClipOptions(set, options.read, options.motion);
  AddFramesOption(set, options.frames);
  set.AddFlag("--no-clobber", options.no_clobber, "Fail if a file of that name exists");
  set.SetFooter(
      R"(No server is needed. `sinew inspect FILE --joints` lists joints and controls in their order.
Examples:
  sinew export hero.glb --rig hero.sinewrig --poses walk.npy --controls walk_controls.npy --clip Walk --fps 30
  sinew bake hero.sinewrig --poses walk.npy --controls walk_controls.npy --fps 30 --deformer ddm --out walk.pc2
See also: sinew inspect, sinew bake.)");
}

}  // namespace sinew::cli
