// parts.h - what a run measures; each part is a file of its own and starts servers of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "sinew/client.h"
#include "tests/load/report.h"
#include "tests/support/motion.h"

namespace sinew::testing {

struct LoadOptions {
  std::uint32_t seed = 1;
  double seconds = 1200;  // of the soak
  std::size_t sessions = 1000, streams = 200;
  bool judge_times = true;
  std::vector<std::string> only;  // parts; empty = all
};

// Short work beside long work.
void MeasureTargets(Report& report, const LoadOptions& options);
// Round trips of a stream, alone and beside binds.
void MeasureLatency(Report& report, const LoadOptions& options);
// Streams, uploads, deletes, binds, computed weights and look-ups at a time.
void Soak(Report& report, const LoadOptions& options);

// Milliseconds from each pose to its frame: one pose in flight, a pose every `period` (0: as soon
// as the last frame has arrived), until stopped. Frames are checked.
std::vector<double> RoundTrips(Report& report, const client::Client& client,
                               const std::string& session, const Motion& motion,
                               std::chrono::duration<double> period, const std::stop_token& stop);

}  // namespace sinew::testing
