#include "client/bake/fit/fit_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stop_token>
#include <utility>

#include "client/rig/core_parts.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"
#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/examples/candidates.h"
#include "core/examples/coefficient_fit.h"
#include "core/examples/linear_blend_fit.h"
#include "core/mesh/edge_lengths.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/surface/adjacency.h"

namespace sinew::bake {
namespace {

constexpr std::size_t kFitGrain = 64;  // vertices

std::size_t ColumnsOf(FitModel model) {
  return model == FitModel::kLbs ? 1 : model == FitModel::kAnimationSpace ? 4 : 12;
}

// Some frames of one mesh.
struct PartFrames {
  std::vector<std::size_t> examples;  // indices of the clip
  std::vector<AffineD> matrices;      // [examples][joints of the skin] mesh to model space
};

// One mesh with the examples of its vertices.
struct FitPart {
  const client::Mesh& mesh;
  std::size_t first_vertex = 0;
  std::vector<Vec3f> rest;
  std::vector<Vec3d> pivots;  // [joints of the skin] in mesh space
  PartFrames fitted, held_out;

  std::size_t joints() const { return mesh.skin.joints.size(); }
};

struct ExamplePoints {
  std::span<const float> points;
  std::size_t vertices = 0;  // of the whole rig

  Vec3f At(std::size_t frame, std::size_t vertex) const {
    const float* const p = &points[(frame * vertices + vertex) * 3];
    return {p[0], p[1], p[2]};
  }
};

absl::StatusOr<FitPart> MakeFitPart(const client::RigData& rig, const client::ClipData& clip,
                                    std::size_t m, std::size_t first_vertex,
                                    std::uint32_t hold_out) {
  const client::Mesh& mesh = rig.meshes[m];
  FitPart part{.mesh = mesh,
               .first_vertex = first_vertex,
               .rest = {},
               .pivots = {},
               .fitted = {},
               .held_out = {}};
  for (std::size_t v = 0; v < mesh.vertices(); ++v) {
    part.rest.push_back(
        {mesh.positions[v * 3], mesh.positions[v * 3 + 1], mesh.positions[v * 3 + 2]});
  }
  const AffineD geometry = client::MatrixAt(mesh.skin.geometry_bind, 0);
  std::vector<AffineD> to_joint;
  for (std::size_t s = 0; s < part.joints(); ++s) {
    to_joint.push_back(Compose(client::MatrixAt(mesh.skin.inverse_bind, s), geometry));
    const double volume = Determinant(Linear(to_joint.back()));
    if (volume == 0 || !std::isfinite(volume)) {
      return InvalidArgument("mesh \"", mesh.name, "\": the inverse bind matrix of joint ",
                             mesh.skin.joints[s], " has no inverse");
    }
    part.pivots.push_back(Translation(Inverse(to_joint.back())));
  }
  for (std::size_t f = 0; f < clip.frames; ++f) {
    PartFrames& frames = hold_out > 0 && f % hold_out == hold_out - 1 ? part.held_out : part.fitted;
    frames.examples.push_back(f);
    for (std::size_t s = 0; s < part.joints(); ++s) {
      const std::size_t joint = f * rig.joints.size() + mesh.skin.joints[s];
      frames.matrices.push_back(
          Compose(client::MatrixAt(clip.joint_transforms, joint), to_joint[s]));
    }
  }
  return part;
}

// The surface of a mesh as neighbours of vertices: those of their welded points.
absl::StatusOr<Rows<std::uint32_t>> VertexNeighbours(const FitPart& part, const Task& task) {
  SINEW_ASSIGN_OR_RETURN(const Mesh mesh, client::CoreMesh(part.mesh));
  const WeldedPoints welded = Weld(mesh, task);
  const Adjacency edges = PolygonNeighbours(mesh, welded, task);
  const auto of_point = CollectRows<std::uint32_t>(welded.points(), [&](const auto& add) {
    for (std::uint32_t v = 0; v < part.rest.size(); ++v) add(welded.point[v], v);
  });
  return CollectRows<std::uint32_t>(part.rest.size(), [&](const auto& add) {
    for (std::uint32_t v = 0; v < part.rest.size(); ++v) {
      const std::uint32_t point = welded.point[v];
      for (const std::uint32_t other : of_point.row(point)) {
        if (other != v) add(v, other);
      }
      for (const std::uint32_t next : edges.row(point)) {
        for (const std::uint32_t other : of_point.row(next)) add(v, other);
      }
    }
  });
}

PoseExamples ExamplesOf(const FitPart& part, const ExamplePoints& all) {
  return {.poses = part.fitted.examples.size(),
          .joints = part.joints(),
          .matrices = part.fitted.matrices,
          .rest = part.rest,
          .targets = [&part, &all](std::size_t begin, std::size_t end, std::span<Vec3f> targets) {
            auto out = targets.begin();
            for (const std::size_t f : part.fitted.examples) {
              for (std::size_t v = begin; v < end; ++v) *out++ = all.At(f, part.first_vertex + v);
            }
            return absl::OkStatus();
          }};
}

// What is fitted for one mesh: values as floats have them.
struct FitSolution {
  std::size_t columns = 1;
  Rows<JointWeight> rows;
  std::vector<double> values;  // [rows.values][columns]
};

FitSolution OfWeights(Rows<JointWeight> rows) {
  FitSolution solution{.columns = 1, .rows = std::move(rows), .values = {}};
  for (const JointWeight& entry : solution.rows.values) solution.values.push_back(entry.weight);
  return solution;
}

// The options of a task that is a part of the work on a mesh, from one share of it to another.
using PhaseOptions = std::function<Task::Options(double begin, double end)>;

absl::StatusOr<FitSolution> SolvePart(const FitPart& part, const ExamplePoints& all,
                                      const Rows<JointWeight>& own,
                                      const FitWeightsRequest& request, const PhaseOptions& phase) {
  const bool only_weights = request.model == FitModel::kLbs;
  Task task(phase(0, only_weights ? 1 : 0.4));
  SINEW_ASSIGN_OR_RETURN(const Rows<std::uint32_t> edges, VertexNeighbours(part, task));
  const Candidates candidates = FindCandidates(own, part.joints(), edges.offsets, edges.values,
                                               kCandidateRings, kMostCandidates, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const PoseExamples examples = ExamplesOf(part, all);
  SINEW_ASSIGN_OR_RETURN(
      Rows<JointWeight> linear,
      FitLinearBlend(examples, candidates.rows, {.max_influences = request.influences}, task));
  FitSolution solution;
  if (only_weights) {
    solution = OfWeights(std::move(linear));
  } else {
    Task rest(phase(0.4, 1));
    solution.columns = ColumnsOf(request.model);
    solution.rows = FillUp(linear, candidates, request.influences);
    const auto fit =
        request.model == FitModel::kAnimationSpace ? FitAnimationSpace : FitMultiWeight;
    SINEW_ASSIGN_OR_RETURN(solution.values,
                           fit(examples, solution.rows, part.pivots, kCoefficientPull, rest));
  }
  for (double& value : solution.values) value = double{static_cast<float>(value)};
  return solution;
}

// Adds the distances of a mesh from the examples.
void Measure(const FitPart& part, const PartFrames& frames, const ExamplePoints& all,
             const FitSolution& solution, const Task& task, DistanceMeter& meter) {
  std::vector<float> distances(part.rest.size());
  for (std::size_t f = 0; f < frames.examples.size(); ++f) {
    const std::span pose = std::span(frames.matrices).subspan(f * part.joints(), part.joints());
    task.For(part.rest.size(), kFitGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        const auto row = solution.rows.row(v);
        const std::span values = std::span(solution.values)
                                     .subspan(solution.rows.offsets[v] * solution.columns,
                                              row.size() * solution.columns);
        const Vec3d at = PlaceOf(solution.columns, row, values, pose, ToDouble(part.rest[v]));
        const Vec3d example = ToDouble(all.At(frames.examples[f], part.first_vertex + v));
        distances[v] = static_cast<float>(Length(at - example));
      }
    });
    if (task.cancelled()) return;
    meter.Add(frames.examples[f], distances, part.first_vertex);
  }
}

void WriteWeights(const FitSolution& solution, client::Skin& skin) {
  skin.influence_counts.clear();
  skin.influence_joints.clear();
  skin.influence_weights.clear();
  skin.coefficients = {};
  for (std::size_t v = 0; v + 1 < solution.rows.offsets.size(); ++v) {
    const auto row = solution.rows.row(v);
    skin.influence_counts.push_back(static_cast<std::uint32_t>(row.size()));
    for (const auto& [joint, weight] : row) {
      skin.influence_joints.push_back(joint);
      skin.influence_weights.push_back(static_cast<float>(weight));
    }
  }
}

void WriteCoefficients(const FitSolution& solution, client::Coefficients& to) {
  to = {.columns = static_cast<std::uint32_t>(solution.columns)};
  for (std::size_t v = 0; v + 1 < solution.rows.offsets.size(); ++v) {
    const auto row = solution.rows.row(v);
    AppendCoefficients(
        row,
        std::span(solution.values)
            .subspan(solution.rows.offsets[v] * solution.columns, row.size() * solution.columns),
        to);
  }
}

// A few poses more than unknowns: fewer overfit.
std::size_t LeastFrames(const FitWeightsRequest& request) {
  switch (request.model) {
    case FitModel::kLbs:
      return 10;
    case FitModel::kAnimationSpace:
      return 20;
    default:
      return 4 * request.influences + 10;
  }
}

// The examples must look like the rig in its poses.
absl::Status CheckSameMesh(const client::RigData& rig, const client::ClipData& clip,
                           std::span<const float> points) {
  SINEW_ASSIGN_OR_RETURN(const Mesh mesh, client::CoreMesh(client::MergedMesh(rig)));
  const std::size_t joints = rig.joints.size() * 12, size = rig.vertices() * 3;
  std::vector<double> ratios;
  for (const std::size_t f : {std::size_t{0}, clip.frames / 2, clip.frames - 1}) {
    const std::vector<float> posed =
        client::PosedPositions(rig, std::span(clip.joint_transforms).subspan(f * joints, joints));
    ratios.push_back(
        EdgeRatio(mesh, client::PointsOf(posed), client::PointsOf(points.subspan(f * size, size))));
  }
  return CheckEdgeRatios("examples: their edges", std::move(ratios));
}

// values: [frames][items][width]
absl::Status CheckFinite(const char* field, const char* item, std::span<const float> values,
                         std::size_t width, std::size_t items) {
  const auto wild = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
  if (wild == values.end()) return absl::OkStatus();
  const std::size_t at = static_cast<std::size_t>(wild - values.begin()) / width;
  return InvalidArgument(field, ": ", item, " ", at % items, " of frame ", at / items, ": got ",
                         *wild, ", need finite numbers");
}

absl::Status CheckFit(const client::RigData& rig, const client::ClipData& clip,
                      std::span<const float> points, const FitWeightsRequest& request) {
  if (request.influences < 1 || request.influences > kMostCandidates) {
    return InvalidArgument("influences: got ", request.influences, ", need 1 to ", kMostCandidates);
  }
  if (request.hold_out == 1) return InvalidArgument("hold_out: got 1, need 0, or 2 or more");
  const std::uint64_t vertices = rig.vertices();
  if (vertices == 0) return InvalidArgument("rig: no mesh, need one");
  if (clip.frames == 0 || clip.frames > kMaxExamplePoints / vertices) {
    return InvalidArgument("frames: got ", clip.frames, ", need 1 to ",
                           kMaxExamplePoints / vertices, " for ", vertices, " vertices");
  }
  if (clip.joint_transforms.size() != clip.frames * rig.joints.size() * 12 ||
      points.size() != clip.frames * vertices * 3) {
    return InvalidArgument("examples: got ", points.size() / 3, " points and ",
                           clip.joint_transforms.size() / 12, " joint matrices, need ", vertices,
                           " and ", rig.joints.size(), " for each of ", clip.frames, " poses");
  }
  for (const client::Mesh& mesh : rig.meshes) {
    if (mesh.skin.empty()) {
      return InvalidArgument("mesh \"", mesh.name, "\": no skin; `sinew weights` makes one");
    }
    if (std::ranges::any_of(mesh.skin.joints, [&](auto j) { return j >= rig.joints.size(); }) ||
        std::ranges::any_of(mesh.skin.influence_joints,
                            [&](auto s) { return s >= mesh.skin.joints.size(); })) {
      return InvalidArgument("mesh \"", mesh.name, "\": its skin names joints that are not there");
    }
  }
  SINEW_RETURN_IF_ERROR(
      CheckFinite("poses", "joint", clip.joint_transforms, 12, rig.joints.size()));
  SINEW_RETURN_IF_ERROR(CheckFinite("examples", "vertex", points, 3, vertices));
  return CheckSameMesh(rig, clip, points);
}

}  // namespace

