// Offsets of shapes that act together.
#include "core/distil/refit_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/vectors.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

constexpr std::size_t kRefitted = 400, kPoses = 50, kShapes = 3;

// Shapes that overlap, with offsets that are right, and values in some poses.
struct Together {
  std::vector<CorrectiveShape> right = std::vector<CorrectiveShape>(kShapes);
  std::vector<double> values, weights = std::vector<double>(kPoses, 1);
  double noise = 0;  // that no shape explains

  Together() {
    testing::Random random;
    for (std::uint32_t k = 0; k < kShapes; ++k) {
      for (std::uint32_t v = 100 * k; v < 100 * k + 200; ++v) {
        right[k].vertices.push_back(v);
        right[k].offsets.push_back({random.Next(), random.Next(), random.Next()});
      }
    }
    for (std::size_t i = 0; i < kPoses * kShapes; ++i) values.push_back(random.Next());
  }
  std::vector<CorrectiveShape> Scaled(float factor) const {
    std::vector<CorrectiveShape> shapes = right;
    for (CorrectiveShape& shape : shapes) {
      for (Vec3f& offset : shape.offsets) offset = {factor * offset.x, offset.y, offset.z};
    }
    return shapes;
  }
  absl::Status Refit(std::vector<CorrectiveShape>& shapes, Task::Options options = {},
                     double least_gain = 0) const {
    Task task(std::move(options));
    std::vector<CorrectiveShape*> pointers;
    for (CorrectiveShape& shape : shapes) pointers.push_back(&shape);
    const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> residuals) {
      for (std::size_t v = begin; v < end; ++v) {
        for (std::size_t f = 0; f < kPoses; ++f) {
          const double other = noise * std::sin(static_cast<double>(37 * f + v));
          residuals[(v - begin) * kPoses + f] = ToFloat(Played(right, f, v) + Vec3d{other, 0, 0});
        }
      }
      return absl::OkStatus();
    };
    return RefitShapes(pointers, {values, weights}, kRefitted, fill, task, least_gain);
  }
  Vec3d Played(const std::vector<CorrectiveShape>& shapes, std::size_t pose,
               std::size_t vertex) const {
    Vec3d sum;
    for (std::size_t k = 0; k < kShapes; ++k) {
      for (std::size_t i = 0; i < shapes[k].vertices.size(); ++i) {
        if (shapes[k].vertices[i] != vertex) continue;
        sum = sum + values[pose * kShapes + k] * ToDouble(shapes[k].offsets[i]);
      }
    }
    return sum;
  }
  double Lacking(const std::vector<CorrectiveShape>& shapes) const {
    double squares = 0;
    for (std::size_t v = 0; v < kRefitted; v += 7) {
      for (std::size_t f = 0; f < kPoses; ++f) {
        const Vec3d d = Played(shapes, f, v) - Played(right, f, v);
        squares += Dot(d, d);
      }
    }
    return squares;
  }
};

TEST(RefitShapes, RightOffsetsStay) {
  const Together given;
  std::vector<CorrectiveShape> shapes = given.right;
  ASSERT_TRUE(given.Refit(shapes).ok());
  for (std::size_t k = 0; k < kShapes; ++k) {
    for (std::size_t i = 0; i < shapes[k].offsets.size(); ++i) {
      EXPECT_LT(Length(ToDouble(shapes[k].offsets[i]) - ToDouble(given.right[k].offsets[i])), 1e-5);
    }
  }
}

TEST(RefitShapes, WrongOffsetsComeNearer) {
  const Together given;
  std::vector<CorrectiveShape> shapes = given.Scaled(2);
  const double before = given.Lacking(shapes);
  ASSERT_TRUE(given.Refit(shapes).ok());
  EXPECT_LT(given.Lacking(shapes), 0.2 * before);
}

TEST(RefitShapes, PosesThatDoNotCountAreIgnored) {
  Together given;
  std::fill(given.weights.begin() + 10, given.weights.end(), 0.0);
  std::vector<CorrectiveShape> shapes = given.Scaled(2), other = given.Scaled(2);
  ASSERT_TRUE(given.Refit(shapes).ok());
  for (std::size_t i = 10 * kShapes; i < given.values.size(); ++i) given.values[i] = 7;
  ASSERT_TRUE(given.Refit(other).ok());
  for (std::size_t k = 0; k < kShapes; ++k) EXPECT_EQ(shapes[k].offsets, other[k].offsets);
}

// What a shape does at 50 of its vertices is within what is left in any case.
TEST(RefitShapes, VerticesWithoutGainAreDropped) {
  Together given;
  given.noise = 0.1;
  std::vector<CorrectiveShape> shapes = given.right, all = given.right;
  for (std::size_t i = 0; i < 50; ++i) given.right[1].offsets[i] = {0.001f, 0, 0};
  ASSERT_TRUE(given.Refit(shapes, {}, 6).ok() && given.Refit(all).ok());
  EXPECT_EQ(all[1].vertices.size(), 200u);
  EXPECT_LT(std::ranges::count_if(shapes[1].vertices, [](std::uint32_t v) { return v < 150; }), 10);
  EXPECT_GT(std::ranges::count_if(shapes[1].vertices, [](std::uint32_t v) { return v >= 150; }),
            140);
  EXPECT_EQ(shapes[1].vertices.size(), shapes[1].offsets.size());
  EXPECT_LT(given.Lacking(shapes), given.Lacking(all));
}

TEST(RefitShapes, ThreadsDoNotMatter) {
  const Together given;
  std::vector<CorrectiveShape> one = given.Scaled(2), many = given.Scaled(2);
  ASSERT_TRUE(given.Refit(one, {.parallel = false}).ok() && given.Refit(many).ok());
  for (std::size_t k = 0; k < kShapes; ++k) EXPECT_EQ(one[k].offsets, many[k].offsets);
}

TEST(RefitShapes, CancelledTaskEndsIt) {
  const Together given;
  std::stop_source source;
  source.request_stop();
  std::vector<CorrectiveShape> shapes = given.Scaled(2);
  EXPECT_TRUE(absl::IsCancelled(given.Refit(shapes, {.stop = source.get_token()})));
}

}  // namespace
}  // namespace sinew
