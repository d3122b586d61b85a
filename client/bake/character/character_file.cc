#include "client/bake/character/character_file.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/character/muscle_file.h"
#include "client/bake/files/input_file.h"
#include "client/bake/formats/npy.h"
#include "client/import/posed_scene.h"
#include "client/import/valid_text.h"
#include "core/base/closest_names.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "sinew/client.h"
#include "sinew/clip_files.h"

namespace sinew::bake {
namespace {

constexpr char kModelPrefix[] = "model:";
constexpr std::uint64_t kMaxRigBytes = std::uint64_t{2} << 30;
constexpr double kClipEndRounding = 1e-6;  // rounding of times
constexpr std::uint64_t kMaxPoseBytes = std::uint64_t{8} << 30;

absl::StatusOr<CharacterFile> ReadSerialised(const std::string& file) {
  SINEW_ASSIGN_OR_RETURN(const InputFile input, InputFile::Open(file, kMaxRigBytes));
  CharacterFile character;
  character.kind = CharacterFile::Kind::kSerialised;
  character.format = "serialised rig";
  character.rig_bytes = std::string(input.text());
  SINEW_ASSIGN_OR_RETURN(character.rig, client::DecodeRig(character.rig_bytes));
  return character;
}

// Adds the clips of `options` to the scene. Returns the file of each, as CharacterFile::clip_files.
absl::StatusOr<std::vector<std::string>> AddClipFiles(const ReadOptions& options,
                                                      client::ImportedScene& scene) {
  SINEW_RETURN_IF_ERROR(CheckClipFiles(options.clip_files));
  std::vector<std::string> sources(scene.clips.size());
  for (const std::string& clip_file : options.clip_files) {
    const absl::StatusOr<client::ImportedScene> from = client::ImportClips(clip_file);
    if (!from.ok()) return Prefixed("clip_file", from.status());
    SINEW_RETURN_IF_ERROR(options.retarget ? client::RetargetClips(*from, options.joint_map, scene)
                                           : client::AddClips(*from, scene));
    sources.resize(scene.clips.size(), clip_file);
  }
  return sources;
}

absl::StatusOr<CharacterFile> ReadImported(const std::string& file,
                                           const client::ImportOptions& import,
                                           const ReadOptions& options) {
  SINEW_ASSIGN_OR_RETURN(client::ImportedScene scene, client::ImportFile(file, import));
  SINEW_ASSIGN_OR_RETURN(std::vector<std::string> sources, AddClipFiles(options, scene));
  SINEW_ASSIGN_OR_RETURN(CharacterFile character, FromScene(std::move(scene)));
  character.clip_files = std::move(sources);
  return character;
}

// The frames of `whole` that are asked for. `what` names it in errors.
absl::StatusOr<client::ClipData> Cut(const client::ClipData& whole, const FrameSet& frames,
                                     const std::string& what) {
  SINEW_ASSIGN_OR_RETURN(
      const std::vector<std::int64_t> numbers,
      ResolveFrames(frames, static_cast<std::int64_t>(whole.frames), what, whole.fps));
  client::ClipData clip;
  clip.name = whole.name;
  clip.fps = whole.fps;
  SetFrameNumbers(numbers, clip);
  const auto pick = [&](const std::vector<float>& from, std::vector<float>& to) {
    const auto stride = static_cast<std::int64_t>(from.size() / whole.frames);
    to.reserve(clip.frames * static_cast<std::size_t>(stride));
    for (const std::int64_t k : numbers) {
      to.insert(to.end(), from.begin() + k * stride, from.begin() + (k + 1) * stride);
    }
  };
  pick(whole.joint_transforms, clip.joint_transforms);
  pick(whole.controls, clip.controls);
  return clip;
}

// `times`, some of which may be outside the clip, where its ends hold: `sample` reads those inside.
template <class Sample>
absl::StatusOr<client::ClipData> Held(const std::vector<double>& times, double last,
                                      const Sample& sample) {
  std::vector<double> inside;
  std::vector<std::size_t> sources;
  for (const double time : times) {
    const double held = time > last + kClipEndRounding ? last : std::max(time, 0.0);
    if (inside.empty() || held > inside.back()) inside.push_back(held);
    sources.push_back(inside.size() - 1);
  }
  SINEW_ASSIGN_OR_RETURN(const client::ClipData read, sample(inside));
  client::ClipData clip;
  clip.name = read.name;
  clip.fps = read.fps;
  clip.frames = times.size();
  clip.frame_numbers = times;
  const auto pick = [&](const std::vector<float>& from, std::vector<float>& to) {
    const std::size_t stride = from.size() / read.frames;
    to.reserve(clip.frames * stride);
    for (const std::size_t k : sources) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(k * stride);
      to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(stride));
    }
  };
  pick(read.joint_transforms, clip.joint_transforms);
  pick(read.controls, clip.controls);
  return clip;
}

