#include "core/deform/ddm/ddm_moments.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/status.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "core/surface/smoothing_limit.h"

namespace sinew {
namespace {

constexpr double kRowWork = 8, kLimitWork = 4;  // nanoseconds per row and filter step
constexpr std::size_t kLimitGrain = 4096;       // rows
constexpr double kVertexWork = 350;             // nanoseconds per vertex of the plan
constexpr double kMaxSteps = 1e8;
constexpr std::size_t kOmegaLane = kOmega, kTranslationLane = kTranslation;

// Tails relative to the truncation, so that the errors of series and support are small beside it.
constexpr double kSeriesTail = 1e-7, kSupportTail = 1e-4, kSupportOfTruncation = 0.1;
constexpr double kExactTail = 1e-10;  // truncation = 0
constexpr double kMinMass = 1e-8;     // below float resolution

struct Tails {
  double series, support;
};
Tails ChooseTails(const DdmParams& params, const DdmBindOptions& options) {
  const double truncation = double{params.truncation};
  const bool exact = truncation == 0;
  const double support = std::min(kSupportTail, kSupportOfTruncation * truncation);
  return {options.tail.value_or(exact ? kExactTail : kSeriesTail),
          options.support_tail.value_or(exact ? kExactTail : support)};
}

std::vector<double> Series(const DdmSmoothing& s, double step, std::uint32_t steps, double tail) {
  return s.implicit ? ImplicitSeries(step, steps, tail) : ExplicitSeries(step, steps, tail);
}

// Moments use the coefficients `main`, translation weights `translation`. Either empty: no
// coefficients.
ChebyshevFilter MakeFilter(const std::vector<double>& main, const std::vector<double>& translation,
                           double support_tail) {
  ChebyshevFilter filter;
  if (main.empty() || translation.empty()) return filter;
  filter.coefficients.resize(std::max(main.size(), translation.size()), FilterRow{});
  for (std::size_t k = 0; k < main.size(); ++k) {
    std::fill_n(filter.coefficients[k].begin(), kDdmFields, main[k]);
  }
  for (std::size_t k = 0; k < translation.size(); ++k) {
    filter.coefficients[k][kTranslationLane] = translation[k];
  }
  filter.rings = std::max(RingsWithin(main, support_tail), RingsWithin(translation, support_tail));
  return filter;
}

// By binding, value(point, weight) of each point that it influences, ascending by point.
template <class T, class Value>
Rows<T> SeedRows(const Rig& rig, const WeldedPoints& welded, const Value& value) {
  const Influences& influences = rig.influences();
  return CollectRows<T>(rig.bindings().size(), [&](auto add) {
    for (std::uint32_t p = 0; p < welded.points(); ++p) {
      const auto bindings = influences.bindings(welded.first[p]);
      const auto weights = influences.weights(welded.first[p]);
      for (std::size_t k = 0; k < bindings.size(); ++k) add(bindings[k], value(p, weights[k]));
    }
  });
}
Rows<std::uint32_t> SeedPoints(const Rig& rig, const WeldedPoints& welded) {
  return SeedRows<std::uint32_t>(rig, welded, [](std::uint32_t point, double) { return point; });
}

// Workspaces of the active threads, reused between bindings.
template <class Workspace>
class WorkspacePool {
 public:
  std::unique_ptr<Workspace> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Workspace>();
    auto workspace = std::move(free_.back());
    free_.pop_back();
    return workspace;
  }
  void Return(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(workspace));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

// w [d; 1][d; 1]^T, and w again for the translation weights.
FilterRow SeedRow(const Vec3d& d, double w) {
  return {w * d.x * d.x,
          w * d.x * d.y,
          w * d.x * d.z,
          w * d.x,
          w * d.y * d.y,
          w * d.y * d.z,
          w * d.y,
          w * d.z * d.z,
          w * d.z,
          w,
          w,
          0};
}

// Converts moments about `from` to moments about `from` + d.
DdmMoments Recentre(const FilterRow& m, const Vec3d& d) {
  const double w = m[kOmega];
  const Vec3d s = {m[kPsi0], m[kPsi1], m[kPsi2]};
  DdmMoments r{};
  r[kP00] = m[kP00] - 2 * s.x * d.x + w * d.x * d.x;
  r[kP01] = m[kP01] - s.x * d.y - d.x * s.y + w * d.x * d.y;
  r[kP02] = m[kP02] - s.x * d.z - d.x * s.z + w * d.x * d.z;
  r[kP11] = m[kP11] - 2 * s.y * d.y + w * d.y * d.y;
  r[kP12] = m[kP12] - s.y * d.z - d.y * s.z + w * d.y * d.z;
  r[kP22] = m[kP22] - 2 * s.z * d.z + w * d.z * d.z;
  r[kPsi0] = s.x - w * d.x;
  r[kPsi1] = s.y - w * d.y;
  r[kPsi2] = s.z - w * d.z;
  r[kOmega] = w;
  r[kTranslation] = m[kTranslationLane];
  return r;
}

Vec3d PointOf(const Rig& rig, const WeldedPoints& welded, std::uint32_t point) {
  return ToDouble(rig.mesh().positions()[welded.first[point]]);
}

// Fills the seed rows. Returns the weighted mean of the seeds, the moments' reference point.
Vec3d FillSeeds(const Rig& rig, const WeldedPoints& welded, std::span<const std::uint32_t> seeds,
                std::span<const double> weights, FilterWorkspace& workspace) {
  Vec3d sum;
  double total = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    sum = sum + weights[i] * PointOf(rig, welded, seeds[i]);
    total += weights[i];
  }
  const Vec3d mean = (1 / total) * sum;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    workspace.seed_row(i) = SeedRow(PointOf(rig, welded, seeds[i]) - mean, weights[i]);
  }
  return mean;
}

