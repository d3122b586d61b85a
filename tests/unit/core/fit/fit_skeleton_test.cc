#include "core/fit/fit_skeleton.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <stop_token>

#include "core/base/vectors.h"
#include "tests/support/figures.h"

namespace sinew {
namespace {

using sinew::testing::Body;
using sinew::testing::Capsule;
using sinew::testing::Figure;
using sinew::testing::Fleshed;
using sinew::testing::MeshOf;
using sinew::testing::Perturbed;
using sinew::testing::Standing;
using sinew::testing::ValueOrDie;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// At a coarse resolution, which the thick limbs of these figures allow.
SkeletonFit Fit(const Figure& figure, FitOptions options = {}) {
  options.resolution = 128;
  Task task;
  return ValueOrDie(FitSkeleton(MeshOf(figure.body), figure.skeleton, options, task));
}

double LargestError(const Figure& figure, const SkeletonFit& fitted) {
  double largest = 0;
  for (std::size_t j = 0; j < figure.places.size(); ++j) {
    largest = std::max(largest, Length(fitted.places[j] - figure.places[j]));
  }
  return largest / figure.height;
}

Vec3d TurnedY(const Vec3d& p, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  return {std::cos(angle) * p.x + std::sin(angle) * p.z, p.y,
          std::cos(angle) * p.z - std::sin(angle) * p.x};
}

class FitSkeletonOf : public ::testing::TestWithParam<const char*> {};

TEST_P(FitSkeletonOf, FindsTheJointsOfCapsulesAroundTheTemplate) {
  const Figure figure = Standing(GetParam());
  const SkeletonFit fitted = Fit(figure);
  EXPECT_LT(fitted.facing.residual, kDoubtfulResidual);
  EXPECT_EQ(fitted.facing.forward, (Vec3d{0, 0, 1}));
  EXPECT_LT(LargestError(figure, fitted), 0.1);
}

TEST_P(FitSkeletonOf, FindsThoseOfOtherProportions) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Figure figure = Perturbed(GetParam(), seed);
    const SkeletonFit fitted = Fit(figure);
    EXPECT_LT(fitted.facing.residual, kDoubtfulResidual) << seed;
    const double error = LargestError(figure, fitted);
    EXPECT_LT(error, 0.15) << seed;
  }
}

TEST_P(FitSkeletonOf, SymmetricBodiesHaveSymmetricSkeletons) {
  const Figure figure = Standing(GetParam());
  const SkeletonFit fitted = Fit(figure);
  for (std::size_t j = 0; j < figure.places.size(); ++j) {
    const std::uint32_t partner = figure.skeleton.joints[j].partner;
    const Vec3d other = fitted.places[partner == fit::kNone ? j : partner];
    EXPECT_LT(Length(fitted.places[j] - Vec3d{-other.x, other.y, other.z}), 1e-9)
        << figure.skeleton.joints[j].name;
  }
}

TEST_P(FitSkeletonOf, JointsAtEndsOfLimbsReachThem) {
  double sum = 0, count = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Figure figure = Perturbed(GetParam(), seed);
    const SkeletonFit fitted = Fit(figure);
    std::vector<bool> inner(figure.places.size());
    for (std::size_t j = 1; j < inner.size(); ++j) inner[figure.skeleton.joints[j].parent] = true;
    for (std::size_t j = 1; j < inner.size(); ++j) {
      if (inner[j]) continue;
      sum += Length(fitted.places[j] - figure.places[j]) / figure.height;
      ++count;
    }
  }
  EXPECT_LT(sum / count, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Templates, FitSkeletonOf,
                         ::testing::Values("human", "quadruped", "horse", "centaur"));

TEST(FitSkeleton, ScaleAndPlaceOfTheMeshDoNotMatter) {
  Figure figure = Standing("human");
  const SkeletonFit near = Fit(figure);
  const Vec3d shift = {512, -1024, 256};
  figure.body = Mapped(figure.body, [&](const Vec3d& p) { return 128 * p + shift; });
  const SkeletonFit far = Fit(figure);
  for (std::size_t j = 0; j < near.places.size(); ++j) {
    EXPECT_LT(Length(far.places[j] - (128 * near.places[j] + shift)), 0.02 * 128);
  }
}

