#include "client/cli/commands/command_line.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "client/cli/base/exit_code.h"
#include "client/cli/character/muscle_help.h"
#include "client/cli/commands/commands.h"
#include "client/lib/rpc/address.h"

namespace sinew::cli {
namespace {

constexpr char kPurpose[] =
    "Skin deformation by a Sinew server: inspect, bind, bake and draw rigged characters.";
constexpr char kQuickStart[] = R"(Quick start:
  sinewd &                                                 # a server; or add --local to any command
  sinew inspect hero.glb                                   # contents of the file, and its problems
  sinew methods                                            # deformation methods and their parameters
  sinew bake hero.glb --deformer ddm --out hero.pc2        # a clip as a point cache, with a manifest
  sinew render hero.glb --deformer lbs --deformer ddm --frame 12 --out hero.png

FILE is .glb, .gltf, .vrm, .fbx, .dae, .sinewrig, or a built-in model: model:arm, model:cylinder, model:hand, model:tube.
--muscles FILE.json adds muscles to a character; `sinew help muscles` describes the file.
--deformer is a recipe: `name`, `name(key=value, ...)`, stages joined by `|`, or @FILE with JSON; see `sinew methods`.
`sinew help COMMAND` has examples. Data goes to stdout, everything else to stderr.
A trace context in $TRACEPARENT (W3C) is sent with every call; the server logs its trace id.
Exit codes: 0 ok, 64 usage, 65 bad input, 69 server unavailable, 70 internal, 73 cannot write, 75 try again,
77 not permitted.)";

// The value of an environment variable, or empty.
std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// A file that an option names, or else a variable.
void AddFile(OptionSet& set, const std::string& name, std::string& value, const char* variable,
             const std::string& help) {
  set.AddText(name, value, help + " (default: $" + variable + ")").Placeholder("FILE");
}

void AddGlobals(OptionSet set, Globals& globals, std::optional<std::string>& server_option) {
  const Option server = set.AddText("--server", server_option,
                                    "Server to use: host, host:port (50051 if none is named) or "
                                    "unix:/path (default: $SINEW_SERVER, else 127.0.0.1:50051)")
                            .Placeholder("ADDR");
  set.AddFlag("--local", globals.local, "No server: run the service in this process")
      .Excludes(server)
      .Placeholder(" ");
  set.AddText(
         "--local-cache", globals.local_cache,
         "With --local: keep rigs and bound data in this folder, so that of all processes that "
         "use it only one binds (default: $SINEW_LOCAL_CACHE). Files have the permissions of your "
         "umask: share it only with users that you trust")
      .Placeholder("DIR");
  AddFile(set, "--tls-ca", globals.tls_ca, "SINEW_TLS_CA",
          "Use TLS: authorities of the server's certificate in PEM, or `system`");
  AddFile(set, "--tls-cert", globals.tls_cert, "SINEW_TLS_CERT", "Certificate of this client, PEM");
  AddFile(set, "--tls-key", globals.tls_key, "SINEW_TLS_KEY", "Its private key, PEM");
  AddFile(set, "--token-file", globals.token_file, "SINEW_TOKEN_FILE",
          "Token for the server; $SINEW_TOKEN holds one itself");
  set.AddFlag("--json", globals.json, "Print JSON instead of text");
  set.AddFlag("--quiet,-q", globals.quiet, "No progress and no notes; warnings and errors remain");
  set.AddChoice("--progress", globals.progress, ProgressNames(),
                "Progress and messages on stderr: for people, for OpenJD, or as lines of JSON");
  set.AddNumber("--wait", globals.wait_seconds, 0, 604'800,
                "Wait this many seconds for a server that is lost or busy (default: about 1 before "
                "the first answer, then 30)");
  set.SetFooter(kQuickStart);
}

void AddCommands(CommandList commands) {
  AddInspect(commands);
  AddMethods(commands);
  AddUpload(commands);
  AddBind(commands);
  AddBake(commands);
  AddJoin(commands);
  AddExport(commands);
  AddRender(commands);
  AddView(commands);
  AddCompare(commands);
  AddDistil(commands);
  AddFitSkeleton(commands);
  AddFitWeights(commands);
  AddDecompose(commands);
  AddWeights(commands);
  AddVerify(commands);
  AddRepair(commands);
  AddBench(commands);
  AddRigs(commands);
  AddSessions(commands);
  AddDelete(commands);
  AddStats(commands);
  AddDoctor(commands);
}

// What no option has named comes from the environment. A token there gives way to --token-file.
void ReadEnvironment(Globals& globals) {
  const auto fill = [&](std::string& value, const char* member, const char* option,
                        const char* variable) {
    globals.origins[member] = value.empty() ? absl::StrCat("$", variable) : option;
    if (value.empty()) value = Environment(variable);
  };
  fill(globals.tls_ca, "tls.ca_file", "--tls-ca", "SINEW_TLS_CA");
  fill(globals.tls_cert, "tls.cert_file", "--tls-cert", "SINEW_TLS_CERT");
  fill(globals.tls_key, "tls.key_file", "--tls-key", "SINEW_TLS_KEY");
  if (globals.token_file.empty()) fill(globals.token, "token", "", "SINEW_TOKEN");
  if (!globals.token.empty()) return;
  fill(globals.token_file, "token_file", "--token-file", "SINEW_TOKEN_FILE");
  globals.origins["token"] = globals.origins["token_file"];  // which holds it
}

// kInvalidArgument: options that need each other.
absl::Status CheckTls(const Globals& globals) {
  if (globals.tls_cert.empty() != globals.tls_key.empty()) {
    return UsageError("--tls-cert, --tls-key: got one of them, need both or none");
  }
  if (!globals.tls_cert.empty() && globals.tls_ca.empty()) {
    return UsageError("--tls-cert: needs --tls-ca too, a file or `system`");
  }
  return absl::OkStatus();
}

bool AsksForMuscles(const OptionParser& parser, int argc, const char* const* argv) {
  const int help = parser.NextWord(argc, argv, 1), about = parser.NextWord(argc, argv, help + 1);
  return about < argc && std::string_view(argv[help]) == "help" &&
         std::string_view(argv[about]) == "muscles";
}

// What --progress asks for, where the rest of the command line cannot be read.
std::string ProgressAskedFor(int argc, const char* const* argv) {
  constexpr std::string_view kOption = "--progress";
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    std::string_view value;
    if (word == kOption && k + 1 < argc) value = argv[k + 1];
    if (word.starts_with("--progress=")) value = word.substr(kOption.size() + 1);
    if (std::ranges::find(ProgressNames(), value) != ProgressNames().end()) {
      return std::string(value);
    }
  }
  return "auto";
}

