#include "client/render/camera.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "tests/unit/client/render/shapes.h"

namespace sinew::client {
namespace {

using Eigen::Vector3d;

Vector3d AsVector(const Point& p) {
  return {p[0], p[1], p[2]};
}

// Where the camera sees a point: across and up, in halves of the picture.
Eigen::Vector2d Project(const Camera& camera, double aspect, const Vector3d& point) {
  const Vector3d eye = AsVector(camera.eye);
  const Vector3d back = (eye - AsVector(camera.target)).normalized();
  const Vector3d right = AsVector(camera.up).cross(back).normalized();
  const Vector3d offset = point - eye;
  const double slope = std::tan(camera.field_of_view / 2) * -offset.dot(back);
  return {offset.dot(right) / (slope * aspect), offset.dot(back.cross(right)) / slope};
}

TEST(FrameMeshes, TouchesMarginsAndCentres) {
  const auto mesh = testing::Cube();
  const std::span<const float> meshes[] = {mesh.positions};
  for (double aspect : {0.5, 1.0, 16.0 / 9, 4.0}) {
    for (double azimuth : {0.0, 35.0, -140.0}) {
      Framing framing;
      framing.aspect = aspect;
      framing.azimuth = azimuth;
      const auto camera = FrameMeshes(meshes, framing);
      ASSERT_TRUE(camera.ok()) << camera.status();
      Eigen::Vector2d low(9, 9), high(-9, -9);
      for (std::size_t k = 0; k < mesh.positions.size(); k += 3) {
        const float* p = mesh.positions.data() + k;
        const Eigen::Vector2d at = Project(*camera, aspect, Vector3d(p[0], p[1], p[2]));
        low = low.cwiseMin(at);
        high = high.cwiseMax(at);
      }
      const double limit = 1 - 2 * kMargin;
      EXPECT_NEAR(std::max(high.x(), high.y()), limit, 1e-9);
      EXPECT_LE(std::max(-low.x(), -low.y()), limit + 1e-9);
      // The tighter direction touches both sides.
      const Eigen::Index tight = high.x() > high.y() ? 0 : 1;
      EXPECT_NEAR(low[tight], -limit, 1e-9);
    }
  }
}

TEST(FrameMeshes, SeesTheUnionOfAllMeshes) {
  const std::vector<float> left = {-10, 0, 0}, right = {10, 2, 0};
  const std::span<const float> meshes[] = {left, right};
  const auto camera = FrameMeshes(meshes, {});
  ASSERT_TRUE(camera.ok());
  EXPECT_LE(std::abs(Project(*camera, 16.0 / 9, Vector3d(-10, 0, 0)).x()), 1);
  EXPECT_LE(std::abs(Project(*camera, 16.0 / 9, Vector3d(10, 2, 0)).x()), 1);
  EXPECT_EQ(camera->ground, 0);
}

TEST(FrameMeshes, LooksAtTheFrontForEitherUpAxis) {
  const auto mesh = testing::Cube();
  const std::span<const float> meshes[] = {mesh.positions};
  const auto y_up = FrameMeshes(meshes, {.up = UpAxis::kY, .azimuth = 0, .elevation = 0});
  EXPECT_GT(y_up->eye[2], 1);
  EXPECT_NEAR(y_up->eye[0], 0, 1e-9);
  const auto z_up = FrameMeshes(meshes, {.up = UpAxis::kZ, .azimuth = 0, .elevation = 0});
  EXPECT_LT(z_up->eye[1], -1);
  EXPECT_NEAR(z_up->eye[0], 0, 1e-9);
  EXPECT_EQ(z_up->up, (Point{0, 0, 1}));
  EXPECT_EQ(z_up->ground, -1);
}

TEST(FrameMeshes, KeepsDistanceFromSinglePoint) {
  const std::vector<float> point = {3, 4, 5};
  const std::span<const float> meshes[] = {point};
  const auto camera = FrameMeshes(meshes, {});
  ASSERT_TRUE(camera.ok());
  EXPECT_GT((AsVector(camera->eye) - AsVector(camera->target)).norm(), 0);
}

TEST(FrameMeshes, LooksAtThePointAndZooms) {
  const auto mesh = testing::Cube();
  const std::span<const float> meshes[] = {mesh.positions};
  const auto whole = FrameMeshes(meshes, {});
  const auto part = FrameMeshes(meshes, {.zoom = 4, .look_at = Point{1, 1, 1}});
  ASSERT_TRUE(whole.ok() && part.ok());
  const double aspect = Framing().aspect;
  EXPECT_NEAR(Project(*part, aspect, Vector3d(1, 1, 1)).norm(), 0, 1e-9);
  // Seen from the same distance and direction, but four times as large.
  const auto depth = [](const Camera& camera) {
    const Vector3d back = AsVector(camera.eye) - AsVector(camera.target);
    return back.normalized().dot(AsVector(camera.eye) - Vector3d(1, 1, 1));
  };
  EXPECT_NEAR(depth(*part), depth(*whole), 1e-9);
  EXPECT_NEAR(std::tan(part->field_of_view / 2) * 4, std::tan(whole->field_of_view / 2), 1e-9);
  // A point behind the camera is looked at from the distance of the mesh.
  const auto behind = FrameMeshes(meshes, {.look_at = Point{500, 200, 700}});
  EXPECT_NEAR((AsVector(behind->eye) - AsVector(behind->target)).norm(),
              (AsVector(whole->eye) - AsVector(whole->target)).norm(), 1e-9);
}

TEST(FrameMeshes, RefusesBadInput) {
  const std::vector<float> bad = {0, NAN, 0}, none;
  for (const std::vector<float>& positions : {bad, none}) {
    const std::span<const float> meshes[] = {positions};
    EXPECT_EQ(FrameMeshes(meshes, {}).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(FrameMeshes({}, {}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sinew::client
