// sinew view: a character in the browser, live.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "client/bake/character/import_warnings.h"
#include "client/bake/character/json_text.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/files/input_file.h"
#include "client/bake/formats/npy.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "client/cli/run/browser.h"
#include "client/cli/run/page.h"
#include "client/import/gltf_paint.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr std::uint64_t kMostMotionBytes = std::uint64_t{1} << 30;  // as the port takes
constexpr double kSameFrame = 1e-6;  // a key that is as close to a frame is on it

using Document = server::WebPort::Document;

struct Options {
  std::string file;
  std::vector<std::string> deformers;
  bake::ReadOptions read;
  bake::MotionRequest motion;
  int port = 0;
  bool no_open = false, exit_with_parent = false;
};

std::string Bytes(const std::vector<float>& floats) {
  return {reinterpret_cast<const char*>(floats.data()), floats.size() * sizeof(float)};
}

// What the page asks this program for, and the files that it is given. Thread-safe.
class Shown {
 public:
  // The recipes and the clip to begin with are checked here. Errors of ReadRecipe and ReadMotion.
  static absl::StatusOr<std::unique_ptr<Shown>> Of(bake::CharacterFile character,
                                                   const Options& options, const Context& context,
                                                   const client::Client& client);

  absl::StatusOr<Document> Get(const std::string& path) const;
  // Shows another character, or with the path /motion poses of the one that is shown.
  absl::Status Take(const std::string& path, const std::string& file);

 private:
  struct Clip {
    std::string name;
    std::uint64_t frames = 0;
    std::shared_ptr<const client::ClipData> data = nullptr;  // null: read when the page asks
  };
  // Paths of clips count on from those of the character before: a page of that one must not get
  // the poses of another.
  struct Character {
    std::shared_ptr<const bake::CharacterFile> file;
    bake::MotionRequest motion;
    std::string rig;
    std::shared_ptr<const client::GltfPaint> paint = std::make_shared<client::GltfPaint>();
    std::vector<std::string> warnings = {};
    std::size_t number = 0;  // of characters shown so far
    std::size_t first = 0;   // number of the first clip
    std::vector<Clip> clips = {};
    std::size_t chosen = 0;
  };

  Shown(const Options& options, const Context& context, const client::Client& client)
      : options_(options), context_(context), client_(client) {}
  absl::StatusOr<Character> Load(bake::CharacterFile file, bake::MotionRequest motion) const;
  // Adds poses to the clips, or to the poses that came last the values of their controls.
  absl::Status TakeMotion(const std::string& file, Character& character) const;
  static absl::StatusOr<std::uint64_t> Frames(const bake::CharacterFile& file,
                                              const bake::MotionRequest& motion);
  Character now() const {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  const Options options_;
  const Context& context_;
  const client::Client client_;
  nlohmann::ordered_json recipes_ = nlohmann::ordered_json::array();
  mutable std::mutex mutex_;
  Character now_;
};

absl::StatusOr<std::uint64_t> Shown::Frames(const bake::CharacterFile& file,
                                            const bake::MotionRequest& motion) {
  SINEW_ASSIGN_OR_RETURN(const double last, bake::LastFrame(file, motion));
  return static_cast<std::uint64_t>(last + kSameFrame) + 1;
}

absl::StatusOr<Shown::Character> Shown::Load(bake::CharacterFile file,
                                             bake::MotionRequest motion) const {
  Character character{.file = std::make_shared<const bake::CharacterFile>(std::move(file)),
                      .motion = std::move(motion),
                      .rig = {}};
  const bake::CharacterFile& of = *character.file;
  std::vector<std::string> names;
  if (!character.motion.poses.empty() || !of.clips.empty()) {
    SINEW_ASSIGN_OR_RETURN(const client::ClipData clip, bake::ReadMotion(of, character.motion));
    names = {clip.name};
    if (character.motion.poses.empty()) {
      names.clear();
      for (const client::ClipInfo& each : of.clips) names.push_back(each.name);
      character.chosen =
          static_cast<std::size_t>(std::ranges::find(names, clip.name) - names.begin());
    }
  }
  for (const std::string& name : names) {
    bake::MotionRequest request = character.motion;
    if (request.poses.empty()) request.clip = name;
    SINEW_ASSIGN_OR_RETURN(const std::uint64_t frames, Frames(of, request));
    character.clips.push_back({.name = name, .frames = frames});
  }
  character.warnings = bake::ShownWarnings(of);
  // Colours are an addition: what is wrong with them does not keep the character from the page.
  if (absl::StartsWith(of.format, "glTF")) {
    if (auto read = client::ReadGltfPaint(of.path, of.rig); read.ok()) {
      character.paint = std::make_shared<const client::GltfPaint>(*std::move(read));
    } else {
      character.warnings.push_back(
          absl::StrCat(of.label, ": no colours: ", read.status().message()));
    }
    if (character.paint->lacks_images) {
      character.warnings.push_back(absl::StrCat(
          of.label,
          ": an image is left out: it is missing, neither PNG nor JPEG, or beyond 16 and 64 MiB"));
    }
  }
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig rig, client_.UploadRig(of.rig_bytes));
  character.rig = rig.rig.name;
  return character;
}

