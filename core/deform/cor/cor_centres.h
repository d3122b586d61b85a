// cor_centres.h - where each vertex's centre of rotation lies: the mean of the surface, weighted by
// how alike weights are.
//
// p_i = sum_t s_it a_t x_t / sum_t s_it a_t, s_it = sum_{j < k} w_ij w_ik w_tj w_tk
// exp(-(w_ij w_tk - w_ik w_tj)^2 / sigma^2), over pieces t of the surface with area a_t, centroid
// x_t and the weights there. Source: Le and Hodgins 2016, eq. 1 and 3, with the regulariser 1e-12
// of the largest possible sum, which draws towards the vertex. Only pieces that carry both joints
// of a pair count, so each pair of joints has its own list of pieces.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/deform/cor/cor_surface.h"
#include "core/deform/engine/params.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"

namespace sinew {

// Two joints, j < k, that move some vertex together.
struct CorPair {
  std::uint16_t j, k;
  std::uint32_t users;       // vertices with both
  std::uint32_t carriers;    // triangles with both
  std::uint64_t pieces;      // of those triangles
  std::uint64_t rows;        // vertices and triangles with either, walked to find those with both
  std::array<float, 2> top;  // largest weights of the joints at any vertex
  float reach;               // largest length of (w_j, w_k) at a vertex with both
};

// What there is to sum, known before summing.
struct CorPlan {
  std::vector<CorPair> pairs;
  // More than about four billion (vertex, piece) terms: pieces of a pair are grouped by their two
  // weights, in cells so small that it comes to a slightly larger sigma. Bounds the terms of a
  // vertex and pair whatever the mesh.
  bool grouped = false;
  double blur = 0;  // the part by which sigma then counts as larger, at most

  double pace = 1;  // progress units that CorCentres reports per unit of work()

  // kResourceExhausted: more pairs of joints than any rig needs. Create would not hold them.
  static absl::Status CheckPairs(const Rig& rig, const CorParams& params);
  // kCancelled.
  static absl::StatusOr<CorPlan> Create(const CorSurface& surface, const Rig& rig,
                                        const CorParams& params, const Task& task);
  // Counts triangles and pieces again, once the surface has split its triangles. kCancelled.
  absl::Status CountPieces(const CorSurface& surface, const CorParams& params, const Task& task);
  // Width of a cell, and how many there are along w_j and w_k.
  struct Cells {
    double width;
    std::array<std::size_t, 2> count;
  };
  static Cells CellsOf(const CorPair& pair, double sigma);
  // Most samples that a pair's pieces make.
  std::size_t SamplesOf(const CorPair& pair, double sigma) const;
  // Nanoseconds of one core to list the pieces of a pair, and to sum over them for one vertex.
  double ListWork(const CorPair& pair, double sigma) const;
  double UserWork(const CorPair& pair, double sigma) const;
  double work(double sigma) const;
  // What CorCentres allocates at its peak, beyond plan and surface; also if `grouped` was decided
  // on too many pieces.
  std::size_t peak_bytes(std::size_t vertices, double sigma) const;
};

// [V] centres in file order, relative to the mesh's centre. A vertex of one joint, or no surface of
// its joints, is its own centre. Reports plan.work(). The same bits for any number of threads.
// kCancelled.
absl::StatusOr<std::vector<Vec3d>> CorCentres(const Rig& rig, const CorSurface& surface,
                                              const CorPlan& plan, const CorParams& params,
                                              Task& task);

}  // namespace sinew
