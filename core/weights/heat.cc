#include "core/weights/heat.h"

#include <absl/strings/str_cat.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/counted_text.h"
#include "core/base/disjoint_sets.h"
#include "core/base/median.h"
#include "core/base/status.h"
#include "core/weights/stiffness.h"
#include "core/weights/visibility.h"

namespace sinew::weights {
namespace {

constexpr double kTie = 1e-4;        // relative to the nearest distance
constexpr double kNearest = 1e-3;    // times the median distance
constexpr double kMinRadius = 1e-6;  // unit space
// Relative to the row's diagonal: keeps tiny or far components solvable.
constexpr double kMinSource = 1e-9;
constexpr double kMaxWork = 5e10;        // operations of one factorisation
constexpr std::size_t kEntryBytes = 12;  // bytes per entry of a sparse matrix: a double and an int
constexpr std::size_t kGrain = 256;
// Most joints that heat one point (the lower indices): as many as a vertex may have. Limits memory
// if thousands of joints coincide.
constexpr std::size_t kMaxTies = kMaxInfluences;
constexpr std::size_t kSolveBytes = 2 * sizeof(double);  // bytes per point

using Matrix = Eigen::SparseMatrix<double>;
using Permutation = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;

// The heat method's distance to a joint's bones, and the nearest point on them.
Closest HeatDistance(const Skin& skin, std::size_t p, std::size_t joint, bool facing) {
  Closest best;
  best.distance = std::numeric_limits<double>::infinity();
  for (const Bone& bone : skin.BonesOf(joint)) {
    Closest closest = ClosestOn(bone, skin.points[p]);
    if (facing && closest.distance > 0 && Dot(skin.normals[p], skin.normals[p]) > 0) {
      const double cosine = Dot(skin.normals[p], skin.points[p] - closest.point) / closest.distance;
      closest.distance /= 0.5 * (cosine + 1.001);
    }
    if (closest.distance < best.distance) best = closest;
  }
  return best;
}

// The heat source of one point: `joints` (rising) contribute equally, with strength H. They are the
// nearest visible joints, or if none is visible the nearest of all.
struct HeatSource {
  double distance = std::numeric_limits<double>::infinity();
  double strength = 0;
  bool seen = false;
  std::vector<std::uint32_t> joints;
};

struct HeatSources {
  std::vector<HeatSource> of;         // [P]
  std::vector<std::uint32_t> unseen;  // points that see none of their nearest joints, rising
  std::size_t dark = 0;               // of these, on components without any visible joint
};

// near: storage to reuse.
HeatSource FindSource(const Skin& skin, const Visibility& sight, bool facing, std::uint32_t p,
                      std::vector<Closest>& near) {
  HeatSource found;
  near.clear();
  for (std::size_t j = 0; j < skin.joints.size(); ++j) {
    near.push_back(HeatDistance(skin, p, j, facing));
    found.distance = std::min(found.distance, near[j].distance);
  }
  std::vector<std::uint32_t> unseen;
  bool sees = false;
  const Vec3d* target = nullptr;
  for (std::uint32_t j = 0; j < near.size() && found.joints.size() < kMaxTies; ++j) {
    if (near[j].distance > found.distance * (1 + kTie)) continue;
    // Coincident joints share one ray.
    if (target == nullptr || !(*target == near[j].point)) {
      target = &near[j].point;
      sees = sight.Sees(p, *target);
    }
    if (sees) found.joints.push_back(j);
    if (!sees && unseen.size() < kMaxTies) unseen.push_back(j);
  }
  found.seen = !found.joints.empty();
  if (!found.seen) found.joints = std::move(unseen);
  found.joints.shrink_to_fit();  // HeatBytes counts no spare capacity
  return found;
}

// The upper triangle of K + M H, and the diagonal M H.
struct System {
  Matrix upper;
  Eigen::VectorXd source;
};

System Assemble(const Skin& skin, const HeatSources& sources) {
  const Stiffness stiffness = MakeStiffness(skin.points, skin.triangles);
  const auto points = static_cast<Eigen::Index>(skin.points.size());
  System system = {Matrix(points, points), Eigen::VectorXd::Zero(points)};
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(stiffness.edges.size() + skin.points.size());
  for (const auto& edge : stiffness.edges) {
    entries.emplace_back(static_cast<int>(edge.low), static_cast<int>(edge.high), -edge.weight);
  }
  for (std::size_t p = 0; p < skin.points.size(); ++p) {
    const double own = std::max(stiffness.diagonal[p], 0.0);
    const double strength = sources.of[p].strength;
    double source = strength > 0 ? std::max(stiffness.mass[p] * strength, kMinSource * own) : 0;
    if (stiffness.mass[p] == 0) source = 1;  // no triangle: the row is its source alone
    system.source[static_cast<Eigen::Index>(p)] = source;
    entries.emplace_back(static_cast<int>(p), static_cast<int>(p), stiffness.diagonal[p] + source);
  }
  system.upper.setFromTriplets(entries.begin(), entries.end());
  return system;
}

// Adds the bytes of a matrix's Cholesky factor to those held. Its entries are counted along the
// elimination tree, up to the limits.
//
//    upper  the matrix's upper triangle
absl::Status CheckFactor(const Matrix& upper, const Task& task, std::size_t& held) {
  const auto n = static_cast<std::size_t>(upper.cols());
  constexpr double kMostIndices = std::numeric_limits<int>::max();
  // By Cauchy-Schwarz, more entries than the last imply more than kMaxWork operations.
  const double most =
      std::min({kMostIndices, static_cast<double>(task.memory_limit()) / kEntryBytes + 1,
                std::sqrt(static_cast<double>(n) * kMaxWork)});
  std::vector<int> parent(n, -1), seen_from(n), in_column(n, 1);
  auto entries = static_cast<double>(n);
  for (int k = 0; k < static_cast<int>(n) && entries <= most; ++k) {
    seen_from[static_cast<std::size_t>(k)] = k;
    for (Matrix::InnerIterator it(upper, k); it; ++it) {
      auto i = static_cast<std::size_t>(it.index());
      for (; static_cast<int>(i) < k && seen_from[i] != k;
           i = static_cast<std::size_t>(parent[i])) {
        if (parent[i] < 0) parent[i] = k;
        ++in_column[i];
        ++entries;
        seen_from[i] = k;
      }
    }
  }
  double work = 0;
  for (const int count : in_column) work += static_cast<double>(count) * count;
  work = std::max(work, entries * entries / static_cast<double>(n));
  if (work > kMaxWork || entries > kMostIndices) {
    return absl::ResourceExhaustedError(
        absl::StrCat("method: heat needs ", work, " operations or more on this surface, need ",
                     kMaxWork, " or fewer; capsule and geodesic need fewer"));
  }
  held += static_cast<std::size_t>(entries) * kEntryBytes;
  return task.CheckMemory(held);
}

HeatSources FindHeatSources(const Skin& skin, const Visibility& sight, const WeightOptions& options,
                            const Task& task) {
  const std::size_t points = skin.points.size();
  HeatSources sources;
  sources.of.resize(points);
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Closest> near;
    for (std::size_t p = begin; p < end; ++p) {
      sources.of[p] = FindSource(skin, sight, options.facing, static_cast<std::uint32_t>(p), near);
    }
  });
  std::vector<double> distances;
  for (const HeatSource& source : sources.of) distances.push_back(source.distance);
  const double least = std::max(kNearest * Median(distances), kMinRadius);

