// character_file.h - what the FILE argument names: a character file, a serialised rig, or a model
// made by program.
#pragma once

#include <absl/status/statusor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/bake/character/frame_set.h"
#include "client/bake/character/shutter.h"
#include "client/models/models.h"
#include "sinew/import.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct CharacterFile {
  enum class Kind : std::uint8_t { kImported, kSerialised, kModel };

  Kind kind = Kind::kImported;
  std::string label;  // for people: file name without folders, or "model:hand"
  client::RigData rig;
  std::string path;       // of the file, or empty: not of a file
  std::string rig_bytes;  // what is uploaded
  std::string muscles;    // the file of its muscles, or empty
  std::vector<client::ClipInfo> clips;
  std::vector<std::string> clip_files;  // [clips] the file that each is from, or empty: `path`
  std::vector<client::Problem> problems;
  bool keeps_file_order = true;
  std::string format;  // for people, as ImportedScene::format
  // Set for imported files, and for serialised rigs that get clips of other files.
  std::optional<client::ImportedScene> scene;
  client::ClipData model_clip;  // of models
};

// How FILE is read.
struct ReadOptions {
  std::string muscles = {};           // file of its muscles, see muscle_file.h; empty = its own
  std::string unweighted = "refuse";  // one of UnweightedNames; of imported files
  bool allow_no_skin = false;         // as client::ImportOptions
  std::vector<std::string> clip_files = {};  // their clips are added, see client::AddClips
  bool retarget = false;                     // by client::RetargetClips, for other skeletons
  std::map<std::string, std::string> joint_map = {};  // of RetargetClips; needs `retarget`
  bool strict = false;                                // warnings are errors; for ReadAndWarn
};

// refuse, root, nearest, still: those of client::Unweighted.
const std::vector<std::string>& UnweightedNames();

// Reads FILE: .glb, .gltf, .vrm, .fbx, .dae, .sinewrig (by the extension), or model:NAME.
//   kNotFound: no such file or model. kInvalidArgument: not a character, or no muscles of it, or an
//   member that is not for such a file; the message begins with the file's name or the member.
absl::StatusOr<CharacterFile> ReadCharacter(const std::string& file,
                                            const ReadOptions& options = {});

// Adds the clips of `options.clip_files` to a rig that was read from bytes. Errors of
// client::AddClips or RetargetClips; kInvalidArgument: joints that compensate scale.
absl::Status AddClipsToSerialised(const ReadOptions& options, CharacterFile& character);

// The choice of that name. kInvalidArgument: there is none.
absl::StatusOr<client::Unweighted> ParseUnweighted(const std::string& name);

// A scene of any reader; label and path stay empty. Errors of EncodeRig.
absl::StatusOr<CharacterFile> FromScene(client::ImportedScene scene);

// Replaces the muscles by those of a file. Errors of ReadMuscleFile.
absl::Status AddMuscles(const std::string& file, CharacterFile& character);

// A model made by program, with its clip.
absl::StatusOr<CharacterFile> FromModel(client::Model model, const std::string& label);

// Which poses of it. See FrameSet.
struct MotionRequest {
  std::string clip;           // name or number; empty = DefaultClip
  std::string poses;          // .npy of frames x joints x 12 instead of a clip; empty = none
  std::string controls = {};  // .npy of frames x controls for these poses; empty = the defaults
  double fps = 24;            // > 0
  FrameSet frames = {};       // frames.start also counts for the numbers of `times`
  std::vector<double> times = {};  // numbers of samples instead of these, of a clip
  // Samples of `frames`, of a clip; unset = the frames themselves.
  std::optional<Shutter> shutter = {};
  // `times` may be outside the clip, and whole frames of `poses`: the ends of the clip hold there.
  bool holds_ends = false;
  // Frames before and after each sample that its velocity is taken from; 0 = no velocities.
  double velocity_step = 0;
};

// The clip of a character that a request without one means: the first one of another file, which
// was named for its clips; else the first.
std::size_t DefaultClip(const CharacterFile& character);

// Samples a clip of the file, or reads the poses. `name` of the result says which clip it was;
// its numbers begin at frames.start, as those of the request do.
// Samples of `shutter` before or after the clip have the poses of its ends.
//   kInvalidArgument: no such clip, no clip at all, poses of another joint count. RequestError:
//   fractions of `poses` or with `shutter`. kOutOfRange:
//   frames or times beyond the clip.
absl::StatusOr<client::ClipData> ReadMotion(const CharacterFile& character,
                                            const MotionRequest& request);

// Values of the character's controls for `frames` poses, from a .npy of frames x controls.
// kInvalidArgument: another shape.
absl::StatusOr<std::vector<float>> ReadControls(const CharacterFile& character,
                                                const std::string& file, std::size_t frames);

// kInvalidArgument: a file is named twice, also by another path.
absl::Status CheckClipFiles(const std::vector<std::string>& clip_files);

// Which of the character's clips it is. kInvalidArgument: it has no such clip.
absl::StatusOr<std::size_t> ClipIndex(const CharacterFile& character, const MotionRequest& request);

// The number of the last frame that the clip or the poses have, with its fraction: where the clip
// ends, counted from 0. Errors of ReadMotion.
absl::StatusOr<double> LastFrame(const CharacterFile& character, const MotionRequest& request);

}  // namespace sinew::bake
