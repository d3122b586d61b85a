#include "core/examples/linear_blend_fit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/status.h"
#include "core/examples/simplex_weights.h"

namespace sinew {
namespace {

struct Work {
  SimplexWeights solver;
  std::vector<double> matrix, values, weights;
};

// a' M b of homogeneous points.
double Form(const CentredPoses::Block& m, const std::array<double, 4>& p) {
  double sum = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    for (std::size_t c = 0; c < 4; ++c) sum += p[r] * m[r * 4 + c] * p[c];
  }
  return sum;
}

void FitVertex(const CentredPoses& poses, const VertexExample& example,
               std::span<const JointWeight> row, const LinearBlendOptions& options, Work& work) {
  const std::size_t k = row.size();
  work.matrix.resize(k * k);
  work.values.assign(k, 0);
  work.weights.resize(k);
  double sum = 0;
  for (const JointWeight& candidate : row) sum += candidate.weight;
  for (std::size_t i = 0; i < k; ++i) {
    work.weights[i] = sum > 0 ? row[i].weight / sum : 1 / static_cast<double>(k);
  }
  const std::array<double, 4> p{example.rest.x, example.rest.y, example.rest.z, 1};
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = i; j < k; ++j) {
      work.matrix[i * k + j] = work.matrix[j * k + i] =
          Form(poses.Product(row[i].joint, row[j].joint), p);
    }
  }
  for (std::size_t f = 0; f < poses.poses(); ++f) {
    for (std::size_t i = 0; i < k; ++i) {
      work.values[i] += Dot(example.targets[f], Apply(poses.matrix(f, row[i].joint), example.rest));
    }
  }
  const double pull = options.lambda * poses.diagonal();
  const double ridge = static_cast<double>(poses.poses()) * pull * pull;
  for (std::size_t i = 0; i < k; ++i) {
    work.matrix[i * k + i] += ridge;
    work.values[i] += ridge * work.weights[i];
  }
  work.solver.Solve(work.matrix, work.values, options.max_influences, work.weights);
}

}  // namespace

absl::StatusOr<Rows<JointWeight>> FitLinearBlend(const PoseExamples& examples,
                                                 const Rows<JointWeight>& candidates,
                                                 const LinearBlendOptions& options, Task& task) {
  if (options.max_influences < 1 || options.max_influences > kMaxCandidates) {
    return InvalidArgument("max_influences: got ", options.max_influences, ", need 1 to ",
                           kMaxCandidates);
  }
  if (!(options.lambda >= 0) || !std::isfinite(options.lambda)) {
    return InvalidArgument("lambda: got ", options.lambda, ", need at least 0");
  }
  SINEW_ASSIGN_OR_RETURN(const CentredPoses poses,
                         CentredPoses::Create(examples, candidates, task));
  const std::size_t vertices = examples.rest.size(), most = options.max_influences;
  task.SetTotal(static_cast<double>(vertices));
  std::vector<JointWeight> kept(vertices * most);  // [n][most], strongest first
  SINEW_RETURN_IF_ERROR(poses.ForVertices(task, [&](const VertexExample& example) {
    Work work;
    const auto row = candidates.row(example.vertex);
    FitVertex(poses, example, row, options, work);
    std::vector<JointWeight> weights;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (work.weights[i] > 0) weights.push_back({row[i].joint, work.weights[i]});
    }
    std::ranges::stable_sort(weights, [](auto& a, auto& b) { return a.weight > b.weight; });
    std::ranges::copy(weights, kept.begin() + static_cast<std::ptrdiff_t>(example.vertex * most));
  }));
  return CollectRows<JointWeight>(vertices, [&](const auto& add) {
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (kept[k].weight > 0) add(k / most, kept[k]);
    }
  });
}

}  // namespace sinew