TEST(FitSkeleton, FacesAnyOfFourWays) {
  const Figure figure = Standing("human");
  for (const double degrees : {90.0, 180.0, 270.0}) {
    Figure turned = figure;
    turned.body = Mapped(figure.body, [&](const Vec3d& p) { return TurnedY(p, degrees); });
    for (Vec3d& place : turned.places) place = TurnedY(place, degrees);
    EXPECT_LT(LargestError(turned, Fit(turned)), 0.1) << degrees;
  }
}

std::vector<std::string> Messages(const SkeletonFit& fitted) {
  std::vector<std::string> messages;
  for (const Problem& warning : fitted.warnings) messages.push_back(warning.message);
  return messages;
}

// A human whose joints of these names are elsewhere than in the template.
Figure Posed(const std::map<std::string, Vec3d>& moved) {
  const Figure standing = Standing("human");
  std::vector<Vec3d> places = standing.places;
  for (std::size_t j = 0; j < places.size(); ++j) {
    const auto found = moved.find(standing.skeleton.joints[j].name);
    if (found != moved.end()) places[j] = found->second;
  }
  return Fleshed(standing.skeleton, places);
}

std::vector<Vec3d> NamedPlaces(const Figure& figure, const SkeletonFit& fitted,
                               const std::vector<std::string>& names) {
  std::vector<Vec3d> places;
  for (const std::string& name : names) {
    const auto& joints = figure.skeleton.joints;
    const auto found = std::ranges::find(joints, name, &fit::TemplateJoint::name);
    places.push_back(fitted.places[static_cast<std::size_t>(found - joints.begin())]);
  }
  return places;
}

// With arms straight to the sides, only the feet differ between front and back.
TEST(FitSkeleton, FeetTellFrontFromBack) {
  const Figure figure = Posed({{"left_elbow", {0.45, 0.5, 0}},
                               {"left_hand", {0.6, 0.5, 0}},
                               {"left_hand_end", {0.7, 0.5, 0}},
                               {"right_elbow", {-0.45, 0.5, 0}},
                               {"right_hand", {-0.6, 0.5, 0}},
                               {"right_hand_end", {-0.7, 0.5, 0}}});
  for (const double degrees : {0.0, 180.0}) {
    Figure turned = figure;
    turned.body = Mapped(figure.body, [&](const Vec3d& p) { return TurnedY(p, degrees); });
    const SkeletonFit fitted = Fit(turned);
    EXPECT_EQ(fitted.facing.forward.z, degrees == 0 ? 1 : -1);
    EXPECT_FALSE(fitted.other.has_value());
    EXPECT_THAT(Messages(fitted), Not(Contains(HasSubstr("may face")))) << degrees;
  }
  Figure both = figure;
  for (const double x : {-0.15, 0.15})
    Append(both.body, Capsule({x, -0.8, 0}, {x, -0.8, -0.1}, 0.06));
  EXPECT_THAT(Messages(Fit(both)), Contains(HasSubstr("the character may face")));
}

// Capsules have no feet, but legs that lean.
TEST(FitSkeleton, LeaningLegsDoNotCountAsFeet) {
  const Figure figure = Perturbed("horse", 20);
  Task task;
  const SkeletonFit fitted =
      ValueOrDie(FitSkeleton(MeshOf(figure.body), figure.skeleton, {}, task));
  EXPECT_EQ(fitted.facing.forward, (Vec3d{0, 0, 1}));
}

// The ears reach farther up than the head between them.
TEST(FitSkeleton, HeadOfSymmetricBodyIsNotInOneEar) {
  Figure figure = Standing("human");
  for (const double side : {-1.0, 1.0}) {
    Append(figure.body, Capsule({side * 0.05, 0.7, 0}, {side * 0.25, 1.1, 0}, 0.06));
  }
  for (const Vec3d& place : NamedPlaces(figure, Fit(figure), {"neck", "head", "head_top"})) {
    EXPECT_NEAR(place.x, 0, 1e-9);
  }
}

