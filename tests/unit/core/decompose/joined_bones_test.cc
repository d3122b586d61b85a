#include "core/decompose/joined_bones.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <numeric>
#include <stop_token>

#include "core/base/vectors.h"
#include "core/decompose/decompose.h"
#include "core/decompose/inside.h"
#include "core/solve/rotation.h"
#include "tests/support/bodies.h"
#include "tests/support/run_method.h"

namespace sinew::decompose {
namespace {

using testing::Body;
using testing::RigidMotion;
using testing::ValueOrDie;

constexpr std::size_t kFrames = 16;

// A cylinder along x with joints at x = -1, 0 and 1 about which its bones turn, a chain, or a tree
// of two chains from the middle.
struct Chain {
  Mesh rest;
  std::vector<Vec3f> places{};
  WeightRows weights{};
  JointTree tree;  // of bones in the order of x

  Sequence sequence() const { return ValueOrDie(Sequence::Create(rest, places, kFrames, Task())); }
};

Chain MakeChain(bool from_the_middle, double blend = 0.6) {
  Chain chain{.rest = testing::MeshOf(testing::Cylinder(-2, 2, 0.3, 81, 12)), .tree = {}};
  const auto share = [=](double x, double joint) {  // of what is behind the joint
    const double t = std::clamp(0.5 + (x - joint) / blend, 0.0, 1.0);
    return t * t * (3 - 2 * t);
  };
  chain.weights = CollectRows<JointWeight>(chain.rest.vertices(), [&](const auto& add) {
    for (std::size_t v = 0; v < chain.rest.vertices(); ++v) {
      const double x = chain.rest.positions()[v].x;
      const double behind[5] = {1, share(x, -1), share(x, 0), share(x, 1), 0};
      for (std::uint32_t j = 0; j < 4; ++j) {
        if (behind[j] > behind[j + 1]) add(v, {j, behind[j] - behind[j + 1]});
      }
    }
  });
  chain.tree = {.bones = {0, 1, 2, 3},
                .parents = {kNone, 0, 1, 2},
                .places = {{-1.5, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}},
                .middles = {},
                .depths = {0.1, 0.1, 0.1, 0.1}};
  if (from_the_middle) {
    chain.tree.bones = {1, 0, 2, 3};
    chain.tree.parents = {kNone, 0, 0, 2};
    chain.tree.places = {{-0.5, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}};
  }
  chain.tree.middles = chain.tree.places;
  for (std::size_t f = 0; f < kFrames; ++f) {
    const double t = 0.7 * static_cast<double>(f);
    std::vector<AffineD> bones;  // by x
    for (std::size_t j = 0; j < 4; ++j) {
      const double k = static_cast<double>(j);
      const Vec3d at = {k - 2, 0, 0};
      const AffineD own = Compose(RigidMotion({0, 0, 1}, 40 * std::sin(t + k)),
                                  RigidMotion({1, 1, 0}, 30 * std::cos(t - k)));
      const AffineD about = Compose(Compose(AffineD{{1, 0, 0, at.x, 0, 1, 0, 0, 0, 0, 1, 0}}, own),
                                    AffineD{{1, 0, 0, -at.x, 0, 1, 0, 0, 0, 0, 1, 0}});
      bones.push_back(j == 0 ? RigidMotion({0.2, 1, 0}, 20 * std::sin(t), {t, 0, std::cos(t)})
                             : Compose(bones.back(), about));
    }
    for (std::size_t v = 0; v < chain.rest.vertices(); ++v) {
      Vec3d sum;
      for (const JointWeight& w : chain.weights.row(v)) {
        sum = sum + w.weight * Apply(bones[w.joint], ToDouble(chain.rest.positions()[v]));
      }
      chain.places.push_back(ToFloat(sum));
    }
  }
  return chain;
}

// Weights of points, which are in the order of vertices here.
double Rms(const Sequence& sequence, const Chain& chain, const Bones& bones) {
  const auto errors = PointErrors(sequence, bones, chain.weights, Task());
  return std::sqrt(std::accumulate(errors.begin(), errors.end(), 0.0) /
                   static_cast<double>(sequence.points() * sequence.frames));
}

double Gap(const JointTree& tree, const Bones& bones) {
  double largest = 0;
  for (std::size_t j = 1; j < tree.bones.size(); ++j) {
    for (std::size_t f = 0; f < bones.frames; ++f) {
      largest = std::max(largest,
                         Length(Apply(bones.row(tree.bones[j])[f], tree.places[j]) -
                                Apply(bones.row(tree.bones[tree.parents[j]])[f], tree.places[j])));
    }
  }
  return largest;
}

TEST(FitJoinedBones, FindsTheMotionOfAChainAndOfATree) {
  for (const bool from_the_middle : {false, true}) {
    const Chain chain = MakeChain(from_the_middle);
    const Sequence sequence = chain.sequence();
    ASSERT_EQ(sequence.points(), chain.rest.vertices());
    Bones bones{.frames = kFrames, .motions = std::vector<AffineD>(4 * kFrames)};
    double before = Rms(sequence, chain, bones);
    EXPECT_GT(before, 0.3);
    for (int k = 0; k < 40; ++k) {
      FitJoinedBones(sequence, chain.weights, chain.tree, 5, Task(), bones);
      const double now = Rms(sequence, chain, bones);
      EXPECT_LE(now, before + 1e-9) << k;
      EXPECT_LT(Gap(chain.tree, bones), 1e-12);
      before = now;
    }
    EXPECT_LT(before, 1e-6) << from_the_middle;
  }
}

// Without the places of joints the least error is far above 0.
TEST(FitPlaces, FindsWhereJointsAre) {
  for (const bool from_the_middle : {false, true}) {
    const Chain chain = MakeChain(from_the_middle);
    const Sequence sequence = chain.sequence();
    const Inside inside(chain.rest, sequence.centre);
    JointTree tree = chain.tree;
    for (std::size_t j = 1; j < 4; ++j) tree.places[j] = tree.places[j] + Vec3d{0.2, 0.1, -0.1};
    Bones bones{.frames = kFrames, .motions = std::vector<AffineD>(4 * kFrames)};
    for (int k = 0; k < 40; ++k) FitJoinedBones(sequence, chain.weights, tree, 5, Task(), bones);
    const double fixed = Rms(sequence, chain, bones);
    EXPECT_GT(fixed, 0.01);
    double before = fixed;
    for (int k = 0; k < 200; ++k) {
      FitPlaces(sequence, chain.weights, inside, Task(), tree, bones);
      EXPECT_LT(Gap(tree, bones), 1e-12);
      const double placed = Rms(sequence, chain, bones);
      EXPECT_LE(placed, before + 1e-9) << k;
      FitJoinedBones(sequence, chain.weights, tree, 5, Task(), bones);
      before = Rms(sequence, chain, bones);
      EXPECT_LE(before, placed + 1e-9) << k;
    }
    EXPECT_LT(before, 0.02 * fixed);
    for (std::size_t j = 1; j < 4; ++j) {
      EXPECT_LT(Length(tree.places[j] - chain.tree.places[j]), 0.01) << j;
    }
  }
}

TEST(FitPlaces, KeepsJointsInside) {
  Chain chain = MakeChain(false);
  // Only the part of the cylinder around the last joint is taken for the inside.
  const Mesh part = testing::MeshOf(testing::Cylinder(0.5, 0.9, 0.3, 9, 12));
  const Sequence sequence = chain.sequence();
  const Inside inside(part, sequence.centre);
  JointTree& tree = chain.tree;
  tree.places[3] = tree.middles[3] = {0.7, 0.1, 0};
  tree.depths = {0, 0, 0, 0.05};
  Bones bones{.frames = kFrames, .motions = std::vector<AffineD>(4 * kFrames)};
  FitJoinedBones(sequence, chain.weights, tree, 5, Task(), bones);
  for (int k = 0; k < 40; ++k) {
    FitPlaces(sequence, chain.weights, inside, Task(), tree, bones);
    FitJoinedBones(sequence, chain.weights, tree, 5, Task(), bones);
  }
  EXPECT_GE(inside.Depth(tree.places[3], Task()), 0.05);
  EXPECT_GT(tree.places[3].x, 0.8);  // as near to 1 as it may be
}

// Bones that are free to part find other motions; putting these together leaves the first error.
TEST(FitPlaces, LetsDecompositionsConnectAChain) {
  const Chain chain = MakeChain(false, 1.8);
  const Decomposition result =
      ValueOrDie(Decompose({.rest = &chain.rest, .frames = kFrames, .places = chain.places},
                           {.joints = 4, .connected = true}, {}));
  EXPECT_EQ(result.parents.size(), 4u);
  const std::vector<double>& errors = result.connected_errors;
  ASSERT_GT(errors.size(), 4u);
  for (std::size_t k = 1; k < errors.size(); ++k) EXPECT_LE(errors[k], errors[k - 1]) << k;
  EXPECT_LT(errors.back(), 0.2 * errors.front()) << errors.front() << " " << errors.back();
}

TEST(Inside, IsWithinTheSkin) {
  Body body = testing::Cylinder(-2, 2, 0.5, 41, 16, {10, 0, 0});
  const auto expect = [&] {
    const Inside inside(testing::MeshOf(body), {10, 0, 0});
    for (const double x : {-1.9, 0.0, 1.9}) {
      EXPECT_TRUE(inside.Has({x, 0, 0}, Task()));
      EXPECT_TRUE(inside.Has({x, 0.4, 0}, Task()));
      EXPECT_NEAR(inside.Depth({x, 0.4, 0}, Task()), 0.1, 0.01);
      EXPECT_NEAR(inside.Depth({x, 0.05, 0}, Task()), x == 0 ? 0.44 : 0.1, 0.01);
      EXPECT_EQ(inside.Depth({x, 0.6, 0}, Task()), 0);
      EXPECT_FALSE(inside.Has({x, 0.6, 0}, Task()));
      EXPECT_FALSE(inside.Has({x, 0.48, 0.48}, Task()));  // in the box
    }
    EXPECT_FALSE(inside.Has({2.1, 0, 0}, Task()));
  };
  expect();
  body.faces.resize(body.faces.size() - 2);  // a hole in a cap
  expect();
  for (auto& face : body.faces) std::swap(face[0], face[1]);  // inside out
  expect();
}

// With more triangles than one chunk, so that sums are put together.
TEST(Inside, IsTheSameForAnyThreadsAndEndsWhenItIsCancelled) {
  const Mesh mesh = testing::MeshOf(testing::Cylinder(-2, 2, 0.5, 161, 48));
  const Inside inside(mesh, {});
  const auto run = [&](std::size_t threads, const Vec3d& place) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    return inside.Depth(place, Task());
  };
  for (const Vec3d& place : {Vec3d{0, 0.1, 0}, Vec3d{1.3, -0.2, 0.3}, Vec3d{-1.9, 0, 0}}) {
    const double depth = run(4, place);
    EXPECT_EQ(depth, run(1, place));
    EXPECT_NEAR(depth, std::min(0.5 - std::hypot(place.y, place.z), 2 - std::abs(place.x)), 5e-3);
    EXPECT_TRUE(inside.IsDeep(place, depth, Task()));
    EXPECT_FALSE(inside.IsDeep(place, depth * (1 + 1e-9), Task()));
    std::stop_source stop;
    stop.request_stop();
    const Task stopped({.stop = stop.get_token()});
    EXPECT_FALSE(inside.Has(place, stopped));
    EXPECT_EQ(inside.Depth(place, stopped), 0);
    EXPECT_FALSE(inside.IsDeep(place, depth, stopped));
  }
}

// A sheet next to a body does not change what is inside of the body.
TEST(Inside, LeavesOutSheets) {
  Body body = testing::Cylinder(-2, 2, 0.5, 41, 16);
  const auto first = static_cast<std::uint32_t>(body.points.size());
  for (const Vec3d& corner :
       {Vec3d{-9, 0.6, -9}, Vec3d{9, 0.6, -9}, Vec3d{9, 0.6, 9}, Vec3d{-9, 0.6, 9}}) {
    body.points.push_back(corner);
  }
  for (const bool turned : {false, true}) {
    body.faces.push_back({first, first + 1, first + 2, first + 3});
    if (turned) std::swap(body.faces.back()[1], body.faces.back()[3]);
    const Inside inside(testing::MeshOf(body), {});
    EXPECT_NEAR(inside.Depth({0, 0.4, 0}, Task()), 0.1, 0.01);
    EXPECT_FALSE(inside.Has({0, 0.55, 0}, Task()));
    body.faces.pop_back();
  }
}

}  // namespace
}  // namespace sinew::decompose
