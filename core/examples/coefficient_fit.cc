#include "core/examples/coefficient_fit.h"

#include <absl/functional/function_ref.h>

#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/status.h"
#include "core/solve/dense.h"

namespace sinew {
namespace {

using Point = std::array<double, 4>;  // homogeneous

// One vertex: rows of the others beside the main joint, relative to the main joint's pivot.
struct Local {
  std::span<const JointWeight> row;
  std::size_t main = 0;
  std::vector<std::size_t> others;  // places in the row
  std::vector<double> weights;      // [row] sum 1
  Vec3d pivot, u;

  double Start(std::size_t k, std::size_t c) const {
    return weights[k] * Point{u.x, u.y, u.z, 1}[c];
  }
};

Local MakeLocal(std::span<const JointWeight> row, const Vec3d& rest, std::span<const Vec3d> pivots,
                const Vec3d& centre) {
  Local local;
  local.row = row;
  local.main = MainJoint(row);
  double sum = 0;
  for (const JointWeight& entry : row) sum += entry.weight;
  for (std::size_t k = 0; k < row.size(); ++k) {
    local.weights.push_back(sum > 0 ? row[k].weight / sum : k == local.main);
    if (k != local.main) local.others.push_back(k);
  }
  local.pivot = pivots[row[local.main].joint] - centre;
  local.u = rest - local.pivot;
  return local;
}

// A matrix seen from `pivot`: its last column is where it takes that.
AffineD From(const AffineD& matrix, const Vec3d& pivot) {
  AffineD moved = matrix;
  const Vec3d at = Apply(matrix, pivot);
  moved.m[3] = at.x;
  moved.m[7] = at.y;
  moved.m[11] = at.z;
  return moved;
}

// T' M T with T = [I pivot], for a form of two homogeneous points.
CentredPoses::Block From(const CentredPoses::Block& form, const Vec3d& pivot) {
  const Point p{pivot.x, pivot.y, pivot.z, 1};
  CentredPoses::Block right = form, both;
  for (std::size_t r = 0; r < 4; ++r) {
    right[r * 4 + 3] = 0;
    for (std::size_t c = 0; c < 4; ++c) right[r * 4 + 3] += form[r * 4 + c] * p[c];
  }
  both = right;
  for (std::size_t c = 0; c < 4; ++c) {
    both[12 + c] = 0;
    for (std::size_t r = 0; r < 4; ++r) both[12 + c] += right[r * 4 + c] * p[r];
  }
  return both;
}

// Normal equations of the unknowns p_j of the other joints, in units of the diagonal.
struct System {
  std::vector<double> matrix, values;
  double length, posed;  // diagonals

  System(const Local& local, const CentredPoses& poses)
      : matrix(16 * local.others.size() * local.others.size()),
        values(4 * local.others.size()),
        length(poses.rest_diagonal() > 0 ? poses.rest_diagonal() : 1),
        posed(poses.diagonal() > 0 ? poses.diagonal() : 1) {}
  double Unit(std::size_t c) const { return c % 4 == 3 ? 1 : length; }

  // Adds the pull towards the start and solves: p_j in scene units.
  std::span<const double> Solve(const Local& local, double ridge) {
    const std::size_t n = values.size();
    // The unknowns are divided by their units, so columns are multiplied by them.
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) matrix[i * n + j] *= Unit(i) * Unit(j);
      values[i] *= Unit(i);
    }
    // Errors count in lengths, the pull in units of the diagonal.
    const double pull = ridge * posed * posed;
    for (std::size_t i = 0; i < n; ++i) {
      matrix[i * n + i] += pull;
      values[i] += pull * local.Start(local.others[i / 4], i % 4) / Unit(i);
    }
    SolveDense(matrix, values);
    for (std::size_t i = 0; i < n; ++i) values[i] *= Unit(i);
    return values;
  }
};

