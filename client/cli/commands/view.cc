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
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "client/bake/character/json_text.h"
#include "client/bake/character/recipe_argument.h"
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

// What the page asks this program for; immutable, so that threads can share it.
class Shown {
 public:
  // The recipes and the clip to begin with are checked here. Errors of ReadRecipe and ReadMotion.
  static absl::StatusOr<Shown> Of(const bake::CharacterFile& character, const Options& options,
                                  const client::Client& client, const std::string& rig);

  absl::StatusOr<Document> Get(const std::string& path) const;

 private:
  Shown(const bake::CharacterFile& character, const Options& options, const client::Client& client)
      : character_(character), client_(client), motion_(options.motion) {}
  absl::StatusOr<client::ClipData> Clip(std::size_t index) const;

  const bake::CharacterFile& character_;
  const client::Client client_;
  bake::MotionRequest motion_;
  std::vector<std::string> names_;  // of the clips
  std::string json_;
  client::GltfPaint paint_;
};

absl::StatusOr<client::ClipData> Shown::Clip(std::size_t index) const {
  bake::MotionRequest request = motion_;
  if (request.poses.empty()) request.clip = character_.clips[index].name;
  return bake::ReadMotion(character_, request);
}

absl::StatusOr<Shown> Shown::Of(const bake::CharacterFile& character, const Options& options,
                                const client::Client& client, const std::string& rig) {
  Shown shown(character, options, client);
  nlohmann::ordered_json recipes = nlohmann::ordered_json::array(),
                         clips = nlohmann::ordered_json::array();
  for (const std::string& deformer : options.deformers) {
    SINEW_ASSIGN_OR_RETURN(const std::string recipe, bake::ReadRecipe(deformer));
    recipes.push_back(recipe);
  }
  std::size_t chosen = 0;
  if (!options.motion.poses.empty() || !character.clips.empty()) {
    SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                           bake::ReadMotion(character, options.motion));
    shown.names_ = {clip.name};
    if (options.motion.poses.empty()) {
      shown.names_.clear();
      for (const client::ClipInfo& each : character.clips) shown.names_.push_back(each.name);
      chosen = static_cast<std::size_t>(std::ranges::find(shown.names_, clip.name) -
                                        shown.names_.begin());
    }
  }
  for (std::size_t k = 0; k < shown.names_.size(); ++k) {
    bake::MotionRequest request = options.motion;
    if (request.poses.empty()) request.clip = shown.names_[k];
    SINEW_ASSIGN_OR_RETURN(const double last, bake::LastFrame(character, request));
    clips.push_back({{"name", shown.names_[k]},
                     {"frames", static_cast<std::uint64_t>(last + kSameFrame) + 1},
                     {"fps", options.motion.fps},
                     {"controls", character.rig.controls.size()}});
  }
  nlohmann::ordered_json paint;  // null: the file has no colours that can be shown
  if (absl::StartsWith(character.format, "glTF")) {
    // Colours are an addition: what is wrong with them does not keep the character from the page.
    if (auto read = client::ReadGltfPaint(character.path, character.rig); read.ok()) {
      shown.paint_ = *std::move(read);
    }
  }
  if (!shown.paint_.colours.empty()) {
    paint["images"] = nlohmann::ordered_json::array();
    for (const auto& image : shown.paint_.images) paint["images"].push_back(image.type);
  }
  shown.json_ = bake::JsonText({{"version", SINEW_VERSION},
                                {"label", character.label},
                                {"rig", rig},
                                {"recipes", recipes},
                                {"clip", chosen},
                                {"clips", clips},
                                {"paint", paint}},
                               2);
  return shown;
}

absl::StatusOr<Document> Shown::Get(const std::string& path) const {
  if (path == "/view.json") {
    // A server that was started again may have lost it; one that has it is sent nothing.
    SINEW_RETURN_IF_ERROR(client_.UploadRig(character_.rig_bytes).status());
    return Document{.type = "application/json", .bytes = json_};
  }
  if (path == "/view/colours") {
    return Document{.type = "application/octet-stream",
                    .bytes = {paint_.colours.begin(), paint_.colours.end()}};
  }
  if (path == "/view/uvs") {
    return Document{.type = "application/octet-stream", .bytes = Bytes(paint_.uvs)};
  }
  absl::string_view rest = path;
  std::size_t image = 0;
  if (absl::ConsumePrefix(&rest, "/view/images/") && absl::SimpleAtoi(rest, &image) &&
      image < paint_.images.size()) {
    return Document{.type = paint_.images[image].type, .bytes = paint_.images[image].bytes};
  }
  rest = path;
  const bool controls = absl::ConsumeSuffix(&rest, "/controls");
  std::size_t index = 0;
  if (!absl::ConsumePrefix(&rest, "/clips/") || rest.empty() ||
      !std::ranges::all_of(rest, [](char c) { return absl::ascii_isdigit(c); }) ||
      !absl::SimpleAtoi(rest, &index) || index >= names_.size()) {
    return absl::NotFoundError(absl::StrCat(path, ": there is nothing"));
  }
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip, Clip(index));
  return Document{.type = "application/octet-stream",
                  .bytes = Bytes(controls ? clip.controls : clip.joint_transforms)};
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
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  SINEW_ASSIGN_OR_RETURN(const client::Client client, context.ConnectIfNamed());
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig rig,
                         bake::UploadCharacter(client, context, character));
  SINEW_ASSIGN_OR_RETURN(const Shown shown, Shown::Of(character, options, client, rig.rig.name));
  SINEW_ASSIGN_OR_RETURN(const Page page,
                         OpenPage(client, options.port,
                                  [&shown](const std::string& path) { return shown.Get(path); }));
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
turns joints, and compares two recipes live: with a border to move between them, side by side, or as a heat map; and measures them. Without --server, this process deforms.
Examples:
  sinew view hero.glb
  sinew view model:hand --deformer lbs 'dqs | implicit'
  sinew view hero.glb --clip Run --server build-host:50051 --tls-ca system --token-file token
See also: sinew render, sinew compare.)");
}

}  // namespace sinew::cli
