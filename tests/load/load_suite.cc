// load_suite - measures the program sinewd under load, and whether it keeps its bounds.
//
//   load_suite --seconds 1200 --sessions 1000 --streams 200
//
// Exit code: 0, 1 after an error or a broken bound, 64 usage.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tests/load/parts.h"

namespace sinew::testing {
namespace {

struct Part {
  const char* name;
  void (*measure)(Report&, const LoadOptions&);
};
constexpr Part kParts[] = {
    {"targets", MeasureTargets}, {"latency", MeasureLatency}, {"soak", Soak}};

int Run(const LoadOptions& options) {
  Report report(options.judge_times);
  for (const Part& part : kParts) {
    const auto& only = options.only;
    if (!only.empty() && std::ranges::find(only, part.name) == only.end()) continue;
    report.Begin(part.name);
    try {
      part.measure(report, options);
    } catch (const Abandoned&) {
    } catch (const std::exception& error) {
      report.Error(error.what());
    }
  }
  return report.Print();
}

}  // namespace
}  // namespace sinew::testing

int main(int argc, char** argv) {
  sinew::testing::LoadOptions options;
  CLI::App app(
      "Measures sinewd, started as a program, under load: short work beside long work (targets), "
      "round trips of a stream beside binds (latency), and many streams, uploads, deletes, binds "
      "and computed weights at a time (soak). Prints a table of figures and their bounds. Client "
      "and server share this machine: run nothing else on it.");
  app.add_option("--seed", options.seed, "decides which rigs, poses and connections are used when")
      ->capture_default_str();
  app.add_option("--seconds", options.seconds,
                 "of the soak; the first quarter is its warm-up. The latency part takes a fifth of "
                 "it, at most 4 minutes")
      ->check(CLI::Range(4.0, 86'400.0))
      ->capture_default_str();
  app.add_option("--sessions", options.sessions, "of the soak; one rig for each 50, 2 to 20 in all")
      ->check(CLI::Range(2, 2000))
      ->capture_default_str();
  app.add_option("--streams", options.streams, "of the soak, each on a session")
      ->check(CLI::Range(1, 500))
      ->capture_default_str();
  bool report_times = false;
  app.add_flag("--report-times", report_times,
               "print times and shares but do not judge them: the machine does other work, or the "
               "run is short");
  std::vector<std::string> names;
  for (const auto& part : sinew::testing::kParts) names.push_back(part.name);
  app.add_option("--only", options.only, "parts, e.g. soak")->check(CLI::IsMember(names));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 64;
  }
  options.judge_times = !report_times;
  std::signal(SIGPIPE, SIG_IGN);
  return sinew::testing::Run(options);
}