// The legs of these bend by 9 degrees at most, which tells little about the places of the knees.
TEST(FitSkeleton, LimbsThatAreNearlyStraightKeepProportions) {
  constexpr double kOfTemplate = 0.354 / 0.45;
  for (unsigned seed = 16; seed <= 20; ++seed) {
    const Figure figure = Perturbed("human", seed);
    Task task;
    const SkeletonFit fitted =
        ValueOrDie(FitSkeleton(MeshOf(figure.body), figure.skeleton, {}, task));
    for (const std::string side : {"left_", "right_"}) {
      const auto leg = NamedPlaces(figure, fitted, {side + "thigh", side + "knee", side + "ankle"});
      const double ratio = Length(leg[1] - leg[0]) / Length(leg[2] - leg[1]);
      EXPECT_NEAR(ratio / kOfTemplate, 1, 0.05) << seed << side;
    }
  }
}

// Arms of this one have other proportions than those of Pinocchio, in which the hand is the end.
TEST(FitSkeleton, HandsAreWristsAndArmsHaveProportionsOfPeople) {
  const Figure figure = Posed({{"left_elbow", {0.386, 0.5, 0}},
                               {"left_hand", {0.532, 0.5, 0}},
                               {"left_hand_end", {0.627, 0.5, 0}},
                               {"right_elbow", {-0.386, 0.5, 0}},
                               {"right_hand", {-0.532, 0.5, 0}},
                               {"right_hand_end", {-0.627, 0.5, 0}}});
  const SkeletonFit fitted = Fit(figure);
  const auto arm = NamedPlaces(figure, fitted, {"left_elbow", "left_hand", "left_hand_end"});
  EXPECT_NEAR(arm[0].x, 0.386, 0.03);
  EXPECT_NEAR(arm[1].x, 0.532, 0.03);
  EXPECT_NEAR(arm[2].x, 0.627, 0.03);
}

TEST(FitSkeleton, ArmThatIsHeldOtherwiseStaysWhereItIs) {
  const Vec3d hand = {0.6, 0, 0.19}, other = {-0.6, 0, 0.15};
  const Figure figure = Posed({{"left_hand_end", hand}});
  const SkeletonFit fitted = Fit(figure);
  const auto hands = NamedPlaces(figure, fitted, {"left_hand_end", "right_hand_end"});
  EXPECT_LT(Length(hands[0] - hand), 0.014);
  EXPECT_LT(Length(hands[1] - other), 0.014);
  for (const Vec3d& place : NamedPlaces(figure, fitted, {"chest", "hips", "head"})) {
    EXPECT_NEAR(place.x, 0, 1e-3);
  }
  EXPECT_THAT(Messages(fitted), Not(Contains(HasSubstr("the body is symmetric"))));
}

TEST(FitSkeleton, PlaneOfSymmetryMayBeBesideTheMiddleOfTheBox) {
  const Figure figure = Posed({{"left_hand_end", {0.635, 0.0175, 0.15}}});
  const SkeletonFit fitted = Fit(figure);
  for (const Vec3d& place : NamedPlaces(figure, fitted, {"chest", "hips", "head"})) {
    EXPECT_NEAR(place.x, 0, 0.002);
  }
}

TEST(FitSkeleton, BodyThatLeansHasEqualSides) {
  const Figure upright = Standing("human");
  for (const double degrees : {-5.0, 10.0}) {
    const double angle = degrees * std::numbers::pi / 180;
    const auto lean = [&](const Vec3d& p) {
      return Vec3d{std::cos(angle) * p.x - std::sin(angle) * p.y,
                   std::sin(angle) * p.x + std::cos(angle) * p.y, p.z};
    };
    Figure figure = upright;
    figure.body = Mapped(upright.body, lean);
    for (Vec3d& place : figure.places) place = lean(place);
    const SkeletonFit fitted = Fit(figure);
    EXPECT_LT(LargestError(figure, fitted), 0.1) << degrees;
    const auto& joints = figure.skeleton.joints;
    const auto length = [&](std::size_t j) {
      return Length(fitted.places[j] - fitted.places[joints[j].parent]);
    };
    for (std::size_t j = 0; j < joints.size(); ++j) {
      if (joints[j].partner == fit::kNone) continue;
      EXPECT_NEAR(length(j), length(joints[j].partner), 1e-9) << degrees << " " << joints[j].name;
    }
  }
}

