// surface_slopes.h - how values that are given at vertices change along the rest surface.
//
// Every lane has two tangents: unit vectors with first x second = its rest normal (authored, else
// the surface's), the first along the authored tangent if there is one. The slope of a value along
// a tangent t is t . g, g the gradient of the values around the lane's welded point: the
// least-squares plane over its edges, weighted by 1 / length^2. Second-order accurate in the edge
// length where edges come in opposite pairs, first-order elsewhere. Gradients lie in the mean plane
// of a point's faces: at a crease each side gets the part of its slope along that plane.
//
// A method that is a smooth function of the rest point and of such values has the differential
//   d f(t) = (df / d point) t + sum over values (df / d value) slope(t),
// and the cross product of d f(first) and d f(second) is the exact normal of the posed surface:
// with f = sum w_j M_j u it is cof(sum w_j A_j + sum (M_j u) (grad w_j)^T) n. Source: Tarini,
// Panozzo, Sorkine-Hornung 2014, "Accurate and efficient lighting for skinned models".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/rows.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/rig.h"
#include "core/surface/adjacency.h"

namespace sinew {

// Blocks of slopes: [B][2][16] numbers or points, first and second tangent of the 16 lanes.
class SurfaceSlopes {
 public:
  static SurfaceSlopes Create(const Rig& rig, const BlockLayout& layout, const PointOrder& order,
                              const Adjacency& polygons, const Task& task);
  // Upper limit of what Create holds.
  static std::size_t Bytes(const Rig& rig);

  std::span<const PointBlock> tangents() const { return tangents_; }  // [2 B]
  // Slopes of a table of weights, which sum to a constant at each vertex and its neighbours.
  //
  //    weights  [pairs][16]
  //    result   [pairs][2][16]
  //
  //    least    where the rows of a point's vertices may differ, by how much; else 0
  //
  // A weight of at most `least` has slope 0: weights are not negative, so 0 is their minimum. The
  // others are differentiated as shares of their sum, so that slopes sum to 0.
  AlignedVector<float> OfWeights(const BlockLayout& layout, const BlockJoints& joints,
                                 std::span<const float> weights, double least,
                                 const Task& task) const;
  // Slopes [B][2][3][16] of points [B][3][16].
  AlignedVector<float> OfPoints(std::span<const float> points, const Task& task) const;

 private:
  struct Edge {
    std::uint32_t lane;  // of the neighbour
    Vec3d weight;        // gradient = sum of weight * (value at the neighbour - value here)
  };
  AlignedVector<PointBlock> tangents_;
  std::vector<std::uint32_t> point_;  // [lanes] a lane's welded point: its row of edges_
  std::vector<std::uint32_t> lane_;   // [P] of a point
  Rows<Edge> edges_;
};

}  // namespace sinew
