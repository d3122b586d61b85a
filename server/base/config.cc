#include "server/base/config.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <map>
#include <set>
#include <type_traits>

#include "core/base/closest_names.h"
#include "core/base/status.h"
#include "server/base/address.h"
#include "server/base/config_check.h"
#include "server/base/config_options.h"
#include "server/base/files.h"
#include "server/base/version.h"

namespace sinew::server {
namespace {

using Values = std::vector<std::string>;

absl::Status Wrong(const Option& option, const std::string& got, const std::string& need) {
  return absl::InvalidArgumentError(
      absl::StrCat(AbslView(option.name), ": got \"", got, "\", need ", need));
}

// A text that would be the same as none: it may be the name of a file that was to protect the
// server, from a variable that was not set.
absl::Status Empty(absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": is empty; leave it out, or give a value"));
}

absl::Status Set(const Option& option, const Values& values, std::vector<std::string>& member) {
  if (std::find(values.begin(), values.end(), "") != values.end()) {
    return Empty(AbslView(option.name));
  }
  member = values;
  return absl::OkStatus();
}

absl::Status Set(const Option& option, const Values& values, std::string& member) {
  if (values.size() != 1) return Wrong(option, absl::StrJoin(values, ", "), "one value");
  if (values[0].empty()) return Empty(AbslView(option.name));
  member = values[0];
  return absl::OkStatus();
}

absl::Status Set(const Option& option, const Values& values, bool& member) {
  if (values.size() == 1 && (values[0] == "true" || values[0] == "false")) {
    member = values[0] == "true";
    return absl::OkStatus();
  }
  return Wrong(option, absl::StrJoin(values, ", "), "true or false");
}

// "a whole number from 0 to 1024".
template <class Number>
std::string Allowed(const Option& option) {
  const auto text = [](double value) {
    return value == std::floor(value) ? absl::StrCat(static_cast<std::int64_t>(value))
                                      : absl::StrCat(value);
  };
  return absl::StrCat(std::is_same_v<Number, double> ? "a number" : "a whole number", " from ",
                      text(option.minimum), " to ", text(option.maximum));
}

template <class Number>
absl::Status Set(const Option& option, const Values& values, Number& member) {
  bool read = false;
  if (values.size() == 1) {
    if constexpr (std::is_same_v<Number, double>) {
      read = absl::SimpleAtod(values[0], &member) && std::isfinite(member);
    } else {
      read = absl::SimpleAtoi(values[0], &member);
    }
  }
  return read ? absl::OkStatus()
              : Wrong(option, absl::StrJoin(values, ", "), Allowed<Number>(option));
}

template <class Member>
absl::Status CheckRange(const Option& option, const Member& member) {
  if constexpr (std::is_arithmetic_v<Member> && !std::is_same_v<Member, bool>) {
    const double value = static_cast<double>(member);
    const bool fitted = option.percent > 0 && member == 0;
    if (!fitted && (value < option.minimum || value > option.maximum)) {
      return Wrong(option, absl::StrCat(member), Allowed<Member>(option));
    }
  }
  if constexpr (std::is_same_v<Member, std::string>) {
    const auto& choices = option.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), member) == choices.end()) {
      return Wrong(option, member,
                   absl::StrJoin(choices, ", ", [](std::string* out, std::string_view choice) {
                     out->append(choice);
                   }));
    }
  }
  return absl::OkStatus();
}

// Configuration files may use `-` or `_`.
std::string Canonical(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

// What a value of "set" says: NAME=VALUE for an internal option.
absl::Status AddInternal(const Config& config, const std::string& text,
                         std::map<std::string, Values>& given) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('=', 1));
  bool internal = false;
  VisitOptions(config, [&](const Option& option, const auto&) {
    internal |= option.internal && option.name == parts[0];
  });
  if (parts.size() != 2 || !internal) {
    return absl::InvalidArgumentError(
        absl::StrCat("set: got \"", text, "\", need NAME=VALUE of an internal limit"));
  }
  given[parts[0]].push_back(parts[1]);
  return absl::OkStatus();
}

// Why a key has no option, where it once had.
std::string WhyUnknown(const Config& config, const std::string& key) {
  std::string why;
  VisitOptions(config, [&](const Option& option, const auto&) {
    if (!option.internal || option.name != key) return;
    why = option.percent > 0 ? absl::StrCat("; it is ", option.percent, " % of memory-bytes")
                             : "; it is fixed";
  });
  return why;
}

