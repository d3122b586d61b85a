// What calls are built from: flow windows, eviction, quotas, queues, timers.
#include <gtest/gtest.h>
#include <prometheus/histogram.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <latch>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "server/base/catch_exceptions.h"
#include "server/base/status.h"
#include "server/frames/flow_window.h"
#include "server/store/lru.h"
#include "server/threads/arena.h"
#include "server/threads/quota.h"
#include "server/threads/rate_limit.h"
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

TEST(RateLimit, AllowsWhatOneSecondDoes) {
  RateLimit limit(4, "max-things-per-second", "things");
  const RateLimit::Time start{};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limit.Take("a", start).ok());
  const absl::Status refused = limit.Take("a", start);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonOf(refused), v1::REASON_LIMIT);
  EXPECT_TRUE(limit.Take("b", start).ok()) << "each client has its own";
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(limit.Take("", start).ok()) << "and this process none";
  EXPECT_FALSE(limit.Take("a", start + std::chrono::milliseconds(249)).ok());
  EXPECT_TRUE(limit.Take("a", start + std::chrono::milliseconds(250)).ok());
  EXPECT_FALSE(limit.Take("a", start + std::chrono::milliseconds(250)).ok());
  // An hour saves up no more than a second.
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(limit.Take("a", start + std::chrono::hours(1)).ok());
  EXPECT_FALSE(limit.Take("a", start + std::chrono::hours(1)).ok());
}

