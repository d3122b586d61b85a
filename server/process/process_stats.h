// process_stats.h - what the operating system reports about this process, and its limit of files.
#pragma once

#include <cstdint>

namespace sinew::server {

struct ProcessStats {
  std::uint64_t open_files = 0;
  std::uint64_t max_files = 0;  // the soft limit
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t heap_bytes = 0;  // allocated, without what the allocator keeps for later
  double cpu_seconds = 0;
  double start_seconds = 0;  // since 1970
};

// Values that cannot be read are 0.
ProcessStats ReadProcessStats();

// Raises the soft limit of open files to the hard limit. Each connection needs one; the usual soft
// limit of 1,024 is for programs that use select().
void RaiseFileLimit();

// The limit of open files of this process.
std::uint64_t FileLimit();

}  // namespace sinew::server