// Sets every option in `given`; a key without an option is an error.
absl::Status Apply(std::map<std::string, Values> given, Config& config) {
  absl::Status status;
  VisitOptions(config, [&](const Option& option, const auto&) {
    if (status.ok() && option.internal && given.contains(std::string(option.name))) {
      status = absl::InvalidArgumentError(absl::StrCat(
          AbslView(option.name), ": unknown key", WhyUnknown(config, std::string(option.name))));
    }
  });
  SINEW_RETURN_IF_ERROR(status);
  if (auto internal = given.extract("set"); !internal.empty()) {
    for (const std::string& text : internal.mapped()) {
      SINEW_RETURN_IF_ERROR(AddInternal(config, text, given));
    }
  }
  std::vector<std::string> names;
  VisitOptions(config, [&](const Option& option, auto& member) {
    if (!option.internal) names.emplace_back(option.name);
    const auto found = given.find(std::string(option.name));
    if (found == given.end()) return;
    if (status.ok()) status = Set(option, found->second, member);
    given.erase(found);
  });
  if (status.ok() && !given.empty()) {
    const std::string& key = given.begin()->first;
    status = absl::InvalidArgumentError(absl::StrCat(key, ": unknown key", DidYouMean(key, names)));
  }
  return status;
}

absl::StatusOr<std::map<std::string, Values>> ReadKeys(const YAML::Node& root) {
  std::map<std::string, Values> given;
  if (root.IsNull()) return given;
  if (!root.IsMap()) return absl::InvalidArgumentError("got no map of keys to values");
  for (const auto& entry : root) {
    const std::string key = Canonical(entry.first.as<std::string>());
    Values values;
    if (entry.second.IsScalar()) {
      values.push_back(entry.second.Scalar());
    } else if (entry.second.IsSequence()) {
      for (const auto& item : entry.second) values.push_back(item.as<std::string>());
    } else {
      return absl::InvalidArgumentError(absl::StrCat(key, ": need a value or a list of values"));
    }
    if (key == "listen" && values.empty()) {
      return absl::InvalidArgumentError("listen: got no address, need one or more");
    }
    if (!given.emplace(key, std::move(values)).second) {
      return absl::InvalidArgumentError(absl::StrCat(key, ": given twice"));
    }
  }
  return given;
}

// YAML::Load reads the first document alone, and YAML::LoadAll does not end on some damaged files.
// A line that begins with "---" begins a document, wherever it is; the first may have one too.
bool HasSecondDocument(const std::string& text) {
  bool begun = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (begun && absl::StartsWith(line, "---")) return true;
    begun |= !absl::StripAsciiWhitespace(line).empty() && !absl::StartsWith(line, "#") &&
             !absl::StartsWith(line, "%");
  }
  return false;
}

constexpr char kVariablePrefix[] = "SINEWD_";

std::string VariableName(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return kVariablePrefix + absl::AsciiStrToUpper(option);
}

// The value of an option's variable in the environment, or null.
const char* Variable(const std::string& option) {
  return std::getenv(VariableName(option).c_str());
}

// Not an error: orchestrators set such names, as Kubernetes does for a service called sinewd.
std::vector<std::string> UnknownVariables(const Config& config) {
  std::set<std::string> known{VariableName("config"), VariableName("set")};
  VisitOptions(config, [&](const Option& option, const auto&) {
    if (!option.internal) known.insert(VariableName(std::string(option.name)));
  });
  std::vector<std::string> unknown;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name =
        std::pair<std::string, std::string>(absl::StrSplit(*variable, absl::MaxSplits('=', 1)))
            .first;
    if (absl::StartsWith(name, kVariablePrefix) && !known.contains(name)) unknown.push_back(name);
  }
  std::ranges::sort(unknown);
  return unknown;
}

std::map<std::string, Values> ReadEnvironment(const Config& config) {
  std::map<std::string, Values> given;
  if (const char* set = Variable("set"); set != nullptr) given["set"] = absl::StrSplit(set, ',');
  VisitOptions(config, [&](const Option& option, const auto& member) {
    if (option.internal) return;
    const std::string name(option.name);
    const char* value = Variable(name);
    using Member = std::decay_t<decltype(member)>;
    if (value == nullptr || (std::is_arithmetic_v<Member> && *value == '\0')) return;
    if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
      given[name] = absl::StrSplit(value, ',');
    } else {
      given[name] = {value};
    }
  });
  return given;
}

template <class Member>
std::string TextOf(const Member& member) {
  if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
    return absl::StrJoin(member, ", ");
  } else if constexpr (std::is_same_v<Member, bool>) {
    return member ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<Member>) {
    return absl::StrFormat("%.15g", member);
  } else {
    return absl::StrCat(member);
  }
}

