#include "client/bake/distil/distil.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/bake/distil/distil_errors.h"
#include "client/bake/distil/rig_skin.h"
#include "client/bake/distil/shape_drivers.h"
#include "client/bake/files/skinned_glb.h"
#include "client/bake/fit/fit_weights.h"
#include "client/bake/passes/clip_stream.h"
#include "client/rig/core_parts.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"
#include "core/base/trs.h"
#include "core/base/vectors.h"
#include "core/distil/corrective_shapes.h"
#include "core/distil/refit_shapes.h"
#include "core/distil/shape_pairs.h"
#include "core/examples/candidates.h"
#include "core/examples/coefficient_fit.h"
#include "core/examples/linear_blend_fit.h"
#include "core/surface/adjacency.h"

namespace sinew::bake {
namespace {

constexpr double kApart = 1e-4;           // of the diagonal: not one point
constexpr double kLeastWeight = 0x1p-23;  // what MakeSumExact keeps
constexpr double kLeastShape = 2e-4;      // of the diagonal
constexpr double kLeastOffset = 1e-5;     // of the diagonal
constexpr double kLeastPair = 1e-4;       // of the diagonal: how far a pair moves a vertex
constexpr std::size_t kMostPairs = 256;
constexpr std::size_t kMorePoses = 1000;  // random ones that only shapes are fitted to
constexpr std::size_t kWindowBytes = std::size_t{1} << 30;
// Matrices of joints at a time, in all poses: 0.2 GB.
constexpr std::size_t kBatchMatrices = std::size_t{1} << 21;
constexpr std::size_t kGrain = 1024;
constexpr std::size_t kGrainInPoses = 16;  // where each point is looked at in every pose

using Frame = std::vector<Vec3f>;
// The frame of pose `index` of those evaluated, with its matrices.
using PoseSink = std::function<absl::Status(std::size_t index, std::span<const AffineD> matrices,
                                            const Frame& frame)>;

double DistanceOf(const Vec3d& a, const Vec3f& b) {
  return Length(a - ToDouble(b));
}

struct JointTurns {
  std::uint32_t joint = 0;
  std::vector<Vec3d> turns;
};

// What the steps share.
class Distiller {
 public:
  Distiller(const Monitor& monitor, const CharacterFile& character, const DistilRequest& request)
      : monitor_(monitor), character_(character), request_(request) {}

  absl::StatusOr<Distilled> Run(std::vector<client::ClipData> clips, BindOnce bind) {
    SINEW_ASSIGN_OR_RETURN(RigSkin skin, ReadRigSkin(character_.rig));
    skin_ = std::make_unique<RigSkin>(std::move(skin));
    meter_.emplace(skin_->bind);
    std::vector<bool> moves(skin_->skeleton.joints());
    for (std::size_t v = 0; v < skin_->vertices(); ++v) {
      const auto row = skin_->own.row(v);
      for (const JointWeight& entry : row) moves[skin_->bindings[entry.joint].joint] = true;
      const auto strongest = std::ranges::max_element(row, {}, &JointWeight::weight);
      carriers_.push_back(skin_->bindings[strongest->joint].joint);
    }
    SINEW_ASSIGN_OR_RETURN(set_, MakePoses(character_, *skin_, moves, request_.poses));
    SINEW_ASSIGN_OR_RETURN(bound_, bind());
    SINEW_RETURN_IF_ERROR(FitWeights());
    if (request_.shapes) SINEW_RETURN_IF_ERROR(FitShapes());
    Distilled result;
    SINEW_RETURN_IF_ERROR(Judge(result));
    MakeRig(result.rig);
    result.clips = std::move(clips);
    for (client::ClipData& clip : result.clips) AddControls(clip);
    Describe(result);
    return result;
  }

 private:
  std::vector<std::vector<AffineD>> PosesOf(const std::vector<std::size_t>& indices) const {
    std::vector<std::vector<AffineD>> poses;
    for (const std::size_t k : indices) poses.push_back(set_.joints[k]);
    return poses;
  }

  absl::Status Evaluate(const std::string& label, const std::vector<std::vector<AffineD>>& poses,
                        const PoseSink& sink,
                        client::Attribute wanted = client::Attribute::kPositions) const {
    const client::ClipData clip = ClipOf(character_.rig, poses);
    const std::size_t floats = 12 * skin_->skeleton.joints();
    Frame frame(skin_->vertices());
    std::size_t index = 0;
    std::vector<client::Attribute> attributes = {client::Attribute::kPositions};
    if (wanted != attributes[0]) attributes.push_back(wanted);
    return StreamClip(
        monitor_, *bound_, clip, {.label = label, .output = {.attributes = attributes}},
        [&](const client::FrameView& view) -> absl::Status {
          const std::span out(reinterpret_cast<float*>(frame.data()), 3 * frame.size());
          SINEW_RETURN_IF_ERROR(wanted == client::Attribute::kNormals ? view.CopyNormals(out)
                                                                      : view.CopyPositions(out));
          const auto joints = std::span(clip.joint_transforms).subspan(index * floats, floats);
          return sink(index++, skin_->Matrices(ToMatrices(joints)), frame);
        });
  }

