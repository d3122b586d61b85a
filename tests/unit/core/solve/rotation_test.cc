// The nearest rotation, in double and in float on every level, against an SVD with the determinant
// fix.
#include "core/solve/rotation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/base/aligned.h"
#include "core/parallel/task.h"
#include "core/simd/target.h"
#include "tests/support/rotation_pack.h"
#include "tests/support/rotation_samples.h"

namespace sinew {
namespace {

using testing::Angle;
using testing::BySvd;
using testing::FromEigen;
using testing::Matrix;
using testing::Sampler;
using testing::ToEigen;
using testing::Truth;

Matrix Nearest(const Matrix& h) {
  return ToEigen(NearestRotation(FromEigen(h)).rotation);
}

TEST(NearestRotation, RecoversRotationFromPolarProduct) {
  Sampler sampler(1);
  for (int k = 0; k < 2000; ++k) {
    const Matrix r = sampler.Rotation(), g = sampler.Gaussian();
    const Matrix stretch = g * g.transpose() + 0.1 * Matrix::Identity();
    EXPECT_LT(Angle(Nearest(r * stretch), r), 1e-9);
  }
}

TEST(NearestRotation, MatchesSvdIncludingReflections) {
  Sampler sampler(2);
  for (int k = 0; k < 20000; ++k) {
    const Matrix h = sampler.Gaussian();
    const Truth truth = BySvd(h);
    const Matrix r = Nearest(h);
    EXPECT_LT(Angle(r, truth.rotation) * truth.distinct, 1e-8);
    EXPECT_NEAR(r.determinant(), 1, 1e-6);
  }
}

TEST(NearestRotation, InvariantToScale) {
  Sampler sampler(3);
  const Matrix h = sampler.Gaussian();
  for (int e = -150; e <= 150; e += 15) {
    EXPECT_LT(Angle(Nearest(std::pow(10.0, e) * h), Nearest(h)), 1e-12) << e;
  }
}

TEST(NearestRotation, EquivariantUnderRotation) {
  Sampler sampler(4);
  for (int k = 0; k < 200; ++k) {
    const Matrix h = sampler.Neighbourhood(), g = sampler.Rotation();
    EXPECT_LT(Angle(Nearest(g * h), g * Nearest(h)), 1e-9);
    EXPECT_LT(Angle(Nearest(h * g), Nearest(h) * g), 1e-9);
  }
}

TEST(NearestRotation, SymmetricPositiveMatrixGivesIdentity) {
  Sampler sampler(5);
  for (int k = 0; k < 200; ++k) {
    const Matrix r = sampler.Rotation();
    for (const Eigen::Vector3d& s : {Eigen::Vector3d(1, 0.5, 0.2), Eigen::Vector3d(1, 0.4, 0)}) {
      EXPECT_LT(Angle(Nearest(r * s.asDiagonal() * r.transpose()), Matrix::Identity()), 1e-7);
    }
  }
  EXPECT_LT(Angle(Nearest(Eigen::Vector3d(1, 1, -1e-3).asDiagonal()), Matrix::Identity()), 1e-7);
}

TEST(NearestRotation, MaximizesTrace) {
  Sampler sampler(6);
  const Matrix h = Eigen::Vector3d(1, 0.5, -0.6).asDiagonal();
  const Matrix r = Nearest(h);
  EXPECT_GT(Angle(r, Matrix::Identity()), 0.1);
  const double best = (r.transpose() * h).trace();
  for (int k = 0; k < 10000; ++k)
    EXPECT_LE((sampler.Rotation().transpose() * h).trace(), best + 1e-9);
}

TEST(NearestRotation, ReportsNonUniqueResults) {
  EXPECT_FALSE(NearestRotation({{0, 0, 0, 0, 0, 0, 0, 0, 0}}).unique);
  EXPECT_FALSE(NearestRotation({{1, 0, 0, 0, 0, 0, 0, 0, 0}}).unique);  // rank 1
  EXPECT_FALSE(NearestRotation({{1, 0, 0, 0, 0.5, 0, 0, 0, -0.5}}).unique);
  EXPECT_TRUE(NearestRotation({{1, 0, 0, 0, 0.5, 0, 0, 0, -0.4999}}).unique);
  EXPECT_TRUE(NearestRotation({{1e-300, 0, 0, 0, 1e-300, 0, 0, 0, 0}}).unique);
}

TEST(NearestRotation, AccurateNearAmbiguity) {
  Sampler sampler(7);
  for (const double gap : {1e-2, 1e-4, 1e-6, 1e-7}) {
    for (int k = 0; k < 200; ++k) {
      const Matrix h = sampler.WithSingularValues(1, 0.5, -0.5 + gap);
      const Truth truth = BySvd(h);
      EXPECT_LT(Angle(Nearest(h), truth.rotation) * gap, 1e-9);
    }
  }
}

constexpr float kSharp = 0.05f;  // den above which the kernel's rotation is accurate

// Runs sixteen matrices through the kernel. The rows are those of `h` rounded to float.
struct Batch {
  AlignedVector<float> h = AlignedVector<float>(144), r = AlignedVector<float>(144),
                       den = AlignedVector<float>(16);
  void Set(std::size_t lane, const Matrix& m) {
    for (std::size_t i = 0; i < 9; ++i) {
      h[16 * i + lane] = static_cast<float>(m(static_cast<int>(i) / 3, static_cast<int>(i) % 3));
    }
  }
  Matrix Get(const AlignedVector<float>& from, std::size_t lane) const {
    Matrix m;
    for (std::size_t i = 0; i < 9; ++i) {
      m(static_cast<int>(i) / 3, static_cast<int>(i) % 3) = double{from[16 * i + lane]};
    }
    return m;
  }
  void Run() {
    const DenormalGuard guard;
    testing::NearestRotations(h.data(), r.data(), den.data());
  }
};

template <class Make>
std::vector<Batch> MakeBatches(int count, Make make) {
  std::vector<Batch> batches(static_cast<std::size_t>(count));
  for (Batch& batch : batches) {
    for (std::size_t lane = 0; lane < 16; ++lane) batch.Set(lane, make());
    batch.Run();
  }
  return batches;
}

// The largest angle to the reference over accurate lanes, and the share of inaccurate lanes.
struct Quality {
  double worst = 0, scaled_worst = 0, left = 0;
};
Quality Measure(const std::vector<Batch>& batches) {
  Quality quality;
  for (const Batch& batch : batches) {
    for (std::size_t lane = 0; lane < 16; ++lane) {
      if (!(batch.den[lane] > kSharp)) {
        quality.left += 1.0 / (16.0 * static_cast<double>(batches.size()));
        continue;
      }
      const Truth truth = BySvd(batch.Get(batch.h, lane));
      const Matrix r = batch.Get(batch.r, lane);
      const double angle = Angle(r, truth.rotation);
      quality.worst = std::max(quality.worst, angle);
      quality.scaled_worst = std::max(quality.scaled_worst, angle * truth.distinct);
      EXPECT_NEAR(r.determinant(), 1, 2e-6);
      EXPECT_LT((r.transpose() * r - Matrix::Identity()).cwiseAbs().maxCoeff(), 2e-6);
    }
  }
  return quality;
}

TEST(NearestRotation16, AccurateOnNeighbourhoods) {
  Sampler sampler(11);
  const Quality quality = Measure(MakeBatches(4000, [&] { return sampler.Neighbourhood(); }));
  EXPECT_LT(quality.worst, 6e-7);
  EXPECT_LT(quality.left, 0.01);
}

TEST(NearestRotation16, AccurateOnGaussianMatricesRelativeToGap) {
  Sampler sampler(12);
  const Quality quality = Measure(MakeBatches(4000, [&] { return sampler.Gaussian(); }));
  EXPECT_LT(quality.scaled_worst, 3e-7);
  EXPECT_LT(quality.left, 0.1);
}

TEST(NearestRotation16, AccurateOnRankTwo) {
  Sampler sampler(13);
  const Quality quality =
      Measure(MakeBatches(1000, [&] { return sampler.WithSingularValues(1, 0.4, 0); }));
  EXPECT_LT(quality.worst, 6e-7);
  EXPECT_EQ(quality.left, 0);
}

TEST(NearestRotation16, AccurateOnReflections) {
  Sampler sampler(14);
  const Quality quality =
      Measure(MakeBatches(1000, [&] { return sampler.WithSingularValues(1, 0.7, -0.56); }));
  EXPECT_LT(quality.worst, 1e-5);
}

TEST(NearestRotation16, AmbiguousMatricesGiveLowDenAndFiniteValues) {
  Sampler sampler(15);
  Batch batch;
  batch.Set(0, Matrix::Zero());
  batch.Set(1, sampler.WithSingularValues(1, 0, 0));
  batch.Set(2, sampler.WithSingularValues(1, 0.5, -0.5));
  batch.Set(3, sampler.WithSingularValues(1, 1e-3, 5e-4));
  batch.Set(4, 1e-45 * Matrix::Ones());
  batch.Set(5, 1e-39 * sampler.Neighbourhood());
  batch.Set(6, -Matrix::Identity());
  batch.Set(7, 3e38 * Matrix::Ones());
  batch.Run();
  for (std::size_t lane = 0; lane < 16; ++lane) {
    EXPECT_FALSE(batch.den[lane] > kSharp) << lane;
    EXPECT_TRUE(batch.Get(batch.r, lane).allFinite()) << lane;
  }
}

TEST(NearestRotation16, InvariantToScale) {
  Sampler sampler(16);
  const Matrix h = sampler.Neighbourhood();
  Batch batch;
  for (std::size_t lane = 0; lane < 16; ++lane) {
    batch.Set(lane, std::pow(10.0, static_cast<double>(lane) * 2 - 15) * h);
  }
  batch.Run();
  for (std::size_t lane = 0; lane < 16; ++lane) {
    EXPECT_LT(Angle(batch.Get(batch.r, lane), BySvd(h).rotation), 1e-6) << lane;
  }
}

TEST(NearestRotation16, SameBitsOnEveryLevel) {
  Sampler sampler(17);
  std::vector<Matrix> matrices;
  for (int k = 0; k < 16 * 300; ++k) {
    matrices.push_back(k % 3 == 0   ? sampler.Neighbourhood()
                       : k % 3 == 1 ? sampler.Gaussian()
                                    : sampler.WithSingularValues(1, 0.5, -0.5 + 1e-5 * k));
  }
  std::vector<Batch> first;
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    auto next = matrices.begin();
    const auto batches = MakeBatches(300, [&] { return *next++; });
    if (first.empty()) first = batches;
    for (std::size_t b = 0; b < first.size(); ++b) {
      EXPECT_EQ(std::memcmp(first[b].r.data(), batches[b].r.data(), 144 * 4), 0) << IsaName(isa);
      EXPECT_EQ(std::memcmp(first[b].den.data(), batches[b].den.data(), 16 * 4), 0) << IsaName(isa);
    }
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
}

}  // namespace
}  // namespace sinew