// The first clip that is from another file, or the end.
auto FirstOtherClip(const CharacterFile& character) {
  return std::ranges::find_if_not(character.clip_files, &std::string::empty);
}

absl::StatusOr<client::ClipData> ReadPoses(const CharacterFile& character,
                                           const MotionRequest& request) {
  if (FirstOtherClip(character) != character.clip_files.end()) {
    return RequestError("poses: are instead of clips, need them without `clip_file`");
  }
  SINEW_ASSIGN_OR_RETURN(const InputFile input,
                         InputFile::Open(request.poses, kMaxPoseBytes, "poses"));
  absl::StatusOr<PoseArray> poses = ReadPosesNpy(input.bytes());
  if (!poses.ok()) return Prefixed("poses: " + request.poses, poses.status());
  if (poses->joints != character.rig.joints.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("poses: got ", CountedText(poses->joints, "joint"), " in ", request.poses,
                     ", need the ", character.rig.joints.size(), " of ", character.label));
  }
  client::ClipData whole;
  whole.name = std::filesystem::path(request.poses).filename().string();
  whole.fps = request.fps;
  whole.frames = poses->frames;
  whole.joint_transforms = std::move(poses->values);
  if (!request.controls.empty()) {
    SINEW_ASSIGN_OR_RETURN(whole.controls, ReadControls(character, request.controls, whole.frames));
  }
  if (!request.holds_ends) return Cut(whole, request.frames, whole.name);
  return Held(request.times, static_cast<double>(whole.frames - 1),
              [&](const std::vector<double>& times) {
                FrameSet frames;
                for (const double time : times) {
                  frames.ranges.push_back({.first = std::floor(time), .last = std::floor(time)});
                }
                return Cut(whole, frames, whole.name);
              });
}

// The clip at frames with fractions, in its range.
absl::StatusOr<client::ClipData> SampleAt(const CharacterFile& character, std::size_t index,
                                          double fps, const std::vector<double>& times) {
  if (character.kind == CharacterFile::Kind::kModel) {
    return client::Resampled(character.model_clip, character.rig, fps, times);
  }
  return client::SampleClip(*character.scene, index, {.fps = fps, .frame_numbers = times});
}

absl::StatusOr<client::ClipData> SampleFrames(const CharacterFile& character, std::size_t index,
                                              double fps, const std::vector<std::int64_t>& numbers,
                                              const FrameSet& frames, const std::string& what) {
  if (character.kind == CharacterFile::Kind::kModel) {
    return Cut(client::Resampled(character.model_clip, character.rig, fps), frames, what);
  }
  client::ClipData times;
  SetFrameNumbers(numbers, times);
  return client::SampleClip(*character.scene, index,
                            {.fps = fps,
                             .first_frame = times.first_frame,
                             .last_frame = numbers.back(),
                             .step = times.step,
                             .frame_numbers = times.frame_numbers});
}

absl::StatusOr<client::ClipData> ReadClip(const CharacterFile& character,
                                          const MotionRequest& request) {
  SINEW_ASSIGN_OR_RETURN(const std::size_t index, ClipIndex(character, request));
  const client::ClipInfo& info = character.clips[index];
  const std::string what = absl::StrCat("clip '", info.name, "'");
  const double last = info.end * request.fps;
  const auto sample = [&](const std::vector<double>& times) {
    return SampleAt(character, index, request.fps, times);
  };
  if (!request.times.empty()) {
    if (request.holds_ends) return Held(request.times, last, sample);
    SINEW_RETURN_IF_ERROR(CheckTimes(request.times, last, what, request.fps, request.frames.start));
    return sample(request.times);
  }
  if (request.frames.HasFractions() && !request.shutter) {
    SINEW_ASSIGN_OR_RETURN(const std::vector<double> numbers,
                           ResolveNumbers(request.frames, last, what, request.fps));
    return sample(numbers);
  }
  SINEW_ASSIGN_OR_RETURN(
      const std::vector<std::int64_t> numbers,
      ResolveFrames(request.frames, client::ClipFrames(info, request.fps), what, request.fps));
  if (request.shutter) return Held(SampleNumbers(numbers, *request.shutter), last, sample);
  return SampleFrames(character, index, request.fps, numbers, request.frames, what);
}

}  // namespace

absl::Status AddClipsToSerialised(const ReadOptions& options, CharacterFile& character) {
  if (options.clip_files.empty()) return absl::OkStatus();
  if (std::ranges::any_of(character.rig.joints, &client::Joint::compensates_scale)) {
    return absl::InvalidArgumentError(
        absl::StrCat("clip_file: got ", options.clip_files.front(), " for ", character.label,
                     ", whose joints do not pass on their scale; poses move such a rig"));
  }
  SINEW_ASSIGN_OR_RETURN(client::ImportedScene scene, client::MakePosedScene(character.rig, {}));
  scene.rig.label = character.label;
  SINEW_ASSIGN_OR_RETURN(character.clip_files, AddClipFiles(options, scene));
  character.clips = scene.clips;
  character.problems.insert(character.problems.end(), scene.problems.begin(), scene.problems.end());
  character.scene = std::move(scene);
  return absl::OkStatus();
}