  Task::Options TaskOptions(const std::string& label) const {
    const std::shared_ptr<ProgressLine> line = monitor_.MakeProgress(label);
    return {.stop = monitor_.call().stop, .progress = [line](double part) { line->Update(part); }};
  }

  // Where some vertices are in some poses, or their normals: of as many vertices at a time as fit
  // into memory.
  class Targets {
   public:
    Targets(const Distiller& owner, std::vector<std::vector<AffineD>> poses,
            const std::vector<std::uint32_t>& vertices,
            client::Attribute wanted = client::Attribute::kPositions)
        : owner_(owner), poses_(std::move(poses)), vertices_(vertices), wanted_(wanted) {}

    absl::Status Fill(std::size_t begin, std::size_t end, std::span<Vec3f> targets) {
      if (begin < begin_ || end > end_) SINEW_RETURN_IF_ERROR(Load(begin, end, nullptr));
      for (std::size_t k = 0; k < poses_.size(); ++k) {
        const Vec3f* const row = &window_[k * (end_ - begin_) + begin - begin_];
        std::copy(row, row + (end - begin), &targets[k * (end - begin)]);
      }
      return absl::OkStatus();
    }

    // Loads the vertices from `begin` on, at least to `end`. apart: gets the vertices that are not
    // where the first vertex of their point is; or null.
    absl::Status Load(std::size_t begin, std::size_t end, std::vector<bool>* apart) {
      const WeldedPoints& points = owner_.points_;
      const std::size_t fit = kWindowBytes / (poses_.size() * sizeof(Vec3f));
      begin_ = begin;
      end_ = std::max(end, std::min(vertices_.size(), begin + fit));
      const std::size_t count = end_ - begin_;
      window_.resize(poses_.size() * count);
      const double limit = kApart * owner_.skin_->diagonal;
      return owner_.Evaluate(
          "Evaluate", poses_,
          [&](std::size_t k, std::span<const AffineD> matrices, const Frame& frame) {
            if (k == 0) matrices_.clear();
            matrices_.insert(matrices_.end(), matrices.begin(), matrices.end());
            for (std::size_t p = begin_; p < end_; ++p) {
              window_[k * count + p - begin_] = frame[vertices_[p]];
            }
            for (std::size_t v = 0; apart != nullptr && v < frame.size(); ++v) {
              const Vec3f& first = frame[points.first[points.point[v]]];
              if (DistanceOf(ToDouble(first), frame[v]) > limit) (*apart)[v] = true;
            }
            return absl::OkStatus();
          },
          wanted_);
    }
    void Forget() { begin_ = end_ = 0; }

    std::size_t poses() const { return poses_.size(); }
    const std::vector<AffineD>& matrices() const { return matrices_; }  // [poses][bindings]

   private:
    const Distiller& owner_;
    const std::vector<std::vector<AffineD>> poses_;
    const std::vector<std::uint32_t>& vertices_;
    const client::Attribute wanted_;
    std::size_t begin_ = 0, end_ = 0;
    std::vector<Vec3f> window_;
    std::vector<AffineD> matrices_;
  };

  // Whether every mesh with the point has the binding.
  bool Allowed(std::size_t point, std::uint32_t binding) const {
    const std::vector<bool>& meshes = binding_meshes_[binding];
    return std::ranges::all_of(point_meshes_[point],
                               [&](std::uint32_t mesh) { return meshes[mesh]; });
  }

  void FindMeshes() {
    point_meshes_.assign(points_.first.size(), {});
    for (std::size_t v = 0; v < skin_->vertices(); ++v) {
      std::vector<std::uint32_t>& meshes = point_meshes_[points_.point[v]];
      if (meshes.empty() || meshes.back() != skin_->mesh_of[v]) meshes.push_back(skin_->mesh_of[v]);
    }
    binding_meshes_.assign(skin_->bindings.size(), std::vector<bool>(skin_->mesh_bindings.size()));
    for (std::size_t m = 0; m < skin_->mesh_bindings.size(); ++m) {
      for (const std::uint32_t binding : skin_->mesh_bindings[m])
        binding_meshes_[binding][m] = true;
    }
  }

