#include "core/decompose/decompose.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <set>
#include <string>

#include "core/base/vectors.h"
#include "core/decompose/bones.h"
#include "core/decompose/inside.h"
#include "tests/support/bodies.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Body;
using testing::RigidMotion;
using testing::ValueOrDie;

struct Animated {
  Mesh rest;
  std::size_t frames = 0;
  std::vector<Vec3f> places{};

  MeshAnimation animation() const { return {.rest = &rest, .frames = frames, .places = places}; }
};

// `place` says where a vertex at rest is in a frame.
Animated Animate(
    const Body& body, std::size_t frames,
    const std::function<Vec3d(std::size_t vertex, const Vec3d& rest, std::size_t frame)>& place) {
  Animated animated{.rest = testing::MeshOf(body), .frames = frames};
  for (std::size_t f = 0; f < frames; ++f) {
    for (std::size_t v = 0; v < animated.rest.vertices(); ++v) {
      animated.places.push_back(ToFloat(place(v, ToDouble(animated.rest.positions()[v]), f)));
    }
  }
  return animated;
}

double Phase(std::size_t frame) {
  return 0.7 * static_cast<double>(frame);
}

// A cylinder along x that moves as a whole, and bends and twists at the origin by 2 bones, whose
// weights change over twice `blend`.
Animated BentCylinder(std::size_t frames, double degrees = 50, double blend = 1) {
  return Animate(
      testing::Cylinder(-2, 2, 0.5, 41, 16), frames,
      [=](std::size_t, const Vec3d& rest, std::size_t f) {
        const double t = std::clamp(0.5 + 0.5 * rest.x / blend, 0.0, 1.0);
        const double second = t * t * (3 - 2 * t);
        const AffineD whole = RigidMotion({0.1, 1, 0}, 40 * std::sin(Phase(f) / 3),
                                          {0, std::sin(Phase(f)), Phase(f) / 5});
        const AffineD joint = Compose(RigidMotion({0, 0, 1}, degrees * std::sin(Phase(f))),
                                      RigidMotion({1, 0, 0}, 0.6 * degrees * std::cos(Phase(f))));
        return (1 - second) * Apply(whole, rest) + second * Apply(Compose(whole, joint), rest);
      });
}

// Cylinders that do not touch, each with a motion of its own.
Animated Pieces(std::size_t pieces, std::size_t frames) {
  Body body;
  std::vector<std::size_t> piece;
  for (std::size_t k = 0; k < pieces; ++k) {
    testing::Append(body, testing::Cylinder(0, 1, 0.2, 5, 8, {0, static_cast<double>(k), 0}));
    piece.resize(body.points.size(), k);
  }
  return Animate(body, frames, [&](std::size_t v, const Vec3d& rest, std::size_t f) {
    const auto k = static_cast<double>(piece[v]);
    const Vec3d centre = {0.5, k, 0};
    const AffineD turn =
        RigidMotion({std::sin(k), std::cos(k), 0.3 * k}, 20 * std::sin(Phase(f) + k),
                    {0, 0.3 * std::sin(Phase(f) * k), 0});
    return Apply(turn, rest - centre) + centre;
  });
}

Decomposition Decomposed(const Animated& animated, const DecomposeOptions& options) {
  return ValueOrDie(Decompose(animated.animation(), options, {}));
}

void ExpectFalling(const std::vector<double>& errors) {
  for (std::size_t k = 1; k < errors.size(); ++k) EXPECT_LE(errors[k], errors[k - 1]) << k;
}

void ExpectTwoBones(const Animated& animated, const DecomposeOptions& options) {
  const Decomposition result = Decomposed(animated, options);
  ASSERT_EQ(result.parents.size(), 2u);
  ExpectFalling(result.errors);
  const double diagonal = animated.rest.diagonal();
  EXPECT_GT(result.errors.front(), 2e-3 * diagonal);
  const DecompositionError error = MeasureDecomposition(animated.animation(), result, Task());
  EXPECT_LT(error.all.rms, 1e-5 * diagonal);
  // The two bones hinge on each other at the origin.
  EXPECT_LT(Length(ToDouble(result.places[1])), 0.01 * diagonal);
  EXPECT_LT(result.gap, 1e-3 * diagonal);
}

