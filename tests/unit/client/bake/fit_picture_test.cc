#include "client/bake/pictures/fit_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "client/models/models.h"
#include "client/rig/rest_pose.h"

namespace sinew::bake {
namespace {

using ::testing::FloatNear;
using ::testing::Pointwise;

// Up along Z, facing -Y: a picture has up along Y and looks along -Z.
TEST(FitPicture, FrontAndLeftSideFaceTheViewer) {
  const client::RigData rig = client::Tube({.rings = 3, .segments = 4, .joints = 2}).rig;
  const std::vector<float> joints = client::RestJoints(rig);
  const client::FitFacing facing{.residual = 0, .up = {0, 0, 1}, .forward = {0, -1, 0}};
  const std::vector<float> points = client::RestPositions(rig);
  const PosedPanel front = FitPanel(rig, joints, facing, 0, "front");
  const PosedPanel left = FitPanel(rig, joints, facing, 90, "left");
  EXPECT_EQ(front.label, "front");
  ASSERT_EQ(front.joints.size(), joints.size());
  std::vector<float> of_front, of_left;
  const auto add = [&](const float* p) {
    of_front.insert(of_front.end(), {p[0], p[2], -p[1]});
    of_left.insert(of_left.end(), {p[1], p[2], p[0]});  // its left is +X
  };
  for (std::size_t v = 0; v < points.size(); v += 3) add(&points[v]);
  const auto from_first = [](std::vector<float> places) {
    for (std::size_t k = places.size(); k-- > 0;) places[k] -= places[k % 3];
    return places;
  };
  EXPECT_THAT(from_first(front.positions), Pointwise(FloatNear(1e-6f), from_first(of_front)));
  EXPECT_THAT(from_first(left.positions), Pointwise(FloatNear(1e-6f), from_first(of_left)));
  for (std::size_t j = 0; j < joints.size(); j += 12) {
    EXPECT_NEAR(front.joints[j + 7] - front.joints[7], joints[j + 11] - joints[11], 1e-6);
    EXPECT_NEAR(left.joints[j + 11] - left.joints[11], joints[j + 3] - joints[3], 1e-6);
  }
  float lowest = front.positions[1];
  for (std::size_t v = 0; v < front.positions.size(); v += 3) {
    lowest = std::min(lowest, front.positions[v + 1]);
  }
  EXPECT_NEAR(lowest, 0, 1e-6);
}

TEST(FitPicture, PanelsShowTheBodyWhereverItStands) {
  client::RigData rig = client::Tube({.rings = 3, .segments = 4, .joints = 2}).rig;
  const client::FitFacing facing{.residual = 0, .up = {0, 0, 1}, .forward = {0, -1, 0}};
  const PosedPanel near = FitPanel(rig, client::RestJoints(rig), facing, 90, "left");
  for (std::size_t k = 3; k < 12; k += 4) rig.rest_local[k] += 1000;  // the root
  const PosedPanel far = FitPanel(rig, client::RestJoints(rig), facing, 90, "left");
  EXPECT_THAT(far.positions, Pointwise(FloatNear(1e-3f), near.positions));
  EXPECT_THAT(far.joints, Pointwise(FloatNear(1e-3f), near.joints));
}

TEST(FitPicture, BonesAreDrawnUnderTheSkin) {
  const client::RigData rig = client::Tube({.rings = 3, .segments = 8, .joints = 3}).rig;
  PosedPanel panel{.label = "rest", .positions = client::RestPositions(rig)};
  PictureOptions options;
  options.width = options.height = 64;
  const auto plain = DrawPanels(rig, {panel}, options);
  panel.joints = client::RestJoints(rig);
  const auto bones = DrawPanels(rig, {panel}, options);
  ASSERT_TRUE(plain.ok() && bones.ok()) << plain.status() << bones.status();
  // Blue: the bones, and their swatch.
  const auto blue = [](const client::Image& image) {
    std::size_t count = 0;
    for (std::size_t k = 0; k + 2 < image.rgb.size(); k += 3) {
      count += image.rgb[k + 2] > image.rgb[k] + 25 ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(blue(*plain), 0u);
  EXPECT_GT(blue(*bones), 20u);
}

}  // namespace
}  // namespace sinew::bake
