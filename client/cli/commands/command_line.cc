#include "client/cli/commands/command_line.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "client/cli/base/exit_code.h"
#include "client/cli/character/muscle_help.h"
#include "client/cli/commands/commands.h"
#include "client/lib/rpc/address.h"
#include "core/base/closest_names.h"

namespace sinew::cli {
namespace {

constexpr char kPurpose[] =
    "Skin deformation by a Sinew server: inspect, bind, bake and draw rigged characters.";
constexpr char kQuickStart[] = R"(Quick start:
  sinewd &                                                 # a server (or add --local to any command)
  sinew inspect hero.glb                                   # what is in the file, what is wrong with it
  sinew bake hero.glb --deformer ddm --out hero.pc2        # a clip as a point cache, with a manifest
  sinew render hero.glb --deformer lbs --deformer ddm --frame 12 --out hero.png

FILE is .glb, .gltf, .fbx, .dae, .sinewrig, or a built-in model: model:arm, model:cylinder, model:hand, model:tube.
--muscles FILE.json gives a character muscles; `sinew help muscles` describes the file.
A deformer is `name`, `name(key=value, ...)`, stages joined by `|`, or @FILE with JSON of a recipe; see `sinew methods`.
`sinew help COMMAND` has examples. Data go to stdout, all else to stderr.
Exit codes: 0 ok, 64 usage, 65 bad input, 69 server unavailable, 70 internal, 73 cannot write, 75 try again,
77 not permitted.)";

void AddGlobals(CLI::App& app, Globals& globals) {
  const char* set = std::getenv("SINEW_SERVER");
  globals.server = set != nullptr && *set != '\0' ? set : "127.0.0.1:50051";
  auto* server = app.add_option("--server", globals.server,
                                "Server to use: host, host:port (50051 if none is named) or "
                                "unix:/path (default: $SINEW_SERVER, else 127.0.0.1:50051)")
                     ->option_text("ADDR");
  app.add_flag("--local", globals.local, "No server: run the service in this process")
      ->excludes(server)
      ->option_text(" ");
  app.add_flag("--json", globals.json, "Print JSON instead of text");
  app.add_flag("--quiet,-q", globals.quiet, "No progress and no notes; warnings and errors remain");
}

void AddCommands(CLI::App& app, Command& command) {
  AddInspect(app, command);
  AddMethods(app, command);
  AddUpload(app, command);
  AddBind(app, command);
  AddBake(app, command);
  AddRender(app, command);
  AddCompare(app, command);
  AddWeights(app, command);
  AddVerify(app, command);
  AddBench(app, command);
  AddRigs(app, command);
  AddSessions(app, command);
  AddDelete(app, command);
  AddStats(app, command);
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

bool HasCommand(const CLI::App& app, std::string_view name) {
  return std::ranges::count(CommandNames(app), name) > 0;
}

// The next argument from `at` on that is no option of every command, or `argc`.
int NextWord(int argc, const char* const* argv, int at) {
  while (at < argc && argv[at][0] == '-') at += std::string_view(argv[at]) == "--server" ? 2 : 1;
  return std::min(at, argc);
}

// `sinew help` as `sinew --help`, `sinew help bake` as `sinew bake --help`, and `sinew help dance`
// as the mistake `sinew dance`. Options of every command may stand anywhere among them.
std::vector<const char*> WithHelp(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  const int help = NextWord(argc, argv, 1);
  if (help == argc || std::string_view(argv[help]) != "help") return arguments;
  const int about = NextWord(argc, argv, help + 1);
  arguments.erase(arguments.begin() + help);
  if (about == argc || HasCommand(app, argv[about])) arguments.push_back("--help");
  return arguments;
}

bool AsksForMuscles(int argc, const char* const* argv) {
  const int help = NextWord(argc, argv, 1), about = NextWord(argc, argv, help + 1);
  return about < argc && std::string_view(argv[help]) == "help" &&
         std::string_view(argv[about]) == "muscles";
}

// The options that `command` takes, with those of every command.
std::vector<std::string> OptionNames(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* each : {&command, &app}) {
    for (const CLI::Option* option : each->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// Why the parse failed: a command or an option that there is not rather than what is missing for
// it.
absl::Status Mistake(const CLI::ParseError& error, const CLI::App& app, const CLI::App& command) {
  for (const std::string& left : app.remaining(/*recurse=*/true)) {
    const std::string option = left.substr(0, left.find('='));
    if (&command == &app && !absl::StartsWith(option, "-")) {
      return UsageError(
          absl::StrCat(option, ": no such command", DidYouMean(option, CommandNames(app))));
    }
    if (!absl::StartsWith(option, "--")) continue;
    return UsageError(
        absl::StrCat(option, ": no such option", DidYouMean(option, OptionNames(app, command))));
  }
  return UsageError(error.what());
}

// What a failed or finished parse prints.
void Explain(const CLI::ParseError& error, const CLI::App& app, CommandLine& line) {
  const auto chosen = app.get_subcommands();
  const CLI::App& about = chosen.empty() ? app : *chosen.front();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    line.output =
        error.get_name() == "CallForVersion"
            ? absl::StrCat(error.what(), "\n")
            : about.help(chosen.empty() ? "" : app.get_name(), CLI::AppFormatMode::Normal);
    return;
  }
  const std::string name = chosen.empty() ? "" : chosen.front()->get_name();
  line.errors = ErrorText(Mistake(error, app, about), name);
  line.exit_code = kExitUsage;
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  if (AsksForMuscles(argc, argv)) {
    line.output = MuscleHelp();
    return line;
  }
  CLI::App app(kPurpose, "sinew");
  app.footer(kQuickStart);
  app.set_version_flag("--version", "sinew " SINEW_VERSION);
  app.get_formatter()->column_width(32);
  app.fallthrough();
  app.require_subcommand(0, 1);
  AddGlobals(app, line.globals);
  try {
    AddCommands(app, line.command);
    const std::vector<const char*> arguments = WithHelp(app, argc, argv);
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    line.command = nullptr;
    Explain(error, app, line);
    return line;
  }
  if (!line.command) {
    line.errors = app.help();
    line.exit_code = kExitUsage;
    return line;
  }
  line.name = app.get_subcommands().front()->get_name();
  if (line.globals.local) return line;
  const absl::StatusOr<std::string> server = client::TargetOf("--server", line.globals.server);
  if (server.ok()) {
    line.globals.server = *server;  // as it is named when it is lost
  } else {
    line.command = nullptr;
    line.errors = ErrorText(UsageError(std::string(server.status().message())), line.name);
    line.exit_code = kExitUsage;
  }
  return line;
}

}  // namespace sinew::cli
