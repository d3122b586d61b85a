// inside.h - which places are inside of a mesh.
#pragma once

#include <array>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"

namespace sinew::decompose {

// By winding numbers (Jacobson et al. 2013, "Robust inside-outside segmentation using generalized
// winding numbers"): a mesh may have holes and parts that overlap, or be wound inside out as a
// whole. Of a sheet next to nothing is inside.
class Inside {
 public:
  // Places are relative to `centre`.
  Inside(const Mesh& rest, const Vec3d& centre);
  bool Has(const Vec3d& place) const;  // time: of all triangles
  // Distance to the nearest triangle; 0 if not inside.
  double Depth(const Vec3d& place) const;
  // In the box of the mesh, with its faces.
  bool InBox(const Vec3d& place) const;

 private:
  Vec3d low_, high_;
  std::vector<std::array<Vec3d, 3>> triangles_;
};

}  // namespace sinew::decompose
