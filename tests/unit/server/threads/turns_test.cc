#include "server/threads/turns.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sinew::server {
namespace {

// Four places, two of them at most for one client.
class TurnsTest : public ::testing::Test {
 protected:
  // Takes a place, or waits for it; `began` records the names of those who waited.
  Turns::Turn Take(const std::string& client, const std::string& name) {
    auto turn = turns_.Take(client, [this, name](Turns::Place place) {
      began_.push_back(name);
      held_.push_back(std::move(place));
    });
    if (turn.place != nullptr) held_.push_back(turn.place);
    return {.place = nullptr, .ticket = turn.ticket};
  }

  void TearDown() override {
    while (!held_.empty()) GiveBack();
  }
  // Gives the oldest place back.
  void GiveBack() {
    const Turns::Place place = std::move(held_.front());
    held_.erase(held_.begin());
  }

  Quota places_{4, 0.5, "max-places", "places"};
  Turns turns_{places_};
  std::vector<std::string> began_;
  std::vector<Turns::Place> held_;
};

TEST_F(TurnsTest, FreePlacesAreGivenAtOnce) {
  EXPECT_EQ(Take("a", "a1").ticket, 0u);
  EXPECT_EQ(Take("a", "a2").ticket, 0u);
  EXPECT_NE(Take("a", "a3").ticket, 0u);  // beyond its share
  EXPECT_EQ(Take("b", "b1").ticket, 0u);
  EXPECT_EQ(turns_.waiting(), 1u);
  EXPECT_EQ(places_.count(), 3u);
}

TEST_F(TurnsTest, PlacesGivenBackGoToThoseWhoWait) {
  for (int i = 1; i <= 4; ++i) Take("a", "a" + std::to_string(i));
  GiveBack();
  EXPECT_EQ(began_, std::vector<std::string>{"a3"});
  GiveBack();
  EXPECT_EQ(began_, (std::vector<std::string>{"a3", "a4"}));
  while (!held_.empty()) GiveBack();
  EXPECT_EQ(places_.count(), 0u);
  EXPECT_EQ(turns_.waiting(), 0u);
}

TEST_F(TurnsTest, ClientAtItsShareDoesNotBlockOthers) {
  for (int i = 1; i <= 4; ++i) Take("a", "a" + std::to_string(i));  // two hold, two wait
  for (int i = 1; i <= 2; ++i) Take("b", "b" + std::to_string(i));  // one holds: half of two
  Take("c", "c1");                                                  // the last place
  Take("d", "d1");
  EXPECT_EQ(turns_.waiting(), 4u);
  began_.clear();
  std::swap(held_.front(), held_.back());  // the place of c
  GiveBack();                              // client a waits longest, but has its share
  EXPECT_EQ(began_.size(), 1u);
  EXPECT_NE(began_.front().front(), 'a');
}

TEST_F(TurnsTest, RemovedOnesAreNotCalled) {
  for (int i = 1; i <= 2; ++i) Take("a", "a" + std::to_string(i));
  const Turns::Ticket third = Take("a", "a3").ticket;
  const Turns::Ticket fourth = Take("a", "a4").ticket;
  EXPECT_TRUE(turns_.Remove(third));
  EXPECT_FALSE(turns_.Remove(third));
  GiveBack();
  EXPECT_EQ(began_, std::vector<std::string>{"a4"});
  EXPECT_FALSE(turns_.Remove(fourth));
}

TEST_F(TurnsTest, ClientWithMostPlacesYieldsOneForEachThatWaits) {
  const Clock::Time now;
  for (int i = 1; i <= 3; ++i) Take("a", "a" + std::to_string(i));
  EXPECT_FALSE(turns_.MustYield("a", now)) << "a waits for its own places, two are free";
  Take("b", "b1");
  Take("c", "c1");  // the last place
  Take("b", "b2");
  EXPECT_FALSE(turns_.MustYield("a", now)) << "b would hold more than a then";
  Take("d", "d1");
  EXPECT_FALSE(turns_.MustYield("b", now)) << "a holds more";
  EXPECT_TRUE(turns_.MustYield("a", now));
  EXPECT_FALSE(turns_.MustYield("a", now)) << "asked already";
  EXPECT_TRUE(turns_.MustYield("a", now + std::chrono::milliseconds(1001))) << "not given back";
  began_.clear();
  GiveBack();
  EXPECT_EQ(began_, std::vector<std::string>{"d1"});
  EXPECT_FALSE(turns_.MustYield("a", now + std::chrono::seconds(3)));
}

}  // namespace
}  // namespace sinew::server