std::size_t CountReached(const ChebyshevFilter& filter, const RingGraph& graph) {
  std::size_t rows = 0;
  for (std::size_t k = 1; k <= filter.degree(); ++k) rows += graph.within(k);
  return rows;
}

}  // namespace

double DdmPlanWork(const Rig& rig) {
  return kVertexWork * static_cast<double>(rig.vertices());
}

double InfluenceMass(double omega, double translation, double alpha) {
  return std::max(std::abs(omega), std::abs((1 - alpha) * omega + alpha * translation));
}

DdmSmoothing ResolveSmoothing(const DdmParams& params, double diagonal, double rms_edge) {
  DdmSmoothing s;
  s.implicit = params.smoothing == Smoothing::kImplicit;
  s.lambda = double{params.lambda};
  s.steps = params.iterations;
  if (params.radius.has_value() && rms_edge > 0) {
    const double edges = double{*params.radius} * diagonal / rms_edge;
    const double amount = edges * edges;
    if (!s.implicit) {
      s.steps =
          std::max(s.steps, static_cast<std::uint32_t>(std::min(std::ceil(amount), kMaxSteps)));
    }
    s.lambda = amount / s.steps;
  }
  const double kappa = params.kappa.has_value() ? double{*params.kappa} : s.lambda / 3;
  if (s.implicit) {
    s.kappa = kappa;
    s.kappa_steps = s.steps;
  } else {
    s.kappa = s.lambda;
    const double steps = s.lambda > 0 ? s.steps * kappa / s.lambda : 0;
    s.kappa_steps = static_cast<std::uint32_t>(std::min(std::floor(steps + 0.5), kMaxSteps));
  }
  return s;
}

std::uint32_t DdmSurface(const DdmParams& params) {
  const bool cotangent = params.laplacian == Laplacian::kCotangent;
  return RigSurface::kWelded | RigSurface::kPolygons |
         (cotangent ? RigSurface::kTriangles | RigSurface::kCotangents : 0);
}