absl::StatusOr<std::unique_ptr<Shown>> Shown::Of(bake::CharacterFile character,
                                                 const Options& options, const Context& context,
                                                 const client::Client& client) {
  std::unique_ptr<Shown> shown(new Shown(options, context, client));
  for (const std::string& deformer : options.deformers) {
    SINEW_ASSIGN_OR_RETURN(const std::string recipe, bake::ReadRecipe(deformer));
    shown->recipes_.push_back(recipe);
  }
  SINEW_ASSIGN_OR_RETURN(shown->now_, shown->Load(std::move(character), options.motion));
  return shown;
}

absl::Status Shown::TakeMotion(const std::string& file, Character& character) const {
  SINEW_ASSIGN_OR_RETURN(const bake::InputFile input,
                         bake::InputFile::Open(file, kMostMotionBytes, "poses"));
  const auto header = bake::ParseNpyHeader(input.bytes());
  if (header.ok() && header->shape.size() == 2) {
    if (character.clips.empty() || character.clips.back().data == nullptr) {
      return InvalidArgument(file, ": values of controls, need the .npy of their poses first");
    }
    client::ClipData clip = *character.clips.back().data;
    SINEW_ASSIGN_OR_RETURN(clip.controls, bake::ReadControls(*character.file, file, clip.frames));
    character.clips.back().data = std::make_shared<const client::ClipData>(std::move(clip));
    return absl::OkStatus();
  }
  bake::MotionRequest request = {.clip = {}, .poses = file, .fps = options_.motion.fps};
  SINEW_ASSIGN_OR_RETURN(client::ClipData clip, bake::ReadMotion(*character.file, request));
  SINEW_ASSIGN_OR_RETURN(const std::uint64_t frames, Frames(*character.file, request));
  character.chosen = character.clips.size();
  character.clips.push_back({.name = clip.name,
                             .frames = frames,
                             .data = std::make_shared<const client::ClipData>(std::move(clip))});
  return absl::OkStatus();
}

absl::Status Shown::Take(const std::string& path, const std::string& file) {
  Character next = now();
  if (path == "/motion") {
    SINEW_RETURN_IF_ERROR(TakeMotion(file, next));
  } else {
    const std::size_t first = next.first + next.clips.size(), number = next.number + 1;
    // Muscles, clips and poses of the command line are those of its own file.
    SINEW_ASSIGN_OR_RETURN(
        bake::CharacterFile character,
        ReadAndWarn(context_, file,
                    {.unweighted = options_.read.unweighted, .strict = options_.read.strict}));
    SINEW_ASSIGN_OR_RETURN(
        next, Load(std::move(character), {.clip = {}, .poses = {}, .fps = options_.motion.fps}));
    next.first = first;
    next.number = number;
  }
  const std::lock_guard lock(mutex_);
  now_ = std::move(next);
  return absl::OkStatus();
}

absl::StatusOr<Document> Shown::Get(const std::string& path) const {
  const Character shown = now();
  const std::string colours = absl::StrCat("/view/", shown.number);
  if (path == "/view.json") {
    // A server that was started again may have lost it; one that has it is sent nothing.
    SINEW_RETURN_IF_ERROR(client_.UploadRig(shown.file->rig_bytes).status());
    nlohmann::ordered_json clips = nlohmann::ordered_json::array();
    for (const Clip& clip : shown.clips) {
      clips.push_back({{"name", clip.name},
                       {"path", absl::StrCat("/clips/", shown.first + clips.size())},
                       {"frames", clip.frames},
                       {"fps", options_.motion.fps},
                       {"controls", shown.file->rig.controls.size()}});
    }
    nlohmann::ordered_json paint;  // null: the file has no colours that can be shown
    if (!shown.paint->colours.empty()) {
      paint["path"] = colours;
      paint["images"] = nlohmann::ordered_json::array();
      for (const auto& image : shown.paint->images) paint["images"].push_back(image.type);
    }
    return Document{.type = "application/json",
                    .bytes = bake::JsonText({{"version", SINEW_VERSION},
                                             {"label", shown.file->label},
                                             {"rig", shown.rig},
                                             {"recipes", recipes_},
                                             {"clip", shown.chosen},
                                             {"clips", clips},
                                             {"paint", paint},
                                             {"warnings", shown.warnings}},
                                            2)};
  }
  absl::string_view rest = path;
  if (absl::ConsumePrefix(&rest, colours + "/")) {
    std::size_t image = 0;
    if (rest == "colours") {
      return Document{.type = "application/octet-stream",
                      .bytes = {shown.paint->colours.begin(), shown.paint->colours.end()}};
    }
    if (rest == "uvs") {
      return Document{.type = "application/octet-stream", .bytes = Bytes(shown.paint->uvs)};
    }
    if (absl::ConsumePrefix(&rest, "images/") && absl::SimpleAtoi(rest, &image) &&
        image < shown.paint->images.size()) {
      return Document{.type = shown.paint->images[image].type,
                      .bytes = shown.paint->images[image].bytes};
    }
  }
  rest = path;
  const bool controls = absl::ConsumeSuffix(&rest, "/controls");
  std::size_t index = 0;
  if (!absl::ConsumePrefix(&rest, "/clips/") || rest.empty() ||
      !std::ranges::all_of(rest, [](char c) { return absl::ascii_isdigit(c); }) ||
      !absl::SimpleAtoi(rest, &index) || index < shown.first ||
      index - shown.first >= shown.clips.size()) {
    return absl::NotFoundError(absl::StrCat(path, ": there is nothing"));
  }
  const Clip& clip = shown.clips[index - shown.first];
  std::shared_ptr<const client::ClipData> data = clip.data;
  if (data == nullptr) {
    bake::MotionRequest request = shown.motion;
    if (request.poses.empty()) request.clip = clip.name;
    SINEW_ASSIGN_OR_RETURN(client::ClipData read, bake::ReadMotion(*shown.file, request));
    data = std::make_shared<const client::ClipData>(std::move(read));
  }
  return Document{.type = "application/octet-stream",
                  .bytes = Bytes(controls ? data->controls : data->joint_transforms)};
}