TEST(FitSkeleton, LimbsOfSymmetricBodyThatDifferAreReported) {
  const Figure figure = Standing("human");
  const auto differ =
      HasSubstr("the body is symmetric there, but it is far from where \"left_elbow\"");
  EXPECT_THAT(Messages(Fit(figure)), Not(Contains(differ)));
  const FitOptions wrong{.hints = {{"right_hand_end", {0, 0.7, 0}}}};
  EXPECT_THAT(Messages(Fit(figure, wrong)), Contains(differ));
}

TEST(FitSkeleton, PlaceOfTheTemplateDoesNotMatter) {
  Figure figure = Standing("human");
  for (const bool pairs : {true, false}) {
    for (fit::TemplateJoint& joint : figure.skeleton.joints) {
      if (!pairs) joint.partner = fit::kNone;
    }
    const SkeletonFit fitted = Fit(figure);
    Figure moved = figure;
    // The left knee is where the middle was.
    for (fit::TemplateJoint& joint : moved.skeleton.joints) joint.place.x -= 0.15;
    const SkeletonFit of_moved = Fit(moved);
    for (std::size_t j = 0; j < fitted.places.size(); ++j) {
      const fit::TemplateJoint& joint = figure.skeleton.joints[j];
      EXPECT_LT(Length(of_moved.places[j] - fitted.places[j]), 0.02) << joint.name;
      if (!pairs || joint.partner != fit::kNone) continue;
      EXPECT_NEAR(of_moved.places[j].x, 0, 1e-9) << joint.name;
    }
  }
}

TEST(FitSkeleton, JointsOfOneSideWithoutPartnersStayThere) {
  Figure figure = Standing("human");
  for (fit::TemplateJoint& joint : figure.skeleton.joints) joint.partner = fit::kNone;
  const SkeletonFit fitted = Fit(figure);
  EXPECT_LT(LargestError(figure, fitted), 0.1);
}

TEST(FitSkeleton, BothLegsOfRunnerHaveTheirBones) {
  const Figure figure = Posed({{"right_knee", {-0.15, -0.35, 0}},
                               {"right_ankle", {-0.15, -0.45, -0.4}},
                               {"right_foot", {-0.15, -0.55, -0.42}}});
  const SkeletonFit fitted = Fit(figure);
  for (std::size_t j = 0; j < figure.places.size(); ++j) {
    if (!figure.skeleton.joints[j].foot) continue;
    EXPECT_LT(Length(fitted.places[j] - figure.places[j]), 0.1 * figure.height)
        << figure.skeleton.joints[j].name;
  }
}

// The hind legs pass through the spheres at the root of its tail, which is short.
TEST(FitSkeleton, ShortTailBetweenLegsHasItsBone) {
  const Figure figure = Perturbed("quadruped", 6);
  Task task;
  const SkeletonFit fitted =
      ValueOrDie(FitSkeleton(MeshOf(figure.body), figure.skeleton, {}, task));
  EXPECT_LT(Length(fitted.places.back() - figure.places.back()), 0.02 * figure.height);
}

TEST(FitSkeleton, LimbWithoutBoneIsReportedWithItsPlace) {
  Figure figure = Standing("human");
  EXPECT_THAT(Messages(Fit(figure)), Not(Contains(HasSubstr("no bone lies"))));
  Append(figure.body, Capsule({0, 0.1, 0}, {0, -0.2, -0.5}, 0.05));
  EXPECT_THAT(Messages(Fit(figure)),
              Contains(HasSubstr("no bone lies in a part of it that ends at")));
}

TEST(FitSkeleton, FindsWhichWayIsUp) {
  const Figure figure = Standing("human");
  // x to y, y to z, z to x.
  const auto turn = [](const Vec3d& p) { return Vec3d{p.z, p.x, p.y}; };
  Figure lying = figure;
  lying.body = Mapped(figure.body, turn);
  for (Vec3d& place : lying.places) place = turn(place);
  EXPECT_LT(LargestError(lying, Fit(lying, {.up = FitUp::kUnknown})), 0.1);
  EXPECT_LT(LargestError(lying, Fit(lying, {.up = FitUp::kZ})), 0.1);
}

