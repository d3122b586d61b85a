// Shapes for two joints, chosen from what shapes of single joints leave.
#include "core/distil/shape_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/base/vectors.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

constexpr std::size_t kPlaces = 3000, kTimes = 60;

// Two shapes of joint 0, one of joint 1 and one of joint 2. Where those of joints 0 and 1 overlap,
// their product needs offsets of its own.
struct Overlapping {
  std::vector<CorrectiveShape> shapes = std::vector<CorrectiveShape>(4);
  std::vector<std::uint32_t> joints = {0, 0, 1, 2};
  std::vector<double> values, weights = std::vector<double>(kTimes, 0.5);
  std::vector<Vec3f> product = std::vector<Vec3f>(kPlaces);

  Overlapping() {
    testing::Random random;
    const std::uint32_t first[] = {0, 0, 1000, 1500};
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      for (std::uint32_t v = first[k]; v < first[k] + 1500; ++v) {
        shapes[k].vertices.push_back(v);
        shapes[k].offsets.push_back({1 + random.Next(), random.Next(), random.Next()});
      }
    }
    for (std::size_t v = 1000; v < 1500; ++v) product[v] = {random.Next(), random.Next(), 1};
    for (std::size_t i = 0; i < kTimes * shapes.size(); ++i) {
      values.push_back(random.Next());
    }
  }
  absl::Status Fill(std::size_t begin, std::size_t end, std::span<Vec3f> residuals) const {
    for (std::size_t v = begin; v < end; ++v) {
      for (std::size_t f = 0; f < kTimes; ++f) {
        const double* const of_pose = &values[f * shapes.size()];
        Vec3d sum = of_pose[0] * of_pose[2] * ToDouble(product[v]);
        for (std::size_t k = 0; k < shapes.size(); ++k) {
          const std::size_t i = v - shapes[k].vertices[0];
          if (i < 1500) sum = sum + of_pose[k] * ToDouble(shapes[k].offsets[i]);
        }
        residuals[(v - begin) * kTimes + f] = ToFloat(sum);
      }
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<ShapePair>> Find(std::size_t most, Task::Options options = {}) const {
    std::vector<const CorrectiveShape*> pointers;
    for (const CorrectiveShape& shape : shapes) pointers.push_back(&shape);
    Task task(std::move(options));
    return FindPairs(
        pointers, joints, {values, weights}, kPlaces, {.pairs = most, .least_offset = 0.01},
        [&](std::size_t begin, std::size_t end, std::span<Vec3f> out) {
          return Fill(begin, end, out);
        },
        task);
  }
};

// What shapes with some values give a vertex.
Vec3d Played(const std::vector<CorrectiveShape>& shapes, const double* values, std::size_t vertex) {
  Vec3d sum;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    for (std::size_t i = 0; i < shapes[k].vertices.size(); ++i) {
      if (shapes[k].vertices[i] == vertex) sum = sum + values[k] * ToDouble(shapes[k].offsets[i]);
    }
  }
  return sum;
}

TEST(ShapePairs, BestOneIsWhatIsLacking) {
  const Overlapping given;
  const auto pairs = given.Find(10);
  ASSERT_TRUE(pairs.ok() && !pairs->empty()) << pairs.status();
  const ShapePair& best = pairs->front();
  EXPECT_TRUE(best.first == 0 && best.second == 2) << best.first << " " << best.second;
  ASSERT_EQ(best.shape.vertices.size(), 500u);
  EXPECT_TRUE(best.shape.vertices.front() == 1000 && best.shape.vertices.back() == 1499);
  for (const ShapePair& pair : *pairs) {
    EXPECT_NE(given.joints[pair.first], given.joints[pair.second]);
    EXPECT_FALSE(pair.first == 0 && pair.second == 3);  // they move no vertex in common
  }
}

TEST(ShapePairs, RefitGivesThePairItsOffsets) {
  Overlapping given;
  auto pairs = given.Find(1);
  ASSERT_TRUE(pairs.ok() && pairs->size() == 1) << pairs.status();
  std::vector<CorrectiveShape> shapes = given.shapes;
  shapes.push_back(pairs->front().shape);
  std::vector<CorrectiveShape*> pointers;
  for (CorrectiveShape& shape : shapes) pointers.push_back(&shape);
  std::vector<double> values;
  for (std::size_t f = 0; f < kTimes; ++f) {
    const double* const of_pose = &given.values[f * given.shapes.size()];
    values.insert(values.end(), of_pose, of_pose + given.shapes.size());
    values.push_back(of_pose[0] * of_pose[2]);
  }
  Task task;
  ASSERT_TRUE(RefitShapes(
                  pointers, {values, given.weights}, kPlaces,
                  [&](std::size_t begin, std::size_t end, std::span<Vec3f> out) {
                    return given.Fill(begin, end, out);
                  },
                  task)
                  .ok());
  double before = 0, after = 0;
  for (std::size_t v = 1000; v < 1500; ++v) {
    std::vector<Vec3f> lacking(kTimes);
    ASSERT_TRUE(given.Fill(v, v + 1, lacking).ok());
    for (std::size_t f = 0; f < kTimes; ++f) {
      const Vec3d left = ToDouble(lacking[f]) - Played(given.shapes, &values[f * 5], v);
      const Vec3d with_pair = ToDouble(lacking[f]) - Played(shapes, &values[f * 5], v);
      before += Dot(left, left);
      after += Dot(with_pair, with_pair);
    }
  }
  EXPECT_LT(after, 0.1 * before);
}

TEST(ShapePairs, LimitAndCancellationHold) {
  const Overlapping given;
  const auto some = given.Find(2);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->size(), 2u);
  std::stop_source source;
  source.request_stop();
  EXPECT_TRUE(absl::IsCancelled(given.Find(2, {.stop = source.get_token()}).status()));
}

// Also where no two shapes move the same vertex.
TEST(ShapePairs, ProgressReachesTheEnd) {
  Overlapping given;
  for (const bool apart : {false, true}) {
    if (apart) given.joints = {0, 0, 0, 0};
    double part = 0;
    std::vector<const CorrectiveShape*> pointers;
    for (const CorrectiveShape& shape : given.shapes) pointers.push_back(&shape);
    Task task({.progress = [&](double now) { part = now; }});
    task.SetTotal(static_cast<double>(2 * PairPlaces(kPlaces)));
    const auto pairs = FindPairs(
        pointers, given.joints, {given.values, given.weights}, kPlaces, {.pairs = 4},
        [&](std::size_t begin, std::size_t end, std::span<Vec3f> out) {
          return given.Fill(begin, end, out);
        },
        task);
    ASSERT_TRUE(pairs.ok()) << pairs.status();
    EXPECT_EQ(pairs->empty(), apart);
    EXPECT_NEAR(part, 1, 1e-9);
  }
}

TEST(ShapePairs, ThreadsDoNotMatter) {
  const Overlapping given;
  const auto one = given.Find(4, {.parallel = false}), many = given.Find(4);
  ASSERT_TRUE(one.ok() && many.ok() && one->size() == many->size());
  for (std::size_t k = 0; k < one->size(); ++k) {
    EXPECT_EQ((*one)[k].first, (*many)[k].first);
    EXPECT_EQ((*one)[k].second, (*many)[k].second);
  }
}

}  // namespace
}  // namespace sinew
