#include "client/cli/base/options.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "client/bake/base/quantity.h"
#include "client/cli/base/exit_code.h"
#include "core/base/closest_names.h"

namespace sinew::cli {
namespace {

using Values = CLI::results_t;

// An option of one value. CLI11's typed add_option takes seconds to compile for every type; this
// one is not a template.
CLI::Option* AddOne(CLI::App& app, const std::string& name, const char* type,
                    std::function<void(const std::string&)> set, const std::string& shown_default,
                    const std::string& help) {
  CLI::Option* option = app.add_option(
      name,
      [set = std::move(set), name](const Values& values) {
        if (values.size() > 1) {
          throw CLI::ValidationError(
              name, absl::StrCat("got it ", values.size(), " times, need it once"));
        }
        set(values.front());
        return true;
      },
      help);
  option->type_name(type)->take_all()->expected(1);
  if (!shown_default.empty()) option->default_str(shown_default);
  // CLI11 takes whatever follows, although it is more likely that the value was left out.
  option->check([&app](const std::string& text) -> std::string {
    for (const CLI::App* each = &app; each != nullptr; each = each->get_parent()) {
      if (text.size() > 1 && text.front() == '-' && each->get_option_no_throw(text) != nullptr) {
        return absl::StrCat("got \"", text, "\", which is an option; need a value before it");
      }
    }
    return {};
  });
  return option;
}

// Refuses "", as a script writes it with a variable that is not set: it would be taken for an
// option that was not given.
CLI::Option* RefuseEmpty(CLI::Option* option) {
  return option->check([](const std::string& text) -> std::string {
    return text.empty() ? "got \"\", need a value" : "";
  });
}

void AllowOnly(CLI::Option* option, const std::vector<std::string>& choices) {
  option->check([choices](const std::string& text) -> std::string {
    if (std::ranges::count(choices, text) > 0) return {};
    return absl::StrCat("got \"", text, "\", need ",
                        absl::StrJoin(choices.begin(), choices.end() - 1, ", "), " or ",
                        choices.back());
  });
}

std::string Shown(double value, bool whole) {
  return whole ? absl::StrCat(static_cast<std::int64_t>(value)) : bake::NumberText(value);
}

std::optional<double> ParseNumber(const std::string& text, bool whole) {
  double value = 0;
  std::int64_t number = 0;
  if (whole ? !absl::SimpleAtoi(text, &number) : !absl::SimpleAtod(text, &value)) {
    return std::nullopt;
  }
  return whole ? static_cast<double>(number) : value;
}

// CLI11's own Range accepts "nan".
CLI::Option* RequireWithin(CLI::Option* option, double low, double high, bool whole) {
  return option->check([=](const std::string& text) -> std::string {
    const std::optional<double> value = ParseNumber(text, whole);
    if (value && *value >= low && *value <= high) return {};
    return absl::StrCat("got \"", text, "\", need a ", whole ? "whole " : "", "number from ",
                        Shown(low, whole), " to ", Shown(high, whole));
  });
}

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Implements OptionParser::NextWord.
int NextWord(const CLI::App& app, int argc, const char* const* argv, int at) {
  while (at < argc && argv[at][0] == '-') {
    const CLI::Option* option = app.get_option_no_throw(argv[at]);
    at += option != nullptr && option->get_items_expected_max() > 0 ? 2 : 1;
  }
  return std::min(at, argc);
}

// `sinew help` becomes `sinew --help`, `sinew help bake` becomes `sinew bake --help`, and `sinew
// help dance` the mistake `sinew dance`.
std::vector<const char*> WithHelp(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  const int help = NextWord(app, argc, argv, 1);
  if (help == argc || std::string_view(argv[help]) != "help") return arguments;
  const int about = NextWord(app, argc, argv, help + 1);
  arguments.erase(arguments.begin() + help);
  if (about == argc || std::ranges::count(CommandNames(app), argv[about]) > 0) {
    arguments.push_back("--help");
  }
  return arguments;
}

// The options of `command` and of every command.
std::vector<std::string> OptionNames(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* each : {&command, &app}) {
    for (const CLI::Option* option : each->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

// "got "b.glb", need no argument but FILE": an argument that no option and no place takes.
std::string OneTooMany(const std::string& argument, const CLI::App& command) {
  std::string places;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) absl::StrAppend(&places, " but ", option->get_name());
  }
  return absl::StrCat("got \"", argument, "\", need no argument", places);
}

// "FILE is required", with the list of an option that may have taken it.
std::string Missing(const CLI::ParseError& error, const CLI::App& command) {
  std::string text = error.what();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->count() < 2) continue;
    absl::StrAppend(&text, "; ", option->get_name(), " took every word after it");
  }
  return text;
}

