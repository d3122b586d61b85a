// Volume enclosed more than once, against closed forms of balls and boxes.
#include "core/metrics/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <stop_token>

#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/metrics/measured.h"

namespace sinew::metrics {
namespace {

using ::sinew::testing::MakeRig;
using ::sinew::testing::RestPose;
using ::sinew::testing::TubeRig;

struct Soup {
  std::vector<Triangle> triangles;
  std::vector<Vec3d> points;
};

void AddBox(const Vec3d& low, const Vec3d& size, Soup& soup) {
  const auto first = static_cast<std::uint32_t>(soup.points.size());
  for (std::uint32_t k = 0; k < 8; ++k) {
    soup.points.push_back(
        {low.x + (k & 1 ? size.x : 0), low.y + (k & 2 ? size.y : 0), low.z + (k & 4 ? size.z : 0)});
  }
  for (const auto& [a, b, c, d] : {std::array<std::uint32_t, 4>{0, 2, 3, 1},
                                   {4, 5, 7, 6},
                                   {0, 1, 5, 4},
                                   {2, 6, 7, 3},
                                   {0, 4, 6, 2},
                                   {1, 3, 7, 5}}) {
    soup.triangles.push_back({first + a, first + b, first + c});
    soup.triangles.push_back({first + a, first + c, first + d});
  }
}

// Radius 1, 200 x 100 faces.
void AddBall(const Vec3d& centre, Soup& soup) {
  constexpr std::uint32_t kAround = 200, kUp = 100;
  const auto first = static_cast<std::uint32_t>(soup.points.size());
  for (std::uint32_t j = 1; j < kUp; ++j) {
    const double up = std::numbers::pi * j / kUp;
    for (std::uint32_t i = 0; i < kAround; ++i) {
      const double turn = 2 * std::numbers::pi * i / kAround;
      soup.points.push_back(centre + Vec3d{std::sin(up) * std::cos(turn),
                                           std::sin(up) * std::sin(turn), std::cos(up)});
    }
  }
  const auto at = [&](std::uint32_t j, std::uint32_t i) {
    return first + j * kAround + i % kAround;
  };
  const auto top = static_cast<std::uint32_t>(soup.points.size()), bottom = top + 1;
  soup.points.push_back(centre + Vec3d{0, 0, 1});
  soup.points.push_back(centre - Vec3d{0, 0, 1});
  for (std::uint32_t i = 0; i < kAround; ++i) {
    soup.triangles.push_back({top, at(0, i), at(0, i + 1)});
    for (std::uint32_t j = 0; j + 2 < kUp; ++j) {
      soup.triangles.push_back({at(j, i), at(j + 1, i), at(j + 1, i + 1)});
      soup.triangles.push_back({at(j, i), at(j + 1, i + 1), at(j, i + 1)});
    }
    soup.triangles.push_back({bottom, at(kUp - 2, i + 1), at(kUp - 2, i)});
  }
}

Overlap OverlapOf(const Soup& soup) {
  const auto overlap = MeasureOverlap(soup.triangles, soup.points, Task());
  EXPECT_TRUE(overlap.ok() && overlap->has_value());
  return **overlap;
}

Soup Turned(const AffineD& motion, Soup soup) {
  for (Vec3d& p : soup.points) p = Apply(motion, p);
  return soup;
}

TEST(Overlap, TwoBallsOverlapInLens) {
  for (const double apart : {2.5, 1.9, 1.5, 0.8}) {
    Soup balls;
    AddBall({3, -1, 2}, balls);
    AddBall(Vec3d{3, -1, 2} + apart / 3 * Vec3d{1, 2, 2}, balls);
    const Overlap overlap = OverlapOf(balls);
    const double reach = std::max(0.0, 2 - apart);
    const double lens = std::numbers::pi * (4 + apart) * reach * reach / 12;
    EXPECT_NEAR(overlap.twice, lens, 2e-3 * (lens + reach)) << apart;
    EXPECT_EQ(overlap.inside_out, 0) << apart;
  }
}

TEST(Overlap, CountsEveryLayerInAnyDirection) {
  Soup boxes;
  for (const double at : {0.0, 0.25, 0.5}) AddBox({at, at, at}, {1, 1, 1}, boxes);
  // Adjacent pairs overlap in .75^3; the volume shared by all three counts twice.
  const double expected = 2 * 0.75 * 0.75 * 0.75;
  for (const double degrees : {0.0, 37.0, 90.0, 171.0}) {
    const Soup turned = Turned(testing::RigidMotion({1, 2, 3}, degrees, {5, degrees, -70}), boxes);
    EXPECT_NEAR(OverlapOf(turned).twice, expected, 3e-3) << degrees;
  }
}

TEST(Overlap, MirroredSurfaceIsInsideOut) {
  Soup boxes;
  AddBox({0, 0, 0}, {1, 1, 1}, boxes);
  AddBox({0.5, 0.1, 0.1}, {1, 0.8, 0.8}, boxes);
  const Overlap there = OverlapOf(boxes);
  EXPECT_NEAR(there.twice, 0.5 * 0.8 * 0.8, 3e-3);
  EXPECT_EQ(there.inside_out_twice, 0);
  const Overlap mirrored = OverlapOf(Turned(testing::ScaleMotion({1, 1, -1}), boxes));
  EXPECT_NEAR(mirrored.inside_out_twice, there.twice, 1e-9);
  EXPECT_NEAR(mirrored.inside_out, 1 + 0.64, 5e-3);
  EXPECT_EQ(mirrored.twice, 0);
}

// Columns pass through the shared edges and corners of a grid of boxes.
TEST(Overlap, TouchingBoxesDoNotOverlap) {
  Soup boxes;
  for (int k = 0; k < 27; ++k) {
    const double x = k % 3, y = k / 3 % 3, z = k / 9;
    AddBox({x, y, z}, {1, 1, 1}, boxes);
  }
  const Overlap overlap = OverlapOf(boxes);
  EXPECT_NEAR(overlap.twice, 0, 1e-12);
  EXPECT_NEAR(overlap.inside_out, 0, 1e-12);
}

TEST(Overlap, EmptySurfaceIsZero) {
  EXPECT_EQ(OverlapOf({}).twice, 0);
  Soup sheet;
  AddBox({0, 0, 0}, {1, 0, 1}, sheet);
  EXPECT_EQ(OverlapOf(sheet).twice, 0);
}

TEST(Overlap, SameBitsForAnyThreadCountAndCancellable) {
  Soup balls;
  AddBall({0, 0, 0}, balls);
  AddBall({0.3, 0.7, 0.2}, balls);
  const Task parallel, serial({.parallel = false});
  const auto a = MeasureOverlap(balls.triangles, balls.points, parallel);
  const auto b = MeasureOverlap(balls.triangles, balls.points, serial);
  EXPECT_EQ((*a)->twice, (*b)->twice);
  std::stop_source stop;
  stop.request_stop();
  const Task stopped({.stop = stop.get_token()});
  EXPECT_TRUE(absl::IsCancelled(MeasureOverlap(balls.triangles, balls.points, stopped).status()));
}

TEST(Overlap, AbsentOverBudgetForAnyThreadCount) {
  Soup pile;
  for (int k = 0; k < 33; ++k) AddBox({0, 0, 0.1 * k}, {1, 1, 0.5}, pile);
  const Task parallel, serial({.parallel = false});
  for (const Task* task : {&parallel, &serial}) {
    const auto overlap = MeasureOverlap(pile.triangles, pile.points, *task);
    ASSERT_TRUE(overlap.ok());
    EXPECT_FALSE(overlap->has_value()) << "66 layers";
  }
  pile.triangles.resize(pile.triangles.size() - 2 * 12);
  EXPECT_TRUE(MeasureOverlap(pile.triangles, pile.points, parallel)->has_value());
  // Few layers, but in many cells.
  Soup needles;
  for (std::uint32_t k = 0; k < 1000; ++k) {
    const double z = 1e-3 * k;
    needles.points.insert(needles.points.end(), {{0, 0, z}, {1, 1, z}, {1, 1 - 1e-9, z}});
    needles.triangles.push_back({3 * k, 3 * k + 1, 3 * k + 2});
  }
  EXPECT_FALSE(MeasureOverlap(needles.triangles, needles.points, parallel)->has_value());
}

// Overlap of a frame is relative to the rest volume and excludes overlap at rest; open ends are
// closed.
TEST(Overlap, FrameExcludesRestOverlap) {
  const Rig tube = TubeRig();
  EXPECT_EQ(*Measured(tube, "lbs", RestPose(tube), true).overlap, 0);
  EXPECT_EQ(*Measured(tube, "lbs", testing::BendPose(tube, 30), true).overlap, 0);
  const double bent = *Measured(tube, "lbs", testing::BendPose(tube, 120), true).overlap;
  EXPECT_GT(bent, 0.01);
  EXPECT_FALSE(Measured(tube, "lbs", testing::BendPose(tube, 120)).overlap.has_value());
  const AffineD mirror = testing::ScaleMotion({-1, 1, 1});
  EXPECT_NEAR(
      *Measured(tube, "lbs", testing::Moved(mirror, testing::BendPose(tube, 120)), true).overlap,
      bent, 1e-3 * bent);

  Soup boxes;
  AddBox({0, 0, 0}, {1, 1, 1}, boxes);
  AddBox({0.75, 0, 0}, {1, 1, 1}, boxes);
  std::vector<Vec3f> points;
  std::vector<std::vector<std::uint32_t>> faces;
  for (const Vec3d& p : boxes.points) points.push_back(ToFloat(p));
  for (const Triangle& t : boxes.triangles) faces.emplace_back(t.begin(), t.end());
  const Rig rig = MakeRig(testing::RigidSource(points, faces));
  const auto moved = [&](float x) {
    std::vector<Vec3f> posed = points;
    for (std::size_t v = 8; v < 16; ++v) posed[v].x += x;
    return *Measured(rig, posed, RestPose(rig), true).overlap;
  };
  EXPECT_EQ(moved(0), 0);
  EXPECT_NEAR(moved(-0.5F), 0.5 / 2, 3e-3);
  EXPECT_EQ(moved(0.2F), 0) << "less than at rest";
}

}  // namespace
}  // namespace sinew::metrics
