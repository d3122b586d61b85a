// Fitted coefficients: known ones are found again, and what the header promises of the rest.
#include "core/examples/coefficient_fit.h"

#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/reference/coefficients_reference.h"
#include "tests/support/tube.h"
#include "tests/unit/core/examples/exact_examples.h"

namespace sinew {
namespace {

using testing::AllJoints;
using testing::ExactExamples;
using testing::MakeExact;

constexpr std::size_t kJoints = 4, kVertices = 70, kPoses = 40;

using Fit = absl::StatusOr<std::vector<double>> (*)(const PoseExamples&, const Rows<JointWeight>&,
                                                    std::span<const Vec3d>, double, Task&);
struct Model {
  const char* name;
  std::size_t columns;
  Fit fit;
};
class Fitted : public ::testing::TestWithParam<Model> {
 protected:
  std::vector<double> Values(const ExactExamples& e, const Rows<JointWeight>& rows,
                             double lambda = 1e-3) const {
    Task task;
    return GetParam()
        .fit(e.View(), rows, std::vector<Vec3d>(e.joints, Vec3d{0.5, 0.25, 0}), lambda, task)
        .value();
  }
  // By the independent definition; the main joint of these rows is the first.
  Vec3d Place(const double* values, const AffineD* pose, const Vec3d& rest,
              std::size_t joints = kJoints) const {
    std::vector<reference::Influence> influences;
    const std::size_t columns = GetParam().columns;
    for (std::uint32_t j = 0; j < joints; ++j) {
      influences.push_back({j, {values + j * columns, values + (j + 1) * columns}});
    }
    return (columns == 4 ? reference::AnimationSpace : reference::MultiWeight)(
        rest, influences, std::span(pose, joints));
  }
};
INSTANTIATE_TEST_SUITE_P(Models, Fitted,
                         ::testing::Values(Model{"AnimationSpace", 4, FitAnimationSpace},
                                           Model{"MultiWeight", 12, FitMultiWeight}),
                         [](const auto& p) { return p.param.name; });

// Multiples of 1/8; the main joint takes what the others leave.
std::vector<double> Known(std::size_t columns, std::size_t v) {
  testing::Random random(static_cast<std::uint32_t>(v));
  std::vector<double> values(kJoints * columns);
  for (std::size_t c = 0; c < columns; ++c) {
    const bool sums = columns == 4 || c % 4 == 3 || c % 4 == c / 4;
    values[c] = c % 4 == 3 ? 1 : 0;
    for (std::size_t j = 1; j < kJoints; ++j) {
      values[j * columns + c] = static_cast<double>(random.Below(8)) / 8 - 0.5;
      if (sums) values[c] -= values[j * columns + c];
    }
  }
  return values;
}

// The main joint of MakeExact's poses is set to the identity: its inverse then rounds nothing.
ExactExamples KnownExamples(const Model& model) {
  ExactExamples e = MakeExact(kPoses, kJoints, kVertices,
                              [](const AffineD*, const Vec3d&, std::size_t) { return Vec3d{}; });
  for (std::size_t f = 0; f < kPoses; ++f) e.matrices[f * kJoints] = {};
  for (std::size_t f = 0; f < kPoses; ++f) {
    for (std::size_t v = 0; v < kVertices; ++v) {
      std::vector<reference::Influence> influences;
      const auto values = Known(model.columns, v);
      for (std::uint32_t j = 0; j < kJoints; ++j) {
        const double* const own = values.data() + j * model.columns;
        influences.push_back({j, {own, own + model.columns}});
      }
      e.targets[f * kVertices + v] = ToFloat((model.columns == 4 ? reference::AnimationSpace
                                                                 : reference::MultiWeight)(
          ToDouble(e.rest[v]), influences, std::span(e.matrices).subspan(f * kJoints, kJoints)));
    }
  }
  return e;
}

Rows<JointWeight> FirstIsMain(std::size_t vertices = kVertices, std::size_t joints = kJoints) {
  Rows<JointWeight> rows = AllJoints(vertices, joints, 0.125);
  for (std::size_t v = 0; v < vertices; ++v) {
    rows.values[v * joints].weight = 1 - 0.125 * static_cast<double>(joints - 1);
  }
  return rows;
}

TEST_P(Fitted, KnownCoefficientsAreFoundAgain) {
  const ExactExamples e = KnownExamples(GetParam());
  const auto values = Values(e, FirstIsMain(), 1e-6);
  const std::size_t size = kJoints * GetParam().columns;
  for (std::size_t v = 0; v < kVertices; ++v) {
    const auto want = Known(GetParam().columns, v);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_NEAR(values[v * size + i], want[i], 1e-9) << v << " " << i;
    }
  }
}

TEST_P(Fitted, LinearBlendIsContained) {
  const Rows<JointWeight> rows = FirstIsMain();
  const ExactExamples e = MakeExact(kPoses, kJoints, kVertices,
                                    [&](const AffineD* pose, const Vec3d& rest, std::size_t v) {
                                      Vec3d sum;
                                      for (const auto& [joint, weight] : rows.row(v))
                                        sum = sum + weight * Apply(pose[joint], rest);
                                      return sum;
                                    });
  const auto values = Values(e, rows);
  const std::size_t columns = GetParam().columns;
  for (std::size_t k = 0; k < rows.values.size(); ++k) {
    for (std::size_t c = 0; c < columns; ++c) {
      EXPECT_NEAR(values[k * columns + c], c % 4 == 3 ? rows.values[k].weight : 0, 1e-6);
    }
  }
}

// Rigid joints about fixed pivots, as characters have: the problem is singular without lambda.
ExactExamples Chain(std::size_t vertices) {
  ExactExamples e{.poses = kPoses, .joints = 3};
  testing::Random random(11);
  for (std::size_t f = 0; f < kPoses; ++f) {
    AffineD pose;
    for (std::size_t j = 0; j < 3; ++j) {
      const Vec3d pivot{static_cast<double>(j), 0, 0};
      const Vec3d axis{random.Next() - 0.5, random.Next() - 0.5, random.Next() - 0.5};
      const AffineD turn = testing::RigidMotion(axis, 40.0 * random.Next());
      const Vec3d stay = pivot - Apply(turn, pivot);
      AffineD about = turn;
      about.m[3] = stay.x;
      about.m[7] = stay.y;
      about.m[11] = stay.z;
      pose = Compose(pose, about);
      e.matrices.push_back(pose);
    }
  }
  for (std::size_t v = 0; v < vertices; ++v) {
    e.rest.push_back({2.5f * random.Next(), random.Next() - 0.5f, random.Next() - 0.5f});
  }
  // A blend of rotations that is not linear.
  for (std::size_t f = 0; f < kPoses; ++f) {
    for (const Vec3f& rest : e.rest) {
      const AffineD* const m = e.matrices.data() + f * 3;
      const Vec3d p = ToDouble(rest);
      const Vec3d a = Apply(m[0], p), b = Apply(m[1], p), c = Apply(m[2], p);
      const double bulge = Dot(a - b, a - b);
      e.targets.push_back(ToFloat(0.5 * a + 0.25 * (b + c) + Vec3d{0.2 * bulge, 0.1 * bulge, 0}));
    }
  }
  return e;
}

double Squares(const ExactExamples& e, const Rows<JointWeight>& rows,
               const std::vector<double>& values, std::size_t columns) {
  double sum = 0;
  for (std::size_t f = 0; f < e.poses; ++f) {
    for (std::size_t v = 0; v < e.rest.size(); ++v) {
      const auto row = rows.row(v);
      const Vec3d d =
          PlaceOf(columns, row,
                  std::span(values).subspan(rows.offsets[v] * columns, row.size() * columns),
                  std::span(e.matrices).subspan(f * e.joints, e.joints), ToDouble(e.rest[v])) -
          ToDouble(e.targets[f * e.rest.size() + v]);
      sum += Dot(d, d);
    }
  }
  return sum;
}

TEST_P(Fitted, CloserThanLinearBlendAndExactAtRest) {
  const ExactExamples e = Chain(kVertices);
  const auto rows = FirstIsMain(kVertices, 3);
  std::vector<double> weights;
  for (const JointWeight& entry : rows.values) weights.push_back(entry.weight);
  const auto values = Values(e, rows);
  EXPECT_LT(Squares(e, rows, values, GetParam().columns), 0.5 * Squares(e, rows, weights, 1));
  const std::vector<AffineD> still(3);
  for (std::size_t v = 0; v < kVertices; ++v) {
    const Vec3d rest = ToDouble(e.rest[v]);
    const Vec3d d = Place(&values[v * 3 * GetParam().columns], still.data(), rest, 3) - rest;
    EXPECT_LT(std::sqrt(Dot(d, d)), 1e-12);
  }
}

TEST_P(Fitted, TurnedAsAWholeItIsTheSame) {
  const ExactExamples e = Chain(kVertices);
  const auto rows = FirstIsMain(kVertices, 3);
  const auto values = Values(e, rows);
  const AffineD motion = testing::RigidMotion({1, 2, 3}, 57, {10, -20, 30});
  ExactExamples turned = e;
  for (AffineD& m : turned.matrices) m = Compose(motion, m);
  for (Vec3f& p : turned.targets) p = ToFloat(Apply(motion, ToDouble(p)));
  const auto again = Values(turned, rows);
  const std::size_t size = 3 * GetParam().columns;
  for (std::size_t v = 0; v < kVertices; ++v) {
    for (std::size_t f = 0; f < 5; ++f) {
      const Vec3d rest = ToDouble(e.rest[v]);
      const AffineD *here = &e.matrices[f * 3], *there = &turned.matrices[f * 3];
      const Vec3d want = Apply(motion, Place(&values[v * size], here, rest, 3));
      // Unchanged coefficients follow exactly, fitted ones up to the rounding of the targets.
      const Vec3d same = Place(&values[v * size], there, rest, 3) - want;
      EXPECT_LT(std::sqrt(Dot(same, same)), 1e-12);
      const Vec3d fitted = Place(&again[v * size], there, rest, 3) - want;
      EXPECT_LT(std::sqrt(Dot(fitted, fitted)), 1e-4);
    }
  }
}

TEST_P(Fitted, PlaceOfIsTheDefinition) {
  const ExactExamples e = Chain(kVertices);
  const auto rows = FirstIsMain(kVertices, 3);
  const auto values = Values(e, rows);
  const std::size_t columns = GetParam().columns;
  for (std::size_t v = 0; v < kVertices; ++v) {
    const Vec3d want = Place(&values[v * 3 * columns], e.matrices.data(), ToDouble(e.rest[v]), 3);
    const Vec3d d =
        PlaceOf(columns, rows.row(v), std::span(values).subspan(v * 3 * columns, 3 * columns),
                std::span(e.matrices).first(3), ToDouble(e.rest[v])) -
        want;
    EXPECT_LT(std::sqrt(Dot(d, d)), 1e-12);
  }
}

TEST_P(Fitted, ThreadsChangeNoBit) {
  const ExactExamples e = Chain(kVertices);
  const auto rows = FirstIsMain(kVertices, 3);
  const auto want = Values(e, rows);
  for (const int threads : {1, 2}) {
    tbb::task_arena(threads).execute([&] { EXPECT_EQ(Values(e, rows), want); });
  }
}

TEST_P(Fitted, BadInputIsRefusedByName) {
  const ExactExamples e = Chain(3);
  const auto rows = FirstIsMain(3, 3);
  const auto refused = [&](std::size_t pivots, double lambda) {
    Task task;
    return std::string(GetParam()
                           .fit(e.View(), rows, std::vector<Vec3d>(pivots), lambda, task)
                           .status()
                           .message());
  };
  EXPECT_EQ(refused(3, 1e-3), "");
  EXPECT_EQ(refused(3, 0), "lambda: got 0, need more than 0");
  EXPECT_EQ(refused(2, 1), "pivots: got 2, need one for each of 3 joints");
}

}  // namespace
}  // namespace sinew
