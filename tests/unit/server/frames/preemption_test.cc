// Frames go before binds.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "server/threads/arena.h"
#include "server/threads/preemption_ticks.h"

namespace sinew::server {
namespace {

int Nice() {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
}

TEST(Arenas, BindsLowerTheirPriorityOnce) {
  Arenas arenas(2);
  const int normal = Nice();
  int bind = 0;
  std::thread([&] {
    for (int i = 0; i < 3; ++i) {
      arenas.Bind(Arenas::Binds::kShort, [&] { bind = Nice(); });
    }
  }).join();
  EXPECT_EQ(bind, std::min(19, normal + 10));
  EXPECT_EQ(Nice(), normal);
}

// How often threads of this process slept.
long Sleeps(std::chrono::milliseconds time) {
  const auto count = [] {
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
  };
  const long before = count();
  std::this_thread::sleep_for(time);
  return count() - before;
}

TEST(PreemptionTicks, RunOnlyDuringLongWork) {
  constexpr std::chrono::milliseconds kTime(200);
  PreemptionTicks ticks(64);
  EXPECT_LT(Sleeps(kTime), 40);
  {
    const PreemptionTicks::Scope first(ticks);
    { const PreemptionTicks::Scope second(ticks); }
    EXPECT_GT(Sleeps(kTime), 100) << "800 a core if it is idle";
  }
  Sleeps(std::chrono::milliseconds(5));  // the last ticks
  EXPECT_LT(Sleeps(kTime), 40);
}

// Those that a bind starts, though its own thread has a lower priority.
TEST(PreemptionTicks, HaveThePriorityOfTheServer) {
  const auto lowered = [nice = Nice()] {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      const auto thread = static_cast<id_t>(std::stoul(task.path().filename().string()));
      count += ::getpriority(PRIO_PROCESS, thread) > nice ? 1 : 0;
    }
    return count;
  };
  Arenas arenas(2);
  const int before = lowered();
  std::thread([&] {
    arenas.Bind(Arenas::Binds::kShort, [&] { EXPECT_EQ(lowered(), before + 1) << "its own"; });
  }).join();
}

}  // namespace
}  // namespace sinew::server