// Offsets and weights of solved p_j: values[row][columns] from `first` on. What others take, the
// main joint loses; of an offset only components with `sums`.
void Write(const Local& local, std::span<const double> solved, std::size_t columns,
           std::size_t first, const std::array<bool, 3>& sums, std::span<double> values) {
  const Point u{local.u.x, local.u.y, local.u.z, 1};
  double* const main = &values[local.main * columns + first];
  main[3] = 1;
  for (std::size_t a = 0; a < local.others.size(); ++a) {
    double* const to = &values[local.others[a] * columns + first];
    const double weight = to[3] = solved[a * 4 + 3];
    main[3] -= weight;
    for (std::size_t c = 0; c < 3; ++c) {
      to[c] = solved[a * 4 + c] - weight * u[c];
      if (sums[c]) main[c] -= to[c];
    }
  }
}

void FitSpace(const CentredPoses& poses, const VertexExample& example, const Local& local,
              double lambda, std::span<double> values) {
  System system(local, poses);
  const std::size_t n = system.values.size();
  const std::uint32_t d = local.row[local.main].joint;
  const auto product = [&](std::uint32_t i, std::uint32_t j) {
    return From(poses.Product(i, j), local.pivot);
  };
  const CentredPoses::Block main = product(d, d);
  std::vector<CentredPoses::Block> with_main;
  for (const std::size_t k : local.others) with_main.push_back(product(local.row[k].joint, d));
  for (std::size_t a = 0; a < local.others.size(); ++a) {
    for (std::size_t b = 0; b < local.others.size(); ++b) {
      const auto both = product(local.row[local.others[a]].joint, local.row[local.others[b]].joint);
      for (std::size_t r = 0; r < 4; ++r) {
        for (std::size_t c = 0; c < 4; ++c) {
          system.matrix[(a * 4 + r) * n + b * 4 + c] =
              both[r * 4 + c] - with_main[a][r * 4 + c] - with_main[b][c * 4 + r] + main[r * 4 + c];
        }
      }
    }
  }
  for (std::size_t f = 0; f < poses.poses(); ++f) {
    const AffineD by = From(poses.matrix(f, d), local.pivot);
    const Vec3d left = example.targets[f] - Apply(by, local.u);
    for (std::size_t a = 0; a < local.others.size(); ++a) {
      const AffineD m = From(poses.matrix(f, local.row[local.others[a]].joint), local.pivot);
      for (std::size_t c = 0; c < 4; ++c) {
        system.values[a * 4 + c] += (m.m[c] - by.m[c]) * left.x +
                                    (m.m[4 + c] - by.m[4 + c]) * left.y +
                                    (m.m[8 + c] - by.m[8 + c]) * left.z;
      }
    }
  }
  const double ridge = static_cast<double>(poses.poses()) * lambda * lambda;
  Write(local, system.Solve(local, ridge), 4, 0, {true, true, true}, values);
}

void FitEnvelope(const CentredPoses& poses, const VertexExample& example, const Local& local,
                 double lambda, std::span<double> values) {
  System systems[3] = {{local, poses}, {local, poses}, {local, poses}};
  const std::size_t n = systems[0].values.size();
  std::vector<double> row(n);
  std::size_t used = 0;
  for (std::size_t f = 0; f < poses.poses(); ++f) {
    const AffineD by = From(poses.matrix(f, local.row[local.main].joint), local.pivot);
    const std::optional<AffineD> inverse = UsefulInverse(by);
    if (!inverse) continue;
    ++used;
    const Vec3d left = Apply(*inverse, example.targets[f]) - local.u;
    const double wanted[3] = {left.x, left.y, left.z};
    std::vector<AffineD> seen;
    for (const std::size_t k : local.others) {
      seen.push_back(Compose(*inverse, From(poses.matrix(f, local.row[k].joint), local.pivot)));
    }
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t a = 0; a < seen.size(); ++a) {
        for (std::size_t c = 0; c < 4; ++c) row[a * 4 + c] = seen[a].m[r * 4 + c] - (c == r);
      }
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = i; j < n; ++j) systems[r].matrix[i * n + j] += row[i] * row[j];
        systems[r].values[i] += row[i] * wanted[r];
      }
    }
  }
  const double ridge = static_cast<double>(std::max<std::size_t>(1, used)) * lambda * lambda;
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j)
        systems[r].matrix[i * n + j] = systems[r].matrix[j * n + i];
    }
    Write(local, systems[r].Solve(local, ridge), 12, r * 4, {r == 0, r == 1, r == 2}, values);
  }
}