TEST(Decompose, RecoversTheTwoBonesOfACylinder) {
  ExpectTwoBones(BentCylinder(20), {.joints = 2});
  ExpectTwoBones(BentCylinder(20, 15, 0.5), {.joints = 2, .iterations = 10});
}

TEST(Decompose, RigidPiecesReturnTheirNumber) {
  for (const std::size_t pieces : {1, 3, 5, 8}) {
    const Animated animated = Pieces(pieces, 12);
    for (const std::uint32_t asked : {static_cast<std::uint32_t>(pieces), 12u}) {
      const Decomposition result = Decomposed(animated, {.joints = asked});
      EXPECT_EQ(result.parents.size(), pieces) << "asked for " << asked;
      EXPECT_EQ(result.warnings.empty() ? "" : result.warnings[0].message,
                asked == pieces
                    ? ""
                    : std::to_string(pieces) + " of 12; " + std::to_string(12 - pieces) +
                          " not used, as no other part moves by itself");
      for (const JointWeight& w : result.weights.values) EXPECT_EQ(w.weight, 1);
      EXPECT_LT(MeasureDecomposition(animated.animation(), result, Task()).all.largest,
                1e-6 * animated.rest.diagonal());
    }
  }
}

// The middle one of three loose parts follows the others, one half each.
TEST(Decompose, LoosePartsShareBones) {
  const Animated pieces = Pieces(3, 12);
  Animated animated = pieces;
  const std::size_t each = pieces.rest.vertices() / 3;
  const auto motion = [&](std::size_t f, std::size_t piece) {
    const double k = static_cast<double>(piece);
    return RigidMotion({0, 0.3 * k, 1}, 15 * std::sin(Phase(f) + k), {0, 0, 0.1 * k * Phase(f)});
  };
  for (std::size_t f = 0; f < 12; ++f) {
    for (std::size_t v = 0; v < 3 * each; ++v) {
      const Vec3d rest = ToDouble(pieces.rest.positions()[v]);
      const Vec3d first = Apply(motion(f, 0), rest), last = Apply(motion(f, 2), rest);
      const double share = 0.5 * static_cast<double>(v / each);
      animated.places[f * 3 * each + v] = ToFloat((1 - share) * first + share * last);
    }
  }
  const Decomposition result = Decomposed(animated, {.joints = 2});
  EXPECT_LT(MeasureDecomposition(animated.animation(), result, Task()).all.rms,
            1e-3 * animated.rest.diagonal());
}

// What no few bones can do exactly: a wave along the cylinder.
Animated Wave(std::size_t frames) {
  return Animate(testing::Cylinder(-2, 2, 0.5, 41, 16), frames,
                 [](std::size_t, const Vec3d& rest, std::size_t f) {
                   return rest + Vec3d{0, 0.4 * std::sin(2 * rest.x + Phase(f)),
                                       0.2 * std::cos(3 * rest.x - Phase(f))};
                 });
}

TEST(Decompose, ErrorNeverRisesAndFallsWithJoints) {
  const Animated animated = Wave(15);
  double before = 1;
  for (const std::uint32_t joints : {2u, 4u, 8u, 16u}) {
    const Decomposition result = Decomposed(animated, {.joints = joints});
    EXPECT_EQ(result.parents.size(), joints);
    EXPECT_GT(result.errors.size(), 3u);
    ExpectFalling(result.errors);
    const double rms = MeasureDecomposition(animated.animation(), result, Task()).all.rms;
    EXPECT_LT(rms, 0.8 * before) << joints;
    before = rms;
  }
}