absl::StatusOr<Rows<JointWeight>> OwnWeights(const client::Mesh& mesh) {
  const client::Skin& skin = mesh.skin;
  Rows<JointWeight> rows;
  rows.offsets.push_back(0);
  std::size_t at = 0;
  for (std::size_t v = 0; v < mesh.vertices(); ++v) {
    std::vector<JointWeight> row;
    double sum = 0;
    for (std::uint32_t k = 0; k < skin.influence_counts[v]; ++k, ++at) {
      if (!(skin.influence_weights[at] > 0)) continue;
      row.push_back({skin.influence_joints[at], skin.influence_weights[at]});
      sum += double{skin.influence_weights[at]};
    }
    if (row.empty() && skin.fallback_joint) row.push_back({*skin.fallback_joint, sum = 1});
    if (row.empty()) {
      return InvalidArgument("mesh \"", mesh.name, "\": vertex ", v,
                             " has no weights; `sinew weights` makes some");
    }
    std::ranges::stable_sort(row, {}, &JointWeight::joint);
    for (const auto& [joint, weight] : row) {
      if (rows.values.size() > rows.offsets.back() && rows.values.back().joint == joint) {
        rows.values.back().weight += weight / sum;
      } else {
        rows.values.push_back({joint, weight / sum});
      }
    }
    rows.offsets.push_back(rows.values.size());
  }
  return rows;
}

