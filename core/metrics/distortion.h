// distortion.h - relative changes of edge lengths and areas, and inverted faces.
//
// Changes are logarithms of ratios, so halving and doubling count the same; ratios are clamped to
// [1e-6, 1e6].
//
// Far bends invert faces on the inner side of a joint under any blend of the bones. To separate
// this from the method's own errors, a face is inverted "beyond linear" only if linear blending of
// the same pose neither inverts it nor shrinks it below half of the area its bones give it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

class Distortion {
 public:
  // Edges of zero length and triangles of zero area at rest are ignored.
  Distortion(const Rig& rig, const Surface& surface);

  struct Edges {
    double rms = 0;    // of ln(length / rest length), each polygon edge once
    double worst = 0;  // largest |ln|
  };
  std::optional<Edges> MeasureEdges(std::span<const Vec3d> points, const Task& task) const;

  struct Areas {
    double rms = 0;      // of ln(area / rest area), weighted by rest area
    double flipped = 0;  // share of the rest area that is inverted: its normal opposes the rest
                         // normal transformed by the corners' blended cofactor matrices
    double flipped_beyond_linear = 0;  // share that is inverted beyond linear blending
  };
  // skin: [E] bind space to posed model space.
  std::optional<Areas> MeasureAreas(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                    const Task& task) const;

 private:
  // Blended motion of a point's influences.
  struct BlendedPoint {
    Mat3d turn;         // blended cofactor matrix, for area vectors; norm sqrt(3)
    double growth = 0;  // blended area scale
    Vec3d linear;       // position by linear blending
  };
  std::vector<BlendedPoint> BlendedPoints(std::span<const AffineD> skin, const Task& task) const;

  const Rig& rig_;
  const Surface& surface_;
  std::vector<Vec3d> area_;  // [T] rest area vectors, 0 = ignored
  double total_ = 0;         // of their lengths
};

}  // namespace sinew::metrics
