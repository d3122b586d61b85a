#include "server/process/process_stats.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace sinew::server {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::uint64_t CountOpenFiles() {
  std::uint64_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // without the one that reads the folder
}

// Seconds since 1970 at which the machine was started.
double BootSeconds() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return 0;
}

// Start of this process after that of the machine: field 22 of /proc/self/stat. The name, field 2,
// may contain blanks and ends with the last bracket.
double SecondsAfterBoot() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  std::size_t at = line.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  if (at == std::string::npos) return 0;
  return std::strtod(line.c_str() + at, nullptr) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessStats ReadProcessStats() {
  static const double start = BootSeconds() + SecondsAfterBoot();
  ProcessStats stats;
  stats.start_seconds = start;
  stats.open_files = CountOpenFiles();
  stats.max_files = FileLimit();
  std::uint64_t size = 0, resident = 0;
  if (std::ifstream("/proc/self/statm") >> size >> resident) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    stats.virtual_bytes = size * page;
    stats.resident_bytes = resident * page;
  }
  const struct mallinfo2 heap = ::mallinfo2();
  stats.heap_bytes = heap.uordblks + heap.hblkhd;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    stats.cpu_seconds = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  }
  return stats;
}

void RaiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::uint64_t FileLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}  // namespace sinew::server