TEST(RateLimit, ForgetsClientsButNotThoseAtTheLimit) {
  RateLimit limit(1, "max-things-per-second", "things");
  RateLimit::Time now{};
  EXPECT_TRUE(limit.Take("a", now).ok());
  now += std::chrono::milliseconds(500);
  for (int i = 0; i < 3000; ++i) EXPECT_TRUE(limit.Take(std::to_string(i), now).ok());
  EXPECT_FALSE(limit.Take("a", now).ok());
  EXPECT_FALSE(limit.Take("0", now).ok());
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

TEST(Quota, OnlyWhatMayFitLaterIsToRetry) {
  Quota quota(100, 0.5, "max-things", "things");
  const auto is_to_retry = [&](std::uint64_t amount) {
    return quota.Take("b", amount).status().ToString().find("RetryInfo") != std::string::npos;
  };
  const auto first = quota.Take("a", 50);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(is_to_retry(50));
  EXPECT_FALSE(is_to_retry(51)) << "more than its share at any time";
  EXPECT_FALSE(is_to_retry(101));
}

// Two threads wait for more than is free; `held` is what a third gives back.
TEST(Quota, WaitersAreServedInOrderOfArrival) {
  Quota bytes(100, 1, "max-bytes", "bytes");
  Quota::Permit held = bytes.Wait(60);
  std::vector<std::uint64_t> order;  // changed by the one that holds most of the quota
  const auto wait = [&](std::uint64_t amount) {
    const Quota::Permit permit = bytes.Wait(amount);
    order.push_back(bytes.count());
  };
  std::thread large(wait, 1'000);  // more than all: as much as there is
  while (bytes.waiting() < 1) std::this_thread::yield();
  std::thread small(wait, 30);  // would fit beside what is held
  while (bytes.waiting() < 2) std::this_thread::yield();
  EXPECT_EQ(bytes.count(), 60u);
  held.reset();
  large.join();
  small.join();
  EXPECT_EQ(order, (std::vector<std::uint64_t>{100, 30}));
  EXPECT_EQ(bytes.count(), 0u);
  held = bytes.Wait(60);
  std::thread waiting(wait, 100);
  while (bytes.waiting() < 1) std::this_thread::yield();
  bytes.SetLimit(10);
  held.reset();
  waiting.join();
  EXPECT_EQ(order.back(), 10u);
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
            "server: got 31 things, limit 0.5 of what other clients leave of 60 (max-things)");
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

// One thread that is busy until the end, so that work waits.
struct BusyWorkers {
  explicit BusyWorkers(std::uint64_t limit, double share = 1)
      : waiting(limit, share, "max-jobs", "jobs"), workers(pool, 1, waiting, seconds) {
    EXPECT_TRUE(workers
                    .Post("busy",
                          [this](const absl::Status&) {
                            busy.set_value();
                            release.get_future().wait();
                          })
                    .ok());
    busy.get_future().wait();
  }
  // Work that notes its name, or the error.
  Workers::Work Note(const std::string& name) {
    return [this, name](const absl::Status& turn) {
      ran.push_back(turn.ok() ? name : absl::StatusCodeToString(turn.code()));
    };
  }
  void Finish() {
    release.set_value();
    workers.Stop();
  }

  std::promise<void> busy, release;
  std::vector<std::string> ran;
  Quota waiting;
  prometheus::Histogram seconds{prometheus::Histogram::BucketBoundaries{0.001, 1}};
  Pool pool{"busy", Pool::Start::kAtOnce};
  Workers workers;
};

TEST(Workers, RunAcceptedWorkAndRejectTheRest) {
  BusyWorkers busy(2);
  EXPECT_EQ(busy.workers.running(), 1u);
  ASSERT_TRUE(busy.workers.Post("a", busy.Note("1")).ok());
  ASSERT_TRUE(busy.workers.Post("a", busy.Note("2")).ok());
  EXPECT_EQ(busy.workers.Post("a", busy.Note("3")).status().code(),
            absl::StatusCode::kResourceExhausted);
  busy.workers.PostStep("a", busy.Note("step"));
  EXPECT_EQ(busy.workers.queued(), 3u);
  busy.Finish();
  EXPECT_EQ(busy.ran, (std::vector<std::string>{"1", "2", "step"}));
  EXPECT_EQ(busy.waiting.count(), 0u);
  EXPECT_EQ(busy.seconds.Collect().histogram.sample_count, 4u) << "with the first, which ran";
  EXPECT_EQ(busy.workers.Post("a", busy.Note("late")).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(Workers, ClientsTakeTurns) {
  BusyWorkers busy(100);
  for (const char* name : {"a1", "a2", "a3", "b1", "c1", "b2"}) {
    ASSERT_TRUE(busy.workers.Post(std::string(name, 1), busy.Note(name)).ok());
  }
  busy.Finish();
  EXPECT_EQ(busy.ran, (std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"}));
}

TEST(Workers, RemovedWorkLeavesTheQueue) {
  BusyWorkers busy(2);
  const Workers::Ticket first = *busy.workers.Post("a", busy.Note("1"));
  const Workers::Ticket second = *busy.workers.Post("a", busy.Note("2"));
  EXPECT_TRUE(busy.workers.Remove(first));
  EXPECT_FALSE(busy.workers.Remove(first));
  EXPECT_EQ(busy.workers.queued(), 1u);
  EXPECT_TRUE(busy.workers.Post("b", busy.Note("3")).ok()) << "there is room again";
  busy.Finish();
  EXPECT_EQ(busy.ran, (std::vector<std::string>{"2", "3"}));
  EXPECT_FALSE(busy.workers.Remove(second)) << "it has run";
}

TEST(Workers, DroppedWorkLearnsWhy) {
  BusyWorkers busy(2);
  ASSERT_TRUE(busy.workers.Post("a", busy.Note("1")).ok());
  ASSERT_TRUE(busy.workers.Post("b", busy.Note("2")).ok());
  busy.workers.Drop(Draining());
  EXPECT_EQ(busy.ran, (std::vector<std::string>{"UNAVAILABLE", "UNAVAILABLE"}));
  EXPECT_EQ(busy.workers.queued(), 0u);
  busy.Finish();
  EXPECT_EQ(busy.ran.size(), 2u);
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

constexpr Arenas::Frames kInteractive = Arenas::Frames::kInteractive;
constexpr Arenas::Frames kBatch = Arenas::Frames::kBatch;

TEST(Arenas, RunEverythingAndWaitForIt) {
  Arenas arenas(2);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) arenas.Post(i % 3 == 0 ? kBatch : kInteractive, "", [&] { ++ran; });
  arenas.Wait();
  EXPECT_EQ(ran, 100);
}

// Holds every thread of a lane from its construction until Release.
class HeldLane {
 public:
  HeldLane(Arenas& arenas, Arenas::Frames lane, std::ptrdiff_t threads) : started_(threads) {
    for (std::ptrdiff_t i = 0; i < threads; ++i) {
      arenas.Post(lane, "busy", [this] {
        started_.count_down();
        released_.wait();
      });
    }
    started_.wait();
  }
  void Release() { released_.count_down(); }

 private:
  std::latch started_, released_{1};
};

TEST(Arenas, LongFramesLeaveThreadsForShortOnes) {
  Arenas arenas(2);
  HeldLane batch(arenas, kBatch, 2);
  std::promise<void> frame;
  arenas.Post(kInteractive, "a", [&] { frame.set_value(); });
  frame.get_future().wait();  // for ever, if they shared threads
  std::promise<void> bind;
  arenas.Bind(Arenas::Binds::kShort, [&] { bind.set_value(); });
  bind.get_future().wait();
  batch.Release();
  arenas.Wait();
}

TEST(Arenas, ClientsTakeTurnsAndRemovedWorkLeaves) {
  Arenas arenas(1);
  HeldLane busy(arenas, kInteractive, 1);
  std::vector<std::string> ran;
  const auto post = [&](const std::string& name) {
    return arenas.Post(kInteractive, name.substr(0, 1), [&ran, name] { ran.push_back(name); });
  };
  post("a1");
  const Arenas::Ticket removed = post("a2");
  for (const char* name : {"a3", "a4", "b1"}) post(name);
  arenas.Remove(removed);
  busy.Release();
  arenas.Wait();
  EXPECT_EQ(ran, (std::vector<std::string>{"a1", "b1", "a3", "a4"}));
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
