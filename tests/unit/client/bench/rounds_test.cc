#include "client/bench/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sinew::bench {
namespace {

TEST(Rounds, QuartilesLieBetweenRanks) {
  const Quartiles five = QuartilesOf({5, 1, 4, 2, 3});
  EXPECT_EQ(five.low, 2);
  EXPECT_EQ(five.median, 3);
  EXPECT_EQ(five.high, 4);
  const Quartiles two = QuartilesOf({10, 20});
  EXPECT_EQ(two.low, 12.5);
  EXPECT_EQ(two.median, 15);
  EXPECT_EQ(QuartilesOf({7}).high, 7);
  EXPECT_EQ(QuartilesOf({}).median, 0);
}

TEST(Rounds, EveryRowHasATurnInOtherOrders) {
  std::vector<std::vector<std::size_t>> rounds(20);
  std::size_t calls = 0;
  ASSERT_TRUE(TakeTurns(5, rounds.size(), [&](std::size_t row) {
                rounds[calls++ / 5].push_back(row);
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(calls, 100U);
  for (const auto& round : rounds) {
    EXPECT_THAT(round, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4));
  }
  EXPECT_GT(std::set(rounds.begin(), rounds.end()).size(), 10U);
}

TEST(Rounds, FirstErrorEnds) {
  int calls = 0;
  const absl::Status status = TakeTurns(3, 3, [&](std::size_t) {
    return ++calls == 2 ? absl::DataLossError("damaged") : absl::OkStatus();
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace sinew::bench
