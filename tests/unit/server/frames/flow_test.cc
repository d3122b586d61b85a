// What calls are built from: flow windows, eviction, quotas, queues, timers.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/base/catch_exceptions.h"
#include "server/base/status.h"
#include "server/frames/flow_window.h"
#include "server/store/lru.h"
#include "server/threads/arena.h"
#include "server/threads/quota.h"
#include "server/threads/timers.h"
#include "server/threads/workers.h"
#include "tests/support/fake_clock.h"

namespace sinew::server {
namespace {

TEST(FlowWindow, FrameNumbersIncreaseFromOne) {
  FlowWindow window(false, 8, 64);
  EXPECT_EQ(FieldOf(window.Take(0, 0)), "poses.frame");
  EXPECT_TRUE(window.Take(5, 0).ok());
  EXPECT_FALSE(window.Take(5, 0).ok());
  EXPECT_FALSE(window.Take(4, 0).ok());
  EXPECT_TRUE(window.Take(6, 0).ok());
  EXPECT_EQ(window.last_taken(), 6u);
}

TEST(FlowWindow, LimitsUnacknowledgedFramesToWindow) {
  FlowWindow window(false, 2, 4);
  for (std::uint64_t frame = 1; frame <= 3; ++frame) ASSERT_TRUE(window.Take(frame, 0).ok());
  EXPECT_TRUE(window.MayStart(0));
  window.Start(1);
  EXPECT_TRUE(window.MayStart(1));
  window.Start(2);
  EXPECT_FALSE(window.MayStart(0));
  EXPECT_TRUE(window.full());
  ASSERT_TRUE(window.Acknowledge(1).ok());
  EXPECT_TRUE(window.MayStart(0));
  EXPECT_EQ(window.unacknowledged(), 1u);
}

TEST(FlowWindow, TwoReadyFramesAreEnough) {
  FlowWindow window(false, 8, 4);
  EXPECT_TRUE(window.MayStart(1));
  EXPECT_FALSE(window.MayStart(2));
}

TEST(FlowWindow, BacklogLimitIsExact) {
  FlowWindow window(false, 2, 3);
  std::size_t waiting = 0;
  for (std::uint64_t frame = 1; frame <= 2; ++frame) {
    ASSERT_TRUE(window.Take(frame, 0).ok());
    window.Start(frame);
  }
  for (std::uint64_t frame = 3; frame <= 5; ++frame) {
    ASSERT_TRUE(window.Take(frame, waiting++).ok()) << frame;
  }
  const absl::Status status = window.Take(6, waiting);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(status), v1::REASON_BACKLOG);
}

TEST(FlowWindow, LatestModeReplacesAndStartsWhenIdle) {
  FlowWindow window(true, 2, 1);
  EXPECT_TRUE(window.replaces());
  EXPECT_TRUE(window.MayStart(0));
  EXPECT_FALSE(window.MayStart(1));
  // Replaced poses do not add up: any number may follow each other.
  for (std::uint64_t frame = 1; frame <= 100; ++frame) {
    EXPECT_TRUE(window.Take(frame, frame > 1 ? 1 : 0).ok()) << frame;
  }
}

TEST(FlowWindow, AcknowledgementsCannotExceedSentFrames) {
  FlowWindow window(false, 8, 64);
  ASSERT_TRUE(window.Take(3, 0).ok());
  EXPECT_FALSE(window.Acknowledge(3).ok());
  window.Start(3);
  EXPECT_TRUE(window.Acknowledge(3).ok());
  EXPECT_TRUE(window.Acknowledge(1).ok());
  EXPECT_FALSE(window.Acknowledge(4).ok());
}

TEST(FlowWindow, ResumedStreamContinuesAfterReceived) {
  FlowWindow window(false, 8, 64);
  EXPECT_TRUE(window.Acknowledge(41).ok());
  EXPECT_FALSE(window.Take(41, 0).ok());
  EXPECT_TRUE(window.Take(42, 0).ok());
}

TEST(LruOrder, EvictsOldestFirstAndKeepsPinned) {
  LruOrder order;
  order.Touch("a", 10);
  order.Touch("b", 20);
  order.Touch("c", 30);
  order.Touch("a");
  EXPECT_EQ(order.bytes(), 60u);
  const auto none_used = [](const std::string&) { return false; };
  EXPECT_TRUE(order.Over(60, true, none_used).empty());
  EXPECT_EQ(order.Over(59, true, none_used), std::vector<std::string>{"b"});
  EXPECT_EQ(order.Over(35, true, none_used), (std::vector<std::string>{"b", "c"}));
  const auto b_is = [](const std::string& key) { return key == "b"; };
  EXPECT_EQ(order.Over(0, true, b_is), (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(order.Over(10, false, b_is), std::vector<std::string>{"c"});
  order.Remove("b");
  order.Remove("b");
  EXPECT_EQ(order.bytes(), 40u);
}

TEST(Quota, CountsUpToLimitAndCloses) {
  Quota limit(2, 1, "max-things", "things");
  auto first = limit.Take("a");
  auto second = limit.Take("a");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(limit.Take("a").status().code(), absl::StatusCode::kResourceExhausted);
  *second = Quota::Permit();
  EXPECT_EQ(limit.count(), 1u);
  limit.Close();
  EXPECT_EQ(ReasonOf(limit.Take("a").status()), v1::REASON_DRAINING);
  EXPECT_FALSE(limit.WaitEmpty(std::chrono::milliseconds(1)));
  *first = Quota::Permit();
  EXPECT_TRUE(limit.WaitEmpty(std::chrono::milliseconds(0)));
}

TEST(Quota, LimitOfAmountsIsExact) {
  Quota bytes(100, 1, "max-bytes", "bytes", "frames");
  auto first = bytes.Take("a", 60);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(bytes.Take("a", 41).status().code(), absl::StatusCode::kResourceExhausted);
  auto second = bytes.Take("a", 40);
  EXPECT_TRUE(second.ok());
  *first = Quota::Permit();
  EXPECT_TRUE(bytes.Take("a", 60).ok());
  EXPECT_FALSE(bytes.Take("a", ~std::uint64_t{0}).ok());
}

// Each client takes single units until it is refused; the result is what each then holds.
std::vector<std::size_t> Greedy(Quota& quota, const std::vector<std::string>& clients,
                                std::vector<Quota::Permit>& permits) {
  std::vector<std::size_t> held;
  for (const std::string& client : clients) {
    held.push_back(0);
    for (auto permit = quota.Take(client); permit.ok(); permit = quota.Take(client)) {
      permits.push_back(*permit);
      ++held.back();
    }
  }
  return held;
}

TEST(Quota, ClientMayHoldItsShareOfWhatOthersLeave) {
  Quota quota(60, 0.5, "max-things", "things");
  std::vector<Quota::Permit> permits;
  EXPECT_EQ(Greedy(quota, {"a", "b", "c"}, permits), (std::vector<std::size_t>{30, 15, 7}));
  const absl::Status refused = quota.Take("a").status();
  EXPECT_EQ(ReasonOf(refused), v1::REASON_LIMIT);
  EXPECT_EQ(refused.message(),
            "server: got 31 things, limit 19 for one client now, 60 for all (max-things)");
  // This process has no share, and what is given back is free for others.
  EXPECT_TRUE(quota.Take("", 8).ok());
  permits.clear();
  EXPECT_EQ(quota.count(), 0u);
  EXPECT_EQ(Greedy(quota, {"b", "a"}, permits), (std::vector<std::size_t>{30, 15}));
}

TEST(Quota, ClientMayAlwaysHoldOneOfFew) {
  Quota quota(1, 0.5, "max-things", "things");
  const auto only = quota.Take("a");
  EXPECT_TRUE(only.ok());
  EXPECT_FALSE(quota.Take("b").ok());
}

// For one thread and two waiting jobs.
constexpr Workers::Queue kTwoJobs = {.capacity = 2,
                                     .subject = "server",
                                     .unit = "jobs",
                                     .option = "max-jobs",
                                     .retry = absl::Seconds(1)};

TEST(Workers, RunAcceptedJobsAndRejectTheRest) {
  Workers workers(1, kTwoJobs);
  std::promise<void> busy, release;
  ASSERT_TRUE(workers
                  .Post([&] {
                    busy.set_value();
                    release.get_future().wait();
                  })
                  .ok());
  busy.get_future().wait();
  std::atomic<int> ran{0};
  EXPECT_TRUE(workers.Post([&] { ++ran; }).ok());
  EXPECT_TRUE(workers.Post([&] { ++ran; }).ok());
  EXPECT_EQ(workers.Post([&] { ++ran; }).code(), absl::StatusCode::kResourceExhausted);
  release.set_value();
  workers.Stop();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(workers.Post([] {}).code(), absl::StatusCode::kUnavailable);
}

TEST(Workers, QueueIsLimitedAndKeepsOrder) {
  Workers queue(1, kTwoJobs);
  std::promise<void> busy, release;
  std::vector<int> order;
  ASSERT_TRUE(queue
                  .Post([&] {
                    busy.set_value();
                    release.get_future().wait();
                  })
                  .ok());
  busy.get_future().wait();
  EXPECT_EQ(queue.running(), 1u);
  ASSERT_TRUE(queue.Post([&] { order.push_back(1); }).ok());
  ASSERT_TRUE(queue.Post([&] { order.push_back(2); }).ok());
  EXPECT_EQ(queue.Post([] {}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(queue.queued(), 2u);
  release.set_value();
  queue.Stop();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Timers, CallOnceRepeatedlyAndNotAfterCancel) {
  testing::FakeClock clock;
  Timers timers(clock);
  std::atomic<int> once{0}, beats{0}, never{0};
  timers.After(std::chrono::milliseconds(10), [&] { ++once; });
  const auto cancelled = timers.After(std::chrono::milliseconds(20), [&] { ++never; });
  const auto beating = timers.Every(std::chrono::milliseconds(10), [&] { ++beats; });
  timers.Cancel(cancelled);
  clock.Advance(std::chrono::milliseconds(9));
  EXPECT_EQ(once, 0);
  for (int i = 0; i < 3; ++i) clock.Advance(std::chrono::milliseconds(10));
  EXPECT_EQ(once, 1);
  EXPECT_EQ(beats, 3);
  timers.Cancel(beating);
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(beats, 3);
  EXPECT_EQ(never, 0);
}

TEST(Timers, CallbackMayCancelItself) {
  testing::FakeClock clock;
  Timers timers(clock);
  std::atomic<Timers::Id> id{0};
  std::atomic<int> calls{0};
  id = timers.Every(std::chrono::milliseconds(5), [&] {
    timers.Cancel(id);
    ++calls;
  });
  for (int i = 0; i < 3; ++i) clock.Advance(std::chrono::milliseconds(5));
  EXPECT_EQ(calls, 1);
}

TEST(Arenas, RunEverythingAndWaitForIt) {
  Arenas arenas(2);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) arenas.Post([&] { ++ran; });
  arenas.Wait();
  EXPECT_EQ(ran, 100);
}

TEST(CatchExceptions, ConvertsExceptionsToStatus) {
  EXPECT_EQ(CatchExceptions([]() -> absl::Status { throw std::bad_alloc(); }).code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(CatchExceptions([]() -> absl::StatusOr<int> { throw std::runtime_error("x"); })
                .status()
                .code(),
            absl::StatusCode::kInternal);
  EXPECT_EQ(*CatchExceptions([]() -> absl::StatusOr<int> { return 7; }), 7);
}

}  // namespace
}  // namespace sinew::server
