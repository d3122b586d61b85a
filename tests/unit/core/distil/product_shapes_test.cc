// Shapes for joints together, chosen from what shapes of single joints leave.
#include "core/distil/product_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/vectors.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

constexpr std::size_t kPlaces = 3000, kTimes = 200;
constexpr Mat3d kFirst = {{1, 2, 0, 0, -1, 1, 3, 0, 1}}, kSecond = {{0, 1, -2, 1, 1, 0, 0, 2, 1}};

// Shapes of joints 0 (two of them) to 3. Where joints 0 to 2 move the same vertices, products of
// the turn of joint 2 with those of joints 0 and 1 are lacking, alike at each vertex. Joint 3 is
// elsewhere.
struct Overlapping {
  std::vector<CorrectiveShape> shapes = std::vector<CorrectiveShape>(5);
  std::vector<std::uint32_t> joints = {0, 0, 1, 2, 3};
  std::vector<std::vector<Vec3d>> turns;
  std::vector<double> values, weights = std::vector<double>(kTimes, 0.5);
  std::vector<Vec3f> product = std::vector<Vec3f>(kPlaces);

  Overlapping() {
    testing::Random random;
    const std::uint32_t first[] = {0, 0, 1000, 500, 2500}, last[] = {1500, 1500, 2500, 2000, 3000};
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      for (std::uint32_t v = first[k]; v < last[k]; ++v) {
        shapes[k].vertices.push_back(v);
        shapes[k].offsets.push_back({1 + random.Next(), random.Next(), random.Next()});
      }
    }
    for (std::size_t v = 1000; v < 1500; ++v) product[v] = {random.Next(), random.Next(), 1};
    for (std::size_t f = 0; f < kTimes; ++f) {
      std::vector<Vec3d>& of_pose = turns.emplace_back();
      for (std::size_t j = 0; j < 4; ++j) {
        const auto axis = [&] { return double{random.Next()} - 0.5; };
        of_pose.push_back({axis(), axis(), axis()});
      }
      for (const std::uint32_t joint : joints) values.push_back(std::abs(of_pose[joint].x));
    }
  }
  double Lacking(std::size_t pose) const {
    const std::vector<Vec3d>& t = turns[pose];
    return Dot(t[2], Multiply(kFirst, t[0])) + Dot(t[2], Multiply(kSecond, t[1]));
  }
  absl::Status Fill(std::size_t begin, std::size_t end, std::span<Vec3f> residuals) const {
    for (std::size_t v = begin; v < end; ++v) {
      for (std::size_t f = 0; f < kTimes; ++f) {
        const Vec3d of_shapes = Played(shapes, &values[f * shapes.size()], v);
        residuals[(v - begin) * kTimes + f] =
            ToFloat(of_shapes + Lacking(f) * ToDouble(product[v]));
      }
    }
    return absl::OkStatus();
  }
  // What shapes with some values give a vertex.
  static Vec3d Played(const std::vector<CorrectiveShape>& shapes, const double* values,
                      std::size_t vertex) {
    Vec3d sum;
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      const auto found = std::ranges::lower_bound(shapes[k].vertices, vertex);
      if (found == shapes[k].vertices.end() || *found != vertex) continue;
      const auto i = static_cast<std::size_t>(found - shapes[k].vertices.begin());
      sum = sum + values[k] * ToDouble(shapes[k].offsets[i]);
    }
    return sum;
  }
  absl::StatusOr<std::vector<ProductShapes>> Find(std::size_t most,
                                                  Task::Options options = {}) const {
    std::vector<const CorrectiveShape*> pointers;
    for (const CorrectiveShape& shape : shapes) pointers.push_back(&shape);
    Task task(std::move(options));
    task.SetTotal(static_cast<double>(2 * ProductPlaces(kPlaces)));
    return FindProductShapes(
        pointers, joints, {values, weights}, turns, kPlaces, {.sums = most, .least_offset = 0.01},
        [&](std::size_t begin, std::size_t end, std::span<Vec3f> out) {
          return Fill(begin, end, out);
        },
        task);
  }
};

TEST(ProductShapes, BestOneIsWhatIsLacking) {
  const Overlapping given;
  const auto found = given.Find(10);
  ASSERT_TRUE(found.ok() && !found->empty()) << found.status();
  const ProductShapes& best = found->front();
  EXPECT_EQ(best.driver.joint, 2u);
  ASSERT_EQ(best.driver.others.size(), 2u);
  double squares = 0, both = 0, lacking = 0, most = 0;
  for (std::size_t f = 0; f < kTimes; ++f) {
    const double sum = best.driver.Sum(given.turns[f]), wanted = given.Lacking(f);
    squares += sum * sum;
    both += sum * wanted;
    lacking += wanted * wanted;
    most = std::max(most, std::abs(sum));
  }
  EXPECT_GT(std::abs(both) / std::sqrt(squares * lacking), 0.98);
  EXPECT_NEAR(most, 0.8, 1e-4);
}