  absl::Status FitWeights() {
    const Task welding({.stop = monitor_.call().stop});
    SINEW_ASSIGN_OR_RETURN(const Mesh rest_mesh,
                           client::CoreMesh(client::MergedMesh(character_.rig)));
    points_ = WeldSkin(*skin_, rest_mesh, {}, welding);
    SINEW_RETURN_IF_ERROR(welding.CheckCancelled());
    Targets targets(*this, PosesOf(set_.Training()), points_.first);
    std::vector<bool> apart(skin_->vertices());
    SINEW_RETURN_IF_ERROR(targets.Load(0, 0, &apart));
    if (std::ranges::find(apart, true) != apart.end()) {
      points_ = WeldSkin(*skin_, rest_mesh, apart, welding);
      SINEW_RETURN_IF_ERROR(welding.CheckCancelled());
      targets.Forget();
    }
    FindMeshes();
    std::vector<Vec3f> rest;
    for (const std::uint32_t v : points_.first) rest.push_back(skin_->rest[v]);
    const Rows<JointWeight> own = CollectRows<JointWeight>(rest.size(), [&](const auto& add) {
      for (std::size_t p = 0; p < rest.size(); ++p) {
        for (const JointWeight& entry : skin_->own.row(points_.first[p])) add(p, entry);
      }
    });
    Task task(TaskOptions("Fit weights"));
    const Adjacency edges = PolygonNeighbours(rest_mesh, points_, task);
    const Candidates near =
        FindCandidates(own, skin_->bindings.size(), edges.offsets, edges.neighbours,
                       kCandidateRings, kMostCandidates, task);
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    Candidates candidates{.rows = {.offsets = {0}, .values = {}}, .reach = {}};
    for (std::size_t p = 0; p < rest.size(); ++p) {
      for (std::uint64_t k = near.rows.offsets[p]; k < near.rows.offsets[p + 1]; ++k) {
        const JointWeight& entry = near.rows.values[k];
        if (entry.weight == 0 && !Allowed(p, entry.joint)) continue;
        candidates.rows.values.push_back(entry);
        candidates.reach.push_back(near.reach[k]);
      }
      candidates.rows.offsets.push_back(candidates.rows.values.size());
    }
    const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> out) {
      return targets.Fill(begin, end, out);
    };
    const PoseExamples examples{.poses = targets.poses(),
                                .joints = skin_->bindings.size(),
                                .matrices = targets.matrices(),
                                .rest = rest,
                                .targets = fill};
    SINEW_ASSIGN_OR_RETURN(
        const Rows<JointWeight> fitted,
        FitLinearBlend(examples, candidates.rows, {.max_influences = request_.influences}, task));
    std::vector<std::uint32_t> all(rest.size());
    for (std::uint32_t p = 0; p < all.size(); ++p) all[p] = p;
    SINEW_RETURN_IF_ERROR(ChooseRows(examples, ExactRows(own, all, request_.influences),
                                     ExactRows(fitted, all, request_.influences)));
    if (!request_.space) return absl::OkStatus();
    // Every joint with coefficients gets a place among the influences of the file.
    Rows<JointWeight> filled = FillUp(fitted_, candidates, request_.influences);
    for (JointWeight& entry : filled.values) entry.weight = std::max(entry.weight, kLeastWeight);
    fitted_ = ExactRows(filled, all, request_.influences);
    return FitSpace(examples);
  }

  absl::Status FitSpace(const PoseExamples& examples) {
    std::vector<Vec3d> pivots;
    for (const auto& [joint, to_joint] : skin_->bindings) {
      const bool is_flat = Determinant(Linear(to_joint)) == 0;  // then any place will do
      pivots.push_back(is_flat ? Vec3d{} : Translation(Inverse(to_joint)));
    }
    Task task(TaskOptions("Fit animation space"));
    SINEW_ASSIGN_OR_RETURN(coefficients_,
                           FitAnimationSpace(examples, fitted_, pivots, kCoefficientPull, task));
    for (double& value : coefficients_) value = double{static_cast<float>(value)};
    return absl::OkStatus();
  }

  // [row][4] of a point.
  std::span<const double> CoefficientsOf(std::size_t point) const {
    return std::span(coefficients_)
        .subspan(4 * fitted_.offsets[point], 4 * fitted_.row(point).size());
  }

