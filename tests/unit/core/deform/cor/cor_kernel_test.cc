#include "core/deform/cor/cor_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/aligned.h"
#include "core/deform/kernels/centre_blend_kernel.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "tests/support/compare.h"
#include "tests/support/kernel_input.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

using testing::ExpectInvariantToQuaternionSigns;
using testing::ExpectSameBitsInPlace;
using testing::ExpectSameBitsOnEveryIsa;
using testing::SameBits;

std::vector<double> Sum(const std::vector<CorSample>& samples, float aj, float ak) {
  alignas(64) float j[16], k[16];
  for (int i = 0; i < 16; ++i) {
    j[i] = aj * static_cast<float>(i + 1) / 16;
    k[i] = ak;
  }
  std::vector<double> sums(64);
  CorKernel(
      {.samples = samples.data(), .count = samples.size(), .aj = j, .ak = k, .sums = sums.data()});
  return sums;
}

TEST(CorKernel, PowerOfTwoUpToCap) {
  for (float root = 0; root < 12; root += 0.0137f) {
    const auto sums = Sum({{.bj = 0, .bk = root, .mass = 1, .x = 2, .y = -3, .z = 0}}, 1, 0);
    for (std::size_t i = 0; i < 16; ++i) {
      const double q = std::pow(static_cast<double>(root) * static_cast<double>(i + 1) / 16, 2);
      const double want = std::exp2(-std::min(q, 60.0));
      EXPECT_NEAR(sums[i] / want, 1, 3e-7 + 1.5e-7 * q) << q;
      EXPECT_EQ(sums[16 + i], 2 * sums[i]);
      EXPECT_NEAR(sums[32 + i], -3 * sums[i], 1e-6 * sums[i]);
      EXPECT_EQ(sums[48 + i], 0);
    }
  }
}

TEST(CorKernel, SumsForAnySampleCount) {
  for (const std::size_t count : {0u, 1u, 127u, 128u, 129u, 100000u}) {
    const std::vector<CorSample> samples(count, {0.5f, 0.5f, 0.1f, 0, 0, 0.1f});
    alignas(64) float a[16];
    std::fill_n(a, 16, 0.5f);
    std::vector<double> sums(64, 1.0);
    CorKernel({.samples = samples.data(), .count = count, .aj = a, .ak = a, .sums = sums.data()});
    const double want = 1 + 0.1 * static_cast<double>(count);
    EXPECT_NEAR(sums[5] / want, 1, 2e-6) << count;
    EXPECT_EQ(sums[20], 1);
    EXPECT_EQ(sums[53], sums[5]);
  }
}

TEST(CorKernel, SameBitsOnEveryInstructionSet) {
  testing::Random random;
  std::vector<CorSample> samples;
  for (int i = 0; i < 1000; ++i) {
    samples.push_back({random.Next(), random.Next(), random.Next(), random.Next() - 0.5f,
                       random.Next() - 0.5f, random.Next() - 0.5f});
  }
  ExpectSameBitsOnEveryIsa([&] { return Sum(samples, 14, 11); });
}

// Two sets of weights, and centres.
struct BlendInput : testing::KernelInput {
  BlendInput() {
    for (std::size_t i = 0; i < kJoints * 12; ++i) skin.push_back(2 * random.Next() - 1);
  }

  void Run(float* out) const {
    CentreBlendKernel({.pair_offset = offset.data(),
                       .pair_entry = entry.data(),
                       .rotation_weights = turn.data(),
                       .translation_weights = weights.data(),
                       .skin = skin.data(),
                       .dual_quats = quats.data(),
                       .signs = signs.data(),
                       .stretch = stretch.data(),
                       .centre = centre.data(),
                       .in = in.data(),
                       .out = out},
                      0, kBlocks);
  }
  AlignedVector<float> Result() const {
    AlignedVector<float> out(in.size());
    Run(out.data());
    return out;
  }

  AlignedVector<float> turn = Weights(0.6f), weights = Weights(0.5f), centre = Points(), skin;
  std::vector<float> signs = {1, -1, -1, 1, 1, -1, 1, -1, 1};
};

TEST(CentreBlendKernel, SameBitsOnEveryInstructionSet) {
  const BlendInput input;
  ExpectSameBitsOnEveryIsa([&] { return input.Result(); });
}

TEST(CentreBlendKernel, AllowsInPlaceOutput) {
  ExpectSameBitsInPlace(BlendInput());
}

TEST(CentreBlendKernel, InvariantToQuaternionSigns) {
  ExpectInvariantToQuaternionSigns(BlendInput());
}

TEST(CentreBlendKernel, CentreAtPointGivesLinearBlend) {
  BlendInput input;
  input.centre = input.in;
  AlignedVector<float> linear(input.in.size());
  LinearBlendKernel({.pair_offset = input.offset.data(),
                     .pair_entry = input.entry.data(),
                     .weights = input.weights.data(),
                     .skin = input.skin.data(),
                     .in = input.in.data(),
                     .out = linear.data()},
                    0, BlendInput::kBlocks);
  EXPECT_TRUE(SameBits(input.Result(), linear));
}

// Rotations that cancel: the point keeps its offset from the moved centre.
TEST(CentreBlendKernel, FiniteWithoutRotation) {
  BlendInput input;
  for (float& w : input.turn) w = 0;
  for (const float value : input.Result()) EXPECT_TRUE(std::isfinite(value));
}

}  // namespace
}  // namespace sinew
