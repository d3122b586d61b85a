#include "server/base/machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace sinew::server {
namespace {

constexpr std::uint64_t kMega = 1 << 20;

// A folder with files such as the kernel's.
class System {
 public:
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root() const { return folder_.path().string(); }
  Machine Read() const { return ReadMachine(root()); }

 private:
  sinew::testing::TemporaryFolder folder_;
};

constexpr char kSecondMount[] =
    "31 23 0:28 / /sys rw - sysfs sysfs rw\n"
    "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(Machine, WithoutControlGroupsIsTheWholeMachine) {
  const Machine machine = System().Read();
  EXPECT_GE(machine.cores, 1u);
  EXPECT_GT(machine.memory_bytes, 64 * kMega);
}

TEST(Machine, QuotaOfAnyGroupAboveLimitsCores) {
  const System system;
  system.Write("/proc/self/cgroup", "0::/kubepods/pod1/c1\n");
  system.Write("/proc/self/mountinfo", kSecondMount);
  system.Write("/sys/fs/cgroup/kubepods/pod1/cpu.max", "50000 100000\n");
  system.Write("/sys/fs/cgroup/kubepods/pod1/c1/cpu.max", "max 100000\n");
  EXPECT_EQ(system.Read().cores, 1u);
}

TEST(Machine, SmallestMemoryLimitCounts) {
  const System system;
  system.Write("/proc/self/cgroup", "0::/a/b\n");
  system.Write("/proc/self/mountinfo", kSecondMount);
  system.Write("/sys/fs/cgroup/a/memory.max", "268435456\n");
  system.Write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  system.Write("/sys/fs/cgroup/a/b/memory.high", "536870912\n");
  const Machine machine = system.Read();
  EXPECT_EQ(machine.memory_bytes, 256 * kMega);
}

TEST(Machine, ReadsTheFirstVersionOfControlGroups) {
  const System system;
  system.Write("/proc/self/cgroup", "4:memory:/m\n2:cpuacct,cpu:/c d\n0::/\n");
  system.Write("/proc/self/mountinfo",
               "32 31 0:29 / /sys/fs/cgroup/cpu\\040it rw - cgroup cgroup rw,cpuacct,cpu\n"
               "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  system.Write("/sys/fs/cgroup/cpu it/c d/cpu.cfs_quota_us", "20000\n");
  system.Write("/sys/fs/cgroup/cpu it/c d/cpu.cfs_period_us", "100000\n");
  system.Write("/sys/fs/cgroup/memory/m/memory.limit_in_bytes", "134217728\n");
  system.Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const Machine machine = system.Read();
  EXPECT_EQ(machine.cores, 1u);
  EXPECT_EQ(machine.memory_bytes, 128 * kMega);
}

TEST(Machine, MountOfAContainerMayBeginAtItsGroup) {
  const System system;
  system.Write("/proc/self/cgroup", "0::/docker/abc\n");
  system.Write("/proc/self/mountinfo",
               "41 31 0:38 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  system.Write("/sys/fs/cgroup/memory.max", "67108864\n");
  EXPECT_EQ(system.Read().memory_bytes, 64 * kMega);
}

TEST(Machine, PathsOutsideTheNamespaceEndAtTheMount) {
  const System system;
  system.Write("/proc/self/cgroup", "0::/../other\n");
  system.Write("/proc/self/mountinfo", kSecondMount);
  system.Write("/sys/fs/cgroup/memory.max", "67108864\n");
  system.Write("/sys/fs/other/memory.max", "1048576\n");
  EXPECT_EQ(system.Read().memory_bytes, 64 * kMega);
}

TEST(Machine, ThreadsThatCanStartAreCounted) {
  EXPECT_EQ(StartableThreads(0, 0), 0u);
  EXPECT_EQ(StartableThreads(20, 1 << 20), 20u);
  EXPECT_EQ(StartableThreads(20, std::uint64_t{1} << 60), 0u) << "no address space is that large";
}

TEST(Machine, NamesTheLimitsOfThreads) {
  const System system;
  system.Write("/proc/self/cgroup", "0::/a\n");
  system.Write("/proc/self/mountinfo", kSecondMount);
  system.Write("/sys/fs/cgroup/a/pids.max", "64\n");
  EXPECT_NE(ThreadLimits(system.root()).find("pids.max 64"), std::string::npos);
}

TEST(Machine, DamagedFilesLimitNothing) {
  const System system;
  const Machine whole = System().Read();
  system.Write("/proc/self/cgroup", "0::/a\nnonsense\n:::\n");
  system.Write("/proc/self/mountinfo", std::string("short\n") + kSecondMount);
  system.Write("/sys/fs/cgroup/a/cpu.max", "-5 0\n");
  system.Write("/sys/fs/cgroup/a/memory.max", "lots\n");
  EXPECT_EQ(system.Read().cores, whole.cores);
  EXPECT_EQ(system.Read().memory_bytes, whole.memory_bytes);
}

}  // namespace
}  // namespace sinew::server
