// tracking_buffers.h - what a step of robust tracking has of every point.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "core/rig/layout.h"

namespace sinew {

inline std::size_t WholeBlocks(std::size_t points) {
  return (points + kLanes - 1) / kLanes;
}

// Scratch of one step; arrays are padded to whole blocks of 16 points.
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
  float* rest;       // [P][4] x y z, and how much longer this pose makes a length there
  float* placed;     // [P][4] by the stages before, or, what goes partly, by projection
  float* rotation;   // [P][3][4] columns; the fourth of the first is 1 where there is one
  float* field;      // [blocks] FieldBlock of the pose at `at`
  float* held;       // [P][4] unit; where the joint that holds the point has inward, or 0
  float* awake;      // [P] 1: takes part in this round
  float* moved;      // [P] 1: did not rest in the last round
};

}  // namespace sinew
