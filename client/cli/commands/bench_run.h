// bench_run.h - the load of `sinew bench`: streams that keep a number of poses under way, and what
// they measured.
#pragma once

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/character/bound_character.h"
#include "sinew/client.h"

namespace sinew::cli {

struct LoadOptions {
  std::uint32_t streams = 1;
  std::uint32_t depth = 8;  // poses under way per stream
  absl::Duration warmup = absl::Milliseconds(500), duration = absl::Seconds(5);
  client::OutputOptions output = {};
};

// One number over all frames, in milliseconds.
struct Spread {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0, p999 = 0, maximum = 0;
};

// Nearest-rank percentiles. `values` in any order; all zero if empty.
Spread SpreadOf(std::vector<double> values);

struct LoadResult {
  std::uint64_t frames = 0;        // counted: sent after the warm-up
  std::uint64_t bytes = 0;         // of their positions and normals
  double seconds = 0;              // from the end of the warm-up to the last counted frame
  double client_cpu_seconds = 0;   // of this process meanwhile (with --local the server's too)
  Spread latency;                  // from Send to Next
  Spread queue, evaluate, encode;  // on the server
  Spread copy;                     // here, out of the network's buffers into floats
  Spread wire;  // what remains of the latency: network, gRPC, waiting behind the frames before
  std::uint32_t resumed = 0;
};

// Runs the load with the poses of `clip`, over and over. Ends early with kCancelled on Ctrl-C.
absl::StatusOr<LoadResult> RunLoad(const Context& context, const client::Character& character,
                                   const client::ClipData& clip, const LoadOptions& options);

}  // namespace sinew::cli
