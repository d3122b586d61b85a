// exact_examples.h - poses, rest points and targets in multiples of powers of two, so that targets
// of known coefficients hold in float without rounding, and a fit can be compared with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/examples/pose_examples.h"
#include "tests/support/random.h"

namespace sinew::testing {

struct ExactExamples {
  std::size_t poses = 0, joints = 0;
  std::vector<AffineD> matrices{};
  std::vector<Vec3f> rest{}, targets{};

  PoseExamples View() const {
    return {poses, joints, matrices, rest, TargetsInMemory(targets, rest.size())};
  }
};

// A multiple of 1/32 in [-1, 1).
inline double Coarse(Random& random) {
  return static_cast<double>(random.Below(64)) / 32 - 1;
}

// Random affine matrices, not rotations: every coefficient leaves a trace. target(matrices of a
// pose, v) is the exact place of a vertex.
template <class Target>
ExactExamples MakeExact(std::size_t poses, std::size_t joints, std::size_t vertices,
                        const Target& target, std::uint32_t seed = 3) {
  Random random(seed);
  ExactExamples e{.poses = poses, .joints = joints};
  e.matrices.resize(poses * joints);
  for (AffineD& matrix : e.matrices) {
    for (double& m : matrix.m) m = Coarse(random);
  }
  for (std::size_t v = 0; v < vertices; ++v) {
    e.rest.push_back(ToFloat(Vec3d{Coarse(random), Coarse(random), Coarse(random)}));
  }
  for (std::size_t f = 0; f < poses; ++f) {
    for (std::size_t v = 0; v < vertices; ++v) {
      e.targets.push_back(ToFloat(target(e.matrices.data() + f * joints, ToDouble(e.rest[v]), v)));
    }
  }
  return e;
}

// A row of candidates 0, 1, ... for every vertex.
inline Rows<JointWeight> AllJoints(std::size_t vertices, std::size_t joints, double weight = 0) {
  return CollectRows<JointWeight>(vertices, [&](const auto& add) {
    for (std::size_t v = 0; v < vertices; ++v) {
      for (std::size_t j = 0; j < joints; ++j) {
        add(v, JointWeight{static_cast<std::uint32_t>(j), weight});
      }
    }
  });
}

}  // namespace sinew::testing