using FitOne = absl::FunctionRef<void(const CentredPoses&, const VertexExample&, const Local&,
                                      std::span<double>)>;

absl::StatusOr<std::vector<double>> FitEach(const PoseExamples& examples,
                                            const Rows<JointWeight>& weights,
                                            std::span<const Vec3d> pivots, double lambda,
                                            std::size_t columns, Task& task, FitOne fit) {
  if (!(lambda > 0) || !std::isfinite(lambda)) {
    return InvalidArgument("lambda: got ", lambda, ", need more than 0");
  }
  if (pivots.size() != examples.joints) {
    return InvalidArgument("pivots: got ", pivots.size(), ", need one for each of ",
                           examples.joints, " joints");
  }
  for (std::size_t j = 0; j < pivots.size(); ++j) {
    if (!std::isfinite(pivots[j].x + pivots[j].y + pivots[j].z)) {
      return InvalidArgument("pivots: joint ", j, " is not finite");
    }
  }
  SINEW_ASSIGN_OR_RETURN(const CentredPoses poses, CentredPoses::Create(examples, weights, task));
  task.SetTotal(static_cast<double>(examples.rest.size()));
  std::vector<double> values(weights.values.size() * columns);
  SINEW_RETURN_IF_ERROR(poses.ForVertices(task, [&](const VertexExample& example) {
    const auto row = weights.row(example.vertex);
    fit(poses, example, MakeLocal(row, example.rest, pivots, poses.centre()),
        std::span(values).subspan(weights.offsets[example.vertex] * columns, row.size() * columns));
  }));
  return values;
}

}  // namespace

std::size_t MainJoint(std::span<const JointWeight> row) {
  std::size_t main = 0;
  for (std::size_t k = 1; k < row.size(); ++k) {
    if (row[k].weight > row[main].weight) main = k;
  }
  return main;
}

absl::StatusOr<std::vector<double>> FitAnimationSpace(const PoseExamples& examples,
                                                      const Rows<JointWeight>& weights,
                                                      std::span<const Vec3d> pivots, double lambda,
                                                      Task& task) {
  return FitEach(
      examples, weights, pivots, lambda, 4, task,
      [&](const CentredPoses& poses, const VertexExample& example, const Local& local,
          std::span<double> values) { FitSpace(poses, example, local, lambda, values); });
}

absl::StatusOr<std::vector<double>> FitMultiWeight(const PoseExamples& examples,
                                                   const Rows<JointWeight>& weights,
                                                   std::span<const Vec3d> pivots, double lambda,
                                                   Task& task) {
  return FitEach(
      examples, weights, pivots, lambda, 12, task,
      [&](const CentredPoses& poses, const VertexExample& example, const Local& local,
          std::span<double> values) { FitEnvelope(poses, example, local, lambda, values); });
}

Vec3d PlaceOf(std::size_t columns, std::span<const JointWeight> row, std::span<const double> values,
              std::span<const AffineD> pose, const Vec3d& rest) {
  // Relative to the main joint, as multi-weight enveloping needs it.
  const AffineD& main = pose[row[MainJoint(row)].joint];
  const std::optional<AffineD> inverse = columns == 12 ? UsefulInverse(main) : std::nullopt;
  std::array<double, 3> sum{};
  for (std::size_t k = 0; k < row.size(); ++k) {
    const AffineD& joint = pose[row[k].joint];
    const AffineD m = columns == 12 ? (inverse ? Compose(*inverse, joint) : AffineD{}) : joint;
    for (std::size_t r = 0; r < 3; ++r) {
      const std::span own = values.subspan(k * columns + (columns == 12 ? r * 4 : 0));
      const double weight = columns == 1 ? own[0] : own[3];
      const Vec3d offset = columns == 1 ? Vec3d{} : Vec3d{own[0], own[1], own[2]};
      const Vec3d p = weight * rest + offset;
      sum[r] +=
          m.m[r * 4] * p.x + m.m[r * 4 + 1] * p.y + m.m[r * 4 + 2] * p.z + m.m[r * 4 + 3] * weight;
    }
  }
  const Vec3d at{sum[0], sum[1], sum[2]};
  return columns == 12 ? Apply(main, at) : at;
}

}  // namespace sinew
