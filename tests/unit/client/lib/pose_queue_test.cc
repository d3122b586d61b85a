#include "client/lib/stream/pose_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace sinew::client {
namespace {

PoseQueue OpenQueue(OrderMode mode, std::uint32_t window, std::size_t max_queued,
                    std::uint32_t backlog = 0) {
  PoseQueue queue(mode, window, max_queued);
  queue.Open(window, backlog);
  return queue;
}

void Push(PoseQueue& queue, std::uint64_t frame) {
  ASSERT_EQ(*queue.Check(frame), frame);
  queue.Push({.frame = frame});
}

std::vector<std::uint64_t> TakeAll(PoseQueue& queue) {
  std::vector<std::uint64_t> frames;
  while (const QueuedPose* pose = queue.TakeNext()) frames.push_back(pose->frame);
  return frames;
}

std::vector<std::uint64_t> Range(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> frames;
  for (; first <= last; ++first) frames.push_back(first);
  return frames;
}

TEST(PoseQueue, NumbersPosesAndRejectsLowNumbers) {
  PoseQueue queue = OpenQueue(OrderMode::kOrdered, 0, 4);
  EXPECT_EQ(*queue.Check(0), 1u);
  Push(queue, 5);
  EXPECT_EQ(*queue.Check(0), 6u);
  EXPECT_TRUE(absl::IsInvalidArgument(queue.Check(5).status()));
  Push(queue, 6);
  Push(queue, 7);
  Push(queue, 8);
  EXPECT_EQ(queue.room(), 0u);
  EXPECT_TRUE(absl::IsResourceExhausted(queue.Check(0).status()));
  TakeAll(queue);
  EXPECT_EQ(queue.room(), 4u);
}

TEST(PoseQueue, StaysWithinBacklog) {
  PoseQueue queue = OpenQueue(OrderMode::kOrdered, 8, 1000);
  for (std::uint64_t f = 1; f <= 200; ++f) Push(queue, f);
  EXPECT_EQ(TakeAll(queue).size(), 56u);
  EXPECT_TRUE(queue.Answer(1).ok());
  EXPECT_TRUE(TakeAll(queue).empty()) << "an answer is acknowledged only after Consume";
  queue.Consume(1);
  EXPECT_EQ(queue.TakeAcknowledgement(false), 1u) << "a full backlog must be acknowledged at once";
  EXPECT_EQ(TakeAll(queue), Range(57, 57));
}

TEST(PoseQueue, SendsNothingBeforeOpen) {
  PoseQueue queue(OrderMode::kOrdered, 8, 100);
  Push(queue, 1);
  EXPECT_TRUE(TakeAll(queue).empty());
  queue.Open(8, 64);
  EXPECT_EQ(TakeAll(queue), Range(1, 1));
}

TEST(PoseQueue, LimitIsBacklogOfServer) {
  const struct {
    std::uint32_t window, backlog;
    std::size_t sent;
  } cases[] = {{8, 0, 56}, {8, 1, 9}, {4, 47, 51}, {4, 48, 52}, {4, 1000, 52}, {1, 1, 2}};
  for (const auto& [window, backlog, sent] : cases) {
    PoseQueue queue = OpenQueue(OrderMode::kOrdered, window, 1000, backlog);
    for (std::uint64_t f = 1; f <= 200; ++f) Push(queue, f);
    EXPECT_EQ(TakeAll(queue).size(), sent) << window << " + " << backlog;
  }
}

TEST(PoseQueue, AcknowledgesHalfWindowsOrAlongWithPoses) {
  PoseQueue queue = OpenQueue(OrderMode::kOrdered, 8, 100);
  for (std::uint64_t f = 1; f <= 20; ++f) Push(queue, f);
  EXPECT_EQ(queue.TakeAcknowledgement(true), std::nullopt);
  TakeAll(queue);
  for (std::uint64_t f = 1; f <= 3; ++f) {
    ASSERT_TRUE(queue.Answer(f).ok());
    queue.Consume(f);
    EXPECT_EQ(queue.TakeAcknowledgement(false), std::nullopt);
  }
  ASSERT_TRUE(queue.Answer(4).ok());
  queue.Consume(4);
  EXPECT_EQ(queue.TakeAcknowledgement(false), 4u);
  ASSERT_TRUE(queue.Answer(5).ok());
  queue.Consume(5);
  EXPECT_EQ(queue.TakeAcknowledgement(true), 5u);
  EXPECT_EQ(queue.TakeAcknowledgement(true), std::nullopt) << "said already";
}

TEST(PoseQueue, RequiresOrderedAnswers) {
  PoseQueue queue = OpenQueue(OrderMode::kOrdered, 8, 100);
  for (std::uint64_t f = 1; f <= 4; ++f) Push(queue, f);
  TakeAll(queue);
  EXPECT_FALSE(queue.Answer(9).ok()) << "never sent";
  EXPECT_TRUE(queue.Answer(1).ok());
  EXPECT_FALSE(queue.Answer(1).ok()) << "twice";
  EXPECT_FALSE(queue.Answer(3).ok()) << "2 is missing";
  EXPECT_EQ(queue.first_unanswered(), 2u);
  EXPECT_TRUE(queue.Answer(2).ok());
  EXPECT_TRUE(queue.Answer(3).ok());
  EXPECT_FALSE(queue.answered_all());
  EXPECT_TRUE(queue.Answer(4).ok());
  EXPECT_TRUE(queue.answered_all());
}

TEST(PoseQueue, LatestCountsDroppedPoses) {
  PoseQueue queue = OpenQueue(OrderMode::kLatest, 2, 1);
  Push(queue, 1);
  EXPECT_EQ(TakeAll(queue), Range(1, 1));
  for (std::uint64_t f = 2; f <= 5; ++f) Push(queue, f);
  EXPECT_EQ(TakeAll(queue), Range(5, 5));
  EXPECT_EQ(queue.Answer(1)->replaced, 0u);
  EXPECT_EQ(queue.Answer(5)->replaced, 3u);
  Push(queue, 6);
  TakeAll(queue);
  Push(queue, 7);
  TakeAll(queue);
  EXPECT_EQ(queue.Answer(7)->replaced, 0u) << "what the server skipped, the server counts";
  EXPECT_TRUE(queue.answered_all());
}

TEST(PoseQueue, RepeatsUnansweredPosesAfterBreak) {
  PoseQueue queue = OpenQueue(OrderMode::kOrdered, 8, 100);
  for (std::uint64_t f = 1; f <= 6; ++f) Push(queue, f);
  for (int i = 0; i < 5; ++i) queue.TakeNext();
  ASSERT_TRUE(queue.Answer(1).ok());
  ASSERT_TRUE(queue.Answer(2).ok());
  queue.Consume(1);
  queue.Requeue();
  EXPECT_TRUE(TakeAll(queue).empty()) << "the next call is not open yet";
  queue.Open(0, 0);
  EXPECT_EQ(TakeAll(queue), Range(3, 6));
  queue.Consume(2);
  EXPECT_EQ(queue.TakeAcknowledgement(true), std::nullopt) << "2 belongs to the call before";
  ASSERT_TRUE(queue.Answer(3).ok());
  queue.Consume(3);
  EXPECT_EQ(queue.TakeAcknowledgement(true), 3u);
}

TEST(PoseQueue, BreakLeavesRoom) {
  PoseQueue queue = OpenQueue(OrderMode::kOrdered, 8, 4);
  const auto fill = [&](std::uint64_t first) {
    for (std::uint64_t f = first; f < first + 4; ++f) Push(queue, f);
  };
  fill(1);
  TakeAll(queue);
  fill(5);
  TakeAll(queue);
  Push(queue, 9);
  EXPECT_EQ(queue.room(), 3u);
  for (int again = 0; again < 2; ++again) {
    queue.Requeue();
    EXPECT_EQ(queue.room(), 3u) << "poses sent before do not count";
    queue.Open(0, 0);
    EXPECT_EQ(queue.TakeNext()->frame, 1u);
    EXPECT_EQ(queue.room(), 3u);
  }
  Push(queue, 10);
  EXPECT_EQ(TakeAll(queue), Range(2, 10));
  EXPECT_EQ(queue.room(), 4u);
}

TEST(PoseQueue, LatestRepeatsOnlyNewestPose) {
  PoseQueue queue = OpenQueue(OrderMode::kLatest, 2, 1);
  for (std::uint64_t f = 1; f <= 3; ++f) {
    Push(queue, f);
    TakeAll(queue);
  }
  queue.Requeue();
  EXPECT_TRUE(TakeAll(queue).empty()) << "the next call is not open yet";
  queue.Open(0, 0);
  EXPECT_EQ(TakeAll(queue), Range(3, 3));
  EXPECT_EQ(queue.Answer(3)->replaced, 2u);
  Push(queue, 4);
  TakeAll(queue);
  Push(queue, 5);
  queue.Requeue();
  EXPECT_TRUE(TakeAll(queue).empty()) << "the next call is not open yet";
  queue.Open(0, 0);
  EXPECT_EQ(TakeAll(queue), Range(5, 5));
  EXPECT_EQ(queue.Answer(5)->replaced, 1u);
}

}  // namespace
}  // namespace sinew::client