TEST(FitSkeleton, VerticesWithoutFacesDoNotMatter) {
  const Figure figure = Standing("human");
  Figure more = figure;
  more.body.points.push_back({5, 5, 5});
  EXPECT_EQ(Fit(more).places, Fit(figure).places);
}

TEST(FitSkeleton, WhatIsFarFromTheBodyDoesNotMatter) {
  const Figure figure = Standing("human");
  Figure on_floor = figure;
  const auto corner = static_cast<std::uint32_t>(figure.body.points.size());
  const double side = 3 * figure.height;
  for (const auto& [x, z] : {std::pair{-1, -1}, {-1, 1}, {1, 1}, {1, -1}}) {
    on_floor.body.points.push_back({side * x, -0.6 * figure.height, side * z});
  }
  on_floor.body.faces.push_back({corner, corner + 1, corner + 2, corner + 3});
  Figure beside_another = figure;
  const Vec3d away = {2 * figure.height, 0, 0};
  const Body half = Mapped(figure.body, [&](const Vec3d& p) { return 0.5 * p + away; });
  for (auto face : half.faces) {
    for (std::uint32_t& v : face) v += corner;
    beside_another.body.faces.push_back(face);
  }
  beside_another.body.points.insert(beside_another.body.points.end(), half.points.begin(),
                                    half.points.end());
  for (const Figure& each : {on_floor, beside_another}) {
    EXPECT_LT(LargestError(figure, Fit(each)), 0.1);
  }
  EXPECT_THAT(Messages(Fit(beside_another)), Contains(HasSubstr("was left out")));
}

// Capsules around the bones, those to `apart` shorter: they begin `gap` behind the end of the bone
// above.
Figure InPieces(std::initializer_list<std::string_view> apart, double gap) {
  Figure figure = Standing("human");
  figure.body = {};
  for (std::size_t j = 1; j < figure.places.size(); ++j) {
    const fit::TemplateJoint& joint = figure.skeleton.joints[j];
    const Vec3d root = figure.places[joint.parent], tip = figure.places[j];
    const double radius = joint.partner == fit::kNone ? 0.13 : 0.06;
    const bool is_apart = std::ranges::find(apart, joint.name) != apart.end();
    const double begin = is_apart ? 2 * radius + gap : 0;
    sinew::testing::Append(figure.body, Capsule(root + begin * Unit(tip - root), tip, radius));
  }
  return figure;
}

TEST(FitSkeleton, PiecesWithNarrowGapsAreOneBody) {
  const Figure whole = Standing("human");
  const Figure robot = InPieces({"left_elbow", "right_elbow", "left_knee", "right_knee"}, 0.024);
  const SkeletonFit fitted = Fit(robot);
  EXPECT_LT(LargestError(whole, fitted), 0.1);
  EXPECT_THAT(Messages(fitted), Not(Contains(HasSubstr("was left out"))));
}

TEST(FitSkeleton, PieceThatIsFarFromTheRestIsReported) {
  const Figure figure = InPieces({"left_knee"}, 0.1);
  EXPECT_THAT(Messages(Fit(figure)),
              Contains(AllOf(HasSubstr("was left out"), HasSubstr("as long as the body"))));
}

TEST(FitSkeleton, TurnedFacesDoNotMatter) {
  const Figure figure = Standing("human");
  Figure inside_out = figure;
  for (auto& face : inside_out.body.faces) std::ranges::reverse(face);
  EXPECT_EQ(Fit(inside_out).places, Fit(figure).places);
}

TEST(FitSkeleton, SaysWhetherAnotherDirectionFitsBetterThanTheOneAskedFor) {
  const Figure figure = Standing("human");
  const FitOptions only_forward{.turns = false};
  EXPECT_FALSE(Fit(figure, only_forward).other.has_value());
  Figure turned = figure;
  turned.body = Mapped(figure.body, [](const Vec3d& p) { return TurnedY(p, 180); });
  const SkeletonFit fitted = Fit(turned, only_forward);
  EXPECT_EQ(fitted.facing.forward, (Vec3d{0, 0, 1}));
  ASSERT_TRUE(fitted.other.has_value());
  EXPECT_EQ(fitted.other->forward, (Vec3d{0, 0, -1}));
  EXPECT_THAT(Messages(fitted), Contains(HasSubstr("the character may face -z with +y up")));
}

