#include "client/cli/run/context.h"

#include <absl/strings/cord.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/json_text.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/printable.h"
#include "client/cli/base/request_field.h"
#include "client/lib/rpc/traceparent.h"
#include "core/base/status.h"

namespace sinew::cli {

namespace {

// Whether stderr is a terminal that can erase a line.
bool WipesLines() {
  const char* kind = std::getenv("TERM");
  return (kind == nullptr || std::strcmp(kind, "dumb") != 0) && ::isatty(STDERR_FILENO) == 1;
}

// The error with the option or variable in place of the member that it begins with.
absl::Status NameOrigin(const absl::Status& status, const Globals& globals) {
  const std::string message(status.message());
  const std::string member = message.substr(0, message.find(':'));
  const auto origin = globals.origins.find(member);
  if (origin == globals.origins.end()) return status;
  return bake::Reworded(status, origin->second + message.substr(member.size()));
}

constexpr char kOpenJd[] = "openjd", kJson[] = "json";

// Prints a line of its own, in place of a progress line.
void PrintMessage(const Globals& globals, const char* kind, const std::string& text) {
  if (globals.progress == kJson) {
    PrintEvent({{"event", kind}, {"text", text}});
    return;
  }
  const std::string label = kind == std::string("note") ? "" : absl::StrCat(kind, ": ");
  std::fprintf(stderr, "%ssinew: %s%s\n", WipesLines() ? kWipeLine : "", label.c_str(),
               Printable(text).c_str());
}

}  // namespace

const std::vector<std::string>& ProgressNames() {
  static const std::vector<std::string> names = {"auto", kOpenJd, kJson};
  return names;
}

std::string FailureText(const Globals& globals, const absl::Status& status,
                        const std::string& command) {
  const std::string text = ErrorText(status, command);
  if (globals.progress == kJson) {
    return EventText({{"event", "error"}, {"exit_code", ExitCode(status)}, {"text", text}});
  }
  if (globals.progress != kOpenJd) return text;
  return absl::StrCat(text, "openjd_fail: ", text.substr(0, text.find('\n')), "\n");
}

void PrintFailure(const Globals& globals, const absl::Status& status, const std::string& command) {
  std::fputs(FailureText(globals, status, command).c_str(), stderr);
}

void PrintInterrupted(const Globals& globals, int exit_code) {
  if (globals.progress == kJson) {
    PrintEvent({{"event", "error"}, {"exit_code", exit_code}, {"text", "interrupted"}});
    return;
  }
  std::fputs("sinew: interrupted\n", stderr);
  if (globals.progress == kOpenJd) std::fputs("openjd_fail: interrupted\n", stderr);
}

absl::StatusOr<client::Client> Context::Connect() {
  if (client_) return *client_;
  if (globals_.local) {
    SINEW_ASSIGN_OR_RETURN(local_, StartLocalService(globals_.local_cache,
                                                     [globals = globals_](const std::string& text) {
                                                       PrintMessage(globals, "warning", text);
                                                     }));
    client_ = local_->client;
    return *client_;
  }
  SINEW_ASSIGN_OR_RETURN(client_, ConnectTo(globals_.server));
  return *client_;
}

absl::StatusOr<client::Client> Context::ConnectTo(const std::string& address) const {
  client::ClientOptions options{.address = address};
  if (!globals_.tls_ca.empty()) {
    options.tls = client::TlsOptions{.ca_file = globals_.tls_ca == "system" ? "" : globals_.tls_ca,
                                     .cert_file = globals_.tls_cert,
                                     .key_file = globals_.tls_key};
  }
  if (globals_.wait_seconds) {
    const absl::Duration wait = absl::Seconds(*globals_.wait_seconds);
    options.retry.repeat_for = options.retry.resume_for = wait;
    options.deadline += wait;
    if (wait == absl::ZeroDuration()) options.retry.max_attempts = 1;
  }
  options.token = globals_.token;
  options.token_file = globals_.token_file;
  if (client::IsTraceparent(globals_.traceparent)) {
    options.traceparent = [header = globals_.traceparent] { return header; };
  } else if (!globals_.traceparent.empty()) {
    // Set by another program; as the standard asks, the work goes on without a trace.
    Warn(absl::StrCat("$TRACEPARENT is not sent: got \"", globals_.traceparent,
                      "\", need version-trace-parent-flags of 2, 32, 16 and 2 lower-case "
                      "hexadecimal digits (version not ff, ids not zero)"));
  }
  options.on_wait = [this, address](const absl::Status& why, absl::Duration longest) {
    const bool busy = absl::IsResourceExhausted(why);
    Note(absl::StrCat("server ", address, busy ? ": busy (" : ": cannot be reached (",
                      why.message(), "); waiting up to ", bake::DurationText(longest),
                      busy ? "" : " for it"));
  };
  absl::StatusOr<client::Client> client = client::Client::Connect(options);
  return client.ok() ? client : NameOrigin(client.status(), globals_);
}

absl::StatusOr<client::Client> Context::ConnectIfNamed() {
  globals_.local |= !globals_.names_server;
  return Connect();
}

absl::Status Context::CheckStop() const {
  return stop_.stop_requested() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

std::shared_ptr<bake::ProgressLine> Context::MakeProgress(const std::string& label,
                                                          Part part) const {
  const Progress::Form form = globals_.quiet                 ? Progress::Form::kNone
                              : globals_.progress == kOpenJd ? Progress::Form::kOpenJd
                              : globals_.progress == kJson   ? Progress::Form::kJson
                              : WipesLines()                 ? Progress::Form::kBar
                                                             : Progress::Form::kLines;
  return std::make_shared<Progress>(form, label, part);
}

absl::Status Context::NameOptions(const absl::Status& status) const {
  constexpr char kNamed[] = "sinew.cli/named";
  if (status.ok() || status.GetPayload(kNamed) || !client::Details(status).field.empty()) {
    return status;
  }
  const std::string message(status.message());
  // The option of a member, or empty. A command may speak of what one of another command does.
  const auto option_of = [](std::string_view member, const std::vector<std::string>& options) {
    const std::string option = absl::StrReplaceAll({member.data(), member.size()}, {{"_", "-"}});
    return std::ranges::count(options, option) > 0 ? "--" + option : std::string();
  };
  const std::vector<absl::string_view> pieces = absl::StrSplit(message, '`');
  const absl::string_view first = pieces[0].substr(0, pieces[0].find(": "));
  std::string named = option_of({first.data(), first.size()}, globals_.options);
  absl::StrAppend(&named, pieces[0].substr(named.empty() ? 0 : first.size()));
  bool is_member = false;  // of the piece before: a member takes both its backquotes
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    const std::string option =
        k + 1 < pieces.size() && !is_member
            ? option_of({pieces[k].data(), pieces[k].size()}, globals_.all_options)
            : std::string();
    const bool closes = std::exchange(is_member, !option.empty());
    absl::StrAppend(&named, closes || is_member ? "" : "`", is_member ? option : pieces[k]);
  }
  absl::Status result = bake::Reworded(status, named);
  result.SetPayload(kNamed, absl::Cord());
  return result;
}

absl::Status Context::Lost(const absl::Status& status, const std::string& kept) const {
  if (!absl::IsUnavailable(status)) return status;
  const std::string server =
      globals_.local ? "the service of this process" : "server " + globals_.server;
  return bake::Reworded(status, absl::StrCat(server, ": ", status.message(), "; ", kept));
}

void Context::Print(const std::string& text) const {
  WriteOutput(text);
}

void Context::PrintJson(nlohmann::ordered_json json) const {
  const auto add = [&](nlohmann::ordered_json& object) {
    for (const auto& [text, clip] : warnings_) {
      if (clip && json.is_array() && object.contains("clip") && object["clip"] != *clip) continue;
      nlohmann::ordered_json& list = object["warnings"];
      if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
    }
  };
  if (json.is_object()) add(json);
  for (nlohmann::ordered_json& item : json) {
    if (json.is_array() && item.is_object() && item.contains("warnings")) add(item);
  }
  Print(bake::JsonText(json, 2));
}

void Context::PrintResult(const nlohmann::ordered_json& json, const std::string& text) const {
  globals_.json ? PrintJson(json) : Print(text);
}

void Context::Note(const std::string& text) const {
  if (!globals_.quiet) PrintMessage(globals_, "note", text);
}

void Context::Warn(const std::string& text) const {
  PrintWarning(text);
  KeepWarning(text);
}

void Context::Warn(const std::vector<client::Problem>& problems) const {
  for (const client::Problem& problem : problems) {
    PrintWarning(NameOption(problem.message, problem.field, {}));
    KeepWarning(problem.message);
  }
}

void Context::KeepWarning(const std::string& text) const {
  const auto same = [&](const Kept& kept) { return kept.text == text && !kept.clip; };
  if (std::ranges::none_of(warnings_, same)) warnings_.push_back({text, std::nullopt});
}

void Context::WarnOfClip(const std::string& clip, const std::string& text) const {
  PrintWarning(text);
  warnings_.push_back({text, clip});
}

void Context::PrintWarning(const std::string& text) const {
  if (printed_.insert(text).second) PrintMessage(globals_, "warning", text);
}

namespace {

std::atomic<int> output_error{0};  // errno of the first write to stdout that failed

// Whether the other end of stdout is closed, as `head` closes it.
bool ReaderClosed() {
  pollfd out = {.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

}  // namespace

void WriteOutput(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return;
  int none = 0;
  output_error.compare_exchange_strong(none, errno != 0 ? errno : EIO);
}

absl::Status CheckOutput() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  int error = output_error;
  if (error == 0 && !flushed) error = errno;
  if (error == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  if (error == EPIPE || ReaderClosed()) return absl::OkStatus();  // it has what it wants
  return bake::OutputError(
      absl::StrCat("stdout: cannot write: ", std::strerror(error != 0 ? error : EIO)));
}

}  // namespace sinew::cli