// Why the parse failed. An unknown command, option or argument comes before what CLI11 reports
// first: that something required is missing. names: the arguments after `--`.
absl::Status Mistake(const CLI::ParseError& error, const CLI::App& app, const CLI::App& command,
                     std::span<const std::string_view> names) {
  std::string extra;
  for (const std::string& left : app.remaining(/*recurse=*/true)) {
    const std::string option = left.substr(0, left.find('='));
    if (&command == &app && !absl::StartsWith(option, "-")) {
      return UsageError(
          absl::StrCat(option, ": no such command", DidYouMean(option, CommandNames(app))));
    }
    if (option.size() < 2 || option == "--" || option.front() != '-') {
      if (option != "--" && extra.empty()) extra = left;
      continue;
    }
    if (std::ranges::count(names, left) > 0) {
      return UsageError(absl::StrCat(
          option, ": after `--` everything is a name of a file; put options before it"));
    }
    return UsageError(absl::StrCat(option, ": no such option",
                                   absl::StartsWith(option, "--")
                                       ? DidYouMean(option, OptionNames(app, command))
                                       : absl::StrCat("; a file of that name is ./", left)));
  }
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  const bool is_missing = is(CLI::ExitCodes::RequiredError);
  if (!extra.empty() && (is_missing || is(CLI::ExitCodes::ExtrasError))) {
    return UsageError(OneTooMany(extra, command));
  }
  return UsageError(is_missing ? Missing(error, command) : error.what());
}

}  // namespace

Option Option::Required() const {
  option_->required();
  return *this;
}