// Until Ctrl-C; with a parent, also until that process has ended.
void Wait(const std::stop_token& stop, std::optional<pid_t> parent) {
  constexpr std::chrono::milliseconds kLook{200};
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested() && (!parent || ::getppid() == *parent)) {
    stopped.wait_for(lock, stop, kLook, [] { return false; });
  }
}

absl::Status View(Context& context, Options options) {
  const auto parent = options.exit_with_parent ? std::optional(::getppid()) : std::nullopt;
  if (options.deformers.empty()) options.deformers = {"lbs", "ddm"};
  if (options.deformers.size() > 2) {
    return UsageError(absl::StrCat("--deformer: got ", options.deformers.size(),
                                   " recipes, need one or two, which the page compares"));
  }
  SINEW_ASSIGN_OR_RETURN(bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  SINEW_RETURN_IF_ERROR(bake::CheckSkins(character));
  SINEW_ASSIGN_OR_RETURN(const client::Client client, context.ConnectIfNamed());
  SINEW_RETURN_IF_ERROR(bake::UploadCharacter(client, context, character).status());
  SINEW_ASSIGN_OR_RETURN(const std::unique_ptr<Shown> shown,
                         Shown::Of(std::move(character), options, context, client));
  SINEW_ASSIGN_OR_RETURN(
      const Page page,
      OpenPage(
          client, options.port, [&shown](const std::string& path) { return shown->Get(path); },
          [&shown](const std::string& path, const std::string& file) {
            return shown->Take(path, file);
          }));
  context.PrintResult({{"link", page.link}}, page.link + "\n");
  SINEW_RETURN_IF_ERROR(CheckOutput());
  context.Note("open this link in a browser on this machine; Ctrl-C ends");
  std::optional<Browser> browser;
  if (!options.no_open && Browser::HasUser()) browser.emplace(page.link);
  Wait(context.stop(), parent);
  return absl::OkStatus();
}

}  // namespace

void AddView(CommandList& commands) {
  auto [set, options] =
      commands.Add<Options>("view", "Show a character in the browser, live", View);
  set.AddText("FILE", options.file, "Character file, .sinewrig or model:NAME").Required();
  set.AddList("--deformer", options.deformers,
              "One or two recipes to begin with, the first one shown; without it lbs and ddm");
  AddReadOptions(set, options.read);
  AddMotionOptions(set, options.read, options.motion);
  set.AddNumber("--port", options.port, 0, 65535, "Of 127.0.0.1; 0 takes a free one");
  set.AddFlag("--no-open", options.no_open,
              "Print the link only; else it is opened, too, on a desktop");
  set.AddFlag("--exit-with-parent", options.exit_with_parent,
              "End when the process that started this one has ended");
  set.SetFooter(
      R"(Prints a link that only this machine can open, and serves the page until Ctrl-C. The page plays the clips,
turns joints, and compares two recipes live: with a border to move between them, side by side, or as a heat map; and
measures them. A file that is dropped onto it is shown instead, or with poses as .npy played. Without --server, this
process deforms.
Examples:
  sinew view hero.glb
  sinew view model:hand --deformer lbs 'dqs | implicit'
  sinew view hero.glb --clip Run --server build-host:50051 --tls-ca system --token-file token
See also: sinew render, sinew compare.)");
}

}  // namespace sinew::cli
