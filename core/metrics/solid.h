// solid.h - the space that a closed surface encloses: how far outside it a point lies.
//
// The faces of a coarse mesh stand for a round limb, and cut it: a vertex that turns about the bone
// would come to lie outside. So faces are rounded, to second order (rounded_face.h). Where a face
// is flat or hollow it stays as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

class Solid {
 public:
  // triangles: closed, outward.
  Solid(std::span<const Triangle> triangles, std::vector<Vec3d> points);
  ~Solid();

  struct Nearest {
    double outside = 0;        // distance from the surface, 0 inside
    std::uint32_t corner = 0;  // the point that is nearest along the nearest face
  };
  // Of q. reach: the faces are known to be so near; the less, the faster. Where an edge or a corner
  // is nearest, the face that looks at q or away from it most squarely says on which side q lies.
  Nearest Find(const Vec3d& q, double reach) const;

 private:
  class Query;
  struct Tree;
  std::vector<Triangle> triangles_;
  std::vector<Vec3d> points_, normals_;
  std::unique_ptr<const Tree> tree_;
};

}  // namespace sinew::metrics
