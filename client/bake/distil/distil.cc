#include "client/bake/distil/distil.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/bake/distil/distil_errors.h"
#include "client/bake/distil/rig_skin.h"
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
#include "core/examples/candidates.h"
#include "core/examples/coefficient_fit.h"
#include "core/examples/linear_blend_fit.h"
#include "core/surface/adjacency.h"

namespace sinew::bake {
namespace {

constexpr double kRounding = 1e-6;        // of the diagonal
constexpr double kApart = 1e-4;           // of the diagonal: not one point
constexpr double kLeastWeight = 0x1p-23;  // what MakeSumExact keeps
constexpr double kLeastShape = 2e-4;      // of the diagonal
constexpr double kLeastOffset = 1e-5;     // of the diagonal
constexpr std::size_t kWindowBytes = std::size_t{1} << 30;
constexpr std::size_t kBatchMatrices = std::size_t{1}
                                       << 21;  // of joints in poses at a time: 0.2 GB
constexpr std::size_t kGrain = 1024;

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

struct DrivenShapes {
  std::uint32_t joint = 0;
  JointShapes shapes;
};

// What the steps share.
class Distiller {
 public:
  Distiller(const Monitor& monitor, const CharacterFile& character, const client::Character& bound,
            const DistilRequest& request)
      : monitor_(monitor), character_(character), bound_(bound), request_(request) {}

  absl::StatusOr<Distilled> Run() {
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
    SINEW_RETURN_IF_ERROR(FitWeights());
    if (request_.shapes) SINEW_RETURN_IF_ERROR(FitShapes());
    Distilled result;
    SINEW_RETURN_IF_ERROR(Judge(result));
    MakeRig(result.rig);
    SINEW_RETURN_IF_ERROR(MakeClips(result));
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
                        const PoseSink& sink) const {
    const client::ClipData clip = ClipOf(character_.rig, poses);
    const std::size_t floats = 12 * skin_->skeleton.joints();
    Frame frame(skin_->vertices());
    std::size_t index = 0;
    return StreamClip(
        monitor_, bound_, clip, {.label = label},
        [&](const client::FrameView& view) -> absl::Status {
          SINEW_RETURN_IF_ERROR(
              view.CopyPositions({reinterpret_cast<float*>(frame.data()), 3 * frame.size()}));
          const auto joints = std::span(clip.joint_transforms).subspan(index * floats, floats);
          return sink(index++, skin_->Matrices(ToMatrices(joints)), frame);
        });
  }

  Task::Options TaskOptions(const std::string& label) const {
    const std::shared_ptr<ProgressLine> line = monitor_.MakeProgress(label);
    return {.stop = monitor_.call().stop, .progress = [line](double part) { line->Update(part); }};
  }

  // Targets of the points in the training poses: of as many points at a time as fit into memory.
  class Targets {
   public:
    Targets(const Distiller& owner, std::vector<std::vector<AffineD>> poses)
        : owner_(owner), poses_(std::move(poses)) {}

    absl::Status Fill(std::size_t begin, std::size_t end, std::span<Vec3f> targets) {
      if (begin < begin_ || end > end_) SINEW_RETURN_IF_ERROR(Load(begin, end, nullptr));
      for (std::size_t k = 0; k < poses_.size(); ++k) {
        const Vec3f* const row = &window_[k * (end_ - begin_) + begin - begin_];
        std::copy(row, row + (end - begin), &targets[k * (end - begin)]);
      }
      return absl::OkStatus();
    }

    // Loads the points from `begin` on, at least to `end`. apart: gets the vertices that are not
    // where the first vertex of their point is; or null.
    absl::Status Load(std::size_t begin, std::size_t end, std::vector<bool>* apart) {
      const WeldedPoints& points = owner_.points_;
      const std::size_t fit = kWindowBytes / (poses_.size() * sizeof(Vec3f));
      begin_ = begin;
      end_ = std::max(end, std::min(points.first.size(), begin + fit));
      const std::size_t count = end_ - begin_;
      window_.resize(poses_.size() * count);
      const double limit = kApart * owner_.skin_->diagonal;
      return owner_.Evaluate(
          "Evaluate", poses_,
          [&](std::size_t k, std::span<const AffineD> matrices, const Frame& frame) {
            if (k == 0) matrices_.clear();
            matrices_.insert(matrices_.end(), matrices.begin(), matrices.end());
            for (std::size_t p = begin_; p < end_; ++p) {
              window_[k * count + p - begin_] = frame[points.first[p]];
            }
            for (std::size_t v = 0; apart != nullptr && v < frame.size(); ++v) {
              const Vec3f& first = frame[points.first[points.point[v]]];
              if (DistanceOf(ToDouble(first), frame[v]) > limit) (*apart)[v] = true;
            }
            return absl::OkStatus();
          });
    }
    void Forget() { begin_ = end_ = 0; }

