#include "server/threads/workers.h"

#include <absl/synchronization/barrier.h>
#include <absl/synchronization/notification.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <limits>
#include <thread>

namespace sinew::server {
namespace {

int Nice() {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
}

class WorkersTest : public ::testing::Test {
 protected:
  Quota waiting_{std::numeric_limits<std::uint64_t>::max(), 1, "", "calls"};
  prometheus::Histogram seconds_{prometheus::Histogram::BucketBoundaries{1}};
};

TEST_F(WorkersTest, StartsThreadsAsLongAsAllWork) {
  Workers workers(3, waiting_, seconds_);
  absl::Notification end;
  std::atomic<int> running{0};
  for (int i = 0; i < 5; ++i) {
    workers.PostStep({}, [&](const absl::Status&) {
      ++running;
      end.WaitForNotification();
    });
  }
  while (running < 3) std::this_thread::yield();
  EXPECT_EQ(workers.running(), 3u);
  EXPECT_EQ(workers.queued(), 2u);
  end.Notify();
  workers.Stop();
  EXPECT_EQ(running, 5);
}

// Threads inherit it, and only a privileged process may raise it again.
TEST_F(WorkersTest, PriorityIsNotThatOfWhoPosts) {
  const int nice = Nice();
  Workers workers(4, waiting_, seconds_);
  std::atomic<int> lowered{0};
  std::thread([&] {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), nice + 3), 0);
    absl::Barrier* const all = new absl::Barrier(5);
    for (int i = 0; i < 4; ++i) {
      workers.PostStep({}, [&lowered, all, nice](const absl::Status&) {
        lowered += Nice() != nice ? 1 : 0;
        if (all->Block()) delete all;
      });
    }
    if (all->Block()) delete all;
  }).join();
  workers.Stop();
  EXPECT_EQ(lowered, 0);
}

}  // namespace
}  // namespace sinew::server
