// resident_memory.h - what another process holds in memory, as Linux counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace sinew::testing {

// The address sanitizer keeps freed memory to find its later uses, and the thread sanitizer keeps a
// history of accesses, so what a program compiled with them holds says nothing about the program:
// bounds of memory are not judged there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kMemoryIsJudged = false;
#else
inline constexpr bool kMemoryIsJudged = true;
#endif

// Bytes: name = "VmRSS" now, "VmHWM" at the peak.
inline std::uint64_t ResidentBytes(pid_t pid, const std::string& name = "VmRSS") {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name + ":")) continue;
    std::uint64_t kilobytes = 0;
    std::istringstream(line.substr(name.size() + 1)) >> kilobytes;
    return kilobytes << 10;
  }
  return 0;
}

// How much memory the process has taken beyond what it held when this was made, at the peak; 0 if
// memory is not judged.
class PeakGrowth {
 public:
  explicit PeakGrowth(pid_t pid) : pid_(pid) {
    std::ofstream("/proc/" + std::to_string(pid) + "/clear_refs") << "5";  // forgets the old peak
    before_ = ResidentBytes(pid);
  }
  std::uint64_t megabytes() const {
    if (!kMemoryIsJudged) return 0;
    const std::uint64_t peak = ResidentBytes(pid_, "VmHWM");
    return peak > before_ ? (peak - before_) >> 20 : 0;
  }

 private:
  const pid_t pid_;
  std::uint64_t before_ = 0;
};

}  // namespace sinew::testing
