// kernel_input.h - input of the kernels that blend joints, and what holds for each of them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/aligned.h"
#include "core/simd/target.h"
#include "tests/support/compare.h"
#include "tests/support/random.h"

namespace sinew::testing {

// Stretched and rigid joints, quaternions of both signs; block b has b + 1 joints.
struct KernelInput {
  static constexpr std::size_t kBlocks = 7, kJoints = 9;

  KernelInput() {
    for (std::size_t b = 0; b < kBlocks; ++b) {
      for (std::size_t k = 0; k <= b; ++k) {
        entry.push_back(static_cast<std::uint16_t>((b + k) % kJoints));
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
      for (int i = 0; i < 4; ++i) quats.push_back(random.Next() - 0.5f);
      for (int i = 0; i < 9; ++i) stretch.push_back(0.3f * (random.Next() - 0.5f));
      stretch.insert(stretch.end(), {j % 2 == 0 ? 1.0f : 0.0f, 0, 0});
    }
    in = Points();
  }

  // Weights of each joint of a block: `first` for the first one, the rest among the others.
  AlignedVector<float> Weights(float first) {
    AlignedVector<float> weights;
    for (std::size_t b = 0; b < kBlocks; ++b) {
      for (std::size_t i = 0; i < 16 * (b + 1); ++i) {
        weights.push_back(i < 16 ? first : (1 - first) * random.Next() / 6);
      }
    }
    return weights;
  }
  AlignedVector<float> Points() {
    AlignedVector<float> points;
    for (std::size_t i = 0; i < kBlocks * 48; ++i) points.push_back(4 * (random.Next() - 0.5f));
    return points;
  }

  Random random;
  std::vector<std::uint32_t> offset = {0};
  std::vector<std::uint16_t> entry;
  AlignedVector<float> quats, stretch, in;
};

// `run` gives the same bits on every instruction set.
template <class Run>
void ExpectSameBitsOnEveryIsa(Run run) {
  ASSERT_TRUE(ForceIsa(Isa::kScalar).ok());
  const auto scalar = run();
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    EXPECT_TRUE(SameBits(scalar, run())) << IsaName(isa);
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
}

// q and -q are the same rotation.
template <class Input>
void ExpectInvariantToQuaternionSigns(const Input& input) {
  const auto want = input.Result();
  for (unsigned flips = 1; flips < 1u << KernelInput::kJoints; flips += 7) {
    Input flipped = input;
    for (std::size_t i = 0; i < flipped.quats.size(); ++i) {
      if ((flips >> (i / 8)) & 1) flipped.quats[i] = -flipped.quats[i];
    }
    EXPECT_TRUE(SameBits(want, flipped.Result())) << flips;
  }
}

// The kernel may write over its points.
template <class Input>
void ExpectSameBitsInPlace(Input input) {
  const auto want = input.Result();
  input.Run(input.in.data());
  EXPECT_TRUE(SameBits(want, input.in));
}

}  // namespace sinew::testing