void AddFlags(CLI::App& app, const Config& config, std::map<std::string, Values>& given) {
  app.add_option_function<Values>(
         "--set", [&given](const Values& values) { given["set"] = values; },
         "NAME=VALUE of an internal limit, for tests; repeatable")
      ->take_all()
      ->expected(1)
      ->group("");  // not in the help
  VisitOptions(config, [&](const Option& option, const auto& member) {
    if (option.internal) return;
    std::string help(option.help);
    if (!option.choices.empty()) {
      for (std::size_t i = 0; i < option.choices.size(); ++i) {
        help += (i == 0 ? ": " : ", ") + std::string(option.choices[i]);
      }
    }
    const std::string text = TextOf(member);
    if (!text.empty()) help += " [" + text + "]";
    const std::string name(option.name);
    CLI::Option* flag = app.add_option_function<Values>(
        "--" + name, [&given, name](const Values& values) { given[name] = values; }, help);
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, bool>) flag->expected(0, 1)->default_str("true");
    if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
      flag->take_all()->expected(1);
    } else if constexpr (!std::is_same_v<Member, bool>) {
      flag->expected(1);
    }
    if constexpr (!std::is_same_v<Member, std::vector<std::string>>) {
      flag->multi_option_policy(CLI::MultiOptionPolicy::Throw);  // repeated: likely a mistake
    }
    flag->type_name(option.unit.empty() ? "" : std::string(option.unit));
  });
}

// What was wrong on the command line: an unknown option comes before what CLI11 reports.
std::string Mistake(const CLI::ParseError& error, const CLI::App& app, const Config& config) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& left : app.remaining()) {
    const std::string option = left.substr(0, left.find('='));
    if (absl::StartsWith(option, "-")) {
      const std::string why =
          WhyUnknown(config, option.substr(std::min<std::size_t>(2, option.size())));
      return absl::StrCat(option, ": no such option",
                          why.empty() ? DidYouMean(option, names) : why);
    }
  }
  return error.what();
}

// All but what one option needs of others for access: those may come from another source.
absl::Status CheckValues(const Config& config) {
  absl::Status status;
  VisitOptions(config, [&](const Option& option, const auto& member) {
    if (status.ok()) status = CheckRange(option, member);
  });
  SINEW_RETURN_IF_ERROR(status);
  for (const std::string& address : config.network.listen) {
    SINEW_RETURN_IF_ERROR(CheckListenAddress("listen", address));
  }
  if (config.network.http != "off") {
    SINEW_RETURN_IF_ERROR(ParseHostPort("http", config.network.http).status());
  }
  if (const std::uint64_t memory = config.compute.memory_bytes;
      memory != 0 && memory < kLeastMemory) {
    return absl::InvalidArgumentError(absl::StrCat(
        "memory-bytes: got ", memory, ", need 0 or at least ", kLeastMemory, " for one bind"));
  }
  const SessionConfig& sessions = config.sessions;
  if (sessions.ttl_seconds > sessions.max_ttl_seconds) {
    return absl::InvalidArgumentError(
        absl::StrCat("session-ttl-seconds: got ", sessions.ttl_seconds,
                     ", need at most max-session-ttl-seconds, ", sessions.max_ttl_seconds));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Config::Validate() const {
  SINEW_RETURN_IF_ERROR(CheckValues(*this));
  SINEW_RETURN_IF_ERROR(CheckShared(shared, rigs.data_dir));
  SINEW_RETURN_IF_ERROR(CheckWeb(*this));
  return CheckAccess(*this);
}

std::vector<std::string> ChangedOptions(const Config& before, const Config& after) {
  std::map<std::string, std::string> values;
  VisitOptions(before, [&](const Option& option, const auto& member) {
    values[std::string(option.name)] = TextOf(member);
  });
  std::vector<std::string> changed;
  VisitOptions(after, [&](const Option& option, const auto& member) {
    std::string name(option.name);
    if (values[name] != TextOf(member)) changed.push_back(std::move(name));
  });
  return changed;
}

absl::Status LoadConfigFile(const std::string& path, Config& config) {
  constexpr std::size_t kMaximum = 1 << 20;
  const auto prefixed = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("config ", path, ": ", what));
  };
  const absl::StatusOr<std::string> text = ReadPiece(path, 0, kMaximum + 1);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("config ", text.status().message()));
  }
  if (text->size() > kMaximum) {
    return prefixed(absl::StrCat("got a longer file, need at most ", kMaximum, " bytes"));
  }
  try {
    if (HasSecondDocument(*text)) return prefixed("got several documents, need one");
    const absl::StatusOr<std::map<std::string, Values>> given = ReadKeys(YAML::Load(*text));
    if (!given.ok()) return prefixed(given.status().message());
    const absl::Status status = Apply(*given, config);
    return status.ok() ? status : prefixed(status.message());
  } catch (const std::exception& error) {  // of yaml-cpp or the standard library
    return prefixed(error.what());
  }
}

