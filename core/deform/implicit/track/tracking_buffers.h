// tracking_buffers.h - per-point scratch of one tracking step.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/deform/implicit/field/posed_field.h"

namespace sinew {

inline std::size_t WholeBlocks(std::size_t points) {
  return (points + kLanes - 1) / kLanes;
}

// `count` points of an array [][4], at most 16.
inline PointBlock PackedBlock(const float* points, std::size_t count) {
  return BlockOf(count, [&](std::size_t i) {
    return Vec3f{points[i * 4], points[i * 4 + 1], points[i * 4 + 2]};
  });
}

// Arrays are padded to whole blocks of 16 points.
struct TrackingBuffers {
  TrackingBuffers(std::span<float> scratch, std::size_t points) {
    const std::size_t n = WholeBlocks(points) * kLanes;
    float* next_free = scratch.data();
    const auto take = [&](std::size_t floats) {
      return std::exchange(next_free, next_free + n * floats);
    };
    at = take(4);
    next = take(4);
    rest = take(4);
    placed = take(4);
    rotation = take(12);
    field = take(4);
    held = take(4);
    awake = take(1);
    moved = take(1);
  }
  static constexpr std::size_t kFloats = 6 * 4 + 12 + 2;

  float *at, *next;  // [P][4] x y z 0, before and after a round
  float* rest;       // [P][4] x y z, and the length scale of this pose
  float* placed;     // [P][4] by the previous stage or, with a partial weight, by projection
  float* rotation;   // [P][3][4] columns; the fourth entry of the first is 1 if valid
  float* field;      // [blocks] FieldBlock of the pose at `at`
  float* held;       // [P][4] unit inward direction by the strongest joint, or 0
  float* awake;      // [P] 1: active in this round
  float* moved;      // [P] 1: moved in the last round
};

}  // namespace sinew
