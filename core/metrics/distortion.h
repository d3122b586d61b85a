// distortion.h - how edges and areas change their size, and which faces are turned over.
//
// Changes are logarithms of ratios, so that half and double count the same; ratios are kept within
// [1e-6, 1e6].
//
// Where a joint bends far, the skin on its inner side has nowhere to go: a blend of its motions
// pushes it through itself, and the faces of the fold look back. That is the pose's doing and the
// weights'. What a method adds is told from it by linear blending of the same pose: a face is
// turned over beyond it where that neither turns the face nor leaves less than half of the area
// that its bones give it.
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
    double flipped_beyond_linear = 0;  // the part of it beyond linear blending
  };
  // skin: [E] bind space to posed model space.
  std::optional<Areas> MeasureAreas(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                    const Task& task) const;

 private:
  struct Edge {
    std::uint32_t a = 0, b = 0;
    double length = 0;
  };
  // What the influences of a point make of it, blended.
  struct BlendedPoint {
    Mat3d turn;         // takes area vectors, keeps the size of those in no direction stretched
    double growth = 0;  // of areas
    Vec3d linear;       // where linear blending puts it
  };
  std::vector<BlendedPoint> BlendedPoints(std::span<const AffineD> skin, const Task& task) const;

  const Rig& rig_;
  const Surface& surface_;
  std::vector<Edge> edges_;
  std::vector<Vec3d> area_;  // [T] area vectors at rest, 0 = left out
  double total_ = 0;         // of their lengths
};

}  // namespace sinew::metrics