  DisjointSets components(points);
  for (const auto& [a, b, c] : skin.triangles) {
    components.Join(a, b);
    components.Join(a, c);
  }
  std::vector<bool> warm(points, false);  // by the lowest point of a component
  for (std::uint32_t p = 0; p < points; ++p) {
    if (sources.of[p].seen) warm[components.Lowest(p)] = true;
  }
  for (std::uint32_t p = 0; p < points; ++p) {
    HeatSource& source = sources.of[p];
    if (!source.seen) {
      sources.unseen.push_back(p);
      if (warm[components.Lowest(p)]) {
        source.joints.clear();
        continue;
      }
      ++sources.dark;
    }
    const double d = std::max(source.distance, least);
    source.strength = static_cast<double>(source.joints.size()) * options.heat / (d * d);
  }
  return sources;
}

}  // namespace

absl::StatusOr<Computed> HeatWeights(const Skin& skin, const WeightOptions& options,
                                     const Progress& progress) {
  const Task& task = progress.task;
  SINEW_RETURN_IF_ERROR(CheckFaces(skin, "heat needs faces"));
  HeatSources sources;
  {
    SINEW_ASSIGN_OR_RETURN(const Visibility sight, Visibility::Create(skin));
    sources = FindHeatSources(skin, sight, options, task);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  progress.Advance(0.2);

  System system = Assemble(skin, sources);
  Permutation new_to_old;
  Eigen::AMDOrdering<int>()(system.upper.selfadjointView<Eigen::Upper>(), new_to_old);
  const Permutation order = new_to_old.inverse();
  Matrix ordered(system.upper.rows(), system.upper.cols());
  ordered.selfadjointView<Eigen::Upper>() =
      system.upper.selfadjointView<Eigen::Upper>().twistedBy(order);
  std::size_t held = progress.held + HeatBytes(skin);
  SINEW_RETURN_IF_ERROR(CheckFactor(ordered, task, held));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  progress.Advance(0.1);
  const Eigen::SimplicialLLT<Matrix, Eigen::Upper, Eigen::NaturalOrdering<int>> factor(ordered);
  if (factor.info() != Eigen::Success) {
    return absl::InvalidArgumentError(
        "mesh: the heat equation has no solution because the faces differ too much in size; try "
        "capsule or geodesic");
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  progress.Advance(0.4);

  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  Computed computed = {Columns(joints, points), {}, {}};
  const auto solve = [&](std::size_t j) {
    Eigen::VectorXd given = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(points));
    bool any = false;
    for (std::size_t p = 0; p < points; ++p) {
      const auto& at = sources.of[p].joints;
      if (!std::ranges::binary_search(at, static_cast<std::uint32_t>(j))) continue;
      given[order.indices()[static_cast<Eigen::Index>(p)]] =
          system.source[static_cast<Eigen::Index>(p)] / static_cast<double>(at.size());
      any = true;
    }
    if (any) {
      const Eigen::VectorXd solved = factor.solve(given);
      const auto column = computed.columns.of(j);
      for (std::size_t p = 0; p < points; ++p) {
        column[p] = solved[order.indices()[static_cast<Eigen::Index>(p)]];
      }
    }
    progress.Advance(0.3 / static_cast<double>(joints));
  };
  SINEW_RETURN_IF_ERROR(
      ForJoints(joints, points * kSolveBytes, held - points * kSolveBytes, task, solve));
  computed.unseen = std::move(sources.unseen);
  if (!computed.unseen.empty()) {
    computed.notes.push_back(
        {Severity::kInfo, "mesh",
         absl::StrCat(CountedText(computed.unseen.size(), "point does", "points do"),
                      " not see the nearest bone: weights come from the neighbours",
                      sources.dark > 0
                          ? absl::StrCat(", or, for ", sources.dark,
                                         " on components that see no bone, from the nearest bone")
                          : std::string())});
  }
  return computed;
}

std::size_t HeatBytes(const Skin& skin) {
  // Candidates and sources, edges with their copies, the matrix in both orders, columns.
  const std::size_t joints = skin.joints.size(), triangles = skin.triangles.size();
  const std::size_t ties = std::min(joints, kMaxTies) * sizeof(std::uint32_t);
  return skin.points.size() * (400 + joints * sizeof(double) + ties + kSolveBytes) +
         triangles * (3 * 16 + 4 * 3 * kEntryBytes) + Visibility::CostBytes(triangles);
}

}  // namespace sinew::weights
