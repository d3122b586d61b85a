// Fitted weights: known ones are found again, and what the header promises of the rest.
#include "core/examples/linear_blend_fit.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "tests/unit/core/examples/exact_examples.h"

namespace sinew {
namespace {

using testing::AllJoints;
using testing::ExactExamples;
using testing::MakeExact;

constexpr std::size_t kJoints = 5, kVertices = 130, kPoses = 12;

// Three joints of each vertex, with quarters as weights.
double Known(std::size_t v, std::size_t j) {
  constexpr double kQuarters[] = {0.5, 0.25, 0.25, 0, 0};
  return kQuarters[(j + v) % kJoints];
}

Vec3d Blend(const AffineD* pose, const Vec3d& rest, std::size_t v) {
  Vec3d sum;
  for (std::size_t j = 0; j < kJoints; ++j) sum = sum + Known(v, j) * Apply(pose[j], rest);
  return sum;
}

Rows<JointWeight> Fit(const ExactExamples& e, const Rows<JointWeight>& candidates,
                      const LinearBlendOptions& options) {
  Task task;
  return FitLinearBlend(e.View(), candidates, options, task).value();
}

double Squares(const ExactExamples& e, const Rows<JointWeight>& weights) {
  double sum = 0;
  for (std::size_t f = 0; f < e.poses; ++f) {
    for (std::size_t v = 0; v < e.rest.size(); ++v) {
      Vec3d d = -1.0 * ToDouble(e.targets[f * e.rest.size() + v]);
      for (const auto& [joint, weight] : weights.row(v)) {
        d = d + weight * Apply(e.matrices[f * e.joints + joint], ToDouble(e.rest[v]));
      }
      sum += Dot(d, d);
    }
  }
  return sum;
}

TEST(LinearBlendFit, KnownWeightsAreFoundAgain) {
  const auto e = MakeExact(kPoses, kJoints, kVertices, Blend);
  const auto weights = Fit(e, AllJoints(kVertices, kJoints), {.lambda = 0});
  for (std::size_t v = 0; v < kVertices; ++v) {
    std::vector<double> found(kJoints);
    const auto row = weights.row(v);
    ASSERT_GE(row.size(), 3u);
    for (std::size_t k = 0; k < row.size(); ++k) {
      found[row[k].joint] = row[k].weight;
      EXPECT_TRUE(k == 0 || row[k].weight <= row[k - 1].weight);
    }
    for (std::size_t j = 0; j < kJoints; ++j) EXPECT_NEAR(found[j], Known(v, j), 1e-9) << v;
  }
}

TEST(LinearBlendFit, PlaceOfTheCharacterDoesNotMatter) {
  auto e = MakeExact(kPoses, kJoints, kVertices, Blend);
  const auto near = Fit(e, AllJoints(kVertices, kJoints), {});
  for (std::size_t f = 0; f < kPoses; ++f) {
    for (std::size_t j = 0; j < kJoints; ++j) {
      e.matrices[f * kJoints + j].m[3] += 4096.0 * static_cast<double>(f);
    }
    for (std::size_t v = 0; v < kVertices; ++v) {
      e.targets[f * kVertices + v].x += 4096.0f * static_cast<float>(f);
    }
  }
  const auto far = Fit(e, AllJoints(kVertices, kJoints), {});
  // Targets far away are rounded to about 1e-3.
  EXPECT_NEAR(Squares(e, near), Squares(e, far), 1e-6 * kPoses * kVertices);
  for (std::size_t v = 0; v < kVertices; ++v) {
    EXPECT_EQ(near.row(v)[0].joint, far.row(v)[0].joint);
    EXPECT_NEAR(near.row(v)[0].weight, far.row(v)[0].weight, 2e-3);
  }
}

TEST(LinearBlendFit, MoreInfluencesAreNeverWorse) {
  testing::Random random(4);
  const auto e = MakeExact(kPoses, kJoints, kVertices,
                           [&](const AffineD* pose, const Vec3d& rest, std::size_t v) {
                             return Blend(pose, rest, v) +
                                    Vec3d{0.2 * random.Next(), 0.2 * random.Next(), random.Next()};
                           });
  double last = std::numeric_limits<double>::infinity();
  for (std::size_t most = 1; most <= kJoints; ++most) {
    const auto weights =
        Fit(e, AllJoints(kVertices, kJoints), {.max_influences = most, .lambda = 0});
    for (std::size_t v = 0; v < kVertices; ++v) EXPECT_LE(weights.row(v).size(), most);
    const double squares = Squares(e, weights);
    EXPECT_LE(squares, last) << most;
    last = squares;
  }
}

TEST(LinearBlendFit, UnseenJointsKeepTheirStart) {
  // Two joints that always move together: only the start says how much each has.
  auto e = MakeExact(kPoses, 3, 70, [](const AffineD* pose, const Vec3d& rest, std::size_t) {
    return Apply(pose[0], rest);
  });
  for (std::size_t f = 0; f < kPoses; ++f) e.matrices[f * 3 + 1] = e.matrices[f * 3];
  auto candidates = AllJoints(70, 3);
  for (std::size_t v = 0; v < 70; ++v) {
    candidates.values[v * 3] = {0, 0.6};
    candidates.values[v * 3 + 1] = {1, 0.2};
  }
  const auto weights = Fit(e, candidates, {.lambda = 1e-3});
  for (std::size_t v = 0; v < 70; ++v) {
    ASSERT_EQ(weights.row(v).size(), 2u);
    EXPECT_NEAR(weights.row(v)[0].weight, 0.75, 1e-6);
    EXPECT_NEAR(weights.row(v)[1].weight, 0.25, 1e-6);
  }
}

TEST(LinearBlendFit, VertexWithOneJointKeepsIt) {
  const auto e = MakeExact(3, kJoints, 4, Blend);
  const auto one = CollectRows<JointWeight>(4, [](const auto& add) {
    for (std::size_t v = 0; v < 4; ++v) add(v, JointWeight{2, 0.3});
  });
  for (std::size_t v = 0; v < 4; ++v) {
    EXPECT_EQ(Fit(e, one, {}).row(v).front(), (JointWeight{2, 1}));
  }
}

TEST(LinearBlendFit, ThreadsAndOrderOfVerticesChangeNoBit) {
  const auto e = MakeExact(kPoses, kJoints, kVertices,
                           [](const AffineD* pose, const Vec3d& rest, std::size_t v) {
                             return Apply(pose[v % kJoints], 0.5 * rest) + Apply(pose[0], rest);
                           });
  const auto candidates = AllJoints(kVertices, kJoints);
  const auto serial = Fit(e, candidates, {.max_influences = 2});
  Rows<JointWeight> parallel;
  tbb::task_arena(2).execute([&] { parallel = Fit(e, candidates, {.max_influences = 2}); });
  EXPECT_EQ(serial.values, parallel.values);

  ExactExamples reversed = e;
  std::ranges::reverse(reversed.rest);
  for (std::size_t f = 0; f < kPoses; ++f) {
    std::reverse(reversed.targets.begin() + static_cast<std::ptrdiff_t>(f * kVertices),
                 reversed.targets.begin() + static_cast<std::ptrdiff_t>((f + 1) * kVertices));
  }
  const auto back = Fit(reversed, candidates, {.max_influences = 2});
  for (std::size_t v = 0; v < kVertices; ++v) {
    EXPECT_TRUE(std::ranges::equal(back.row(v), serial.row(kVertices - 1 - v))) << v;
  }
}

TEST(LinearBlendFit, BadInputIsRefusedByName) {
  const auto e = MakeExact(2, 2, 3, [](const AffineD* pose, const Vec3d& rest, std::size_t) {
    return Apply(pose[0], rest);
  });
  const auto good = AllJoints(3, 2);
  const auto refused = [&](const PoseExamples& examples, const Rows<JointWeight>& candidates,
                           const LinearBlendOptions& options = {}) {
    Task task;
    return std::string(FitLinearBlend(examples, candidates, options, task).status().message());
  };
  EXPECT_EQ(refused(e.View(), good), "");
  EXPECT_EQ(refused(e.View(), good, {.max_influences = 0}), "max_influences: got 0, need 1 to 64");
  EXPECT_EQ(refused(e.View(), good, {.lambda = -1}), "lambda: got -1, need at least 0");
  EXPECT_EQ(refused(e.View(), AllJoints(2, 2)),
            "candidates: got 2 rows, need one for each of 3 vertices");
  EXPECT_EQ(refused(e.View(), AllJoints(3, 3)),
            "candidates of vertex 0: joint 2; joints must rise and be below 2");
  auto bad = good;
  bad.values[3].weight = -1;
  EXPECT_EQ(refused(e.View(), bad), "candidates of vertex 1: weight -1, need at least 0");
  auto view = e.View();
  view.matrices = view.matrices.subspan(1);
  EXPECT_EQ(refused(view, good), "matrices: got 3, need 2 for each of 2 poses");
  view = e.View();
  view.poses = 0;
  EXPECT_EQ(refused(view, good), "poses: got none, need at least 1");
  auto broken = e;
  broken.targets[4].y = std::numeric_limits<float>::infinity();
  EXPECT_EQ(refused(broken.View(), good), "targets: pose 1, vertex 1 is not finite");
  broken = e;
  broken.targets.pop_back();
  EXPECT_EQ(refused(broken.View(), good), "targets: got 5, need 3 for each of 2 poses");
  broken = e;
  broken.matrices[3].m[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused(broken.View(), good), "matrices: pose 1, joint 1 is not finite");

  std::stop_source stop;
  stop.request_stop();
  Task stopped({.stop = stop.get_token()});
  EXPECT_EQ(FitLinearBlend(e.View(), good, {}, stopped).status().code(),
            absl::StatusCode::kCancelled);
  Task small({.memory_limit = 1000});
  EXPECT_EQ(FitLinearBlend(e.View(), good, {}, small).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sinew