CommandLine Mistake(CommandLine line, const absl::Status& status) {
  line.command = nullptr;
  line.errors = FailureText(line.globals, status, line.name);
  line.exit_code = kExitUsage;
  return line;
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  OptionParser parser("sinew", kPurpose, "sinew " SINEW_VERSION);
  std::optional<std::string> server_option;
  AddGlobals(parser.globals(), line.globals, server_option);
  if (AsksForMuscles(parser, argc, argv)) {
    line.output = MuscleHelp();
    return line;
  }
  AddCommands({parser, line.command});
  const OptionParser::Result parsed = parser.Parse(argc, argv);
  line.name = parsed.command;
  line.globals.options = parser.Options(parsed.command);
  line.globals.all_options = parser.Options({});
  if (!parsed.status.ok()) {
    line.globals.progress = ProgressAskedFor(argc, argv);
    return Mistake(std::move(line), parsed.status);
  }
  if (parsed.text) {
    line.command = nullptr;
    line.output = *parsed.text;
    return line;
  }
  if (!line.command) {
    line.errors = parser.Help();
    line.exit_code = kExitUsage;
    return line;
  }
  if (line.globals.local) {
    if (line.globals.local_cache.empty()) {
      line.globals.local_cache = Environment("SINEW_LOCAL_CACHE");
    }
    return line;
  }
  if (!line.globals.local_cache.empty()) {
    return Mistake(std::move(line), UsageError("--local-cache: got it without --local"));
  }
  line.globals.names_server = server_option.has_value();
  std::string address = server_option.value_or(Environment("SINEW_SERVER"));
  if (!server_option && address.empty()) address = "127.0.0.1:50051";
  ReadEnvironment(line.globals);
  line.globals.traceparent = Environment("TRACEPARENT");
  if (const absl::Status tls = CheckTls(line.globals); !tls.ok()) {
    return Mistake(std::move(line), tls);
  }
  const absl::StatusOr<std::string> server = client::TargetOf("--server", address);
  if (!server.ok()) {
    return Mistake(std::move(line), UsageError(std::string(server.status().message())));
  }
  line.globals.server = *server;  // the complete address, for messages
  return line;
}

}  // namespace sinew::cli
