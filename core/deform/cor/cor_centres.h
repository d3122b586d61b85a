// cor_centres.h - computes each vertex's centre of rotation: the mean of the surface weighted by
// the similarity of skin weights.
//
// p_i = sum_t s_it a_t x_t / sum_t s_it a_t, s_it = sum_{j < k} w_ij w_ik w_tj w_tk exp(-(w_ij w_tk
// - w_ik w_tj)^2 / sigma^2), over surface pieces t with area a_t, centroid x_t and the weights
// there. Source: Le and Hodgins 2016, eq. 1 and 3, with a regulariser of 1e-12 of the largest
// possible sum that pulls towards the vertex. Only pieces influenced by both joints of a pair
// count, so each pair has its own list.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/deform/cor/cor_params.h"
#include "core/deform/cor/cor_surface.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"

namespace sinew {

// Two joints, j < k, with a common vertex.
struct CorPair {
  std::uint16_t j, k;
  std::uint32_t users;     // vertices with both
  std::uint32_t carriers;  // triangles with both
  std::uint64_t pieces;    // of those triangles
  std::uint64_t rows;      // vertices and triangles with either joint, scanned for those with both
  std::array<float, 2> top;  // largest weights of the joints at any vertex
  float reach;               // largest norm of (w_j, w_k) at a vertex with both
};

// The amount of work, known before integrating.
struct CorPlan {
  std::vector<CorPair> pairs;
  // Set above about four billion (vertex, piece) terms: pieces of a pair are then grouped by their
  // two weights into cells so small that it only widens sigma slightly. Bounds the work per vertex
  // and pair for any mesh.
  bool grouped = false;
  double blur = 0;  // upper limit of the relative increase of sigma

  double pace = 1;  // progress units reported by CorCentres per unit of work()

  // kResourceExhausted: more joint pairs than any rig needs; Create would not fit into memory.
  static absl::Status CheckPairs(const Rig& rig, const CorParams& params);
  // kCancelled.
  static absl::StatusOr<CorPlan> Create(const CorSurface& surface, const Rig& rig,
                                        const CorParams& params, const Task& task);
  // Recounts triangles and pieces after the surface has split its triangles. kCancelled.
  absl::Status CountPieces(const CorSurface& surface, const CorParams& params, const Task& task);
  // Cell width and the number of cells along w_j and w_k.
  struct Cells {
    double width;
    std::array<std::size_t, 2> count;
  };
  static Cells CellsOf(const CorPair& pair, double sigma);
  // Upper limit of a pair's samples.
  std::size_t SamplesOf(const CorPair& pair, double sigma) const;
  // CPU nanoseconds to list the pieces of a pair, and at most to sum over them for its vertices:
  // those with equal weights are summed once.
  double ListWork(const CorPair& pair, double sigma) const;
  double SumWork(const CorPair& pair, double sigma) const;
  double work(double sigma) const;
  // Peak allocation of CorCentres beyond plan and surface; valid also if `grouped` was set for an
  // overestimate.
  std::size_t peak_bytes(std::size_t vertices, double sigma) const;
};

// [V] centres in file order, relative to the mesh's centre. A vertex with one joint, or without
// surface of its joints, is its own centre. Reports plan.work(). Independent of the number of
// threads. kCancelled.
absl::StatusOr<std::vector<Vec3d>> CorCentres(const Rig& rig, const CorSurface& surface,
                                              const CorPlan& plan, const CorParams& params,
                                              Task& task);

}  // namespace sinew