// The best motion of a bone with small weights is far away, as it magnifies what others leave over.
TEST(FitBones, KeepsBonesOfLittleWeight) {
  const Animated animated = Wave(5);
  const decompose::Sequence sequence =
      ValueOrDie(decompose::Sequence::Create(animated.rest, animated.places, 5, Task()));
  for (const double second : {0.1, 0.5}) {
    decompose::Bones bones{.frames = 5, .motions = std::vector<AffineD>(10)};
    const auto weights = CollectRows<JointWeight>(sequence.points(), [&](const auto& add) {
      for (std::size_t p = 0; p < sequence.points(); ++p) {
        add(p, {0, 1 - second});
        add(p, {1, second});
      }
    });
    decompose::FitBones(sequence, weights, 1, Task(), bones);
    EXPECT_NE(bones.row(0)[1].m, AffineD().m);
    EXPECT_EQ(bones.row(1)[1].m == AffineD().m, second < 0.25) << second;
  }
}

// Where a joint is by its own pose and by that of its parent.
std::vector<double> Gaps(const Decomposition& result) {
  const std::size_t joints = result.parents.size();
  std::vector<double> gaps;
  for (std::size_t k = 0; k < result.poses.size(); ++k) {
    const std::size_t joint = k % joints, parent = result.parents[joint];
    if (parent == kNoJoint) continue;
    const Vec3d own = Translation(result.poses[k]);
    const Vec3d place = ToDouble(result.places[joint]) - ToDouble(result.places[parent]);
    gaps.push_back(Length(Apply(result.poses[k - joint + parent], place) - own));
  }
  return gaps;
}

double LargestGap(const Decomposition& result) {
  return std::ranges::max(Gaps(result));
}

// A cylinder that winds like a snake and keeps its length.
Animated Snake(std::size_t frames) {
  return Animate(testing::Cylinder(-2, 2, 0.3, 41, 16), frames,
                 [](std::size_t, const Vec3d& rest, std::size_t f) {
                   const auto angle = [&](double x) { return 0.8 * std::sin(1.5 * x + Phase(f)); };
                   constexpr int kSteps = 64;
                   Vec3d middle;
                   for (int k = 0; k < kSteps; ++k) {
                     const double at = angle((k + 0.5) / kSteps * rest.x);
                     middle = middle + (rest.x / kSteps) * Vec3d{std::cos(at), std::sin(at), 0};
                   }
                   const double at = angle(rest.x);
                   return middle + Vec3d{-std::sin(at) * rest.y, std::cos(at) * rest.y, rest.z};
                 });
}

TEST(Decompose, ConnectedJointsStayTogether) {
  const Animated snake = Snake(15);
  const double diagonal = snake.rest.diagonal();
  const Decomposition apart = Decomposed(snake, {.joints = 8});
  EXPECT_GT(LargestGap(apart), 1e-3 * diagonal);
  double squares = 0;
  for (const double gap : Gaps(apart)) squares += gap * gap;
  EXPECT_NEAR(apart.gap, std::sqrt(squares / (7 * 15)), 1e-5 * apart.gap);
  const Decomposition together = Decomposed(snake, {.joints = 8, .connected = true});
  EXPECT_EQ(together.parents.size(), 8u);
  EXPECT_LT(LargestGap(together), 1e-12 * diagonal);
  EXPECT_EQ(together.gap, 0);
  EXPECT_TRUE(apart.connected_errors.empty());
  EXPECT_GT(together.connected_errors.size(), 3u);
  ExpectFalling(together.errors);
  ExpectFalling(together.connected_errors);
  const auto rms = [&](const Decomposition& result) {
    return MeasureDecomposition(snake.animation(), result, Task()).all.rms;
  };
  EXPECT_LT(rms(together), 2 * rms(apart));
  EXPECT_LT(rms(together), 0.005 * diagonal);
  // What hinges already stays as it is.
  const Animated bent = BentCylinder(20);
  const Decomposition hinged = Decomposed(bent, {.joints = 2, .connected = true});
  EXPECT_LT(LargestGap(hinged), 1e-12 * bent.rest.diagonal());
  EXPECT_LT(MeasureDecomposition(bent.animation(), hinged, Task()).all.rms,
            1e-4 * bent.rest.diagonal());
}

