// rotation_bench - the nearest rotation to a 3x3 matrix, four ways: how exact and how fast.
//
// For each class of matrices the median and the largest angle (radians) to an SVD in double with
// the determinant fix, and nanoseconds a matrix, processor time of one thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/aligned.h"
#include "core/parallel/task.h"
#include "core/solve/rotation.h"
#include "tests/bench/quaternion_fit.h"
#include "tests/bench/run_benchmarks.h"
#include "tests/support/rotation_pack.h"
#include "tests/support/rotation_samples.h"

namespace sinew {
namespace {

using testing::Matrix;

constexpr std::size_t kBlocks = 512;  // of 16 matrices
constexpr float kSharp = 0.05f;       // den above which the core vouches for float32

// 16 matrices a block, [9][16] each.
struct Samples {
  AlignedVector<float> h = AlignedVector<float>(kBlocks * 144);
  std::vector<Matrix> truth;

  Matrix At(const AlignedVector<float>& from, std::size_t k) const {
    Matrix m;
    for (std::size_t i = 0; i < 9; ++i) {
      m(static_cast<int>(i) / 3, static_cast<int>(i) % 3) =
          double{from[k / 16 * 144 + i * 16 + k % 16]};
    }
    return m;
  }
};

Samples Draw(const std::function<Matrix()>& make) {
  Samples samples;
  for (std::size_t k = 0; k < kBlocks * 16; ++k) {
    const Matrix m = make();
    for (std::size_t i = 0; i < 9; ++i) {
      samples.h[k / 16 * 144 + i * 16 + k % 16] =
          static_cast<float>(m(static_cast<int>(i) / 3, static_cast<int>(i) % 3));
    }
    samples.truth.push_back(testing::BySvd(samples.At(samples.h, k)).rotation);
  }
  return samples;
}

void Put(const Matrix& m, std::size_t k, AlignedVector<float>& r) {
  for (std::size_t i = 0; i < 9; ++i) {
    r[k / 16 * 144 + i * 16 + k % 16] =
        static_cast<float>(m(static_cast<int>(i) / 3, static_cast<int>(i) % 3));
  }
}

Matrix InDouble(const Matrix& h) {
  return testing::ToEigen(NearestRotation(testing::FromEigen(h)).rotation);
}

Matrix BySvdInFloat(const Matrix& h) {
  const Eigen::JacobiSVD<Eigen::Matrix3f> svd(h.cast<float>(),
                                              Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3f u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0) u.col(2) *= -1;
  return (u * svd.matrixV().transpose()).cast<double>();
}

using Run = std::function<void(const Samples&, AlignedVector<float>&)>;

Run Single(Matrix (*fit)(const Matrix&)) {
  return [fit](const Samples& s, AlignedVector<float>& r) {
    for (std::size_t k = 0; k < kBlocks * 16; ++k) Put(fit(s.At(s.h, k)), k, r);
  };
}

Run Quaternion(bool polish) {
  return [polish](const Samples& s, AlignedVector<float>& r) {
    for (std::size_t b = 0; b < kBlocks; ++b) {
      bench::QuaternionFit(s.h.data() + b * 144, r.data() + b * 144, polish);
    }
  };
}

// The kernel alone, or with its doubtful lanes again in double, as ddm runs it.
Run ClosedForm(bool again) {
  return [again](const Samples& s, AlignedVector<float>& r) {
    alignas(64) float den[16];
    for (std::size_t b = 0; b < kBlocks; ++b) {
      testing::NearestRotations(s.h.data() + b * 144, r.data() + b * 144, den);
      for (std::size_t i = 0; again && i < 16; ++i) {
        if (!(den[i] > kSharp)) Put(InDouble(s.At(s.h, b * 16 + i)), b * 16 + i, r);
      }
    }
  };
}

// Angles to the truth, sorted.
std::vector<double> Angles(const Samples& samples, const AlignedVector<float>& r) {
  std::vector<double> angles;
  for (std::size_t k = 0; k < kBlocks * 16; ++k) {
    // Between rotations; of what is none, as far as it is off.
    const double chord = (samples.At(r, k) - samples.truth[k]).norm() / (2 * std::sqrt(2.0));
    angles.push_back(chord < 1 ? 2 * std::asin(chord) : 2 * chord);
  }
  std::ranges::sort(angles);
  return angles;
}

void Register() {
  testing::Sampler sampler(1);
  const std::vector<std::pair<std::string, std::function<Matrix()>>> classes = {
      {"neighbourhoods, joints <= 120 deg apart", [&] { return sampler.Neighbourhood(); }},
      {"Gaussian, half of them reflections", [&] { return sampler.Gaussian(); }},
      {"rank 2: 1, 0.4, 0", [&] { return sampler.WithSingularValues(1, 0.4, 0); }},
      {"near a line: 1, 1e-3, 5e-4", [&] { return sampler.WithSingularValues(1, 1e-3, 5e-4); }},
      {"near ambiguity: 1, 0.5, -0.49", [&] { return sampler.WithSingularValues(1, 0.5, -0.49); }}};
  const std::vector<std::pair<std::string, Run>> methods = {
      {"SVD, double (Eigen), the truth",
       Single([](const Matrix& h) { return testing::BySvd(h).rotation; })},
      {"SVD, float32 (Eigen)", Single(BySvdInFloat)},
      {"closed form, double", Single(InDouble)},
      {"closed form, float32", ClosedForm(false)},
      {"closed form, doubtful lanes in double", ClosedForm(true)},
      {"quaternion (QUEST), float32", Quaternion(false)},
      {"quaternion, polished, float32", Quaternion(true)}};
  for (const auto& [name, make] : classes) {
    const auto samples = std::make_shared<const Samples>(Draw(make));
    for (const auto& [method, run] : methods) {
      benchmark::RegisterBenchmark((name + "/" + method).c_str(), [samples, run = run](
                                                                      benchmark::State& state) {
        AlignedVector<float> r(kBlocks * 144);
        for (auto _ : state) run(*samples, r);
        const auto angles = Angles(*samples, r);
        state.counters["median rad"] = angles[angles.size() / 2];
        state.counters["largest rad"] = angles.back();
        state.counters["ns/matrix"] = bench::NanosecondsEach(kBlocks * 16);
      })->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace
}  // namespace sinew

int main(int argc, char** argv) {
  const sinew::DenormalGuard guard;
  sinew::Register();
  return sinew::bench::RunBenchmarks(argc, argv, 15);
}
