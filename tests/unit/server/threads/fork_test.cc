// Frames of a server stay with the process that it runs in.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "server/threads/arena.h"

namespace sinew::server {
namespace {

// What children of this process ran.
struct Ran {
  std::atomic<int> frames_of_parent = 0, own = 0;
};

// A fork copies a lock that another thread holds, so that a child may wait for ever.
void EndSoon() {
  const itimerval limit = {.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 200000}};
  ::setitimer(ITIMER_REAL, &limit, nullptr);
}

// A child has the tasks that wait in its parent's queues, and runs them on threads that it starts
// for work of its own. Few children meet such a task, so there are many.
TEST(Arenas, ForkedProcessesRunNoFramesOfTheirParent) {
  void* const shared =
      ::mmap(nullptr, sizeof(Ran), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const ran = new (shared) Ran;
  const pid_t parent = ::getpid();
  for (int round = 0; round < 300 && ran->own < 50; ++round) {
    Arenas arenas(4);
    for (int k = 0; k < 16; ++k) {
      arenas.Post(Arenas::Frames::kInteractive, "client", [&] {
        if (::getpid() != parent) ++ran->frames_of_parent;
      });
    }
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      EndSoon();
      auto* const own = new Arenas(4);
      own->Post(Arenas::Frames::kBatch, "client", [&] { ++ran->own; });
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  EXPECT_GT(ran->own, 0);
  EXPECT_EQ(ran->frames_of_parent, 0);
  ::munmap(shared, sizeof(Ran));
}

}  // namespace
}  // namespace sinew::server