// The second half turns by a few degrees and slides: the least gap is beside the cylinder, and one
// that is hardly larger inside.
TEST(Decompose, JointsStayInTheSkinWhereGapsAllow) {
  const Animated animated = Animate(
      testing::Cylinder(-2, 2, 0.5, 41, 16), 20, [](std::size_t, const Vec3d& rest, std::size_t f) {
        if (rest.x < 0) return rest;
        const double degrees = 4 * std::sin(Phase(f));
        const Vec3d slide = {0.02 * degrees + 0.1 * std::cos(1.7 * Phase(f)), 0, 0};
        return Apply(RigidMotion({0, 0, 1}, degrees, slide), rest);
      });
  const Decomposition result = Decomposed(animated, {.joints = 2});
  ASSERT_EQ(result.places.size(), 2u);
  EXPECT_LT(std::abs(result.places[1].y), 0.4);
  EXPECT_LT(result.gap, 0.1);
}

// The second half turns about a place beside the cylinder, where there would be no gap.
TEST(Decompose, JointsAreInsideWhereTheMeshHasAnInside) {
  const auto animate = [](double radius) {
    return Animate(
        testing::Cylinder(-2, 2, radius, 41, 16), 20,
        [](std::size_t, const Vec3d& rest, std::size_t f) {
          if (rest.x < 0) return rest;
          const Vec3d about = {0, 1.2, 0};
          const Vec3d turned = Apply(RigidMotion({0, 0, 1}, 15 * std::sin(Phase(f))), rest - about);
          return turned + about;
        });
  };
  const Animated animated = animate(0.5);
  const decompose::Inside inside(animated.rest, {});
  for (const bool connected : {false, true}) {
    const Decomposition result = Decomposed(animated, {.joints = 2, .connected = connected});
    ASSERT_EQ(result.places.size(), 2u);
    EXPECT_TRUE(inside.Has(ToDouble(result.places[1]), Task())) << connected;
    EXPECT_EQ(result.gap > 0, !connected);
    ExpectFalling(result.connected_errors);
  }
}

// 41 x 11 points over 4 x 1 units, bowed across by `bow`.
Body Sheet(double bow) {
  Body sheet;
  constexpr std::uint32_t kAlong = 41, kAcross = 11;
  for (std::uint32_t v = 0; v < kAlong * kAcross; ++v) {
    const double x = v % kAlong * 0.1 - 2, y = v / kAlong * 0.1 - 0.5;
    sheet.points.push_back({x, y, bow * (1 - 4 * y * y)});
    if (v % kAlong + 1 == kAlong || v / kAlong + 1 == kAcross) continue;
    sheet.faces.push_back({v, v + 1, v + kAlong + 1, v + kAlong});
  }
  return sheet;
}

// The second half turns about a place above the sheet, where files cannot hold the joint.
TEST(Decompose, ConnectedErrorsAreThoseOfTheResult) {
  for (const bool in_plane : {true, false}) {
    const Vec3d about = in_plane ? Vec3d{0, 1.2, 0} : Vec3d{0, 0, 1.2};
    const Vec3d axis = in_plane ? Vec3d{0, 0, 1} : Vec3d{0, 1, 0};
    const Animated animated =
        Animate(Sheet(0), 20, [&](std::size_t, const Vec3d& rest, std::size_t f) {
          if (rest.x < 0) return rest;
          return Apply(RigidMotion(axis, 15 * std::sin(Phase(f))), rest - about) + about;
        });
    const Decomposition apart = Decomposed(animated, {.joints = 2});
    ASSERT_EQ(apart.places.size(), 2u);
    EXPECT_NEAR(apart.gap, LargestGap(apart), apart.gap);
    EXPECT_GT(apart.gap, 0.05);
    const Decomposition result = Decomposed(animated, {.joints = 2, .connected = true});
    ASSERT_GT(result.connected_errors.size(), 1u);
    ExpectFalling(result.connected_errors);
    const double rms = MeasureDecomposition(animated.animation(), result, Task()).all.rms;
    EXPECT_NEAR(rms, result.connected_errors.back(), 1e-5 * rms);
    EXPECT_LT(rms, 0.095) << in_plane;
  }
}

