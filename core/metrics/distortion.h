// distortion.h - how edges and areas change their size, and which faces are turned over.
//
// Changes are logarithms of ratios, so that half and double count the same; ratios are kept within
// [1e-6, 1e6].
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
  // Edges without length and triangles without area at rest are left out.
  Distortion(const Rig& rig, const Surface& surface);

  struct Edges {
    double rms = 0;    // of ln(length / rest length), each edge of a polygon once
    double worst = 0;  // largest |ln|
  };
  std::optional<Edges> MeasureEdges(std::span<const Vec3d> points, const Task& task) const;

  struct Areas {
    double rms = 0;      // of ln(area / rest area), weighted by rest area
    double flipped = 0;  // fraction of the rest area whose normal looks against the rest normal as
                         // the corners' influences turn it (their cofactor matrices, blended)
  };
  // skin: [E] bind space to posed model space.
  std::optional<Areas> MeasureAreas(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                    const Task& task) const;

 private:
  struct Edge {
    std::uint32_t a = 0, b = 0;
    double length = 0;
  };
  std::vector<Mat3d> BlendedTurns(std::span<const AffineD> skin, const Task& task) const;

  const Rig& rig_;
  const Surface& surface_;
  std::vector<Edge> edges_;
  std::vector<Vec3d> area_;  // [T] area vectors at rest, 0 = left out
  double total_ = 0;         // of their lengths
};

}  // namespace sinew::metrics
