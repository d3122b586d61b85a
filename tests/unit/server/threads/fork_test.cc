// Frames of a server stay with the process that it runs in.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "server/threads/arena.h"

namespace sinew::server {
namespace {

// A child has the tasks that wait in its parent's queues, and runs them on threads that it starts
// for work of its own. Few forks meet such a task, so there are many.
TEST(Arenas, ForkedProcessesRunNoFramesOfTheirParent) {
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const in_children = new (shared) std::atomic<int>(0);
  const pid_t parent = ::getpid();
  for (int round = 0; round < 300; ++round) {
    Arenas arenas(4);
    for (int k = 0; k < 16; ++k) {
      arenas.Post(Arenas::Frames::kInteractive, "client", [&] {
        if (::getpid() != parent) ++*in_children;
      });
    }
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(1);  // a lock of another thread of the parent may be held for good
      auto* const own = new Arenas(4);  // whose threads may not start: oneTBB counts the parent's
      own->Post(Arenas::Frames::kBatch, "client", [] {});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ::_exit(0);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  EXPECT_EQ(*in_children, 0);
  ::munmap(shared, sizeof(std::atomic<int>));
}

}  // namespace
}  // namespace sinew::server
