// Binding: identities of the moments, truncation, parameters, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/surface/rig_surface.h"
#include "tests/reference/ddm_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/posing.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

using reference::DdmReferenceParams;
using testing::BoundDdm;
using testing::ExactParams;
using ::testing::HasSubstr;

Eigen::MatrixXd Columns(const std::vector<Vec3d>& points) {
  Eigen::MatrixXd m(static_cast<Eigen::Index>(points.size()), 3);
  for (std::size_t v = 0; v < points.size(); ++v) {
    m.row(static_cast<Eigen::Index>(v)) << points[v].x, points[v].y, points[v].z;
  }
  return m;
}

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

std::vector<AffineD> RandomAffines(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<AffineD> affines(count);
  for (AffineD& a : affines) {
    for (double& value : a.m) value = normal(random);
  }
  return affines;
}

TEST(DdmBind, InfluencesSumToOne) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (const float truncation : {0.0f, 1e-3f, 0.5f}) {
      DdmParams params;
      params.truncation = truncation;
      params.alpha = 0.5f;
      const BoundDdm ddm(named.rig, params);
      for (std::size_t v = 0; v < named.rig.vertices(); ++v) {
        ASSERT_NEAR(Sum(ddm.Field(v, kOmega)), 1, 1e-6) << named.name << " " << truncation;
        ASSERT_NEAR(Sum(ddm.Field(v, kTranslation)), 1, 1e-6) << named.name << " " << truncation;
      }
    }
  }
}

TEST(DdmBind, CentroidsAreSmoothedRestPoints) {
  for (const Laplacian laplacian : {Laplacian::kUniform, Laplacian::kCotangent}) {
    const Rig rig = testing::TubeRig(testing::kChainTube);
    DdmParams params = ExactParams();
    params.laplacian = laplacian;
    const BoundDdm ddm(rig, params);
    const auto rest = testing::RestPoints(rig);
    const reference::DdmSmoother smoother(reference::MeshOf(rig), DdmReferenceParams(params));
    const Eigen::MatrixXd smoothed = smoother.Apply(Columns(rest), 4);
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      const auto row = static_cast<Eigen::Index>(v);
      EXPECT_NEAR(rest[v].x + Sum(ddm.Field(v, kPsi0)), smoothed(row, 0), 4e-6);
      EXPECT_NEAR(rest[v].y + Sum(ddm.Field(v, kPsi1)), smoothed(row, 1), 4e-6);
      EXPECT_NEAR(rest[v].z + Sum(ddm.Field(v, kPsi2)), smoothed(row, 2), 4e-6);
    }
  }
}

TEST(DdmBind, TranslationsAreSmoothedLinearBlend) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const DdmParams params = ExactParams();
  const BoundDdm ddm(rig, params);
  const auto rest = testing::RestPoints(rig);
  const reference::DdmSmoother smoother(reference::MeshOf(rig), DdmReferenceParams(params));
  const auto skin = RandomAffines(rig.bindings().size(), 3);
  const Eigen::MatrixXd want =
      smoother.Apply(Columns(reference::Lbs(rest, rig.influences(), skin)), 4);
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const auto psi0 = ddm.Field(v, kPsi0), psi1 = ddm.Field(v, kPsi1), psi2 = ddm.Field(v, kPsi2),
               omega = ddm.Field(v, kOmega);
    Vec3d q;
    for (std::size_t e = 0; e < skin.size(); ++e) {
      q = q + Multiply(Linear(skin[e]), Vec3d{psi0[e], psi1[e], psi2[e]}) +
          omega[e] * Apply(skin[e], rest[v]);
    }
    EXPECT_LT((Eigen::Vector3d(q.x, q.y, q.z) - want.row(static_cast<Eigen::Index>(v)).transpose())
                  .norm(),
              2e-5);
  }
}

TEST(DdmBind, NeighbourhoodCovarianceIsNonNegative) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const BoundDdm ddm(named.rig);
    for (std::size_t v = 0; v < named.rig.vertices(); ++v) {
      const double s[3] = {Sum(ddm.Field(v, kPsi0)), Sum(ddm.Field(v, kPsi1)),
                           Sum(ddm.Field(v, kPsi2))};
      const DdmField fields[6] = {kP00, kP01, kP02, kP11, kP12, kP22};
      double p[6];
      for (int i = 0; i < 6; ++i) p[i] = Sum(ddm.Field(v, fields[i]));
      Eigen::Matrix3d covariance;
      covariance << p[0], p[1], p[2], p[1], p[3], p[4], p[2], p[4], p[5];
      covariance -= Eigen::Vector3d(s[0], s[1], s[2]) * Eigen::RowVector3d(s[0], s[1], s[2]);
      const double least =
          Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(covariance).eigenvalues().minCoeff();
      EXPECT_GE(least, -1e-6 * (covariance.trace() + 1e-6)) << named.name;
    }
  }
}

