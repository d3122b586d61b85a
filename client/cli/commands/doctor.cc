// sinew doctor: checks this machine and the server, and says what to do about each fault.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/time/clock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/character_file.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/base/table.h"
#include "client/cli/commands/commands.h"
#include "client/render/text.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr char kModel[] = "model:hand", kRecipe[] = "ddm";
constexpr int kRounds = 50;  // of what is timed
// A frame at 60 Hz, which has to hold the tool's own work as well.
constexpr absl::Duration kFrame = absl::Microseconds(16'667);
constexpr absl::Duration kPatience = absl::Seconds(5);  // with a server that does not answer
constexpr rlim_t kOpenFiles = 1024;                     // of every connection of a client, and more
constexpr std::uintmax_t kFreeBytes = 1'000'000'000;    // of the folder for temporary files

enum class Result : std::uint8_t { kGood, kWarning, kFault };

const char* ResultName(Result result) {
  return result == Result::kGood ? "ok" : result == Result::kWarning ? "warning" : "fault";
}

struct Check {
  std::string subject;
  Result result = Result::kGood;
  std::string found;
  std::string advice = {};  // unless it is good
};

class Findings {
 public:
  void Good(const std::string& subject, const std::string& found) {
    checks_.push_back({subject, Result::kGood, found});
  }
  void Warn(const std::string& subject, const std::string& found, const std::string& advice) {
    checks_.push_back({subject, Result::kWarning, found, advice});
  }
  void Fault(const std::string& subject, const absl::Status& status, const std::string& advice) {
    checks_.push_back({subject, Result::kFault, std::string(status.message()), advice});
    if (status_.ok()) status_ = status;
  }

  const std::vector<Check>& checks() const { return checks_; }
  // The first fault; its code gives the exit code.
  const absl::Status& status() const { return status_; }

 private:
  std::vector<Check> checks_;
  absl::Status status_;
};

// The median of the times that `run` takes. Errors of `run`.
template <class Run>
absl::StatusOr<absl::Duration> MedianTime(const Context& context, Run&& run) {
  std::vector<absl::Duration> times;
  for (int k = 0; k < kRounds; ++k) {
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    const absl::Time start = absl::Now();
    SINEW_RETURN_IF_ERROR(run());
    times.push_back(absl::Now() - start);
  }
  const auto middle = times.begin() + kRounds / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// A program of that name beside this one or in $PATH, or an empty path.
std::filesystem::path FindProgram(const std::string& name) {
  std::error_code error;
  std::vector<std::filesystem::path> folders = {
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path()};
  const char* path = std::getenv("PATH");
  for (const std::string& folder :
       std::vector<std::string>(absl::StrSplit(path != nullptr ? path : "", ':'))) {
    folders.emplace_back(folder);
  }
  for (const std::filesystem::path& folder : folders) {
    if (!folder.empty() && ::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  }
  return {};
}

void CheckPrograms(Findings& findings) {
  findings.Good("sinew", SINEW_VERSION);
  const std::filesystem::path sinewd = FindProgram("sinewd");
  if (sinewd.empty()) {
    findings.Warn("sinewd", "neither beside sinew nor in $PATH",
                  "install it, use a server elsewhere (--server), or --local");
  } else {
    findings.Good("sinewd", sinewd.string());
  }
  const std::filesystem::path blender = FindProgram("blender");
  findings.Good("Blender",
                blender.empty() ? "not installed; only its add-on needs it" : blender.string());
  const absl::StatusOr<client::Font> font = client::Font::Open();
  if (font.ok()) {
    findings.Good("pictures", "can be drawn");
  } else {
    findings.Warn("pictures", std::string(font.status().message()),
                  "needed by render and compare --picture only");
  }
}

void CheckSystem(Findings& findings) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const std::string open = absl::StrCat(bake::CountText(files.rlim_cur), " may be open");
  if (files.rlim_cur < kOpenFiles) {
    findings.Warn("files", open,
                  absl::StrCat("a server here needs `ulimit -n ", kOpenFiles, "` or more"));
  } else {
    findings.Good("files", open);
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const std::uintmax_t space = error ? 0 : std::filesystem::space(folder, error).available;
  const bool writable = !error && ::access(folder.c_str(), W_OK) == 0;
  const std::string found = absl::StrCat(folder.string(), ", ", bake::BytesText(space), " free");
  if (error || !writable) {
    findings.Warn("temporary files", error ? error.message() : folder.string() + ": not writable",
                  "set $TMPDIR to a folder that is");
  } else if (space < kFreeBytes) {
    findings.Warn("temporary files", found, "make room, or set $TMPDIR to another folder");
  } else {
    findings.Good("temporary files", found);
  }
}

// Binds the model, poses it again and again, and leaves nothing behind. Returns the determinism
// digest.
absl::StatusOr<std::string> TryDeformation(Context& context, const client::Client& client,
                                           absl::Duration& frame_time) {
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character, bake::ReadCharacter(kModel));
  client::CallOptions call = context.call();
  call.deadline = kPatience;
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded,
                         client.UploadRig(character.rig_bytes, {}, call));
  SINEW_ASSIGN_OR_RETURN(const client::Character bound,
                         client::Character::Create(client, character.rig_bytes, kRecipe, {}, call));
  const client::Pose pose = client::PoseOf(character.model_clip, 1);
  const absl::StatusOr<absl::Duration> time =
      MedianTime(context, [&] { return bound.Deform({}, pose, {}, call).status(); });
  const std::string digest = bound.session().determinism_digest;
  bake::ReleaseCharacter(context, bound);
  if (!uploaded.was_stored) (void)client.DeleteRig(uploaded.rig.name, call);
  if (!time.ok()) return time.status();
  frame_time = *time;
  return digest;
}

std::string FrameText(absl::Duration time) {
  return absl::StrCat("a frame of ", kModel, " by ", kRecipe, " takes ", bake::DurationText(time));
}

// Computes in this process. Returns the determinism digest, or nothing after a fault.
std::optional<std::string> CheckDeformation(Context& context, Findings& findings) {
  absl::StatusOr<LocalService> service = StartLocalService();
  const auto fault = [&](const absl::Status& status) -> std::optional<std::string> {
    findings.Fault("deformation", status, "please report this");
    return std::nullopt;
  };
  if (!service.ok()) return fault(service.status());
  const absl::StatusOr<client::ServerInfo> info = service->client.GetServerInfo(context.call());
  if (!info.ok()) return fault(info.status());
  absl::Duration time;
  const absl::StatusOr<std::string> digest = TryDeformation(context, service->client, time);
  if (!digest.ok()) return fault(digest.status());
  const std::string cpu = absl::StrCat(info->simd, ", ", CountedText(info->threads, "thread"));
  if (info->simd == "scalar") {
    findings.Warn("processor", cpu,
                  "several times slower: needs x86-64 with AVX2 and FMA, or ARM64");
  } else {
    findings.Good("processor", cpu);
  }
  findings.Good("deformation", FrameText(time));
  return *digest;
}

std::string ServerAdvice(const Context& context, const absl::Status& status) {
  if (absl::IsUnauthenticated(status)) return "give a token: --token-file, $SINEW_TOKEN";
  if (absl::IsPermissionDenied(status)) return "ask for a token with more scopes";
  if (!absl::IsUnavailable(status) && !absl::IsDeadlineExceeded(status)) return "";
  return context.globals().names_server
             ? "is it running, and does it want TLS (--tls-ca)? see also --server"
             : "start one with `sinewd`, name one with --server or $SINEW_SERVER, or use --local";
}

void CheckServer(Context& context, const std::optional<std::string>& local_digest,
                 Findings& findings) {
  const std::string& address = context.globals().server;
  const auto fault = [&](const char* subject, const absl::Status& status) {
    findings.Fault(subject, bake::Reworded(status, absl::StrCat(address, ": ", status.message())),
                   ServerAdvice(context, status));
  };
  const absl::StatusOr<client::Client> client = context.Connect();
  if (!client.ok()) return fault("server", client.status());
  client::CallOptions call = context.call();
  call.deadline = kPatience;
  const absl::StatusOr<client::ServerInfo> info = client->GetServerInfo(call);
  if (!info.ok()) return fault("server", info.status());
  const std::string found = absl::StrCat(address, ", sinewd ", info->version, ", ", info->simd,
                                         ", ", CountedText(info->threads, "thread"));
  if (info->version != SINEW_VERSION) {
    findings.Warn("server", found, "this is sinew " SINEW_VERSION "; versions should be equal");
  } else {
    findings.Good("server", found);
  }
  const absl::StatusOr<absl::Duration> trip =
      MedianTime(context, [&] { return client->GetServerInfo(call).status(); });
  if (!trip.ok()) return fault("round trip", trip.status());
  if (*trip > kFrame / 2) {
    findings.Warn("round trip", bake::DurationText(*trip),
                  "too slow for posing at 60 frames a second; bakes are not affected");
  } else {
    findings.Good("round trip", bake::DurationText(*trip));
  }
  absl::Duration time;
  const absl::StatusOr<std::string> digest = TryDeformation(context, *client, time);
  if (!digest.ok()) return fault("frames", digest.status());
  if (time > kFrame) {
    findings.Warn("frames", FrameText(time),
                  "too slow for 60 frames a second: see `sinew stats` for its load");
  } else {
    findings.Good("frames", FrameText(time));
  }
  if (!local_digest) return;
  if (*digest == *local_digest) {
    findings.Good("bits", "server and --local compute the same");
  } else {
    findings.Warn("bits", "server and --local may differ in the last bits",
                  "for equal bits use equal versions and C libraries");
  }
}

std::string Text(const std::vector<Check>& checks) {
  Table table({{"check"}, {"result"}, {"found"}});
  for (const Check& check : checks) {
    table.Add({check.subject, ResultName(check.result), check.found});
    if (!check.advice.empty()) table.Add({"", "", "-> " + check.advice});
  }
  return table.Text();
}

absl::Status Doctor(Context& context) {
  Findings findings;
  CheckPrograms(findings);
  CheckSystem(findings);
  const std::optional<std::string> digest = CheckDeformation(context, findings);
  if (!context.globals().local) CheckServer(context, digest, findings);
  SINEW_RETURN_IF_ERROR(context.CheckStop());
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Check& check : findings.checks()) {
    json.push_back({{"check", check.subject},
                    {"result", ResultName(check.result)},
                    {"found", check.found},
                    {"advice", check.advice}});
  }
  context.PrintResult({{"checks", json}}, Text(findings.checks()));
  return findings.status();
}

}  // namespace

void AddDoctor(CommandList& commands) {
  OptionSet set = commands.Add(
      "doctor", "Check this machine and the server: what is missing, unreachable or too slow",
      Doctor);
  set.SetFooter(
      R"(Deforms model:hand in this process and, unless --local is given, on the server; the token needs rigs:write.
Warnings do not change the exit code; the first fault does: 69 for a server that does not answer.
Examples:
  sinew doctor
  sinew doctor --server build-host:50051 --tls-ca system --token-file token
See also: sinew stats, sinew bench.)");
}

}  // namespace sinew::cli
