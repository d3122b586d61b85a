// The smoothing of skin around points that met a limb.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/aligned.h"
#include "core/deform/implicit/march/march.h"

namespace sinew {
namespace {

// A closed line of points that zigzags between x = 0 and 1, each with both neighbours.
struct Line {
  explicit Line(std::uint32_t count) : at(4 * count), spare(4 * count) {
    march.part.assign(count, 0);
    for (std::uint32_t p = 0; p < count; ++p) {
      march.ring.insert(march.ring.end(), {(p + 1) % count, (p + count - 1) % count});
      march.ring_weight.insert(march.ring_weight.end(), {0.5f, 0.5f});
      march.ring_offset.push_back(2 * (p + 1));
      at[4 * p] = static_cast<float>(p % 2);
    }
  }
  void Flag(std::size_t p) { at[4 * p + 3] = 1; }
  void Smooth(std::uint32_t passes) {
    march.rules.smoothing = passes;
    march.Smooth(at, spare, Task());
  }
  March march;
  AlignedVector<float> at, spare;
};

TEST(MarchSmoothing, NothingFlaggedNothingMoves) {
  Line line(40);
  const auto before = line.at;
  line.Smooth(7);
  EXPECT_EQ(line.at, before);
}

TEST(MarchSmoothing, NoPassesNothingMoves) {
  Line line(40);
  line.Flag(20);
  line.Smooth(0);
  for (std::size_t p = 0; p < 40; ++p) EXPECT_EQ(line.at[4 * p], static_cast<float>(p % 2)) << p;
}

// The flag at distance d is the binomial share of six steps of (1/4, 1/2, 1/4), and the first pass
// moves the zigzag by it.
TEST(MarchSmoothing, MovesByDiffusedFlag) {
  Line line(40);
  line.Flag(20);
  line.Smooth(1);
  for (int d = -10; d <= 10; ++d) {
    const auto p = static_cast<std::size_t>(20 + d);
    const double share =
        std::abs(d) > 6 ? 0 : std::tgamma(13) / std::tgamma(7 + d) / std::tgamma(7 - d) / 4096;
    const double rest = p % 2 == 0 ? 0 : 1;
    EXPECT_NEAR(double{line.at[4 * p]}, rest + share * (1 - 2 * rest), 1e-6) << d;
  }
}

TEST(MarchSmoothing, KeepsPointsWithoutRow) {
  Line line(40);
  line.Flag(19);
  line.Flag(20);
  for (std::size_t p = 21; p <= 40; ++p) line.march.ring_offset[p] -= 2;  // no row for point 20
  line.march.ring.erase(line.march.ring.begin() + 40, line.march.ring.begin() + 42);
  line.march.ring_weight.erase(line.march.ring_weight.begin() + 40,
                               line.march.ring_weight.begin() + 42);
  line.at[4 * 20 + 1] = 3;
  line.Smooth(4);
  EXPECT_EQ(line.at[4 * 20 + 1], 3);
  EXPECT_GT(line.at[4 * 19 + 1], 0);
}

}  // namespace
}  // namespace sinew