// A cross fits standing and lying.
TEST(FitSkeleton, SaysThatAnotherAxisMayBeUp) {
  Figure cross;
  cross.skeleton = {.name = "cross",
                    .joints = {{.name = "body", .place = {0, 0, 0}, .wide = true},
                               {.name = "top", .parent = 0, .place = {0, 0.9, 0}},
                               {.name = "bottom", .parent = 0, .place = {0, -0.9, 0}},
                               {.name = "left", .parent = 0, .place = {0.7, 0, 0}},
                               {.name = "right", .parent = 0, .place = {-0.7, 0, 0}}}};
  Append(cross.body, Capsule({0, -1, 0}, {0, 1, 0}, 0.12));
  Append(cross.body, Capsule({-0.8, 0, 0}, {0.8, 0, 0}, 0.12));
  const SkeletonFit fitted = Fit(cross, {.up = FitUp::kUnknown});
  EXPECT_TRUE(fitted.other.has_value());
  EXPECT_THAT(Messages(fitted), Contains(HasSubstr("the character may face")));
  // Lying is no usual way, and not better by far.
  EXPECT_FALSE(Fit(cross, {.up = FitUp::kUnknown, .turns = false}).other.has_value());
}

TEST(FitSkeleton, HintThatNeedsAnotherDirectionIsRefusedWithoutTurns) {
  const Figure figure = Standing("human");
  const FitOptions options{
      .hints = {{"left_hand_end", {-0.6, 0, 0.15}}}, .up = FitUp::kUnknown, .turns = false};
  Task task;
  EXPECT_THAT(
      std::string(
          FitSkeleton(MeshOf(figure.body), figure.skeleton, options, task).status().message()),
      HasSubstr("does not fit the body with these hints: no place for joint"));
}

TEST(FitSkeleton, OrderOfVerticesDoesNotMatter) {
  const Figure figure = Standing("human");
  Figure shuffled = figure;
  std::vector<std::uint32_t> order(figure.body.points.size());
  for (std::uint32_t v = 0; v < order.size(); ++v) order[v] = v;
  std::ranges::shuffle(order, std::mt19937(5));
  for (std::uint32_t v = 0; v < order.size(); ++v)
    shuffled.body.points[order[v]] = figure.body.points[v];
  for (auto& face : shuffled.body.faces) {
    for (std::uint32_t& corner : face) corner = order[corner];
  }
  EXPECT_EQ(Fit(shuffled).places, Fit(figure).places);
}

TEST(FitSkeleton, ThreadsDoNotChangeTheResult) {
  const Figure figure = Standing("horse");
  const Mesh mesh = MeshOf(figure.body);
  std::vector<SkeletonFit> fits;
  for (const int threads : {1, 4}) {
    tbb::task_arena(threads).execute([&] {
      Task task;
      fits.push_back(ValueOrDie(FitSkeleton(mesh, figure.skeleton, {.resolution = 128}, task)));
    });
  }
  EXPECT_EQ(fits[0].places, fits[1].places);
  EXPECT_EQ(fits[0].facing.residual, fits[1].facing.residual);
}

TEST(FitSkeleton, HintsAreKept) {
  const Figure figure = Standing("human");
  const Vec3d knee = {0.2, -0.3, 0.01}, hand = {0.6, 0, 0.15};
  const SkeletonFit fitted = Fit(figure, {.hints = {{"left_knee", knee}, {"left_hand_end", hand}}});
  int kept = 0;
  for (std::size_t j = 0; j < fitted.places.size(); ++j) {
    const std::string& name = figure.skeleton.joints[j].name;
    if (name != "left_knee" && name != "left_hand_end") continue;
    EXPECT_LT(Length(fitted.places[j] - (name == "left_knee" ? knee : hand)), 1e-6);
    ++kept;
  }
  EXPECT_EQ(kept, 2);
}