void AppendCoefficients(std::span<const JointWeight> row, std::span<const double> values,
                        client::Coefficients& to) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto main = order.begin() + static_cast<std::ptrdiff_t>(MainJoint(row));
  std::rotate(order.begin(), main, main + 1);
  to.counts.push_back(static_cast<std::uint32_t>(row.size()));
  for (const std::size_t k : order) {
    to.joints.push_back(row[k].joint);
    for (const double value : values.subspan(k * to.columns, to.columns)) {
      to.values.push_back(static_cast<float>(value));
    }
  }
}

absl::StatusOr<FitModel> ParseFitModel(const std::string& name) {
  if (name == "lbs") return FitModel::kLbs;
  if (name == "animation_space") return FitModel::kAnimationSpace;
  if (name == "multi_weight") return FitModel::kMultiWeight;
  return InvalidArgument("model: got \"", name, "\", need lbs, animation_space or multi_weight");
}

absl::StatusOr<FittedWeights> FitWeights(const Monitor& monitor, const client::RigData& rig,
                                         const client::ClipData& clip,
                                         std::span<const float> points,
                                         const FitWeightsRequest& request) {
  SINEW_RETURN_IF_ERROR(CheckFit(rig, clip, points, request));
  const ExamplePoints all{.points = points, .vertices = rig.vertices()};
  std::vector<FitPart> parts;
  std::size_t first = 0;
  for (std::size_t m = 0; m < rig.meshes.size(); ++m) {
    SINEW_ASSIGN_OR_RETURN(FitPart part, MakeFitPart(rig, clip, m, first, request.hold_out));
    parts.push_back(std::move(part));
    first += rig.meshes[m].vertices();
  }
  FittedWeights result{.rig = rig, .report = {}};
  FitReport& report = result.report;
  report.diagonal = client::BoxDiagonal(client::RestPositions(rig));
  report.fitted_frames = parts[0].fitted.examples.size();
  report.held_out_frames = parts[0].held_out.examples.size();
  report.least_frames = LeastFrames(request);
  if (report.fitted_frames == 0) {
    return InvalidArgument("hold_out: got ", request.hold_out, ", which leaves no frame to fit of ",
                           clip.frames);
  }
  const auto line = monitor.MakeProgress("Fit");
  const client::CallOptions call = monitor.call();
  DistanceMeter own[2], fitted[2];
  for (std::size_t m = 0; m < parts.size(); ++m) {
    const FitPart& part = parts[m];
    const PhaseOptions phase = [&](double begin, double end) {
      Task::Options options{.stop = call.stop};
      options.progress = [&, begin, end](double done) {
        const double share = begin + (end - begin) * done;
        line->Update((static_cast<double>(part.first_vertex) +
                      share * static_cast<double>(part.rest.size())) /
                     static_cast<double>(all.vertices));
      };
      return options;
    };
    const Task task(phase(1, 1));
    SINEW_ASSIGN_OR_RETURN(const Rows<JointWeight> weights, OwnWeights(part.mesh));
    SINEW_ASSIGN_OR_RETURN(const FitSolution solution,
                           SolvePart(part, all, weights, request, phase));
    const FitSolution given = OfWeights(weights);
    Measure(part, part.fitted, all, given, task, own[0]);
    Measure(part, part.fitted, all, solution, task, fitted[0]);
    Measure(part, part.held_out, all, given, task, own[1]);
    Measure(part, part.held_out, all, solution, task, fitted[1]);
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    client::Skin& skin = result.rig.meshes[m].skin;
    if (request.model == FitModel::kLbs) {
      WriteWeights(solution, skin);
    } else {
      WriteCoefficients(solution, skin.coefficients);
    }
  }
  line->Close();
  report.own = own[0].Result();
  report.fitted = fitted[0].Result();
  if (report.held_out_frames > 0) {
    report.own_held_out = own[1].Result();
    report.fitted_held_out = fitted[1].Result();
  }
  return result;
}

}  // namespace sinew::bake