// Winding numbers next to such a sheet are about one half, larger in its hollow.
TEST(Decompose, HollowsOfSheetsAreNotInside) {
  for (const double bow : {0.1, 0.2, 0.4}) {
    const Animated animated =
        Animate(Sheet(bow), 20, [&](std::size_t, const Vec3d& rest, std::size_t f) {
          const double t = std::clamp(0.5 + rest.x, 0.0, 1.0), second = t * t * (3 - 2 * t);
          const Vec3d about = {0, 0, bow};
          const AffineD turn = RigidMotion({0, 1, 0}, 40 * std::sin(Phase(f)));
          return (1 - second) * rest + second * (Apply(turn, rest - about) + about);
        });
    const decompose::Inside inside(animated.rest, {});
    EXPECT_FALSE(inside.Has({0, 0, 0.9 * bow}, Task())) << bow;
    const Decomposition apart = Decomposed(animated, {.joints = 2});
    ASSERT_EQ(apart.places.size(), 2u);
    EXPECT_LT(apart.gap, 1e-3) << bow;
    const Decomposition result = Decomposed(animated, {.joints = 2, .connected = true});
    EXPECT_NEAR(result.places[1].z, bow, 0.02) << bow;
    EXPECT_LT(MeasureDecomposition(animated.animation(), result, Task()).all.rms, 1e-3) << bow;
  }
}

TEST(Decompose, JointsThatHardlyHelpAreRemoved) {
  const Animated animated = BentCylinder(20, 15, 0.3);
  for (const std::uint32_t asked : {3u, 6u, 12u}) {
    const Decomposition result = Decomposed(animated, {.joints = asked});
    EXPECT_EQ(result.parents.size(), 2u) << asked;
    EXPECT_LT(MeasureDecomposition(animated.animation(), result, Task()).all.rms,
              1e-5 * animated.rest.diagonal());
    ASSERT_EQ(result.warnings.size(), 1u);
    EXPECT_EQ(result.warnings[0].field, "joints");
    EXPECT_NE(result.warnings[0].message.find(" removed, as the error without them is at most 1 %"),
              std::string::npos);
  }
}

// A removal improves the others as an iteration does, which says nothing about the joint.
TEST(Decompose, JointsStayIfIterationsEndBeforeTheyGainLittle) {
  const Animated animated = Wave(15);
  for (const std::uint32_t iterations : {1u, 2u, 5u}) {
    const Decomposition result = Decomposed(animated, {.joints = 16, .iterations = iterations});
    EXPECT_EQ(result.errors.size(), iterations + 1);
    EXPECT_EQ(result.parents.size(), 16u) << iterations;
    EXPECT_TRUE(result.warnings.empty()) << iterations;
  }
}

// A removal takes about as long as an iteration, so there are at most as many.
TEST(Decompose, IterationsBoundRemovals) {
  const Animated animated = BentCylinder(20, 15, 0.3);
  std::set<double> progress;
  Task::Options task;
  task.progress = [&](double part) { progress.insert(part); };
  const Decomposition all = ValueOrDie(Decompose(animated.animation(), {.joints = 12}, task));
  EXPECT_EQ(all.parents.size(), 2u);
  const std::size_t needed = all.errors.size() - 1;
  // Once after the clusters and each iteration and at the end, the others while joints are removed.
  EXPECT_GE(progress.size(), needed + 2 + 5);
  const auto iterations = static_cast<std::uint32_t>(needed);
  const Decomposition few = Decomposed(animated, {.joints = 12, .iterations = iterations});
  EXPECT_EQ(few.errors, all.errors);
  ASSERT_EQ(few.warnings.size(), 1u);
  EXPECT_NE(few.warnings[0].message.find("; " + std::to_string(needed) + " removed, "),
            std::string::npos)
      << few.warnings[0].message;
}

TEST(Decompose, VertexThatSpikesIsNamed) {
  Animated animated = BentCylinder(20);
  EXPECT_TRUE(Decomposed(animated, {.joints = 2}).warnings.empty());
  animated.places[7 * animated.rest.vertices() + 100].x += 2;
  const Decomposition result = Decomposed(animated, {.joints = 2});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].field, "frames");
  EXPECT_EQ(result.warnings[0].message.substr(0, 25), "in frame 7 vertex 100 is ");
  EXPECT_EQ(result.warnings[0].message.find("more"), std::string::npos);
}