TEST(DdmBind, TruncationReportsDroppedInfluence) {
  const Rig rig = testing::TubeRig({.rings = 81, .around = 16, .joints = 8, .length = 8});
  float last = 0;
  for (const float truncation : {0.0f, 1e-3f, 1e-2f, 1e-1f}) {
    DdmParams params;
    params.truncation = truncation;
    params.lambda = 16;
    const BoundDdm ddm(rig, params);
    EXPECT_LE(last, ddm.tables().dropped);
    last = ddm.tables().dropped;
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      for (const double omega : ddm.Field(v, kOmega)) {
        EXPECT_TRUE(omega == 0 || omega >= double{truncation}) << omega;
      }
    }
  }
  EXPECT_GT(last, 0.05f);
  EXPECT_LT(last, 0.5f);
}

TEST(DdmBind, KeepsLargestInfluence) {
  RigSource source = testing::GridSource(4);
  for (std::uint16_t j = 1; j < 5; ++j) {
    source.joints.push_back({.name = "joint" + std::to_string(j), .parent = 0});
    source.rest_local.emplace_back();
    source.bindings.push_back({j, AffineD{}});
  }
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}, .fallback = {}};
  for (int v = 0; v < 16; ++v) {
    for (std::uint32_t j = 0; j < 5; ++j) source.influences.bindings.push_back(j);
    for (const float w : {0.2f, 0.2f, 0.2f, 0.25f, 0.15f}) source.influences.weights.push_back(w);
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  const Rig rig = testing::MakeRig(std::move(source));
  DdmParams params;
  params.truncation = 0.5f;
  const BoundDdm ddm(rig, params);
  for (std::size_t v = 0; v < 16; ++v) {
    EXPECT_THAT(ddm.Field(v, kOmega), ::testing::ElementsAre(0, 0, 0, 1, 0));
  }
  EXPECT_NEAR(ddm.tables().dropped, 0.75, 1e-4);
}

TEST(DdmBind, SameTablesForAnyThreadCount) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const BoundDdm serial(rig, {}, {}, false), parallel(rig, {}, {}, true);
  EXPECT_EQ(serial.tables().moments, parallel.tables().moments);
  EXPECT_EQ(serial.tables().centroid, parallel.tables().centroid);
  EXPECT_EQ(serial.tables().joints, parallel.tables().joints);
}

TEST(DdmBind, RejectsInvalidParameters) {
  const Rig rig = testing::TubeRig();
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const auto error = [&](auto change) {
    DdmParams params;
    change(params);
    Task task;
    const auto bound = Ddm::Bind({rig, *layout, RigSurface(rig, *layout)}, params, task);
    EXPECT_EQ(bound.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(bound.status().message());
  };

  EXPECT_THAT(error([](DdmParams& p) { p.smoothing = Smoothing::kExplicit; }),
              HasSubstr("lambda: got 4, explicit smoothing needs 0 to 1"));
  const Rig fine = testing::TubeRig({.rings = 2000, .around = 3, .radius = 1e-4});
  const auto fine_layout = testing::ValueOrDie(BlockLayout::Create(fine));
  DdmParams params;
  params.radius = 1;
  params.iterations = 1;
  Task task;
  const auto bound = Ddm::Bind({fine, *fine_layout, RigSurface(fine, *fine_layout)}, params, task);
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bound.status().message()), HasSubstr("radius: smoothing over"));
}

TEST(DdmBind, RejectsOnlyMeshesBeyondFloatRange) {
  for (const float size : {1e-12f, 1e15f, 1e20f}) {
    RigSource source = testing::GridSource(5);
    for (Vec3f& p : source.mesh.positions) p = {p.x * size, p.y * size, 0};
    const Rig rig = testing::MakeRig(std::move(source));
    const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
    Task task;
    const auto bound = Ddm::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task);
    if (size > 1e18f) {
      EXPECT_THAT(std::string(bound.status().message()), HasSubstr("diagonal"));
      continue;
    }
    const BoundDdm ddm(rig);
    const AffineD turn = testing::RigidMotion({1, 1, 0}, 130);
    auto want = testing::RestPoints(rig);
    for (Vec3d& p : want) p = Apply(turn, p);
    EXPECT_LT(testing::MaxDistance(ddm.Run(testing::Moved(turn, testing::RestPose(rig))), want),
              1e-6 * rig.mesh().diagonal());
  }
}