namespace {

absl::StatusOr<client::ImportOptions> ImportOptionsOf(const ReadOptions& options) {
  client::ImportOptions import{.allow_no_skin = options.allow_no_skin};
  SINEW_ASSIGN_OR_RETURN(import.unweighted, ParseUnweighted(options.unweighted));
  return import;
}

absl::StatusOr<CharacterFile> ReadWithoutMuscles(const std::string& file,
                                                 const ReadOptions& options) {
  SINEW_ASSIGN_OR_RETURN(const client::ImportOptions import, ImportOptionsOf(options));
  const std::string extension =
      absl::AsciiStrToLower(std::filesystem::path(file).extension().string());
  const bool built_in = absl::StartsWith(file, kModelPrefix), serialised = extension == ".sinewrig";
  if ((built_in || serialised) && import.unweighted != client::Unweighted::kRefuse) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unweighted: got \"", options.unweighted, "\" for ", file,
        ", need a .glb, .gltf, .vrm, .fbx or .dae; what a serialised rig or a built-in model "
        "holds is final"));
  }
  if (options.clip_files.empty() && options.retarget) {
    return RequestError("retarget: got it without `clip_file`, need one");
  }
  if (!options.retarget && !options.joint_map.empty()) {
    return RequestError("joint_map: got it without `retarget`, need that, too");
  }
  if (built_in && !options.clip_files.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("clip_file: got ", options.clip_files.front(),
                                                   " for ", file, ", need a character file"));
  }
  if (built_in) {
    SINEW_ASSIGN_OR_RETURN(client::Model model,
                           client::Make(std::string(absl::StripPrefix(file, kModelPrefix))));
    return FromModel(std::move(model), file);
  }
  absl::StatusOr<CharacterFile> character =
      serialised ? ReadSerialised(file) : ReadImported(file, import, options);
  const std::string label = client::ValidText(std::filesystem::path(file).filename().string());
  if (!character.ok()) {
    const std::string why(character.status().message());
    if (absl::StartsWith(why, file + ": wrong type ") ||
        absl::StartsWith(why, file + ": no extension")) {
      // The importer does not know of these.
      return Reworded(
          character.status(),
          absl::StrCat(absl::StrReplaceAll(why, {{".fbx or .dae", ".fbx, .dae or .sinewrig"}}),
                       "; or model:NAME"));
    }
    return serialised && !absl::StrContains(why, label) ? Prefixed(file, character.status())
                                                        : character.status();
  }
  character->label = label;
  character->path = file;
  if (serialised) SINEW_RETURN_IF_ERROR(AddClipsToSerialised(options, *character));
  return character;
}

// Controls that the muscles' text added keep their defaults.
void AddControls(const CharacterFile& character, client::ClipData& clip) {
  const std::size_t need = character.rig.controls.size();
  const std::size_t had = clip.frames == 0 ? 0 : clip.controls.size() / clip.frames;
  if (had == 0 || had == need) return;
  std::vector<float> controls;
  for (std::size_t frame = 0; frame < clip.frames; ++frame) {
    for (std::size_t k = 0; k < need; ++k) {
      controls.push_back(k < had ? clip.controls[frame * had + k]
                                 : character.rig.controls[k].default_value);
    }
  }
  clip.controls = std::move(controls);
}

}  // namespace

const std::vector<std::string>& UnweightedNames() {
  static const std::vector<std::string> names = {"refuse", "root", "nearest", "still"};
  return names;
}

absl::StatusOr<client::Unweighted> ParseUnweighted(const std::string& name) {
  const std::vector<std::string>& names = UnweightedNames();
  const auto choice = std::ranges::find(names, name);
  if (choice == names.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("unweighted: got \"", name, "\", need refuse, root, nearest or still"));
  }
  return static_cast<client::Unweighted>(choice - names.begin());
}

absl::StatusOr<CharacterFile> FromScene(client::ImportedScene scene) {
  CharacterFile character;
  character.clips = scene.clips;
  character.problems = scene.problems;
  character.keeps_file_order = scene.keeps_file_order;
  character.format = scene.format;
  SINEW_ASSIGN_OR_RETURN(character.rig_bytes, client::EncodeRig(scene.rig));
  character.rig = scene.rig;
  character.scene = std::move(scene);
  return character;
}