    std::size_t poses() const { return poses_.size(); }
    const std::vector<AffineD>& matrices() const { return matrices_; }  // [poses][bindings]

   private:
    const Distiller& owner_;
    const std::vector<std::vector<AffineD>> poses_;
    std::size_t begin_ = 0, end_ = 0;
    std::vector<Vec3f> window_;
    std::vector<AffineD> matrices_;
  };

  // A row of at most `influences`, as a file holds it.
  std::vector<JointWeight> ExactRow(std::vector<JointWeight> row) const {
    std::ranges::stable_sort(row, std::ranges::greater{}, &JointWeight::weight);
    if (row.size() > request_.influences) row.resize(request_.influences);
    double sum = 0;
    for (const JointWeight& entry : row) sum += entry.weight;
    std::vector<float> weights;
    for (const JointWeight& entry : row) weights.push_back(static_cast<float>(entry.weight / sum));
    MakeSumExact(weights);
    for (std::size_t k = 0; k < row.size(); ++k) row[k].weight = double{weights[k]};
    std::erase_if(row, [](const JointWeight& entry) { return entry.weight == 0; });
    std::ranges::sort(row, {}, &JointWeight::joint);
    return row;
  }

  Rows<JointWeight> ExactRows(const Rows<JointWeight>& rows,
                              const std::vector<std::uint32_t>& of) const {
    Rows<JointWeight> exact{.offsets = {0}, .values = {}};
    for (const std::uint32_t i : of) {
      const auto row = rows.row(i);
      const std::vector<JointWeight> kept = ExactRow({row.begin(), row.end()});
      exact.values.insert(exact.values.end(), kept.begin(), kept.end());
      exact.offsets.push_back(exact.values.size());
    }
    return exact;
  }

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
    targets_ = std::make_unique<Targets>(*this, PosesOf(set_.Training()));
    Targets& targets = *targets_;
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
    SINEW_RETURN_IF_ERROR(ChooseRows(examples, ExactRows(own, all), ExactRows(fitted, all)));
    if (!request_.space) return absl::OkStatus();
    // Every joint with coefficients gets a place among the influences of the file.
    Rows<JointWeight> filled = FillUp(fitted_, candidates, request_.influences);
    for (JointWeight& entry : filled.values) entry.weight = std::max(entry.weight, kLeastWeight);
    fitted_ = ExactRows(filled, all);
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
                      shapes_.push_back({joint, FitJointShapes(turns, residuals, limits, task)});
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
    DropShapes();
    return RefitShapes(sizes, task);
  }

