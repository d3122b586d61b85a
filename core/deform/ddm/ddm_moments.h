// ddm_moments.h - the main cost of binding Direct Delta Mush: smoothed moments of every joint's
// share of the mesh.
//
// For welded point i and binding j: Psi_ij = sum_k B_ik w_kj [u_k; 1][u_k; 1]^T (ten numbers) and
// w'_ij = sum_k C_ik w_kj, where B smooths by lambda and C by kappa. Each variant stores some of
// them. Source: Le and Lewis 2019, sections 3 and 4; computed by one polynomial filter per binding
// (core/solve/chebyshev.h).
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rows.h"
#include "core/deform/ddm/ddm_params.h"
#include "core/deform/method/method.h"
#include "core/solve/chebyshev.h"
#include "core/surface/adjacency.h"
#include "core/surface/laplacian.h"

namespace sinew {

// Overrides for tests.
struct DdmBindOptions {
  NegativeWeights negative = NegativeWeights::kClamp;  // cotangents
  std::optional<double> tail{};                        // of the series; default from truncation
  std::optional<double> support_tail{};  // outside the computed rings; default from truncation
};

struct DdmSmoothing {
  bool implicit = true;
  double lambda = 0;  // per step
  std::uint32_t steps = 0;
  double kappa = 0;  // per step of the translation weights
  std::uint32_t kappa_steps = 0;
};

// Resolves `radius` (lambda = (radius * diagonal / rms_edge)^2 / steps; explicit smoothing uses as
// many steps as needed to stay below 1) and the default of kappa. rms_edge = 0: no neighbours.
DdmSmoothing ResolveSmoothing(const DdmParams& params, double diagonal, double rms_edge);

// Everything known before filtering.
struct DdmPlan {
  const WeldedPoints& welded;  // of the surface
  std::shared_ptr<const NeighbourWeights> neighbours{};
  ChebyshevFilter filter{};    // no coefficients: the smoothing reaches too far
  double radius_in_edges = 0;  // of the smoothing
  double keep = 0;             // influence mass below which a joint is certainly dropped
};
std::uint32_t DdmSurface(const DdmParams& params);  // the parts of a surface that a plan uses
// kCancelled.
absl::StatusOr<DdmPlan> MakeDdmPlan(const RigSurface& surface, const DdmParams& params,
                                    const DdmBindOptions& options, const Task& task);

// Limits the plan's smoothing where the rest mesh would lose more area than `keep_area` allows.
// Reports DdmCost::limit_work units of progress. kCancelled.
absl::Status LimitDdmSmoothing(const Rig& rig, const DdmParams& params, DdmPlan& plan, Task& task);

// Moments about the point itself: P (00 01 02 11 12 22), psi (0 1 2), omega, and w'; scene units.
// In the order of DdmField.
using DdmMoments = std::array<double, 11>;

// Results per binding, and references to them per point.
class DdmMomentTable {
 public:
  struct Reference {
    std::uint16_t binding;
    std::uint32_t index;  // in the binding's list
  };

  // kCancelled. Reports DdmCost::filter_work units of progress.
  static absl::StatusOr<DdmMomentTable> Filter(const Rig& rig, const DdmPlan& plan,
                                               const DdmParams& params, Task& task);

  // Joints kept at a point, ascending by binding: those with influence mass of at least
  // `truncation`, or only the largest.
  std::span<const Reference> row(std::size_t point) const { return references_.row(point); }
  const DdmMoments& moments(const Reference& r) const {
    return bindings_[r.binding].values[r.index];
  }
  // Largest omega dropped at any point.
  double dropped() const { return dropped_; }

 private:
  struct Kept {
    std::vector<std::uint32_t> points;
    std::vector<double> masses;  // influence mass of each
    std::vector<DdmMoments> values;
  };
  void Index(std::size_t points, const DdmParams& params);
  std::vector<Kept> bindings_;
  Rows<Reference> references_;
  double dropped_ = 0;
};

double DdmPlanWork(const Rig& rig);

// The quantity compared with truncation: the larger of a joint's shares of rotation (omega) and
// translation.
double InfluenceMass(double omega, double translation, double alpha);

// Upper limits, found by visiting the rings without computing.
struct DdmCost {
  std::size_t plan_bytes = 0;    // while binding
  std::size_t limit_bytes = 0;   // of LimitDdmSmoothing
  std::size_t filter_bytes = 0;  // workspaces
  std::size_t moment_bytes = 0;
  std::size_t rows = 0;         // (point, binding) pairs, counted per vertex
  std::size_t block_pairs = 0;  // (block, binding) pairs
  double plan_work = 0, limit_work = 0, filter_work = 0;
};
// task: null, or cancels the walk. kCancelled; kResourceExhausted: the moments alone exceed its
// memory limit.
absl::StatusOr<DdmCost> EstimateDdm(const Rig& rig, const BlockLayout& layout,
                                    const DdmParams& params, const DdmPlan& plan, const Task* task);

}  // namespace sinew
