// muscle_kernel.h - the approximate distance field of one muscle at 16 points.
#pragma once

#include <cstddef>

namespace sinew {

// An ellipsoid: centre x y z, three rows of the rotation from model to belly, 1 / r for the three
// semi-axes, smallest r / r for each, and smallest r.
inline constexpr std::size_t kEllipsoidFloats = 19;
// A generalised cylinder: 1 / r for width, depth and length, smallest r / r for each, smallest r,
// width * depth; then segments of the belly's line.
inline constexpr std::size_t kMuscleSegments = 12;
inline constexpr std::size_t kSegmentStart = 8;
// start x y z, unit tangent, 1 / length (0 = degenerate), directions of width and depth, length,
// and the cubic of the profile over 0 to 1 along the segment, lowest power first.
inline constexpr std::size_t kSegmentFloats = 18;
inline constexpr std::size_t kMuscleFloats = kSegmentStart + kMuscleSegments * kSegmentFloats;

struct MuscleKernelArgs {
  const float* shape;  // kEllipsoidFloats, or kMuscleFloats
  bool ellipsoid;
  float fat;        // subtracted from the value
  const float* in;  // [3][16] model space, 64-byte aligned
  float* out;       // [4][16] value, outward gradient x y z; 64-byte aligned
};

// Finite for finite points. A lane too far for float gets the value 1e6 smallest radii without
// gradient; one on the axis the smallest radius inside without gradient.
void MuscleKernel(const MuscleKernelArgs& args);

}  // namespace sinew