  // The fitted weights, but a point's own where those fit as well.
  absl::Status ChooseRows(const PoseExamples& examples, const Rows<JointWeight>& own,
                          const Rows<JointWeight>& fitted) {
    const std::size_t n = examples.rest.size(), poses = examples.poses;
    std::vector<double> squares(n);
    std::vector<std::uint8_t> keeps(n);
    const Task task({.stop = monitor_.call().stop});
    const std::size_t block = std::max<std::size_t>(kGrain, (std::size_t{1} << 22) / poses);
    std::vector<Vec3f> targets;
    for (std::size_t begin = 0; begin < n; begin += block) {
      const std::size_t end = std::min(n, begin + block);
      targets.resize(poses * (end - begin));
      SINEW_RETURN_IF_ERROR(examples.targets(begin, end, targets));
      task.For(end - begin, kGrain, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          const std::size_t p = begin + i;
          const Vec3d rest = ToDouble(examples.rest[p]);
          double own_sum = 0, sum = 0;
          for (std::size_t k = 0; k < poses; ++k) {
            const auto matrices = examples.matrices.subspan(k * examples.joints, examples.joints);
            const Vec3f& target = targets[k * (end - begin) + i];
            const auto square = [&](std::span<const JointWeight> row) {
              const double d = DistanceOf(Apply(Blend(row, matrices), rest), target);
              return d * d;
            };
            own_sum += square(own.row(p));
            sum += square(fitted.row(p));
          }
          const double count = static_cast<double>(poses);
          keeps[p] =
              std::sqrt(own_sum / count) <= std::sqrt(sum / count) + kRounding * skin_->diagonal;
          squares[p] = (keeps[p] ? own_sum : sum) / count;
        }
      });
      SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    }
    fitted_ = CollectRows<JointWeight>(n, [&](const auto& add) {
      for (std::size_t p = 0; p < n; ++p) {
        for (const JointWeight& entry : (keeps[p] ? own : fitted).row(p)) add(p, entry);
      }
    });
    double sum = 0;
    for (std::size_t p = 0; p < n; ++p) {
      sum += squares[p];
      report_.kept_rows += keeps[p];
    }
    report_.points = n;
    report_.training_rms = std::sqrt(sum / static_cast<double>(n));
    return absl::OkStatus();
  }

  // How much a blend scales at rest.
  std::vector<double> SizesAtRest() const {
    const std::vector<AffineD> rest = skin_->Matrices(skin_->bind.rest_model());
    std::vector<double> sizes;
    for (std::size_t p = 0; p < points_.first.size(); ++p) {
      sizes.push_back(std::cbrt(std::abs(Determinant(Linear(Blend(fitted_.row(p), rest))))));
    }
    return sizes;
  }

  // The shapes of some joints, each of which is turned alone.
  absl::Status FitJoints(const std::vector<JointTurns>& batch, const std::vector<double>& sizes,
                         double unit, const Task& task) {
    if (batch.empty()) return absl::OkStatus();
    std::vector<std::vector<AffineD>> poses;
    for (const JointTurns& joint : batch) {
      for (const Vec3d& turn : joint.turns) {
        std::vector<Vec3d> turns(skin_->bind.joints());
        turns[joint.joint] = turn;
        poses.push_back(TurnedPose(skin_->bind, turns));
      }
    }
    std::vector<std::vector<Vec3f>> residuals;  // of the joint that is being evaluated
    std::size_t next = 0;
    const ShapeLimits limits = {.least_shape = kLeastShape * unit,
                                .least_offset = kLeastOffset * unit};
    return Evaluate("Evaluate joints", poses,
                    [&](std::size_t, std::span<const AffineD> matrices, const Frame& frame) {
                      std::vector<Vec3f>& residual = residuals.emplace_back(points_.first.size());
                      task.For(residual.size(), kGrain, [&](std::size_t begin, std::size_t end) {
                        for (std::size_t p = begin; p < end; ++p) {
                          residual[p] = Residual(p, matrices, frame[points_.first[p]], sizes[p]);
                        }
                      });
                      const auto& [joint, turns] = batch[next];
                      if (residuals.size() < turns.size()) return absl::OkStatus();
                      shapes_.Add(joint, FitJointShapes(turns, residuals, limits, task));
                      residuals.clear();
                      ++next;
                      return task.CheckCancelled();
                    });
  }

  absl::Status FitShapes() {
    const Task task({.stop = monitor_.call().stop});
    const std::vector<double> sizes = SizesAtRest();
    const double unit = skin_->diagonal / *std::ranges::max_element(sizes);
    const std::size_t joints = skin_->bind.joints();
    std::vector<JointTurns> batch;
    std::size_t matrices = 0;
    for (std::uint32_t j = 0; j < joints; ++j) {
      if (set_.ranges[j].fixed()) continue;
      batch.push_back({j, SpanningTurns(set_.ranges[j])});
      matrices += batch.back().turns.size() * joints;
      if (matrices < kBatchMatrices) continue;
      SINEW_RETURN_IF_ERROR(FitJoints(batch, sizes, unit, task));
      batch.clear();
      matrices = 0;
    }
    SINEW_RETURN_IF_ERROR(FitJoints(batch, sizes, unit, task));
    shapes_.Sort();
    SINEW_RETURN_IF_ERROR(FindRestNormals(sizes));
    return FitTogether(sizes, unit);
  }

  // Random poses that only shapes are fitted to, as many as memory is for.
  std::vector<std::vector<AffineD>> MorePoses(std::size_t training) const {
    const std::size_t fit =
        std::min(kWindowBytes / (points_.first.size() * sizeof(Vec3f)),
                 kBatchMatrices / std::max(skin_->bind.joints(), skin_->bindings.size()));
    const std::size_t more = std::min(kMorePoses, fit - std::min(fit, training));
    std::vector<std::vector<AffineD>> poses;
    for (std::size_t k = set_.random + 1; k <= set_.random + more; ++k) {
      poses.push_back(TurnedPose(skin_->bind, RandomTurns(set_.ranges, request_.poses.seed, k)));
    }
    return poses;
  }

  // Fits the offsets to what is lacking in poses of all joints, with further shapes for pairs of
  // joints.
  absl::Status FitTogether(const std::vector<double>& sizes, double unit) {
    const std::size_t shapes = shapes_.size(), n = points_.first.size();
    if (shapes == 0) return absl::OkStatus();
    const std::vector<std::size_t> training = set_.Training();
    std::vector<std::vector<AffineD>> poses = PosesOf(training), more = MorePoses(poses.size());
    const auto random = static_cast<std::size_t>(
        std::ranges::count_if(training, [&](std::size_t k) { return k <= set_.random; }));
    const std::size_t clips = training.size() - random;
    // Random poses together count as much as without more of them, at least as much as clips.
    const double weight =
        static_cast<double>(std::max(random, clips)) / static_cast<double>(random + more.size());
    std::vector<double> weights(training.size() + more.size(), weight);
    std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(random), clips, 1.0);
    std::ranges::move(more, std::back_inserter(poses));
    std::vector<std::vector<Vec3d>> turns;
    for (const std::vector<AffineD>& pose : poses) turns.push_back(meter_->Measure(pose));
    const auto values = [&] {
      std::vector<double> all;
      for (const std::vector<Vec3d>& of_pose : turns) {
        const std::vector<double> row = shapes_.Values(of_pose, set_.ranges);
        all.insert(all.end(), row.begin(), row.end());
      }
      return all;
    };
    const std::size_t most = request_.max_shapes > 0 ? request_.max_shapes : 2 * shapes;
    Task task(TaskOptions("Fit shapes"));
    task.SetTotal(static_cast<double>(2 * std::min(n, kMostPairPlaces) +
                                      (most < 2 * shapes ? 2 : 1) * n + skin_->vertices()));
    std::optional<Targets> targets(std::in_place, *this, poses, points_.first);
    const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> lacking) {
      return FillResiduals(
          *targets, begin, end, lacking,
          [&](std::size_t p, std::span<const AffineD> matrices, const Vec3f& at) {
            return Residual(p, matrices, at, sizes[p]);
          },
          task);
    };
    std::vector<double> all = values();
    const std::vector<CorrectiveShape*> singles = shapes_.Shapes();
    SINEW_ASSIGN_OR_RETURN(
        std::vector<ShapePair> pairs,
        FindPairs(std::vector<const CorrectiveShape*>(singles.begin(), singles.end()),
                  shapes_.Joints(), {all, weights}, n,
                  {.pairs = std::min(shapes, kMostPairs), .least_offset = kLeastPair * unit}, fill,
                  task));
    shapes_.Add(std::move(pairs));
    all = values();
    SINEW_RETURN_IF_ERROR(RefitShapes(shapes_.Shapes(), {all, weights}, n, fill, task));
    const std::size_t count = shapes_.size();
    report_.dropped_shapes = shapes_.Keep(most, {all, weights}, kLeastShape * unit);
    report_.shape_count = shapes_.size();
    all = values();
    if (shapes_.size() < count) {
      SINEW_RETURN_IF_ERROR(RefitShapes(shapes_.Shapes(), {all, weights}, n, fill, task));
    }
    targets.reset();  // before another window of that size
    return FitNormals(std::move(poses), {all, weights}, sizes, task);
  }

  // The normals of the file: those of the meshes, or what linear blend makes those of the deformer
  // of at rest.
  absl::Status FindRestNormals(const std::vector<double>& sizes) {
    std::vector<bool> lacks;
    for (const client::Mesh& mesh : character_.rig.meshes) {
      lacks.insert(lacks.end(), mesh.vertices(), mesh.normals.size() != mesh.positions.size());
      SINEW_ASSIGN_OR_RETURN(const std::vector<float> normals, UnitNormals(mesh));
      for (std::size_t k = 0; k < normals.size(); k += 3) {
        rest_normals_.push_back({normals[k], normals[k + 1], normals[k + 2]});
      }
    }
    if (std::ranges::find(lacks, true) == lacks.end()) return absl::OkStatus();
    return Evaluate(
        "Evaluate normals at rest", {set_.joints[0]},
        [&](std::size_t, std::span<const AffineD> matrices, const Frame& normals) {
          for (std::size_t v = 0; v < normals.size(); ++v) {
            const std::uint32_t p = points_.point[v];
            const Vec3d rest =
                ToRest(Linear(Blend(fitted_.row(p), matrices)), ToDouble(normals[v]), sizes[p]);
            if (lacks[v] && Length(rest) > 0) rest_normals_[v] = Unit(rest);
          }
          return absl::OkStatus();
        },
        client::Attribute::kNormals);
  }

  // What the shapes add to the normals, so that they come near those of the deformer.
  absl::Status FitNormals(std::vector<std::vector<AffineD>> poses, const ShapeValues& given,
                          const std::vector<double>& sizes, Task& task) {
    const std::size_t n = skin_->vertices();
    std::vector<std::uint32_t> vertices(n);
    for (std::uint32_t v = 0; v < n; ++v) vertices[v] = v;
    normals_.resize(shapes_.size());
    std::vector<CorrectiveShape*> shapes;
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      std::vector<bool> moves(points_.first.size());
      for (const std::uint32_t p : shapes_.shape(k).vertices) moves[p] = true;
      std::ranges::copy_if(vertices, std::back_inserter(normals_[k].vertices),
                           [&](std::uint32_t v) { return moves[points_.point[v]]; });
      normals_[k].offsets.resize(normals_[k].vertices.size());
      shapes.push_back(&normals_[k]);
    }
    Targets targets(*this, std::move(poses), vertices, client::Attribute::kNormals);
    const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> lacking) {
      return FillResiduals(
          targets, begin, end, lacking,
          [&](std::size_t v, std::span<const AffineD> matrices, const Vec3f& normal) -> Vec3f {
            const std::uint32_t p = points_.point[v];
            const Mat3d blend = Linear(Blend(fitted_.row(p), matrices));
            const Vec3d played = Multiply(blend, rest_normals_[v]);
            const Vec3d wanted = Length(played) * ToDouble(normal);
            if (Length(wanted) == 0) return {};
            return ToFloat(ToRest(blend, wanted - played, sizes[p]));
          },
          task);
    };
    return RefitShapes(shapes, given, n, fill, task);
  }

  using ResidualOf = absl::FunctionRef<Vec3f(std::size_t, std::span<const AffineD>, const Vec3f&)>;
  // [end - begin][poses] what is lacking at rest, of each target and the matrices of its pose.
  static absl::Status FillResiduals(Targets& targets, std::size_t begin, std::size_t end,
                                    std::span<Vec3f> lacking, ResidualOf residual,
                                    const Task& task) {
    const std::size_t poses = targets.poses();
    std::vector<Vec3f> frames(lacking.size());
    SINEW_RETURN_IF_ERROR(targets.Fill(begin, end, frames));
    const std::size_t bindings = targets.matrices().size() / poses;
    task.For(end - begin, kGrainInPoses, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        for (std::size_t f = 0; f < poses; ++f) {
          lacking[i * poses + f] =
              residual(begin + i, std::span(targets.matrices()).subspan(f * bindings, bindings),
                       frames[f * (end - begin) + i]);
        }
      }
    });
    return absl::OkStatus();
  }

  // What linear blend lacks at a point, at rest.
  Vec3f Residual(std::size_t point, std::span<const AffineD> matrices, const Vec3f& target,
                 double size) const {
    const AffineD blend = Blend(fitted_.row(point), matrices);
    const Vec3d missing =
        ToDouble(target) - Apply(blend, ToDouble(skin_->rest[points_.first[point]]));
    if (Length(missing) <= kRounding / 10 * skin_->diagonal) return {};
    return ToFloat(ToRest(Linear(blend), missing, size));
  }

  // [shapes] in a pose.
  std::vector<double> ValuesIn(std::span<const AffineD> joints) const {
    return shapes_.Values(meter_->Measure(joints), set_.ranges);
  }

  // Where the points are, [V], with or without shapes.
  void Play(const Rows<JointWeight>& rows, const std::vector<std::uint32_t>* point,
            std::span<const AffineD> matrices, std::span<const Vec3d> offsets, const Task& task,
            Frame& out) const {
    out.resize(skin_->vertices());
    task.For(out.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        const std::size_t row = point == nullptr ? v : (*point)[v];
        const Vec3d offset = offsets.empty() ? Vec3d{} : offsets[row];
        out[v] = ToFloat(Apply(Blend(rows.row(row), matrices), ToDouble(skin_->rest[v]) + offset));
      }
    });
  }

  void PlaySpace(std::span<const AffineD> matrices, const Task& task, Frame& out) const {
    task.For(out.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        const std::size_t p = points_.point[v];
        out[v] = ToFloat(
            PlaceOf(4, fitted_.row(p), CoefficientsOf(p), matrices, ToDouble(skin_->rest[v])));
      }
    });
  }

  std::vector<Vec3d> Offsets(std::span<const double> values) const {
    std::vector<Vec3d> offsets(points_.first.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
      const CorrectiveShape& shape = shapes_.shape(k);
      for (std::size_t i = 0; i < shape.vertices.size(); ++i) {
        Vec3d& offset = offsets[shape.vertices[i]];
        offset = offset +
                 static_cast<double>(static_cast<float>(values[k])) * ToDouble(shape.offsets[i]);
      }
    }
    return offsets;
  }

  absl::Status Judge(Distilled& result) {
    const Task task({.stop = monitor_.call().stop});
    const std::size_t joints = skin_->skeleton.joints();
    std::size_t most = 0;
    std::vector<std::uint32_t> all;
    for (std::uint32_t v = 0; v < skin_->vertices(); ++v) {
      most = std::max(most, skin_->own.row(v).size());
      all.push_back(v);
    }
    const bool cuts = most > request_.influences;
    const Rows<JointWeight> cut =
        cuts ? ExactRows(skin_->own, all, request_.influences) : Rows<JointWeight>{};
    DistilMeter own(carriers_, joints), own_cut(carriers_, joints), linear(carriers_, joints),
        more(carriers_, joints);
    double worst = -1;
    const auto evaluate = [&](std::size_t k, std::span<const AffineD> matrices,
                              const Frame& frame) {
      const std::size_t pose = set_.held_out[k];
      Frame played, own_played;
      std::vector<float> distances(frame.size());
      const auto measure = [&](const Frame& at, DistilMeter& meter_of) {
        double squares = 0;
        for (std::size_t v = 0; v < frame.size(); ++v) {
          distances[v] = static_cast<float>(DistanceOf(ToDouble(at[v]), frame[v]));
          squares += double{distances[v]} * distances[v];
        }
        meter_of.Add(pose, pose <= set_.random, distances);
        return squares;
      };
      Play(skin_->own, nullptr, matrices, {}, task, own_played);
      measure(own_played, own);
      if (cuts) {
        Play(cut, nullptr, matrices, {}, task, own_played);
        measure(own_played, own_cut);
      }
      Play(fitted_, &points_.point, matrices, {}, task, played);
      double squares = measure(played, linear);
      if (request_.shapes) {
        const std::vector<Vec3d> offsets = Offsets(ValuesIn(set_.joints[pose]));
        Play(fitted_, &points_.point, matrices, offsets, task, played);
        squares = measure(played, more);
      } else if (request_.space) {
        PlaySpace(matrices, task, played);
        squares = measure(played, more);
      }
      if (squares > worst) {
        worst = squares;
        const auto copy = [](const Frame& from, std::vector<float>& to) {
          const float* const begin = reinterpret_cast<const float*>(from.data());
          to.assign(begin, begin + 3 * from.size());
        };
        copy(frame, result.worst_target);
        copy(own_played, result.worst_own);
        copy(played, result.worst_result);
        result.worst_joints.clear();
        AppendMatrices(set_.joints[pose], result.worst_joints);
      }
      return task.CheckCancelled();
    };
    SINEW_RETURN_IF_ERROR(Evaluate("Evaluate held-out poses", PosesOf(set_.held_out), evaluate));
    report_.own = own.Errors();
    if (cuts) report_.own_cut = own_cut.Errors();
    report_.linear = linear.Errors();
    if (request_.shapes) report_.shapes = more.Errors();
    if (request_.space) report_.space = more.Errors();
    if (std::isfinite(report_.own.all.rms + report_.result().all.rms)) return absl::OkStatus();
    return absl::InternalError("distil: the result is not finite in a held-out pose");
  }

  void MakeRig(client::RigData& rig) const {
    rig = character_.rig;
    rig.muscles.clear();
    rig.controls.clear();
    const std::vector<double> at_rest = ValuesIn(set_.joints[0]);
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      rig.controls.push_back({.name = shapes_.Name(k, character_.rig),
                              .minimum = 0,
                              .maximum = 1,
                              .default_value = static_cast<float>(at_rest[k])});
    }
    std::size_t first = 0;
    for (std::size_t m = 0; m < rig.meshes.size(); ++m) {
      client::Mesh& mesh = rig.meshes[m];
      client::Skin& skin = mesh.skin;
      skin.influence_counts.clear();
      skin.influence_joints.clear();
      skin.influence_weights.clear();
      skin.fallback_joint.reset();
      skin.coefficients = {.columns = request_.space ? 4u : 0u};
      std::vector<std::uint32_t> slot(skin_->bindings.size());
      for (std::uint32_t s = 0; s < skin_->mesh_bindings[m].size(); ++s) {
        slot[skin_->mesh_bindings[m][s]] = s;
      }
      for (std::size_t v = 0; v < mesh.vertices(); ++v) {
        const std::size_t point = points_.point[first + v];
        std::vector<JointWeight> row(fitted_.row(point).begin(), fitted_.row(point).end());
        skin.influence_counts.push_back(static_cast<std::uint32_t>(row.size()));
        for (JointWeight& entry : row) {
          entry.joint = slot[entry.joint];
          skin.influence_joints.push_back(entry.joint);
          skin.influence_weights.push_back(static_cast<float>(entry.weight));
        }
        if (request_.space) AppendCoefficients(row, CoefficientsOf(point), skin.coefficients);
      }
      if (!rest_normals_.empty()) {
        mesh.normals.clear();
        for (std::size_t v = first; v < first + mesh.vertices(); ++v) {
          const Vec3f normal = ToFloat(rest_normals_[v]);
          mesh.normals.insert(mesh.normals.end(), {normal.x, normal.y, normal.z});
        }
      }
      AddShapes(first, mesh);
      first += mesh.vertices();
    }
  }

  // The shapes that move some of the mesh's vertices.
  void AddShapes(std::size_t first, client::Mesh& mesh) const {
    mesh.shapes.clear();
    std::vector<std::int64_t> row(points_.first.size());
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const CorrectiveShape& from = shapes_.shape(k);
      std::ranges::fill(row, -1);
      for (std::size_t i = 0; i < from.vertices.size(); ++i) {
        row[from.vertices[i]] = static_cast<std::int64_t>(i);
      }
      client::ShapeTarget target;
      for (std::uint32_t v = 0; v < mesh.vertices(); ++v) {
        const std::int64_t i = row[points_.point[first + v]];
        if (i < 0) continue;
        const Vec3f& offset = from.offsets[static_cast<std::size_t>(i)];
        target.vertices.push_back(v);
        target.offsets.insert(target.offsets.end(), {offset.x, offset.y, offset.z});
        const auto turned = std::ranges::lower_bound(normals_[k].vertices, first + v);
        const Vec3f& turn =
            normals_[k].offsets[static_cast<std::size_t>(turned - normals_[k].vertices.begin())];
        target.normal_offsets.insert(target.normal_offsets.end(), {turn.x, turn.y, turn.z});
      }
      if (!target.vertices.empty())
        mesh.shapes.push_back({shapes_.Name(k, character_.rig), {std::move(target)}});
    }
  }

  void AddControls(client::ClipData& clip) const {
    const std::size_t floats = 12 * skin_->skeleton.joints();
    clip.controls.clear();
    for (std::size_t k = 0; k < clip.frames && shapes_.size() > 0; ++k) {
      const auto joints = std::span(clip.joint_transforms).subspan(k * floats, floats);
      for (const double value : ValuesIn(ToMatrices(joints))) {
        clip.controls.push_back(static_cast<float>(value));
      }
    }
  }

  void Describe(Distilled& result) {
    report_.diagonal = skin_->diagonal;
    report_.seed = request_.poses.seed;
    report_.poses = set_.joints.size();
    report_.random = set_.random;
    report_.held_out = set_.held_out;
    report_.pose_names = set_.names;
    report_.ranges = set_.ranges;
    report_.from_clips = set_.from_clips;
    result.report = std::move(report_);
    if (shapes_.size() == 0) return;
    result.shapes = shapes_.Describe(character_.rig, *meter_, set_.ranges);
  }

  const Monitor& monitor_;
  const CharacterFile& character_;
  const client::Character* bound_ = nullptr;
  const DistilRequest& request_;
  std::unique_ptr<const RigSkin> skin_;
  std::optional<TurnMeter> meter_;       // of its bind pose
  std::vector<std::uint32_t> carriers_;  // [V] the joint with the largest weight
  PoseSet set_;
  WeldedPoints points_;
  std::vector<std::vector<std::uint32_t>> point_meshes_;  // [points]
  std::vector<std::vector<bool>> binding_meshes_;         // [bindings][meshes]
  Rows<JointWeight> fitted_;                              // [points]
  std::vector<double> coefficients_;                      // [fitted_.values][4] or empty
  ShapeDrivers shapes_;
  std::vector<Vec3d> rest_normals_;       // [V] or empty: of the file
  std::vector<CorrectiveShape> normals_;  // [shapes] what each adds to the normals of vertices
  DistilReport report_;
};

}  // namespace

absl::StatusOr<Distilled> Distil(const Monitor& monitor, const CharacterFile& character,
                                 std::vector<client::ClipData> clips, BindOnce bind,
                                 const DistilRequest& request) {
  return Distiller(monitor, character, request).Run(std::move(clips), bind);
}

}  // namespace sinew::bake
