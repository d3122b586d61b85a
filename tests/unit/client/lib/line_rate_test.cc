#include "client/lib/stream/line_rate.h"

#include <gtest/gtest.h>

namespace sinew::client {
namespace {

// Frames of 400 kB over a line of so many bytes a second. depth 1: each is ready 2 ms after the one
// before has arrived; else all of them wait.
struct Line {
  double rate;
  bool one_by_one;
  double now = 1000;

  void Send(LineRate& measured, int frames, double delay = 0) {
    for (; frames > 0; --frames) {
      const double ready = one_by_one ? now + 0.002 : 1000;
      now = std::max(now, ready) + 400e3 / rate + delay;
      measured.Add(ready, now, 400'000);
    }
  }
};

TEST(LineRate, IsOfFramesAloneAndBehindOthers) {
  for (const bool one_by_one : {true, false}) {
    for (const double rate : {10e6, 0.99 * kSlowLine, 1.01 * kSlowLine, 5e9}) {
      LineRate measured;
      Line line{.rate = rate, .one_by_one = one_by_one};
      line.Send(measured, 15);
      EXPECT_FALSE(measured.slow()) << "too few frames";
      line.Send(measured, 1);
      EXPECT_EQ(measured.slow(), rate < kSlowLine) << rate;
    }
  }
}

TEST(LineRate, SingleDelaysDoNotCount) {
  LineRate measured;
  Line line{.rate = 4 * kSlowLine, .one_by_one = true};
  for (int i = 0; i < 100; ++i) {
    line.Send(measured, 11, 0.05);  // a busy machine: 11 of 16
    line.Send(measured, 5);
    EXPECT_FALSE(measured.slow());
  }
  line.Send(measured, 12, 0.05);
  EXPECT_TRUE(measured.slow());
}

TEST(LineRate, FollowsTheLine) {
  LineRate measured;
  Line line{.rate = 4 * kSlowLine, .one_by_one = true};
  line.Send(measured, 1000);
  line.rate = kSlowLine / 4;
  line.Send(measured, 11);
  EXPECT_FALSE(measured.slow());
  line.Send(measured, 1);
  EXPECT_TRUE(measured.slow());
  line.rate = 4 * kSlowLine;
  line.Send(measured, 5);
  EXPECT_FALSE(measured.slow());
}

TEST(LineRate, SmallFramesAndWrongTimesSayNothing) {
  LineRate measured;
  for (int i = 0; i < 100; ++i) {
    measured.Add(i, i + 0.5, (64 << 10) - 1);
    measured.Add(i + 0.9, i + 0.6, 1 << 20);  // ready after it has arrived
  }
  EXPECT_FALSE(measured.slow());
  for (int i = 100; i < 116; ++i) measured.Add(i, i + 0.5, 64 << 10);
  EXPECT_TRUE(measured.slow());
}

}  // namespace
}  // namespace sinew::client