absl::StatusOr<DdmPlan> MakeDdmPlan(const RigSurface& surface, const DdmParams& params,
                                    const DdmBindOptions& options, const Task& task) {
  const Rig& rig = surface.rig();
  const Mesh& mesh = rig.mesh();
  surface.Build(DdmSurface(params), task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  DdmPlan plan{.welded = surface.welded()};
  const double rms_edge = RmsEdge(mesh, plan.welded, surface.polygons());
  if (params.laplacian == Laplacian::kUniform) {
    plan.neighbours = std::make_shared<const NeighbourWeights>(UniformWeights(surface.polygons()));
  } else if (options.negative == NegativeWeights::kClamp) {
    plan.neighbours = surface.cotangents();
  } else {
    plan.neighbours = std::make_shared<const NeighbourWeights>(
        CotangentWeights(mesh, plan.welded, surface.triangles(), options.negative));
  }
  const DdmSmoothing s = ResolveSmoothing(params, mesh.diagonal(), rms_edge);
  const Tails tails = ChooseTails(params, options);
  plan.radius_in_edges = std::sqrt(s.lambda * s.steps);
  const std::vector<double> main = Series(s, s.lambda, s.steps, tails.series);
  plan.filter = MakeFilter(
      main,
      params.alpha > 0 ? Series(s, s.kappa, s.kappa_steps, tails.series) : std::vector<double>{1.0},
      tails.support);
  // The largest of J shares is at least 1 / J, so every point keeps one.
  plan.keep = std::min(std::max(double{params.truncation}, kMinMass),
                       0.9 / static_cast<double>(rig.bindings().size()));
  return plan;
}

absl::Status LimitDdmSmoothing(const Rig& rig, const DdmParams& params, DdmPlan& plan, Task& task) {
  const std::size_t points = plan.welded.points();
  if (!(params.keep_area > 0) || plan.filter.degree() == 0) return absl::OkStatus();
  const Vec3d centre = rig.mesh().centre();
  AlignedVector<FilterPoint> rest;
  rest.reserve(points);
  for (std::uint32_t p = 0; p < points; ++p) {
    const Vec3d u = PointOf(rig, plan.welded, p) - centre;
    rest.push_back({u.x, u.y, u.z, 0});
  }
  const AlignedVector<FilterPoint> filtered =
      FilterAll(*plan.neighbours, plan.filter, std::move(rest),
                [&](std::size_t rows, absl::FunctionRef<void(std::size_t, std::size_t)> part) {
                  task.For(rows, kLimitGrain, part);
                  task.Advance(kLimitWork * static_cast<double>(rows));
                  return !task.cancelled();
                });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<Vec3d> smoothed;
  smoothed.reserve(points);
  for (const FilterPoint& p : filtered) smoothed.push_back({p[0], p[1], p[2]});
  const std::vector<double> factors = MaxSmoothingSteps(rig.mesh(), plan.welded, *plan.neighbours,
                                                        smoothed, double{params.keep_area});
  if (std::ranges::any_of(factors, [](double factor) { return factor != 1; })) {
    plan.neighbours =
        std::make_shared<const NeighbourWeights>(LimitSmoothing(*plan.neighbours, factors));
  }
  return absl::OkStatus();
}

absl::StatusOr<DdmMomentTable> DdmMomentTable::Filter(const Rig& rig, const DdmPlan& plan,
                                                      const DdmParams& params, Task& task) {
  const Rows<std::uint32_t> seeds = SeedPoints(rig, plan.welded);
  const auto weights =
      SeedRows<double>(rig, plan.welded, [](std::uint32_t, double weight) { return weight; });
  const double alpha = double{params.alpha};
  DdmMomentTable table;
  table.bindings_.resize(rig.bindings().size());
  WorkspacePool<FilterWorkspace> pool;
  task.For(rig.bindings().size(), 1, [&](std::size_t e, std::size_t) {
    const auto row = seeds.row(e);
    if (row.empty()) return;
    auto workspace = pool.Take();
    workspace->Start(*plan.neighbours, row, plan.filter.rings);
    const Vec3d mean = FillSeeds(rig, plan.welded, row, weights.row(e), *workspace);
    const bool finished = workspace->Run(plan.filter, [&](std::size_t rows) {
      task.Advance(kRowWork * static_cast<double>(rows));
      return !task.cancelled();
    });
    if (!finished) return;
    const auto points = workspace->graph().points();
    const auto result = workspace->result();
    const auto mass = [&](std::size_t i) {
      return InfluenceMass(result[i][kOmegaLane], result[i][kTranslationLane], alpha);
    };
    std::size_t count = 0;
    for (std::size_t i = 0; i < points.size(); ++i) count += mass(i) >= plan.keep;
    Kept& kept = table.bindings_[e];
    kept.points.reserve(count);
    kept.masses.reserve(count);
    kept.values.reserve(count);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double own = mass(i);
      if (!(own >= plan.keep)) continue;
      kept.points.push_back(points[i]);
      kept.masses.push_back(own);
      kept.values.push_back(Recentre(result[i], PointOf(rig, plan.welded, points[i]) - mean));
    }
    pool.Return(std::move(workspace));
  });
  if (absl::Status status = task.CheckCancelled(); !status.ok()) return status;
  table.Index(plan.welded.points(), params);
  return table;
}

void DdmMomentTable::Index(std::size_t points, const DdmParams& params) {
  const double truncation = double{params.truncation};
  struct Summary {
    double kept = 0, best = 0, best_omega = 0;
    std::uint32_t count = 0;
    std::uint16_t best_binding = 0;
  };
  std::vector<Summary> summary(points);
  const auto visit = [&](auto&& body) {
    for (std::size_t e = 0; e < bindings_.size(); ++e) {
      for (std::uint32_t k = 0; k < bindings_[e].points.size(); ++k) {
        body(static_cast<std::uint16_t>(e), k, bindings_[e].points[k], bindings_[e].masses[k]);
      }
    }
  };
  visit([&](std::uint16_t e, std::uint32_t k, std::uint32_t point, double mass) {
    Summary& s = summary[point];
    const double omega = bindings_[e].values[k][kOmega];
    if (mass >= truncation) {
      s.kept += omega;
      ++s.count;
    }
    if (mass > s.best) {
      s.best = mass;
      s.best_omega = omega;
      s.best_binding = e;
    }
  });
  for (const Summary& s : summary) {
    dropped_ = std::max(dropped_, 1 - (s.count > 0 ? s.kept : s.best_omega));
  }
  references_ = CollectRows<Reference>(points, [&](auto add) {
    visit([&](std::uint16_t e, std::uint32_t k, std::uint32_t point, double mass) {
      const Summary& s = summary[point];
      if (s.count > 0 ? mass >= truncation : s.best_binding == e) add(point, Reference{e, k});
    });
  });
}

