// Corrective shapes of residuals that are known.
#include "core/distil/corrective_shapes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/base/vectors.h"
#include "core/distil/pose_samples.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

constexpr std::size_t kVertices = 10'000;

// Two shapes, of which a turn needs x, and the square of y.
struct Residuals {
  std::vector<Vec3d> samples = SpanningTurns(FreeRange(0.8));
  std::vector<std::vector<Vec3f>> residuals;

  Residuals() {
    testing::Random random;
    const auto shape = [&] {
      std::vector<Vec3d> offsets(kVertices);
      for (std::size_t i = 0; i < kVertices / 2; ++i) {
        offsets[i] = {random.Next(), random.Next(), random.Next()};
      }
      return offsets;
    };
    const std::vector<Vec3d> a = shape(), b = shape();
    for (const Vec3d& turn : samples) {
      std::vector<Vec3f>& row = residuals.emplace_back();
      for (std::size_t i = 0; i < kVertices; ++i) {
        row.push_back(ToFloat(turn.x * a[i] + turn.y * turn.y * b[i]));
      }
    }
  }
  // What the shapes make of a turn, for a vertex.
  static Vec3d Played(const JointShapes& shapes, const Vec3d& turn, std::uint32_t vertex) {
    Vec3d sum;
    for (std::size_t k = 0; k < shapes.shapes.size(); ++k) {
      const CorrectiveShape& shape = shapes.shapes[k];
      for (std::size_t i = 0; i < shape.vertices.size(); ++i) {
        if (shape.vertices[i] != vertex) continue;
        sum = sum + shapes.Value(k, turn) * ToDouble(shape.offsets[i]);
      }
    }
    return sum;
  }
};

TEST(CorrectiveShapes, ReproduceTheSamples) {
  const Residuals given;
  const JointShapes shapes =
      FitJointShapes(given.samples, given.residuals, {.least_shape = 1e-4}, Task());
  EXPECT_TRUE(shapes.shapes.size() == 3 || shapes.shapes.size() == 4);  // the square has one sign
  for (std::size_t s = 0; s < given.samples.size(); ++s) {
    for (const std::uint32_t vertex : {0u, 77u, 4999u, 5000u}) {
      const Vec3d played = Residuals::Played(shapes, given.samples[s], vertex);
      EXPECT_LT(Length(played - ToDouble(given.residuals[s][vertex])), 1e-5) << s;
    }
  }
}

TEST(CorrectiveShapes, ValuesFitSlidersAndRestNeedsNone) {
  const Residuals given;
  const JointShapes shapes = FitJointShapes(given.samples, given.residuals, {}, Task());
  ASSERT_FALSE(shapes.shapes.empty());
  for (std::size_t k = 0; k < shapes.shapes.size(); ++k) {
    EXPECT_NEAR(shapes.Value(k, {}), 0, 1e-12);
    EXPECT_EQ(shapes.shapes[k].vertices.size(), kVertices / 2);
    for (const Vec3d& turn : given.samples) {
      EXPECT_TRUE(shapes.Value(k, turn) >= 0 && shapes.Value(k, turn) <= 0.8 + 1e-12);
    }
    EXPECT_LE(shapes.shapes[k].energy, shapes.shapes[k > 0 ? k - 1 : 0].energy);
  }
}

TEST(CorrectiveShapes, ResidualAtRestIsNoShape) {
  Residuals given;
  for (std::vector<Vec3f>& row : given.residuals) {
    for (Vec3f& residual : row) residual.z += 10;
  }
  const JointShapes shapes = FitJointShapes(given.samples, given.residuals, {}, Task());
  EXPECT_LT(Length(Residuals::Played(shapes, given.samples[1], 9'999)), 1e-4);
}

TEST(CorrectiveShapes, LimitsDropShapesAndVertices) {
  const Residuals given;
  EXPECT_TRUE(
      FitJointShapes(given.samples, given.residuals, {.least_shape = 100}, Task()).shapes.empty());
  const JointShapes some =
      FitJointShapes(given.samples, given.residuals, {.least_offset = 0.5}, Task());
  for (const CorrectiveShape& shape : some.shapes) {
    EXPECT_LT(shape.vertices.size(), kVertices / 2);
    for (const Vec3f& offset : shape.offsets) EXPECT_GT(Length(ToDouble(offset)), 0.499);
  }
}

TEST(CorrectiveShapes, ThreadsDoNotMatter) {
  const Residuals given;
  const Task alone({.parallel = false});
  const JointShapes one = FitJointShapes(given.samples, given.residuals, {}, alone);
  const JointShapes many = FitJointShapes(given.samples, given.residuals, {}, Task());
  ASSERT_EQ(one.shapes.size(), many.shapes.size());
  for (std::size_t k = 0; k < one.shapes.size(); ++k) {
    EXPECT_EQ(one.shapes[k].offsets, many.shapes[k].offsets);
    EXPECT_EQ(one.shapes[k].kernel_weights, many.shapes[k].kernel_weights);
  }
}

TEST(CorrectiveShapes, ToRestInvertsTheBlend) {
  const Mat3d blend = {{1, 0.2, 0, -0.1, 0.9, 0.3, 0, 0.1, 1.1}};
  const Vec3d rest = {0.3, -0.2, 0.5};
  EXPECT_LT(Length(ToRest(blend, Multiply(blend, rest)) - rest), 1e-12);
}

TEST(CorrectiveShapes, ToRestStaysBoundedWhereBlendCollapses) {
  // A twist by 180 degrees flattens two axes.
  const Mat3d flat = {{1, 0, 0, 0, 0, 0, 0, 0, 0}};
  const Vec3d rest = ToRest(flat, {1, 1, 1});
  EXPECT_NEAR(rest.x, 1 / 1.04, 1e-9);
  EXPECT_EQ(rest.y, 0);
  // The blend is that of a mesh that the rest pose scales by 100.
  Mat3d large = flat;
  for (double& value : large.m) value *= 100;
  EXPECT_NEAR(ToRest(large, {100, 0, 0}, 100).x, 1 / 1.04, 1e-9);
  for (const double scale : {0.0, 1e-200, 1e-150}) {
    Mat3d hidden = flat;
    for (double& value : hidden.m) value *= scale;
    EXPECT_LT(Length(ToRest(hidden, {1, 1, 1})), 1e-9) << scale;
  }
}

}  // namespace
}  // namespace sinew