TEST(DdmBind, CancellableBetweenSteps) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  std::stop_source stop;
  int calls = 0;
  Task task({.stop = stop.get_token(),
             .progress =
                 [&](double) {
                   if (++calls == 5) stop.request_stop();
                 },
             .parallel = false});
  task.SetTotal(Ddm::Cost({rig, *layout, RigSurface(rig, *layout)}, {})->work);
  const auto bound = Ddm::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task);
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(calls, 5);
  Task stopped({.stop = stop.get_token()});
  EXPECT_EQ(Ddm::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, stopped).status().code(),
            absl::StatusCode::kCancelled);
}

TEST(DdmBind, ProgressRisesToEnd) {
  const Rig rig = testing::TubeRig({.rings = 401, .around = 16, .joints = 8});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  double last = 0;
  int calls = 0;
  Task task({.progress =
                 [&](double done) {
                   EXPECT_GE(done, last);
                   last = done;
                   ++calls;
                 },
             .parallel = false});
  task.SetTotal(Ddm::Cost({rig, *layout, RigSurface(rig, *layout)}, {})->work);
  ASSERT_TRUE(Ddm::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task).ok());
  EXPECT_GT(calls, 100);
  EXPECT_GT(last, 0.7);
  EXPECT_LE(last, 1.0);
}

TEST(DdmBind, ReportsBindStatistics) {
  using ::testing::ElementsAre;
  using ::testing::Field;
  const Rig rig = testing::TubeRig(testing::kChainTube);
  Ddm method;
  method.tables = BoundDdm(rig).tables();
  EXPECT_THAT(method.Statistics(), ElementsAre(Field(&BindStatistic::name, "dropped_mass"),
                                               Field(&BindStatistic::name, "smoothing_radius")));
  EXPECT_EQ(method.Statistics()[0].value, double{method.tables.dropped});
  EXPECT_NEAR(method.Statistics()[1].value, 4, 1e-6);  // sqrt(4 steps of 4)
}

TEST(DdmSmoothing, RadiusIsRelativeToDiagonal) {
  DdmParams params;
  params.radius = 0.1f;
  const DdmSmoothing s = ResolveSmoothing(params, 10, 0.25);
  EXPECT_EQ(s.steps, 4u);
  EXPECT_NEAR(0.25 * std::sqrt(4 * s.lambda), 1, 1e-6);
  EXPECT_NEAR(s.kappa, s.lambda / 3, 1e-12);
  params.smoothing = Smoothing::kExplicit;
  params.radius = 0.0875f;
  const DdmSmoothing e = ResolveSmoothing(params, 10, 0.25);
  EXPECT_EQ(e.steps, 13u);  // the square of 3.5 edges, rounded up
  EXPECT_NEAR(0.25 * std::sqrt(e.steps * e.lambda), 0.875, 1e-6);
  EXPECT_EQ(e.kappa_steps, 4u);
}

TEST(DdmSmoothing, UsesLambdaWithoutRadius) {
  DdmParams params;
  params.kappa = 1.5f;
  const DdmSmoothing s = ResolveSmoothing(params, 10, 0.25);
  EXPECT_EQ(s.lambda, 4);
  EXPECT_EQ(s.kappa, 1.5);
  params.radius = 0.1f;
  EXPECT_EQ(ResolveSmoothing(params, 10, 0).lambda, 4);  // no edges
}

TEST(DdmTables, CheckRejectsVariantsOfOtherForm) {
  const Rig rig = testing::TubeRig();
  for (std::uint32_t variant = 0; variant < 6; ++variant) {
    DdmParams params;
    params.variant = variant;
    const BoundDdm ddm(rig, params);
    for (const bool enhanced : {false, true}) {
      const bool allowed = DdmTables::Validate(params, "ddm", enhanced).ok();
      EXPECT_EQ(ddm.tables().Check(ddm.layout(), rig.bindings().size(), enhanced).code(),
                allowed ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss)
          << variant;
    }
    EnhancedDdm method;
    method.tables = ddm.tables();
    EXPECT_EQ(method.Check(ddm.layout(), rig.bindings().size()).ok(), variant != 1 && variant != 5);
  }
}

}  // namespace
}  // namespace sinew