absl::StatusOr<DdmCost> EstimateDdm(const Rig& rig, const BlockLayout& layout,
                                    const DdmParams& params, const DdmPlan& plan,
                                    const Task* task) {
  constexpr std::size_t kReachedBytes = sizeof(DdmMoments) + sizeof(double) +
                                        sizeof(std::uint32_t) + sizeof(DdmMomentTable::Reference);
  const Rows<std::uint32_t> seeds = SeedPoints(rig, plan.welded);
  const NeighbourWeights& neighbours = *plan.neighbours;
  const std::size_t points = plan.welded.points(), bindings = rig.bindings().size();
  const auto blocks = CollectRows<std::uint32_t>(points, [&](auto add) {  // of a point's vertices
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      add(plan.welded.point[v], layout.lane[v] / static_cast<std::uint32_t>(kLanes));
    }
  });

  // What a binding reaches, and what is reused for the next one.
  struct Reached {
    std::size_t points = 0, edges = 0, rows = 0, blocks = 0;
    double work = 0;
  };
  struct Walk {
    RingGraph graph;
    std::vector<std::uint32_t> seen;  // 1 + last binding that used the block
  };
  // At least what each thread holds.
  const std::size_t workers =
      std::min<std::size_t>(bindings, std::max(1u, std::thread::hardware_concurrency()));
  std::atomic<std::size_t> reached = 0;
  const Task unstoppable;
  const Task& walking = task != nullptr ? *task : unstoppable;
  SINEW_RETURN_IF_ERROR(
      walking.CheckMemory(workers * (points + layout.blocks()) * sizeof(std::uint32_t)));
  std::vector<Reached> of_binding(bindings);
  WorkspacePool<Walk> pool;
  walking.For(bindings, 1, [&](std::size_t e, std::size_t) {
    if (seeds.row(e).empty() || !walking.CheckMemory(reached * kReachedBytes).ok()) return;
    auto walk = pool.Take();
    walk->seen.resize(layout.blocks());
    walk->graph.Grow(neighbours, seeds.row(e), plan.filter.rings);
    Reached& r = of_binding[e];
    for (const std::uint32_t p : walk->graph.points()) {
      // With limited smoothing a point is its own neighbour too.
      r.edges += neighbours.offsets[p + 1] - neighbours.offsets[p] + 1;
      r.rows += blocks.row(p).size();
      for (const std::uint32_t block : blocks.row(p)) {
        if (walk->seen[block] == e + 1) continue;
        walk->seen[block] = static_cast<std::uint32_t>(e + 1);
        ++r.blocks;
      }
    }
    r.points = walk->graph.points().size();
    r.work = kRowWork * static_cast<double>(CountReached(plan.filter, walk->graph));
    reached += r.points;
    pool.Return(std::move(walk));
  });
  SINEW_RETURN_IF_ERROR(walking.CheckCancelled());
  SINEW_RETURN_IF_ERROR(walking.CheckMemory(reached * kReachedBytes));

  DdmCost cost;
  std::size_t most_rows = 0, most_edges = 0;
  cost.block_pairs = layout.blocks();
  for (const Reached& r : of_binding) {
    cost.rows += r.rows;
    cost.block_pairs += r.blocks;
    cost.filter_work += r.work;
    most_rows = std::max(most_rows, r.points);
    most_edges = std::max(most_edges, r.edges);
  }
  cost.filter_bytes = workers * FilterWorkspace::CostBytes(points, most_rows, most_edges) +
                      rig.influences().size() * 12 + bindings * 128;
  cost.moment_bytes = reached * kReachedBytes + points * 56;
  // Hash tables of welding, neighbours before and after deduplication, weights.
  cost.plan_bytes = rig.vertices() * 160 + ShapeWeldBytes(rig) +
                    rig.mesh().face_vertices().size() * 48 + neighbours.neighbours.size() * 24;
  cost.plan_work = DdmPlanWork(rig);
  if (params.keep_area > 0) {
    cost.limit_bytes = FilterAllBytes(points) + points * 64 + neighbours.neighbours.size() * 24;
    cost.limit_work = kLimitWork * static_cast<double>(points * plan.filter.degree());
  }
  return cost;
}

}  // namespace sinew