Option Option::Excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::Needs(Option other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::Values(int minimum, int maximum) const {
  option_->expected(minimum, maximum);
  return *this;
}

Option Option::OneEach() const {
  option_->take_all()->expected(1)->allow_extra_args(false);
  return *this;
}

Option Option::Placeholder(const std::string& text) const {
  option_->option_text(text);
  return *this;
}

Option OptionSet::AddFlag(const std::string& name, bool& value, const std::string& help) {
  return Option(app_->add_flag_function(
      name, [&value](std::int64_t times) { value = times > 0; }, help));
}

Option OptionSet::AddText(const std::string& name, std::string& value, const std::string& help) {
  return Option(RefuseEmpty(AddOne(
      *app_, name, "TEXT", [&value](const std::string& text) { value = text; }, value, help)));
}

Option OptionSet::AddText(const std::string& name, std::optional<std::string>& value,
                          const std::string& help) {
  return Option(AddOne(
      *app_, name, "TEXT", [&value](const std::string& text) { value = text; }, "", help));
}

Option OptionSet::AddChoice(const std::string& name, std::string& value,
                            const std::vector<std::string>& choices, const std::string& help) {
  CLI::Option* option = AddOne(
      *app_, name, absl::StrJoin(choices, "|").c_str(),
      [&value](const std::string& text) { value = text; }, value, help);
  AllowOnly(option, choices);
  return Option(option);
}

Option OptionSet::AddList(const std::string& name, std::vector<std::string>& values,
                          const std::string& help, const std::vector<std::string>& choices) {
  CLI::Option* option = app_->add_option(
      name,
      [&values](const Values& read) {
        values = read;
        return true;
      },
      help);
  option->type_name(choices.empty() ? "TEXT" : absl::StrJoin(choices, "|"));
  option->expected(CLI::detail::expected_max_vector_size)->default_str(absl::StrJoin(values, " "));
  if (!choices.empty()) AllowOnly(option, choices);
  return Option(RefuseEmpty(option));
}

Option OptionSet::AddMap(const std::string& name, std::map<std::string, std::string>& values,
                         const std::string& help) {
  CLI::Option* option = app_->add_option(
      name,
      [&values, name](const Values& read) {
        for (const std::string& text : read) {
          const std::size_t middle = text.find('=');
          if (middle == 0 || middle == text.npos || middle + 1 == text.size()) {
            throw CLI::ValidationError(name, absl::StrCat("got \"", text, "\", need NAME=VALUE"));
          }
          if (!values.emplace(text.substr(0, middle), text.substr(middle + 1)).second) {
            throw CLI::ValidationError(
                name, absl::StrCat("got \"", text.substr(0, middle), "\" twice, need it once"));
          }
        }
        return true;
      },
      help);
  return Option(RefuseEmpty(option->type_name("NAME=VALUE"))).OneEach();
}

Option OptionSet::AddNumber(const std::string& name, const Range& range,
                            std::function<void(double)> set, const std::string& help) {
  const auto within = [range](double value) { return value >= range.low && value <= range.high; };
  const bool whole = range.whole, shown = range.initial && within(*range.initial);
  const auto read = [set = std::move(set), whole](const std::string& text) {
    if (const auto value = ParseNumber(text, whole)) set(*value);
  };
  CLI::Option* option = AddOne(*app_, name, whole ? "INT" : "FLOAT", read,
                               shown ? Shown(*range.initial, whole) : std::string(), help);
  return Option(RequireWithin(option, range.low, range.high, whole));
}

Option OptionSet::AddNumbers(const std::string& name, const Range& range,
                             std::function<void(const std::vector<double>&)> set,
                             const std::string& help) {
  const auto read = [set = std::move(set), whole = range.whole](const Values& texts) {
    std::vector<double> values;
    for (const std::string& text : texts) {
      if (const auto value = ParseNumber(text, whole)) values.push_back(*value);
    }
    set(values);
    return true;
  };
  CLI::Option* option = app_->add_option(name, read, help);
  option->type_name(range.whole ? "INT" : "FLOAT")->expected(CLI::detail::expected_max_vector_size);
  if (range.initial) option->default_str(Shown(*range.initial, range.whole));
  return Option(RequireWithin(option, range.low, range.high, range.whole));
}

void OptionSet::SetFooter(const std::string& text) {
  app_->footer(text);
}

OptionParser::OptionParser(const std::string& program, const std::string& purpose,
                           const std::string& version)
    : app_(std::make_unique<CLI::App>(purpose, program)) {
  app_->set_version_flag("--version", version);
  app_->get_formatter()->column_width(32);
  app_->fallthrough();
  app_->require_subcommand(0, 1);
}

OptionParser::~OptionParser() = default;

OptionSet OptionParser::globals() {
  return OptionSet(app_.get());
}

OptionSet OptionParser::AddCommand(const std::string& name, const std::string& purpose,
                                   std::function<void()> chosen) {
  CLI::App* command = app_->add_subcommand(name, purpose);
  command->callback(std::move(chosen));
  return OptionSet(command);
}

OptionParser::Result OptionParser::Parse(int argc, const char* const* argv) {
  Result result;
  const std::vector<const char*> arguments = WithHelp(*app_, argc, argv);
  try {
    app_->parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    const auto chosen = app_->get_subcommands();
    const CLI::App& about = chosen.empty() ? *app_ : *chosen.front();
    if (!chosen.empty()) result.command = about.get_name();
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
      const std::vector<std::string_view> all(arguments.begin(), arguments.end());
      const auto mark = std::ranges::find(all, "--");
      result.status = Mistake(error, *app_, about, std::span(mark, all.end()));
    } else if (error.get_name() == "CallForVersion") {
      result.text = absl::StrCat(error.what(), "\n");
    } else {
      result.text = about.help(chosen.empty() ? "" : app_->get_name(), CLI::AppFormatMode::Normal);
    }
    return result;
  }
  if (const auto chosen = app_->get_subcommands(); !chosen.empty()) {
    result.command = chosen.front()->get_name();
  }
  return result;
}

std::string OptionParser::Help() const {
  return app_->help();
}

std::vector<std::string> OptionParser::Options(const std::string& name) const {
  std::vector<std::string> all;
  for (const CLI::App* command : app_->get_subcommands(
           [&](const CLI::App* command) { return name.empty() || command->get_name() == name; })) {
    for (const CLI::Option* option : command->get_options()) {
      all.insert(all.end(), option->get_lnames().begin(), option->get_lnames().end());
    }
  }
  return all;
}

int OptionParser::NextWord(int argc, const char* const* argv, int at) const {
  return cli::NextWord(*app_, argc, argv, at);
}

}  // namespace sinew::cli
