#include "server/threads/workers.h"

#include <absl/synchronization/barrier.h>
#include <absl/synchronization/notification.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
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
  Pool pool_{"test", Pool::Start::kAtOnce};
};

TEST_F(WorkersTest, StartsThreadsAsLongAsAllWork) {
  Workers workers(pool_, 3, waiting_, seconds_);
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

// A pool has as many threads as its lanes may use together, and none before there is work.
TEST_F(WorkersTest, LanesOfAPoolDoNotWaitForEachOther) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  };
  const auto before = threads();
  Pool pool("lazy", Pool::Start::kWhenPosted);
  Workers one(pool, 1, waiting_, seconds_), two(pool, 2, waiting_, seconds_);
  EXPECT_EQ(threads(), before);
  absl::Notification end;
  std::atomic<int> of_one{0}, of_two{0};
  const auto post = [&](Workers& lane, std::atomic<int>& running) {
    lane.PostStep({}, [&](const absl::Status&) {
      ++running;
      end.WaitForNotification();
    });
  };
  for (int i = 0; i < 3; ++i) post(one, of_one);
  while (of_one < 1) std::this_thread::yield();
  EXPECT_EQ(threads(), before + 1) << "what one lane may not run needs no thread";
  for (int i = 0; i < 3; ++i) post(two, of_two);
  while (of_two < 2) std::this_thread::yield();
  EXPECT_EQ(threads(), before + 3);
  EXPECT_EQ(one.running() + two.running(), 3u);
  EXPECT_EQ(one.queued() + two.queued(), 3u);
  end.Notify();
  one.Stop();
  two.Stop();
  EXPECT_EQ(of_one + of_two, 6);
}

// Threads inherit it, and only a privileged process may raise it again.
TEST_F(WorkersTest, PriorityIsNotThatOfWhoPosts) {
  const int nice = Nice();
  Workers workers(pool_, 4, waiting_, seconds_);
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

void LockInBothOrders() {
  absl::Mutex one, two;
  const auto lock = [](absl::Mutex& first, absl::Mutex& second) {
    const absl::MutexLock outer(&first), inner(&second);
  };
  lock(one, two);
  lock(two, one);
}

// What finds wrong orders that no annotation declares, in all tests of servers in their process.
TEST(LockOrderDeathTest, TestsAbortWhenTwoLocksAreTakenInBothOrders) {
  EXPECT_DEATH(LockInBothOrders(), "Potential Mutex deadlock");
}

}  // namespace
}  // namespace sinew::server