TEST(Decompose, NeighboursThatSpikeTogetherAreNamed) {
  Animated animated = BentCylinder(20);
  const std::size_t frame = 7 * animated.rest.vertices();
  for (const std::size_t other : {101u, 116u}) {  // around the cylinder, and along it
    const std::vector<Vec3f> places = animated.places;
    animated.places[frame + 100].x += 2;
    animated.places[frame + other].x += 2;
    const Decomposition result = Decomposed(animated, {.joints = 2});
    ASSERT_EQ(result.warnings.size(), 1u) << other;
    const std::string& message = result.warnings[0].message;
    const std::string either = "in frame 7 vertex 100 and its neighbour " + std::to_string(other);
    const std::string reverse =
        "in frame 7 vertex " + std::to_string(other) + " and its neighbour 100";
    EXPECT_TRUE(message.starts_with(either) || message.starts_with(reverse)) << message;
    EXPECT_EQ(message.find("more"), std::string::npos);
    animated.places = places;
  }
  for (const float less : {1.2F, 1.6F}) {
    const std::vector<Vec3f> places = animated.places;
    animated.places[frame + 100].x += 2;
    animated.places[frame + 101].x += less;
    const Decomposition result = Decomposed(animated, {.joints = 2});
    ASSERT_EQ(result.warnings.size(), 1u) << less;
    const std::string& message = result.warnings[0].message;
    EXPECT_TRUE(message.starts_with("in frame 7 vertex 100 and its neighbour 101 ")) << message;
    EXPECT_EQ(message.find("more"), std::string::npos);
    animated.places = places;
  }
  animated.places[frame + 100].x += 2;
  animated.places[frame + 101].x += 1.9F;
  animated.places[frame + 300].y += 1;
  const Decomposition result = Decomposed(animated, {.joints = 2});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_NE(result.warnings[0].message.find(", and so is 1 more: "), std::string::npos)
      << result.warnings[0].message;
}

TEST(Decompose, EqualFramesAreNoAnimation) {
  Animated animated = BentCylinder(20);
  const auto vertices = static_cast<std::ptrdiff_t>(animated.rest.vertices());
  for (std::ptrdiff_t f = 3; f < 20; ++f) {
    std::copy_n(animated.places.begin(), vertices, animated.places.begin() + f * vertices);
  }
  const std::string few =
      Decomposed(animated, {.joints = 8, .iterations = 1}).warnings.at(0).message;
  EXPECT_EQ(few, "3 different ones for 8 joints are few: weights may fit these frames only");
  for (std::ptrdiff_t f = 1; f < 3; ++f) {
    std::copy_n(animated.places.begin(), vertices, animated.places.begin() + f * vertices);
  }
  const std::string all =
      Decomposed(animated, {.joints = 1, .iterations = 1}).warnings.at(0).message;
  EXPECT_TRUE(all.starts_with("20, all of them equal, are no animation: ")) << all;
}

TEST(Decompose, MirroredAnimationsAreWarnedOf) {
  Animated animated = BentCylinder(20);
  for (Vec3f& p : animated.places) p.y = -p.y;
  const std::vector<Problem> warnings =
      Decomposed(animated, {.joints = 2, .iterations = 2}).warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].field, "rest");
  EXPECT_NE(warnings[0].message.find("mirror image"), std::string::npos);
}

// A bump rises for a single frame each time elsewhere, a few edges wide: fast, but smooth. It
// catches vertices on its top and on its flanks.
TEST(Decompose, FastSmoothMotionIsNoSpike) {
  Body sheet;
  constexpr std::uint32_t kSide = 30;
  for (std::uint32_t v = 0; v < kSide * kSide; ++v) {
    sheet.points.push_back({v % kSide * 1.0, v / kSide * 1.0, 0});
    if (v % kSide + 1 == kSide || v / kSide + 1 == kSide) continue;
    sheet.faces.push_back({v, v + 1, v + kSide + 1, v + kSide});
  }
  for (const double width : {1.5, 2.0, 4.0}) {
    const Animated animated = Animate(sheet, 8, [&](std::size_t, const Vec3d& rest, std::size_t f) {
      const Vec3d top = {5 + 2.7 * static_cast<double>(f), 14.3, 0};
      const Vec3d away = rest - top;
      const double height = f % 2 == 0 ? 0 : 6 * std::exp(-Dot(away, away) / (2 * width * width));
      return rest + Vec3d{0, 0, height};
    });
    for (const Problem& warning : Decomposed(animated, {.joints = 2, .iterations = 2}).warnings) {
      EXPECT_NE(warning.field, "frames") << width << ": " << warning.message;
    }
  }
}

