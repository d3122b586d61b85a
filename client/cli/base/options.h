// options.h - the options of a command line, declared with their types, ranges and help.
//
// CLI11 parses and formats; only options.cc includes it, because every one of its templates costs
// seconds of compilation. Variables that options fill must outlive the parser.
#pragma once

#include <absl/status/status.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace sinew::cli {

// A declared option. A handle: copies name the same option.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required() const;
  Option Excludes(Option other) const;            // at most one of the two may be given
  Option Needs(Option other) const;               // an error without the other
  Option Values(int minimum, int maximum) const;  // of a list
  Option OneEach() const;  // of a list: one value each time the option is given
  Option Placeholder(const std::string& text) const;  // in --help, in place of type and default

 private:
  CLI::Option* option_;
};

// The options of one command. A name that begins with "--" is an option ("--quiet,-q" has two
// spellings), any other a positional argument. Initial values are shown as defaults: text if it is
// not empty, numbers if they lie in their range.
class OptionSet {
 public:
  explicit OptionSet(CLI::App* app) : app_(app) {}

  Option AddFlag(const std::string& name, bool& value, const std::string& help);
  Option AddText(const std::string& name, std::string& value, const std::string& help);
  Option AddText(const std::string& name, std::optional<std::string>& value,
                 const std::string& help);  // unset unless it is given
  // One of `choices`, which --help shows as a|b|c; exactly as spelled.
  Option AddChoice(const std::string& name, std::string& value,
                   const std::vector<std::string>& choices, const std::string& help);
  // One or more values, or the option given several times. With choices: each is one of them.
  Option AddList(const std::string& name, std::vector<std::string>& values, const std::string& help,
                 const std::vector<std::string>& choices = {});

  // NAME=VALUE, as often as wanted; each name once.
  Option AddMap(const std::string& name, std::map<std::string, std::string>& values,
                const std::string& help);

  // A finite number within [low, high], a whole one unless T is double. T: double, an integer type
  // that holds both bounds, or an optional of one of them.
  template <class T>
  Option AddNumber(const std::string& name, T& value, double low, double high,
                   const std::string& help) {
    Range range{.low = low, .high = high, .whole = !std::floating_point<Value<T>>};
    if constexpr (std::same_as<T, Value<T>>) range.initial = static_cast<double>(value);
    return AddNumber(
        name, range, [&value](double read) { value = static_cast<Value<T>>(read); }, help);
  }

  // One or more such numbers, as AddList; those in `values` are the default.
  template <class T>
  Option AddNumbers(const std::string& name, std::vector<T>& values, double low, double high,
                    const std::string& help) {
    Range range{.low = low, .high = high, .whole = !std::floating_point<T>};
    if (!values.empty()) range.initial = static_cast<double>(values.front());
    return AddNumbers(
        name, range,
        [&values](const std::vector<double>& read) { values.assign(read.begin(), read.end()); },
        help);
  }

  // Printed by --help below the options.
  void SetFooter(const std::string& text);

 private:
  template <class T>
  struct ValueOf : std::type_identity<T> {};
  template <class T>
  struct ValueOf<std::optional<T>> : std::type_identity<T> {};
  template <class T>
  using Value = typename ValueOf<T>::type;

  struct Range {
    double low, high;
    bool whole;
    std::optional<double> initial = {};
  };
  Option AddNumber(const std::string& name, const Range& range, std::function<void(double)> set,
                   const std::string& help);
  Option AddNumbers(const std::string& name, const Range& range,
                    std::function<void(const std::vector<double>&)> set, const std::string& help);

  CLI::App* app_;
};

// A program with sub-commands. Global options may appear anywhere on the command line.
class OptionParser {
 public:
  OptionParser(const std::string& program, const std::string& purpose, const std::string& version);
  ~OptionParser();

  OptionSet globals();  // of every command; its footer is that of the program
  OptionSet AddCommand(const std::string& name, const std::string& purpose,
                       std::function<void()> chosen);  // called when it is parsed without error

  struct Result {
    std::string command;              // the chosen one, or empty
    std::optional<std::string> text;  // --help, --version or `help` was given: print this
    absl::Status status;              // UsageError: the mistake, with near names for a slip
  };
  // `PROGRAM help COMMAND` is `PROGRAM COMMAND --help`. Never throws.
  Result Parse(int argc, const char* const* argv);

  // --help of the program.
  std::string Help() const;

  // The options of a command, or with an empty name of all commands, without dashes.
  std::vector<std::string> Options(const std::string& command) const;

  // The first argument from `at` on that is neither a global option nor its value, or `argc`.
  int NextWord(int argc, const char* const* argv, int at) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace sinew::cli
