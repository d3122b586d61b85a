#include "server/base/machine.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <tbb/info.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> LinesOf(const fs::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Words of the first line; none if the file cannot be read.
std::vector<std::string> WordsOf(const fs::path& file) {
  const std::vector<std::string> lines = LinesOf(file);
  if (lines.empty()) return {};
  return absl::StrSplit(lines[0], ' ', absl::SkipEmpty());
}

// Limits that are not numbers ("max") or negative are none.
std::optional<std::uint64_t> NumberIn(const fs::path& file) {
  const std::vector<std::string> words = WordsOf(file);
  std::uint64_t number = 0;
  if (words.empty() || !absl::SimpleAtoi(words[0], &number)) return std::nullopt;
  return number;
}

// Microseconds of a core in a period of so many.
std::optional<double> Share(const std::string& quota, const std::string& period) {
  std::int64_t some = 0, all = 0;
  if (!absl::SimpleAtoi(quota, &some) || !absl::SimpleAtoi(period, &all) || some <= 0 || all <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(some) / static_cast<double>(all);
}

// The kernel writes a blank in a path as \040.
std::string Unescaped(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size()) {
      text += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 +
                                (field[i + 3] - '0'));
      i += 3;
    } else {
      text += field[i];
    }
  }
  return text;
}

// The control group of this process in one hierarchy, and those above it up to the root of the
// mount. Limits of all of them hold.
std::vector<fs::path> GroupsIn(const std::string& root, std::string_view controller) {
  // "4:memory:/path", and "0::/path" in version 2, which has all controllers.
  std::string path;
  const bool second = controller.empty();
  for (const std::string& line : LinesOf(root + "/proc/self/cgroup")) {
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    const bool is = second ? fields[0] == "0" && fields[1].empty()
                           : std::ranges::count(controllers, controller) > 0;
    if (is) path = fields[2];
  }
  if (path.empty()) return {};
  // "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu": root of the mount and
  // mount point; after the dash the file system and its options.
  for (const std::string& line : LinesOf(root + "/proc/self/mountinfo")) {
    const std::vector<std::string> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<std::string> fields = absl::StrSplit(halves[0], ' ');
    if (halves.size() != 2 || fields.size() < 5) continue;
    const std::vector<std::string> mount = absl::StrSplit(halves[1], ' ');
    const std::vector<std::string> options = absl::StrSplit(mount.back(), ',');
    const bool is = second ? mount[0] == "cgroup2"
                           : mount[0] == "cgroup" && std::ranges::count(options, controller) > 0;
    if (!is) continue;
    // In a container the mount may begin at the group itself, or the path outside of it ("/../x").
    std::string inside = path;
    const std::string begin = Unescaped(fields[3]);
    if (begin != "/" && absl::StartsWith(inside, begin)) inside = inside.substr(begin.size());
    const fs::path top = root + Unescaped(fields[4]);
    fs::path group = top;
    std::vector<fs::path> groups = {group};
    for (const fs::path& step : fs::path(inside).relative_path()) {
      std::error_code error;
      if (step == ".." || !fs::is_directory(group / step, error)) break;
      groups.push_back(group /= step);
    }
    return groups;
  }
  return {};
}

double QuotaIn(const std::string& root) {
  double least = 1e9;
  const auto add = [&](std::optional<double> share) {
    least = std::min(least, share.value_or(1e9));
  };
  for (const fs::path& group : GroupsIn(root, "")) {
    const std::vector<std::string> words = WordsOf(group / "cpu.max");
    if (words.size() == 2) add(Share(words[0], words[1]));
  }
  for (const fs::path& group : GroupsIn(root, "cpu")) {
    const auto quota = WordsOf(group / "cpu.cfs_quota_us");
    const auto period = WordsOf(group / "cpu.cfs_period_us");
    if (!quota.empty() && !period.empty()) add(Share(quota[0], period[0]));
  }
  return least;
}

}  // namespace

std::uint64_t StartableThreads(std::uint64_t most, std::uint64_t reserved) {
  void* const space = reserved == 0 ? nullptr
                                    : ::mmap(nullptr, reserved, PROT_NONE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return 0;
  // Not a condition of absl::Mutex, which each thread would evaluate for all that wait.
  std::atomic<bool> end = false;
  std::vector<std::thread> threads;
  threads.reserve(most);
  try {
    while (threads.size() < most) threads.emplace_back([&end] { end.wait(false); });
  } catch (const std::system_error&) {  // no more
  }
  end = true;
  end.notify_all();
  for (std::thread& thread : threads) thread.join();
  if (space != nullptr) ::munmap(space, reserved);
  return threads.size();
}

std::string ThreadLimits(const std::string& root) {
  std::vector<std::string> limits;
  for (const auto& [name, of] :
       {std::pair("RLIMIT_NPROC", RLIMIT_NPROC), {"RLIMIT_AS", RLIMIT_AS}}) {
    rlimit limit{};
    if (::getrlimit(of, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      limits.push_back(absl::StrCat(name, " ", limit.rlim_cur));
    }
  }
  for (const char* version : {"", "pids"}) {
    for (const fs::path& group : GroupsIn(root, version)) {
      if (const auto most = NumberIn(group / "pids.max")) {
        limits.push_back(absl::StrCat("pids.max ", *most));
      }
    }
  }
  return limits.empty() ? "none" : absl::StrJoin(limits, ", ");
}

Machine ReadMachine(const std::string& root) {
  Machine machine;
  const auto quota = static_cast<std::uint64_t>(std::ceil(QuotaIn(root)));
  const auto cores = static_cast<std::uint64_t>(tbb::info::default_concurrency());
  machine.cores = std::clamp<std::uint64_t>(quota, 1, cores);

  const auto limit = [&](std::optional<std::uint64_t> bytes) {
    if (bytes && *bytes > 0) machine.memory_bytes = std::min(machine.memory_bytes, *bytes);
  };
  machine.memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const fs::path& group : GroupsIn(root, "")) {
    for (const char* file : {"memory.max", "memory.high"}) {
      limit(NumberIn(group / file));
    }
  }
  for (const fs::path& group : GroupsIn(root, "memory")) {
    limit(NumberIn(group / "memory.limit_in_bytes"));
  }
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    limit(space.rlim_cur);
  }
  return machine;
}

}  // namespace sinew::server