  // With what the shapes lack together in the training poses.
  absl::Status RefitShapes(const std::vector<double>& sizes, const Task& task) {
    std::vector<CorrectiveShape*> shapes;
    for (const auto& [j, k] : order_) shapes.push_back(&shapes_[j].shapes.shapes[k]);
    const std::vector<std::size_t> training = set_.Training();
    std::vector<double> values;
    for (const std::size_t pose : training) {
      const std::vector<double> of_pose = ShapeValues(meter_->Measure(set_.joints[pose]));
      values.insert(values.end(), of_pose.begin(), of_pose.end());
    }
    const std::size_t poses = training.size(), bindings = skin_->bindings.size();
    std::vector<Vec3f> targets;
    const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> residuals) {
      targets.resize(residuals.size());
      SINEW_RETURN_IF_ERROR(targets_->Fill(begin, end, targets));
      task.For(end - begin, kGrain, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          for (std::size_t f = 0; f < poses; ++f) {
            residuals[i * poses + f] =
                Residual(begin + i, std::span(targets_->matrices()).subspan(f * bindings, bindings),
                         targets[f * (end - begin) + i], sizes[begin + i]);
          }
        }
      });
      return absl::OkStatus();
    };
    return sinew::RefitShapes(shapes, values, poses, points_.first.size(), fill, task);
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

  // Keeps the shapes with most energy, and puts them in that order.
  void DropShapes() {
    for (std::uint32_t j = 0; j < shapes_.size(); ++j) {
      for (std::uint32_t k = 0; k < shapes_[j].shapes.shapes.size(); ++k) {
        order_.emplace_back(j, k);
      }
    }
    std::ranges::stable_sort(order_, std::ranges::greater{}, [&](const auto& at) {
      return shapes_[at.first].shapes.shapes[at.second].energy;
    });
    if (request_.max_shapes > 0 && order_.size() > request_.max_shapes) {
      report_.dropped_shapes = order_.size() - request_.max_shapes;
      order_.resize(request_.max_shapes);
    }
    report_.shape_count = order_.size();
  }

  // [shapes] in a pose.
  std::vector<double> ShapeValues(std::span<const Vec3d> turns) const {
    std::vector<double> values;
    for (const auto& [j, k] : order_) {
      const std::uint32_t joint = shapes_[j].joint;
      values.push_back(shapes_[j].shapes.Value(k, set_.ranges[joint].Clamp(turns[joint])));
    }
    return values;
  }

  std::string ShapeName(std::size_t index) const {
    const auto& [j, k] = order_[index];
    return absl::StrCat(character_.rig.joints[shapes_[j].joint].name, " shape ", k + 1);
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
      const CorrectiveShape& shape = shapes_[order_[k].first].shapes.shapes[order_[k].second];
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
    const Rows<JointWeight> cut = cuts ? ExactRows(skin_->own, all) : Rows<JointWeight>{};
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
        const std::vector<Vec3d> offsets = Offsets(ShapeValues(meter_->Measure(set_.joints[pose])));
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
    return absl::OkStatus();
  }

  void MakeRig(client::RigData& rig) const {
    rig = character_.rig;
    rig.muscles.clear();
    rig.controls.clear();
    const std::vector<double> at_rest = ShapeValues(meter_->Measure(set_.joints[0]));
    for (std::size_t k = 0; k < order_.size(); ++k) {
      rig.controls.push_back({.name = ShapeName(k),
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
      AddShapes(first, mesh);
      first += mesh.vertices();
    }
  }

  // The shapes that move some of the mesh's vertices.
  void AddShapes(std::size_t first, client::Mesh& mesh) const {
    mesh.shapes.clear();
    std::vector<std::int64_t> row(points_.first.size());
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const CorrectiveShape& from = shapes_[order_[k].first].shapes.shapes[order_[k].second];
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
      }
      if (!target.vertices.empty()) mesh.shapes.push_back({ShapeName(k), {std::move(target)}});
    }
  }

  absl::Status MakeClips(Distilled& result) const {
    const std::size_t floats = 12 * skin_->skeleton.joints();
    for (const std::string& name : ClipNames(character_, request_.poses.clips)) {
      SINEW_ASSIGN_OR_RETURN(
          client::ClipData clip,
          ReadMotion(character_, {.clip = name, .poses = {}, .fps = request_.fps}));
      clip.controls.clear();
      for (std::size_t k = 0; k < clip.frames && !order_.empty(); ++k) {
        const auto joints = std::span(clip.joint_transforms).subspan(k * floats, floats);
        for (const double value : ShapeValues(meter_->Measure(ToMatrices(joints)))) {
          clip.controls.push_back(static_cast<float>(value));
        }
      }
      result.clips.push_back(std::move(clip));
    }
    return absl::OkStatus();
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
    if (order_.empty()) return;
    using Json = nlohmann::ordered_json;
    const auto vector = [](const Vec3d& v) { return Json::array({v.x, v.y, v.z}); };
    Json drivers = Json::array();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const auto& [joint, shapes] = shapes_[order_[k].first];
      const TurnRange& range = set_.ranges[joint];
      Json samples = Json::array();
      for (const Vec3d& turn : shapes.samples) samples.push_back(vector(turn));
      drivers.push_back({{"target", ShapeName(k)},
                         {"joint", character_.rig.joints[joint].name},
                         {"from", QuaternionOf(meter_->rest(joint))},
                         {"low", vector(range.low)},
                         {"high", vector(range.high)},
                         {"longest", range.most},
                         {"samples", std::move(samples)},
                         {"weights", shapes.shapes[order_[k].second].kernel_weights}});
    }
    result.shapes = std::move(drivers);
  }

  const Monitor& monitor_;
  const CharacterFile& character_;
  const client::Character& bound_;
  const DistilRequest& request_;
  std::unique_ptr<const RigSkin> skin_;
  std::optional<TurnMeter> meter_;       // of its bind pose
  std::vector<std::uint32_t> carriers_;  // [V] the joint with the largest weight
  PoseSet set_;
  WeldedPoints points_;
  std::unique_ptr<Targets> targets_;                      // of the training poses
  std::vector<std::vector<std::uint32_t>> point_meshes_;  // [points]
  std::vector<std::vector<bool>> binding_meshes_;         // [bindings][meshes]
  Rows<JointWeight> fitted_;                              // [points]
  std::vector<double> coefficients_;                      // [fitted_.values][4] or empty
  std::vector<DrivenShapes> shapes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order_;  // of shapes: joint's, its own
  DistilReport report_;
};

}  // namespace

double DistilReport::gain() const {
  const double before = baseline().all.rms;
  return before > 0 ? 1 - result().all.rms / before : 0;
}

bool DistilReport::is_exact() const {
  const double limit = kRounding * diagonal;
  return result().all.rms <= limit && baseline().all.rms <= limit;
}

bool DistilReport::no_gain() const {
  return gain() < kLeastGain;
}

bool DistilReport::is_worse() const {
  return !is_exact() && gain() < 0;
}

absl::StatusOr<Distilled> Distil(const Monitor& monitor, const CharacterFile& character,
                                 const client::Character& bound, const DistilRequest& request) {
  return Distiller(monitor, character, bound, request).Run();
}

}  // namespace sinew::bake
