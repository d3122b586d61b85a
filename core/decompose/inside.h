// inside.h - which places are inside of a mesh.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"

namespace sinew::decompose {

// By winding numbers (Jacobson et al. 2013, "Robust inside-outside segmentation using generalized
// winding numbers"): a mesh may have holes and parts that overlap, or be wound inside out as a
// whole. Connected parts that are open sheets, such as a cape, do not count: next to a bowed sheet
// winding numbers are about one half.
//
// Places are relative to `centre`, but for Held. Searches run in parallel, give the same for any
// number of threads, and end early once the task is cancelled: nothing is inside then.
class Inside {
 public:
  Inside(const Mesh& rest, const Vec3d& centre);
  bool Has(const Vec3d& place, const Task& task) const;  // time: of all triangles
  // Distance to the nearest triangle; 0 if not inside.
  double Depth(const Vec3d& place, const Task& task) const;
  // Whether it is inside and its depth `least` or more; most places that are not cost little.
  bool IsDeep(const Vec3d& place, double least, const Task& task) const;
  // In the box of the mesh, with its faces, and one step of the grid around it.
  bool InBox(const Vec3d& place) const;

  // The nearest place in the box that files hold, in the mesh's space: on a grid of floats so
  // coarse that sums and differences are exact.
  Vec3f Held(const Vec3d& place) const;
  Vec3d Snapped(const Vec3d& place) const;  // the same, relative to the centre

 private:
  using Triangle = std::array<Vec3d, 3>;
  // Triangles that follow each other, with their box.
  struct Chunk {
    std::size_t begin = 0, end = 0;
    Vec3d low, high;
  };
  // The nearest triangle's distance, or some less than `enough` if there is one.
  double Distance(const Vec3d& place, double enough, const Task& task) const;

  Vec3d centre_, low_, high_;
  double step_ = 0;  // of the grid
  std::vector<Triangle> triangles_;
  std::vector<Chunk> chunks_;
};

}  // namespace sinew::decompose
