// process_sampler.h - what another process holds, once a second.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/load/pace.h"

namespace sinew::testing {

struct ProcessSample {
  double seconds = 0;  // since the sampler was made
  double kilobytes = 0, peak_kilobytes = 0;
  double files = 0, threads = 0;
};

// Thread-safe.
class ProcessSampler {
 public:
  explicit ProcessSampler(pid_t pid);

  // Now, without keeping it.
  ProcessSample Sample() const;
  // So far.
  std::vector<ProcessSample> Samples() const;

 private:
  const pid_t pid_;
  const LoadClock::time_point start_ = LoadClock::now();
  mutable std::mutex mutex_;
  std::vector<ProcessSample> samples_;
  std::jthread thread_;  // last: the others exist while it runs
};

}  // namespace sinew::testing
