// solid.h - the space enclosed by a closed surface: how far outside it a point is.
//
// The faces of a coarse mesh cut through the round limb they approximate, so a vertex rotating
// about the bone would count as outside. Convex faces are therefore rounded to second order
// (rounded_face.h); flat and concave ones are not.
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
    std::uint32_t corner = 0;  // the corner of the nearest face closest to the nearest point
  };
  // The nearest surface to q. reach: upper limit of its distance; smaller is faster. If an edge or
  // a corner is nearest, the face whose normal is most parallel to the connecting line decides on
  // which side q is.
  Nearest Find(const Vec3d& q, double reach) const;

 private:
  class Query;
  struct Tree;
  std::vector<Triangle> triangles_;
  std::vector<Vec3d> points_, normals_;
  std::unique_ptr<const Tree> tree_;
};

}  // namespace sinew::metrics
