#include "core/parallel/task.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <stop_token>
#include <vector>

namespace sinew {
namespace {

TEST(Task, ForCoversEveryIndexInFixedChunks) {
  for (const int threads : {1, 3}) {
    tbb::task_arena arena(threads);
    arena.execute([] {
      std::vector<std::atomic<int>> seen(1003);
      const Task task;
      task.For(seen.size(), 100, [&](std::size_t begin, std::size_t end) {
        EXPECT_EQ(begin % 100, 0u);
        EXPECT_LE(end - begin, 100u);
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    });
  }
}

TEST(Task, ForSkipsRemainingChunksWhenStopped) {
  std::stop_source stop;
  const Task task({.stop = stop.get_token(), .parallel = false});
  std::size_t chunks = 0;
  task.For(1000, 10, [&](std::size_t, std::size_t) {
    if (++chunks == 3) stop.request_stop();
  });
  EXPECT_EQ(chunks, 3u);
  EXPECT_EQ(task.CheckCancelled().code(), absl::StatusCode::kCancelled);
}

TEST(Task, ReportsProgressUpToOne) {
  std::vector<double> seen;
  Task task({.progress = [&](double value) { seen.push_back(value); }});
  task.SetTotal(4);
  for (int i = 0; i < 5; ++i) task.Advance(1);
  EXPECT_EQ(seen, (std::vector<double>{0.25, 0.5, 0.75, 1, 1}));
}

TEST(Task, ProgressOfManyThreadsNeverFalls) {
  constexpr std::size_t kChunks = 20'000;
  std::vector<double> seen;  // without a lock: calls do not overlap
  tbb::task_arena arena(4);
  arena.execute([&] {
    Task task({.progress = [&](double value) { seen.push_back(value); }});
    task.SetTotal(kChunks);
    task.For(kChunks, 1, [&](std::size_t, std::size_t) { task.Advance(1); });
  });
  ASSERT_EQ(seen.size(), kChunks);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1);
}

TEST(Task, FlushesDenormalsInBodiesAndRestoresCaller) {
  const volatile float tiny = std::numeric_limits<float>::min();
  tbb::task_arena arena(3);
  arena.execute([&] {
    const Task task;
    task.For(64, 1, [&](std::size_t, std::size_t) { EXPECT_EQ(tiny * 0.5f, 0.0f); });
  });
  EXPECT_GT(tiny * 0.5f, 0.0f);
}

}  // namespace
}  // namespace sinew