absl::Status AddMuscles(const std::string& file, CharacterFile& character) {
  SINEW_RETURN_IF_ERROR(ReadMuscleFile(file, character.rig));
  character.muscles = file;
  SINEW_ASSIGN_OR_RETURN(character.rig_bytes, client::EncodeRig(character.rig));
  return absl::OkStatus();
}

absl::StatusOr<CharacterFile> FromModel(client::Model model, const std::string& label) {
  CharacterFile character;
  character.kind = CharacterFile::Kind::kModel;
  character.format = "built-in model";
  character.label = label;
  character.clips.push_back({.name = model.clip.name,
                             .end = static_cast<double>(model.clip.frames - 1) / model.clip.fps,
                             .keys = model.clip.frames});
  character.model_clip = std::move(model.clip);
  character.rig = std::move(model.rig);
  SINEW_ASSIGN_OR_RETURN(character.rig_bytes, client::EncodeRig(character.rig));
  return character;
}

absl::StatusOr<CharacterFile> ReadCharacter(const std::string& file, const ReadOptions& options) {
  SINEW_ASSIGN_OR_RETURN(CharacterFile character, ReadWithoutMuscles(file, options));
  if (!options.muscles.empty()) SINEW_RETURN_IF_ERROR(AddMuscles(options.muscles, character));
  return character;
}

std::size_t DefaultClip(const CharacterFile& character) {
  const auto other = FirstOtherClip(character);
  return other == character.clip_files.end()
             ? 0
             : static_cast<std::size_t>(other - character.clip_files.begin());
}

absl::StatusOr<client::ClipData> ReadMotion(const CharacterFile& character,
                                            const MotionRequest& given) {
  MotionRequest request = given;
  for (double& time : request.times) time = MovedFrame(time, -given.frames.start);
  SINEW_ASSIGN_OR_RETURN(client::ClipData clip, request.poses.empty()
                                                    ? ReadClip(character, request)
                                                    : ReadPoses(character, request));
  AddControls(character, clip);
  MoveFrames(given.frames.start, clip);
  return clip;
}

absl::StatusOr<std::vector<float>> ReadControls(const CharacterFile& character,
                                                const std::string& file, std::size_t frames) {
  SINEW_ASSIGN_OR_RETURN(const InputFile input, InputFile::Open(file, kMaxPoseBytes, "controls"));
  absl::StatusOr<ControlArray> array = ReadControlsNpy(input.bytes());
  if (!array.ok()) return Prefixed("controls: " + file, array.status());
  const std::size_t need = character.rig.controls.size();
  if (array->controls != need || array->frames != frames) {
    return absl::InvalidArgumentError(
        absl::StrCat("controls: got ", CountedText(array->frames, "frame"), " of ",
                     CountedText(array->controls, "control"), " in ", file, ", need the ",
                     CountedText(frames, "frame"), " of the poses and the ",
                     CountedText(need, "control"), " of ", character.label));
  }
  return std::move(array->values);
}

absl::StatusOr<std::size_t> ClipIndex(const CharacterFile& character,
                                      const MotionRequest& request) {
  if (character.clips.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("clip: ", character.label, " has none, need `clip_file`, or `poses` (.npy of ",
                     "frames x ", character.rig.joints.size(), " joints x 12)"));
  }
  if (request.clip.empty()) return DefaultClip(character);
  if (character.kind == CharacterFile::Kind::kModel) {
    const std::string& name = character.model_clip.name;
    if (request.clip == "0" || request.clip == name) return std::size_t{0};
    const std::vector<std::string> names{name};
    return absl::InvalidArgumentError(absl::StrCat("clip: got \"", request.clip, "\", ",
                                                   character.label, " has one: 0 '", name, "'",
                                                   DidYouMean(request.clip, names)));
  }
  return client::FindClip(*character.scene, request.clip);
}

absl::Status CheckClipFiles(const std::vector<std::string>& clip_files) {
  std::set<std::filesystem::path> seen;
  for (const std::string& clip_file : clip_files) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::weakly_canonical(clip_file, error);
    if (error) path = clip_file;
    if (seen.insert(path).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("clip_file: got ", clip_file, " twice, need it once"));
  }
  return absl::OkStatus();
}

absl::StatusOr<double> LastFrame(const CharacterFile& character, const MotionRequest& request) {
  if (request.poses.empty()) {
    SINEW_ASSIGN_OR_RETURN(const std::size_t index, ClipIndex(character, request));
    return character.clips[index].end * request.fps;
  }
  SINEW_ASSIGN_OR_RETURN(const InputFile input,
                         InputFile::Open(request.poses, kMaxPoseBytes, "poses"));
  absl::StatusOr<NpyHeader> header = ParseNpyHeader(input.bytes());
  if (!header.ok()) return Prefixed("poses: " + request.poses, header.status());
  return header->shape.empty() ? 0 : static_cast<double>(header->shape[0]) - 1;
}

}  // namespace sinew::bake
