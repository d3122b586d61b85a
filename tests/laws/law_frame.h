// law_frame.h - a frame of a deformer, and how rounding of its pose moves each vertex.
#pragma once

#include <absl/status/statusor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "tests/support/compare.h"
#include "tests/support/random.h"

namespace sinew::testing {

struct Frame {
  std::vector<Vec3f> positions, normals;
  std::vector<Vec4f> tangents;              // for rigs with tangents
  std::vector<std::uint8_t> vertex_status;  // for recipes that write it
  std::array<float, 6> bounds{};

  bool SameBits(const Frame& other) const {
    return testing::SameBits(positions, other.positions) &&
           testing::SameBits(normals, other.normals) &&
           testing::SameBits(tangents, other.tangents) && vertex_status == other.vertex_status;
  }
};

// For rigs so small that threads would cost more time than they save. Threads have a law of their
// own.
inline Task OnOneThread() {
  return Task({.progress = {}, .parallel = false});
}

// workspace: null = a new one.
inline absl::StatusOr<Frame> Evaluate(const Deformer& deformer, const Pose& pose,
                                      const Task& task = OnOneThread(),
                                      Workspace* workspace = nullptr,
                                      NormalRule rule = NormalRule::kAuto) {
  Frame frame;
  frame.positions.resize(deformer.vertices());
  frame.normals.resize(deformer.vertices());
  if (deformer.has_tangents()) frame.tangents.resize(deformer.vertices());
  if (deformer.has_vertex_status()) frame.vertex_status.assign(deformer.vertices(), 0xff);
  FrameOut out{.normal_rule = rule,
               .positions = std::as_writable_bytes(std::span(frame.positions)),
               .normals = std::as_writable_bytes(std::span(frame.normals)),
               .tangents = std::as_writable_bytes(std::span(frame.tangents)),
               .vertex_status = std::as_writable_bytes(std::span(frame.vertex_status))};
  Workspace fresh;
  const absl::Status status =
      deformer.Evaluate(pose, out, workspace == nullptr ? fresh : *workspace, task);
  if (!status.ok()) return status;
  frame.bounds = out.bounds;
  return frame;
}

inline Frame Must(const Deformer& deformer, const Pose& pose, const Task& task = OnOneThread(),
                  Workspace* workspace = nullptr) {
  absl::StatusOr<Frame> frame = Evaluate(deformer, pose, task, workspace);
  EXPECT_TRUE(frame.ok()) << frame.status();
  if (frame.ok()) return *std::move(frame);
  Frame zeros;
  zeros.positions.resize(deformer.vertices());
  zeros.normals.resize(deformer.vertices());
  return zeros;
}

inline Vec3d Direction(const Vec4f& t) {
  return {t.x, t.y, t.z};
}

// How far each vertex moves from `still`, and its tangent rotates, when every joint of the pose is
// shifted individually by at most `size` along each axis: the maximum of 32 fixed tries.
struct RoundingSpread {
  std::vector<double> positions, tangents;
};

inline RoundingSpread SpreadOf(const Frame& still, std::span<const Affine> pose, double size,
                               const std::function<Frame(std::span<const Affine>)>& evaluate) {
  constexpr int kTries = 32;
  RoundingSpread spread{.positions = std::vector<double>(still.positions.size()),
                        .tangents = std::vector<double>(still.tangents.size())};
  testing::Random random(1);
  for (int k = 0; k < kTries; ++k) {
    std::vector<Affine> shifted(pose.begin(), pose.end());
    for (Affine& joint : shifted) {
      for (const std::size_t i : {3, 7, 11}) {
        joint.m[i] += static_cast<float>(size * (2 * random.Next() - 1));
      }
    }
    const Frame frame = evaluate(shifted);
    const auto widen = [](double& most, const Vec3d& a, const Vec3d& b) {
      most = std::max(most, Distance(a, b));
    };
    for (std::size_t v = 0; v < spread.positions.size(); ++v) {
      widen(spread.positions[v], ToDouble(still.positions[v]), ToDouble(frame.positions[v]));
    }
    for (std::size_t v = 0; v < spread.tangents.size(); ++v) {
      widen(spread.tangents[v], Direction(still.tangents[v]), Direction(frame.tangents[v]));
    }
  }
  return spread;
}

}  // namespace sinew::testing