TEST(ProductShapes, JointsMoveTheVerticesOfTheirShapes) {
  const Overlapping given;
  const auto found = given.Find(50);
  ASSERT_TRUE(found.ok() && !found->empty()) << found.status();
  for (const ProductShapes& two : *found) {
    EXPECT_LT(two.driver.joint, 3u);
    for (const TurnProducts::Other& other : two.driver.others) {
      EXPECT_LT(other.joint, two.driver.joint);
    }
    EXPECT_EQ(two.added.vertices, two.subtracted.vertices);
    EXPECT_EQ(two.added.offsets.size(), two.added.vertices.size());
  }
  const std::vector<std::uint32_t>& best = found->front().added.vertices;
  ASSERT_EQ(best.size(), 1500u);
  EXPECT_TRUE(best.front() == 500 && best.back() == 1999);
}

TEST(ProductShapes, NoneAtRestOfTheJointOrAllOthers) {
  const Overlapping given;
  const auto found = given.Find(1);
  ASSERT_TRUE(found.ok() && found->size() == 1) << found.status();
  const Vec3d turn = {0.1, -0.2, 0.3};
  const TurnProducts& driver = found->front().driver;
  EXPECT_EQ(driver.Sum(std::vector<Vec3d>{turn, turn, {}, turn}), 0);
  EXPECT_EQ(driver.Sum(std::vector<Vec3d>{{}, {}, turn, turn}), 0);
  EXPECT_NE(driver.Sum(std::vector<Vec3d>{turn, {}, turn, turn}), 0);
}

TEST(ProductShapes, RefitGivesThemOffsets) {
  const Overlapping given;
  auto found = given.Find(1);
  ASSERT_TRUE(found.ok() && found->size() == 1) << found.status();
  std::vector<CorrectiveShape> shapes = given.shapes;
  shapes.push_back(found->front().added);
  shapes.push_back(found->front().subtracted);
  std::vector<CorrectiveShape*> pointers;
  for (CorrectiveShape& shape : shapes) pointers.push_back(&shape);
  const std::size_t before_count = given.shapes.size(), count = shapes.size();
  std::vector<double> values;
  for (std::size_t f = 0; f < kTimes; ++f) {
    const double* const of_pose = &given.values[f * before_count];
    values.insert(values.end(), of_pose, of_pose + before_count);
    const double sum = found->front().driver.Sum(given.turns[f]);
    values.push_back(std::max(sum, 0.0));
    values.push_back(std::max(-sum, 0.0));
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
      const double* const of_pose = &values[f * count];
      const Vec3d left = ToDouble(lacking[f]) - Overlapping::Played(given.shapes, of_pose, v);
      const Vec3d with_both = ToDouble(lacking[f]) - Overlapping::Played(shapes, of_pose, v);
      before += Dot(left, left);
      after += Dot(with_both, with_both);
    }
  }
  EXPECT_LT(after, 0.1 * before);
}

TEST(ProductShapes, LimitAndCancellationHold) {
  const Overlapping given;
  const auto some = given.Find(2);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->size(), 2u);
  std::stop_source source;
  source.request_stop();
  EXPECT_TRUE(absl::IsCancelled(given.Find(2, {.stop = source.get_token()}).status()));
}

// Also where no two joints move the same vertex.
TEST(ProductShapes, ProgressReachesTheEnd) {
  Overlapping given;
  for (const bool apart : {false, true}) {
    if (apart) given.joints = {0, 0, 0, 0, 0};
    double part = 0;
    const auto found = given.Find(4, {.progress = [&](double now) { part = now; }});
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(found->empty(), apart);
    EXPECT_NEAR(part, 1, 1e-9);
  }
}

TEST(ProductShapes, ThreadsDoNotMatter) {
  const Overlapping given;
  const auto one = given.Find(4, {.parallel = false}), many = given.Find(4);
  ASSERT_TRUE(one.ok() && many.ok() && one->size() == many->size());
  for (std::size_t k = 0; k < one->size(); ++k) {
    const TurnProducts &a = (*one)[k].driver, &b = (*many)[k].driver;
    EXPECT_EQ(a.joint, b.joint);
    ASSERT_EQ(a.others.size(), b.others.size());
    for (std::size_t i = 0; i < a.others.size(); ++i) {
      EXPECT_EQ(a.others[i].joint, b.others[i].joint);
      EXPECT_EQ(a.others[i].matrix.m, b.others[i].matrix.m);
    }
  }
}

}  // namespace
}  // namespace sinew
