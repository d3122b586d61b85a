// start_bench.cc - how long LocalServer takes to start: one line of milliseconds a start.
//
//   start_bench COUNT
#include <absl/strings/numbers.h>
#include <absl/time/clock.h>

#include <cstdio>

#include "sinew/local_server.h"
#include "tests/support/paths.h"

int main(int argc, char** argv) {
  int count = 0;
  if (argc != 2 || !absl::SimpleAtoi(argv[1], &count)) {
    std::fprintf(stderr, "usage: %s COUNT\n", argv[0]);
    return 64;
  }
  for (int k = 0; k < count; ++k) {
    const absl::Time begun = absl::Now();
    auto server =
        sinew::client::LocalServer::Start({.program = sinew::testing::ProgramPath("sinewd")});
    const absl::Duration taken = absl::Now() - begun;
    if (!server.ok()) {
      std::fprintf(stderr, "%s\n", server.status().ToString().c_str());
      return 70;
    }
    std::printf("%.2f\n", absl::ToDoubleMilliseconds(taken));
  }
  return 0;
}