TEST(FitSkeleton, HintOnTheWrongSideIsReported) {
  const Figure figure = Standing("human");
  const Vec3d hand = figure.places[static_cast<std::size_t>(
      std::ranges::find(figure.skeleton.joints, "left_hand", &fit::TemplateJoint::name) -
      figure.skeleton.joints.begin())];
  EXPECT_THAT(Messages(Fit(figure, {.hints = {{"left_hand", hand}}})),
              Not(Contains(HasSubstr("left and right"))));
  const SkeletonFit turned = Fit(figure, {.hints = {{"left_hand", {-hand.x, hand.y, hand.z}}}});
  EXPECT_EQ(turned.facing.forward.z, -1);
  EXPECT_THAT(Messages(turned), Contains(HasSubstr("without them +z with +y up")));
}

// The corners of blocks are no limbs.
TEST(FitSkeleton, BlocksHaveNoThinParts) {
  Figure dog = Standing("quadruped");
  dog.body = {};
  const auto block = [&](const Vec3d& low, const Vec3d& high) {
    Body box;
    for (const double z : {low.z, high.z}) {
      for (const auto& [x, y] :
           {std::pair{low.x, low.y}, {high.x, low.y}, {high.x, high.y}, {low.x, high.y}}) {
        box.points.push_back({x, y, z});
      }
    }
    box.faces = {{3, 2, 1, 0}, {4, 5, 6, 7}, {0, 1, 5, 4},
                 {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};
    sinew::testing::Append(dog.body, box);
  };
  block({-0.3, -0.3, -0.5}, {0.3, 0.3, 0.5});
  block({-0.2, 0.1, 0.5}, {0.2, 0.5, 0.95});
  for (const double x : {-0.28, 0.1}) {
    for (const double z : {-0.48, 0.3}) block({x, -0.9, z}, {x + 0.18, -0.3, z + 0.18});
  }
  EXPECT_THAT(Messages(Fit(dog)), Not(Contains(HasSubstr("no bone lies"))));
}

TEST(FitSkeleton, AnimalsWithoutTailsKeepTheirHeads) {
  for (const unsigned seed : {8u, 3u}) {
    const Figure whole = Perturbed("horse", seed);
    Figure figure = whole;
    figure.body = {};
    std::size_t head = 0;
    for (std::size_t j = 1; j < figure.places.size(); ++j) {
      const fit::TemplateJoint& joint = figure.skeleton.joints[j];
      if (joint.name == "head") head = j;
      if (joint.name == "tail") continue;
      sinew::testing::Append(figure.body, Capsule(figure.places[joint.parent], figure.places[j],
                                                  joint.partner == fit::kNone ? 0.13 : 0.06));
    }
    EXPECT_LT(Length(Fit(figure).places[head] - whole.places[head]) / whole.height, 0.05) << seed;
  }
}

TEST(FitSkeleton, HintsWithinLimbsSteerTheFit) {
  // The knee of the left leg on the right: the character faces the other way.
  const Figure figure = Standing("human");
  const SkeletonFit turned = Fit(figure, {.hints = {{"left_knee", {-0.15, -0.35, 0}}}});
  EXPECT_EQ(turned.facing.forward.z, -1);
  EXPECT_THAT(Messages(turned), Contains(HasSubstr("without them +z with +y up")));
}

TEST(FitSkeleton, ReportsPartTooThinForSpheres) {
  Figure figure = Standing("human");
  const auto sword = static_cast<std::uint32_t>(figure.body.points.size());
  EXPECT_THAT(Messages(Fit(figure)), Not(Contains(HasSubstr("no bone lies"))));
  for (const double z : {0.1, 1.0}) {
    for (const auto& [x, y] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
      figure.body.points.push_back({0.6 + 0.015 * x, 0.015 * y, z});
    }
  }
  for (const auto& face : std::vector<std::vector<std::uint32_t>>{
           {3, 2, 1, 0}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}) {
    figure.body.faces.emplace_back();
    for (const std::uint32_t v : face) figure.body.faces.back().push_back(sword + v);
  }
  EXPECT_THAT(Messages(Fit(figure)), Contains(HasSubstr("no bone lies in a part of it")));
}

TEST(FitSkeleton, BoneWithoutLengthIsReported) {
  const Vec3d elbow = {0.4, 0.25, 0.075};
  const SkeletonFit fitted =
      Fit(Standing("human"), {.hints = {{"left_elbow", elbow}, {"left_hand", elbow}}});
  EXPECT_THAT(Messages(fitted), Contains("its bone has no length: it is where \"left_elbow\" is"));
  EXPECT_THAT(Messages(fitted), Not(Contains(HasSubstr("times as long as that of \"left_hand"))));
}

TEST(FitSkeleton, BodyOfAnotherKindIsRefusedOrDoubtful) {
  Figure ball = Standing("human");
  ball.body = Capsule({0, 0, 0}, {0, 0.01, 0}, 1);
  Task task;
  const auto fitted = FitSkeleton(MeshOf(ball.body), ball.skeleton, {}, task);
  if (fitted.ok()) {
    std::vector<std::string> fields;
    for (const Problem& warning : fitted->warnings) fields.push_back(warning.field);
    EXPECT_THAT(fields, Contains("joints.left_foot"));
    EXPECT_THAT(fields, Contains("joints.left_hand_end"));
  } else {
    EXPECT_EQ(fitted.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(fitted.status().message(), HasSubstr("no place for joint \""));
  }
}

TEST(FitSkeleton, BadInputIsNamed) {
  const Figure figure = Standing("human");
  const Mesh mesh = MeshOf(figure.body);
  const auto message = [&](const Mesh& of, const FitOptions& options) {
    Task task;
    const absl::Status status = FitSkeleton(of, figure.skeleton, options, task).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_THAT(message(mesh, {.resolution = 63}), HasSubstr("resolution: got 63, need 64 to 384"));
  EXPECT_THAT(message(mesh, {.scale = 0.4}), HasSubstr("scale: got 0.4, need 0.5 to 2"));
  EXPECT_THAT(message(mesh, {.scale = std::nan("")}), HasSubstr("scale: "));
  EXPECT_THAT(message(mesh, {.hints = {{"knee", {}}}}),
              AllOf(HasSubstr("hints[0].joint: got \"knee\", need one of chest"),
                    HasSubstr("did you mean left_knee or right_knee?")));
  EXPECT_THAT(message(mesh, {.hints = {{"hips", {1e9, 0, 0}}}}),
              HasSubstr("hints[0].place: got 1e+09, 0, 0, need a place in the mesh: "));
  EXPECT_THAT(message(mesh, {.hints = {{"hips", {}}, {"hips", {}}}}),
              HasSubstr("hints[0].joint: got \"hips\" twice"));
  EXPECT_THAT(message(mesh, {.hints = {{"hips", {std::nan(""), 0, 0}}}}),
              HasSubstr("hints[0].place"));
  Body sheet;
  sheet.points = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  sheet.faces = {{0, 1, 2, 3}};
  EXPECT_THAT(message(MeshOf(sheet), {}), HasSubstr("mesh: encloses no space"));
  Body point;
  point.points = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
  point.faces = {{0, 1, 2}};
  EXPECT_THAT(message(MeshOf(point), {}), HasSubstr("all vertices are at one place"));
}

TEST(FitSkeleton, StopsAndReportsProgress) {
  const Figure figure = Standing("human");
  const Mesh mesh = MeshOf(figure.body);
  std::vector<double> reported;
  Task whole({.progress = [&](double part) { reported.push_back(part); }});
  EXPECT_TRUE(FitSkeleton(mesh, figure.skeleton, {.resolution = 128}, whole).ok());
  ASSERT_FALSE(reported.empty());
  EXPECT_TRUE(std::ranges::is_sorted(reported));
  EXPECT_NEAR(reported.back(), 1, 1e-9);
  std::stop_source stop;
  Task stopped({.stop = stop.get_token(), .progress = [&](double) { stop.request_stop(); }});
  EXPECT_EQ(FitSkeleton(mesh, figure.skeleton, {}, stopped).status().code(),
            absl::StatusCode::kCancelled);
  Task small({.memory_limit = 1000});
  EXPECT_EQ(FitSkeleton(mesh, figure.skeleton, {}, small).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sinew
