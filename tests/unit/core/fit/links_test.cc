#include "core/fit/links.h"

#include <gtest/gtest.h>

#include "core/base/vectors.h"
#include "tests/support/figures.h"

namespace sinew::fit {
namespace {

using sinew::testing::Capsule;
using sinew::testing::MeshOf;
using sinew::testing::ValueOrDie;

Body BodyOf(const sinew::testing::Body& points) {
  return ValueOrDie(Body::Create(MeshOf(points), 96, Task()));
}

TEST(FindLinks, JoinPlacesWhoseCellsTouchByTheShortestWay) {
  const Body body = BodyOf(Capsule({0, 0, 0}, {8, 0, 0}, 1));
  std::vector<Vec3d> places;
  for (const double x : {0.0, 8.0, 3.0}) places.push_back(body.ToUnit({x, 0, 0}));
  const std::vector<Link> links = FindLinks(body, places);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].first, 0u);
  EXPECT_EQ(links[0].second, 2u);
  EXPECT_EQ(links[1].first, 1u);
  EXPECT_EQ(links[1].second, 2u);
  const double steps = Length(places[2] - places[0]) / body.cell();
  EXPECT_NEAR(links[0].steps, steps, 2);
  EXPECT_NEAR(links[1].steps, 5 * steps / 3, 2);
}

TEST(FindLinks, GoAroundWhatIsOutside) {
  // A U: its ends are near each other, but the way is long.
  sinew::testing::Body u = Capsule({-2, 6, 0}, {-2, 0, 0}, 1);
  Append(u, Capsule({-2, 0, 0}, {2, 0, 0}, 1));
  Append(u, Capsule({2, 0, 0}, {2, 6, 0}, 1));
  const Body body = BodyOf(u);
  const std::vector<Vec3d> places = {body.ToUnit({-2, 6, 0}), body.ToUnit({2, 6, 0})};
  const std::vector<Link> links = FindLinks(body, places);
  ASSERT_EQ(links.size(), 1u);
  EXPECT_GT(links[0].steps * body.cell(), 2.5 * Length(places[1] - places[0]));
}

TEST(FindLinks, PlacesOutsideHaveNone) {
  const Body body = BodyOf(Capsule({0, 0, 0}, {8, 0, 0}, 1));
  EXPECT_TRUE(FindLinks(body, std::vector{body.ToUnit({4, 0, 0}), Vec3d{9, 9, 9}}).empty());
}

}  // namespace
}  // namespace sinew::fit
