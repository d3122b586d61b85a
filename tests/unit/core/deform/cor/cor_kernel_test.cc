#include "core/deform/cor/cor_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/aligned.h"
#include "core/deform/kernels/centre_blend_kernel.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "core/simd/target.h"

namespace sinew {
namespace {

class Random {
 public:
  float Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) * 0x1p-24f;
  }

 private:
  std::uint32_t state_ = 4711;
};

template <class Values>
bool SameBits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

// On every instruction set `run` must give the scalar bits.
template <class Run>
void ExpectSameBits(Run run) {
  ASSERT_TRUE(ForceIsa(Isa::kScalar).ok());
  const auto scalar = run();
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    EXPECT_TRUE(SameBits(scalar, run())) << IsaName(isa);
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
}

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
  Random random;
  std::vector<CorSample> samples;
  for (int i = 0; i < 1000; ++i) {
    samples.push_back({random.Next(), random.Next(), random.Next(), random.Next() - 0.5f,
                       random.Next() - 0.5f, random.Next() - 0.5f});
  }
  ExpectSameBits([&] { return Sum(samples, 14, 11); });
}

// Stretched and rigid joints, quaternions of both signs, two sets of weights.
struct BlendInput {
  BlendInput() {
    Random random;
    offset = {0};
    for (std::size_t b = 0; b < kBlocks; ++b) {
      for (std::size_t k = 0; k <= b; ++k) {
        entry.push_back(static_cast<std::uint16_t>((b + k) % kJoints));
        for (std::size_t i = 0; i < 16; ++i) {
          turn.push_back(k == 0 ? 0.6f : 0.4f * random.Next() / 6);
          weights.push_back(k == 0 ? 0.5f : 0.5f * random.Next() / 6);
        }
      }
      offset.push_back(static_cast<std::uint32_t>(entry.size()));
    }
    for (std::size_t j = 0; j < kJoints; ++j) {
      float q[4], length = 0;
      for (float& c : q) {
        c = random.Next() - 0.5f;
        length += c * c;
      }
      for (const float c : q) quats.push_back(c / std::sqrt(length));
      quats.insert(quats.end(), 4, 0.0f);
      for (int i = 0; i < 12; ++i) skin.push_back(2 * random.Next() - 1);
      for (int i = 0; i < 9; ++i) stretch.push_back(0.3f * (random.Next() - 0.5f));
      stretch.insert(stretch.end(), {j % 2 == 0 ? 1.0f : 0.0f, 0, 0});
    }
    for (std::size_t i = 0; i < kBlocks * 48; ++i) {
      in.push_back(4 * (random.Next() - 0.5f));
      centre.push_back(4 * (random.Next() - 0.5f));
    }
  }

  void Run(float* out) const {
    CentreBlendKernel({.pair_offset = offset.data(),
                       .pair_entry = entry.data(),
                       .rotation_weights = turn.data(),
                       .translation_weights = weights.data(),
                       .skin = skin.data(),
                       .dual_quats = quats.data(),
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

  static constexpr std::size_t kBlocks = 7, kJoints = 9;
  std::vector<std::uint32_t> offset;
  std::vector<std::uint16_t> entry;
  AlignedVector<float> turn, weights, quats, skin, stretch, centre, in;
};

TEST(CentreBlendKernel, SameBitsOnEveryInstructionSet) {
  const BlendInput input;
  ExpectSameBits([&] { return input.Result(); });
}

TEST(CentreBlendKernel, AllowsInPlaceOutput) {
  BlendInput input;
  const auto want = input.Result();
  input.Run(input.in.data());
  EXPECT_TRUE(SameBits(want, input.in));
}

TEST(CentreBlendKernel, InvariantToQuaternionSigns) {
  const BlendInput input;
  const auto want = input.Result();
  for (unsigned flips = 1; flips < 512; flips += 7) {
    BlendInput flipped = input;
    for (std::size_t i = 0; i < flipped.quats.size(); ++i) {
      if ((flips >> (i / 8)) & 1) flipped.quats[i] = -flipped.quats[i];
    }
    EXPECT_TRUE(SameBits(want, flipped.Result())) << flips;
  }
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
