// fault_suite - injects faults into real servers and checks what must be true all the same.
//
//   fault_suite --seed 7 --kills 1000 --frames 1000000 --seconds 3600
//
// Exit code: 0, 1 after a violation, 2 if it did not reach its totals in time, 64 usage.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "tests/fault/faults.h"

namespace sinew::testing {
namespace {

struct Kind {
  const char* name;
  void (*inject)(Suite&, Undisturbed&);
};
constexpr Kind kKinds[] = {
    {"kills", InjectKills},         {"disk", InjectFullDisks},
    {"damage", InjectDamage},       {"readers", InjectSlowReaders},
    {"pauses", InjectPauses},       {"certificates", InjectNewCertificates},
    {"budgets", InjectFullBudgets}, {"connections", InjectBrokenConnections},
};

int Run(const Suite::Options& options) {
  Suite suite(options);
  try {
    suite.Begin("start");
    Undisturbed undisturbed(suite);
    for (const Kind& kind : kKinds) {
      const auto& only = options.only;
      if (!only.empty() && std::ranges::find(only, kind.name) == only.end()) continue;
      if (!suite.MayContinue()) break;
      suite.Begin(kind.name);
      kind.inject(suite, undisturbed);
    }
  } catch (const Abandoned&) {
  } catch (const std::exception& error) {
    suite.Violated(error.what());
  }
  return suite.Report();
}

}  // namespace
}  // namespace sinew::testing

int main(int argc, char** argv) {
  sinew::testing::Suite::Options options;
  CLI::App app("Injects faults into real servers and checks what must be true all the same.");
  app.add_option("--seed", options.seed, "decides what is injected")->capture_default_str();
  app.add_option("--kills", options.kills, "kill -9 in all; a twentieth of the other faults")
      ->capture_default_str();
  app.add_option("--frames", options.frames, "in all, at least")->capture_default_str();
  app.add_option("--seconds", options.seconds, "at most; totals not reached by then are a failure")
      ->capture_default_str();
  std::vector<std::string> names;
  for (const auto& kind : sinew::testing::kKinds) names.push_back(kind.name);
  app.add_option("--only", options.only, "kinds of fault, e.g. kills")->check(CLI::IsMember(names));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 64;
  }
  // A server inherits it: writes beyond a limit of the size of files are errors and no signals.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // connections fail on purpose
  return sinew::testing::Run(options);
}
