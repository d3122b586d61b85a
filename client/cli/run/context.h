// context.h - what every command gets: the global options, the server, and where to print.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/cli/base/progress.h"
#include "client/cli/run/local.h"
#include "sinew/client.h"

namespace sinew::cli {

struct Globals {
  std::string server;                     // address
  bool names_server = false;              // --server was given
  std::string tls_ca, tls_cert, tls_key;  // files; "system" as tls_ca = the system's authorities
  std::string token, token_file;
  std::string traceparent;  // $TRACEPARENT; not sent if it is not valid
  // The option or "$VARIABLE" that filled a member of client::ClientOptions, such as "tls.ca_file".
  std::map<std::string, std::string> origins;
  bool local = false;
  std::string local_cache;  // folder of its rigs and bound data; empty = memory only
  bool json = false;
  bool quiet = false;
  std::string progress = "auto";       // one of ProgressNames
  std::optional<double> wait_seconds;  // for a server; unset = the library's defaults
  // The options of the command, and those of all commands; without dashes.
  std::vector<std::string> options, all_options;
};

// auto, openjd, json: how progress and messages are written to stderr.
const std::vector<std::string>& ProgressNames();

// The error of a command for stderr: as text, and as --progress asks for.
std::string FailureText(const Globals& globals, const absl::Status& status,
                        const std::string& command);
// Writes it.
void PrintFailure(const Globals& globals, const absl::Status& status, const std::string& command);

class Context : public bake::Monitor {
 public:
  Context(Globals globals, std::stop_token stop) : globals_(std::move(globals)), stop_(stop) {}

  const Globals& globals() const { return globals_; }
  bool json() const { return globals_.json; }

  // The client of --server, or of a server started in this process on first use. Errors of Connect
  // and Start.
  absl::StatusOr<client::Client> Connect();
  // A client of another server, with the same options otherwise. `address`: of client::TargetOf.
  absl::StatusOr<client::Client> ConnectTo(const std::string& address) const;
  // Connects to the server of --server, else to one in this process: for what does not depend on
  // the server.
  absl::StatusOr<client::Client> ConnectIfNamed();

  // Options of every call: Ctrl-C cancels it.
  client::CallOptions call() const override { return {.stop = stop_}; }
  const std::stop_token& stop() const { return stop_; }
  // kCancelled once Ctrl-C was pressed.
  absl::Status CheckStop() const override;

  // A progress line on a terminal, elsewhere lines every few seconds, or what --progress asks for;
  // nothing with --quiet.
  std::shared_ptr<bake::ProgressLine> MakeProgress(const std::string& label,
                                                   Part part = Part::kMain) const override;

  // Libraries name the members of a request, as in "velocity_step: got 0.5, need `shutter`". Where
  // options fill them, the message names those: "--velocity-step: got 0.5, need --shutter". Before
  // a label is put in front; once.
  absl::Status NameOptions(const absl::Status& status) const;

  // The error of a command that failed. If the server is unavailable, adds its address and `kept`,
  // which states what happened to the work done so far.
  absl::Status Lost(const absl::Status& status, const std::string& kept) const;

  // Data, to stdout. CheckOutput reports whether all of it was written.
  void Print(const std::string& text) const;
  // With every warning that was given until now in "warnings": of an object, or of each object of
  // an array that has them, those of a clip only where "clip" is its name.
  void PrintJson(nlohmann::ordered_json json) const;
  // `json` with --json, else `text`.
  void PrintResult(const nlohmann::ordered_json& json, const std::string& text) const;

  // A line to stderr. Notes are silenced by --quiet; warnings are not, and each is printed once.
  void Note(const std::string& text) const override;
  void Warn(const std::string& text) const override;
  void Warn(const std::vector<client::Problem>& problems) const override;
  void WarnOfClip(const std::string& clip, const std::string& text) const override;
  // Only for "warnings" of --json, or only printed: where many are alike.
  void KeepWarning(const std::string& text) const;
  void PrintWarning(const std::string& text) const;

 private:
  Globals globals_;
  std::stop_token stop_;
  std::optional<LocalService> local_;
  std::optional<client::Client> client_;
  mutable std::set<std::string> printed_;  // warnings
  struct Kept {
    std::string text;
    std::optional<std::string> clip;  // the only one it concerns
  };
  mutable std::vector<Kept> warnings_;  // of "warnings", in the order in which they came
};

// Prints that Ctrl-C or another signal has ended the command.
void PrintInterrupted(const Globals& globals, int exit_code);

// To stdout; what is lost is reported by CheckOutput.
void WriteOutput(std::string_view text);

// Flushes stdout. OutputError: something printed to it was lost, other than to a reader that has
// closed it, as `head` does.
absl::Status CheckOutput();

// A command with its options read.
using Command = std::function<absl::Status(Context&)>;

}  // namespace sinew::cli