TEST(Decompose, SpikesAreCounted) {
  Animated animated = BentCylinder(20);
  animated.places[7 * animated.rest.vertices() + 100].x += 2;
  animated.places[3 * animated.rest.vertices() + 300].y += 1;
  animated.places[12 * animated.rest.vertices() + 500].z += 1;
  const Decomposition result = Decomposed(animated, {.joints = 2});
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0].message.substr(0, 25), "in frame 7 vertex 100 is ");
  EXPECT_NE(result.warnings[0].message.find("at least 10 times"), std::string::npos);
  EXPECT_NE(result.warnings[0].message.find(", and so are 2 more: "), std::string::npos);
}

// A flat sheet folds in the last frame alone: a whole row leaves its neighbours.
TEST(Decompose, FoldIsNoSpike) {
  Body sheet;
  constexpr std::uint32_t kSide = 20;
  for (std::uint32_t v = 0; v < kSide * kSide; ++v) {
    sheet.points.push_back({v % kSide - 9.5, v / kSide * 1.0, 0});
    if (v % kSide + 1 == kSide || v / kSide + 1 == kSide) continue;
    sheet.faces.push_back({v, v + 1, v + kSide + 1});
    sheet.faces.push_back({v, v + kSide + 1, v + kSide});
  }
  const auto warnings = [&](double spike) {
    const Animated animated =
        Animate(sheet, 6, [&](std::size_t v, const Vec3d& rest, std::size_t f) {
          if (f < 5) return rest;
          const Vec3d more = {0, 0, v == 84 ? spike : 0.0};
          return more + (rest.x > 0 ? Vec3d{0, rest.y, rest.x} : rest);
        });
    return Decomposed(animated, {.joints = 3}).warnings;
  };
  for (const Problem& warning : warnings(0)) EXPECT_EQ(warning.field, "joints");
  const std::vector<Problem> with_spike = warnings(1);
  ASSERT_FALSE(with_spike.empty());
  EXPECT_EQ(with_spike.back().message.substr(0, 24), "in frame 5 vertex 84 is ");
  EXPECT_EQ(with_spike.back().message.find("more"), std::string::npos);
}