CommandLine ParseCommandLine(int argc, const char* const* argv, Config& config) {
  constexpr int kUsage = 64, kConfiguration = 78;
  CLI::App app("sinewd deforms skinned characters over gRPC", "sinewd");
  app.set_version_flag("--version", std::string("sinewd ") + kVersion);
  app.footer(
      "Every option is also a key of the file named by --config and a variable of the "
      "environment:\n"
      "--max-window is SINEWD_MAX_WINDOW, with commas between the values of a repeatable option.\n"
      "Flags override the environment, which overrides the file.\n\n"
      "Once it listens, a line on stdout names the addresses (JSON with --log-format json).\n"
      "HTTP: /livez is ok while the process lives, /readyz while it can serve (else 503), /metrics "
      "is\nPrometheus text. Health over gRPC: grpc.health.v1, or `sinewd --probe ADDRESS`.\n\n"
      "Signals: SIGTERM and SIGINT drain, a second one ends at once. SIGHUP reads the file again;\n"
      "the log has what took effect and what needs a restart.\n\n"
      "Exit codes: 0 drained, 1 calls were cut off or a probe failed, 64 usage error, 69 an "
      "address\ncannot be bound, 78 invalid configuration, or a file or folder that it names");
  const auto not_empty = [](const std::string& value) {
    return value.empty() ? std::string(Empty("value").message()) : std::string();
  };
  std::string file;
  app.add_option("--config", file, "YAML or JSON file; keys are flag names")
      ->type_name("PATH")
      ->check(not_empty);
  bool check = false;
  app.add_flag("--check", check,
               "Check the configuration and the files that it names and exit: 0 valid (with a "
               "warning if Redis does not answer or there is no token), 64 or 78 not, 69 an "
               "address cannot be bound now: it is in use, also by a server that runs "
               "already, or not valid on this machine");
  std::string probe;
  app.add_option(
         "--probe", probe,
         "Check the health of the server at this address, without TLS, and exit: 0 serving, 1 not; "
         "a server with TLS answers on its Unix socket")
      ->type_name("ADDRESS")
      ->check(not_empty);
  std::string make_token;
  app.add_option("--make-token", make_token,
                 "Make a token for this principal and exit: its line of --token-file to stdout, "
                 "the token to the file of --out")
      ->type_name("NAME")
      ->check(not_empty);
  std::string token_out;
  CLI::Option* out = app.add_option("--out", token_out, "New file for the token, mode 600")
                         ->type_name("FILE")
                         ->check(not_empty)
                         ->needs("--make-token");
  app.get_option("--make-token")->needs(out);
  std::map<std::string, Values> given;
  AddFlags(app, config, given);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {
    const std::string text =
        done.get_name() == "CallForHelp" ? app.help() : std::string(done.what()) + "\n";
    return {.run = false, .exit_code = 0, .text = text};
  } catch (const CLI::ParseError& error) {
    return {.run = false, .exit_code = kUsage, .text = "sinewd: " + Mistake(error, app, config)};
  }
  const auto failed = [](int code, const absl::Status& status) {
    return CommandLine{
        .run = false, .exit_code = code, .text = absl::StrCat("sinewd: ", status.message())};
  };
  const auto environment_failed = [&](const absl::Status& status) {
    return failed(kConfiguration,
                  absl::InvalidArgumentError(absl::StrCat("environment: ", status.message())));
  };
  absl::Status status;
  if (const char* variable = Variable("config"); file.empty() && variable != nullptr) {
    file = variable;
    if (file.empty()) return environment_failed(Empty("config"));
  }
  if (!file.empty()) status = LoadConfigFile(file, config);
  if (status.ok()) status = CheckValues(config);
  if (!status.ok()) return failed(kConfiguration, status);
  config.unknown_variables = UnknownVariables(config);
  status = Apply(ReadEnvironment(config), config);
  if (status.ok()) status = CheckValues(config);
  if (!status.ok()) return environment_failed(status);
  status = Apply(std::move(given), config);
  // A probe of a container has the environment of its server, but not its flags.
  if (status.ok() && probe.empty()) status = config.Validate();
  if (!status.ok()) {
    return failed(absl::IsFailedPrecondition(status) ? kConfiguration : kUsage, status);
  }
  return {.run = true,
          .exit_code = 0,
          .text = {},
          .check = check,
          .probe = std::move(probe),
          .make_token = std::move(make_token),
          .token_out = std::move(token_out)};
}

}  // namespace sinew::server