TEST(Decompose, WeightsAreConvexAndFew) {
  const Animated animated = Wave(15);
  for (const std::uint32_t influences : {1u, 2u, 4u}) {
    const Decomposition result = Decomposed(animated, {.joints = 8, .influences = influences});
    for (std::size_t v = 0; v < animated.rest.vertices(); ++v) {
      double sum = 0;
      std::set<std::uint32_t> joints;
      for (const JointWeight& w : result.weights.row(v)) {
        EXPECT_GT(w.weight, 0);
        EXPECT_LT(w.joint, result.parents.size());
        joints.insert(w.joint);
        sum += w.weight;
      }
      EXPECT_EQ(joints.size(), result.weights.row(v).size());
      EXPECT_LE(joints.size(), influences);
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

TEST(Decompose, JointsAddUpToTheirPlacesInFloat) {
  Body body = testing::Cylinder(-2, 2, 0.5, 41, 16, {123.456, -7.89, 0.0321});
  const Animated animated = Animate(body, 15, [](std::size_t, const Vec3d& rest, std::size_t f) {
    return rest + Vec3d{0, 0.4 * std::sin(2 * rest.x + Phase(f)), 0};
  });
  const Decomposition result = Decomposed(animated, {.joints = 8});
  ASSERT_EQ(result.parents.size(), 8u);
  EXPECT_EQ(result.parents[0], kNoJoint);
  std::vector<Vec3f> sums;
  for (std::size_t j = 0; j < result.parents.size(); ++j) {
    const Vec3f& at = result.places[j];
    if (j == 0) {
      sums.push_back(at);
      continue;
    }
    ASSERT_LT(result.parents[j], j);
    const Vec3f& parent = result.places[result.parents[j]];
    const Vec3f& sum = sums[result.parents[j]];
    sums.push_back(
        {sum.x + (at.x - parent.x), sum.y + (at.y - parent.y), sum.z + (at.z - parent.z)});
    EXPECT_EQ(sums[j], at);
  }
}

TEST(Decompose, ResultDoesNotDependOnThreads) {
  const Animated animated = Wave(15);
  const auto run = [&](std::size_t threads) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    return Decomposed(animated, {.joints = 8, .connected = true});
  };
  const Decomposition one = run(1), four = run(4);
  EXPECT_EQ(one.errors, four.errors);
  EXPECT_EQ(one.weights.values, four.weights.values);
  EXPECT_EQ(one.places, four.places);
  for (std::size_t k = 0; k < one.poses.size(); ++k) EXPECT_EQ(one.poses[k].m, four.poses[k].m);
}

TEST(Decompose, RefusesWhatIsOutOfRange) {
  const Animated animated = BentCylinder(3);
  const auto refusal = [&](const MeshAnimation& animation, const DecomposeOptions& options) {
    const auto result = Decompose(animation, options, {});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(result.status().message());
  };
  const MeshAnimation good = animated.animation();
  EXPECT_EQ(refusal(good, {.joints = 0}), "joints: got 0, need 1 to 256");
  EXPECT_EQ(refusal(good, {.joints = 257}), "joints: got 257, need 1 to 256");
  EXPECT_EQ(refusal(good, {.influences = 9}), "influences: got 9, need 1 to 8");
  EXPECT_EQ(refusal(good, {.iterations = 0}), "iterations: got 0, need 1 to 1000");
  MeshAnimation bad = good;
  bad.frames = 2;
  EXPECT_EQ(refusal(bad, {}), "places: got 1974, need 2 frames of 658 vertices");
  bad.frames = 0;
  EXPECT_EQ(refusal(bad, {}).substr(0, 30), "frames: got 0 of 658 vertices,");

  std::vector<Vec3f> places = animated.places;
  places[660].y = std::nanf("");
  bad.frames = good.frames;
  bad.places = places;
  EXPECT_EQ(refusal(bad, {}), "places: vertex 2 of frame 1 is not finite");

  places = animated.places;  // in centimetres
  for (Vec3f& p : places) p = {100 * p.x, 100 * p.y, 100 * p.z};
  bad.places = places;
  EXPECT_EQ(refusal(bad, {}).substr(0, 46), "rest: edges of the animation are 100 times as ");
}

TEST(Decompose, EndsWhenItIsCancelled) {
  const Animated animated = Wave(15);
  std::stop_source stop;
  Task::Options task{.stop = stop.get_token()};
  int calls = 0;
  task.progress = [&](double) {
    if (++calls == 2) stop.request_stop();
  };
  EXPECT_EQ(Decompose(animated.animation(), {.joints = 8}, task).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_EQ(Decompose(animated.animation(), {}, {.memory_limit = 1000}).status().code(),
            absl::StatusCode::kResourceExhausted);
  // Every part of the work notices it, whatever was the last progress before.
  int all = 0;
  task.stop = {};
  task.progress = [&](double) { ++all; };
  ASSERT_TRUE(Decompose(animated.animation(), {.joints = 2}, task).ok());
  for (int last = 1; last < all; ++last) {
    std::stop_source at_last;
    calls = 0;
    task.stop = at_last.get_token();
    task.progress = [&](double) {
      if (++calls == last) at_last.request_stop();
    };
    EXPECT_EQ(Decompose(animated.animation(), {.joints = 2}, task).status().code(),
              absl::StatusCode::kCancelled)
        << last;
  }
}

}  // namespace
}  // namespace sinew
