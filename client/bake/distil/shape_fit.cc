#include "client/bake/distil/shape_fit.h"

#include <absl/functional/function_ref.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "client/bake/distil/distil_errors.h"
#include "client/bake/files/skinned_glb.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/distil/product_shapes.h"
#include "core/distil/refit_shapes.h"

namespace sinew::bake {
namespace {

constexpr double kLeastShape = 2e-4;   // of the diagonal
constexpr double kLeastOffset = 1e-5;  // of the diagonal
// Where the shapes of a joint move a vertex less, of the diagonal, the joint has no products.
constexpr double kLeastMoved = 1e-4;
// The least that a shape must gain at a vertex to keep its offset there, see RefitShapes. With 1 in
// place of 3, files are 15 to 40 % larger, and the rms in held-out random poses is 2 to 3 % smaller
// for Horse, Testwuson and model:hand.
constexpr double kLeastShapeGain = 3;
// Random poses that only shapes are fitted to: more of them for small meshes, up to so many points
// in all poses. With 3,000 in place of 1,000, the rms in held-out poses is 6 % smaller for Horse.
constexpr std::size_t kLeastMorePoses = 1000, kMostMorePoses = 2000;
constexpr std::size_t kMorePoints = std::size_t{1} << 23;
// Matrices of joints at a time, in all poses: 0.2 GB.
constexpr std::size_t kBatchMatrices = std::size_t{1} << 21;
constexpr std::size_t kPointGrain = 1024;
constexpr std::size_t kGrainInPoses = 16;  // where each point is looked at in every pose
constexpr std::size_t kPoseGrain = 16;

// Sums of products beside `singles` shapes of single joints; each drives two further shapes. With
// half as many, the rms in held-out random poses is 11 to 16 % larger for RiggedFigure, CesiumMan
// and model:hand. With twice as many, it is 8 to 10 % smaller for the first two, which then have
// 43 % more shapes in all. The bound of 128 is for files and run time.
std::size_t MostSums(std::size_t singles) {
  return std::min<std::size_t>(3 * singles / 8, 128);
}

struct JointTurns {
  std::uint32_t joint = 0;
  std::vector<Vec3d> turns;
};

class ShapeFitter {
 public:
  ShapeFitter(const PoseFrames& frames, const PlayedSkin& played, std::size_t max_shapes,
              std::uint64_t seed)
      : frames_(frames),
        played_(played),
        skin_(played.skin),
        first_(played.points.first),
        max_shapes_(max_shapes),
        seed_(seed) {}

  absl::StatusOr<SkinShapes> Run() {
    SetSizes();
    SINEW_RETURN_IF_ERROR(FitAllJoints());
    drivers_.Sort();
    result_.left_out = drivers_.Cut(kMostSingleShapes);
    SINEW_RETURN_IF_ERROR(FindRestNormals());
    SINEW_RETURN_IF_ERROR(FitTogether());
    result_.drivers = std::move(drivers_);
    return std::move(result_);
  }

 private:
  using ResidualOf = absl::FunctionRef<Vec3f(std::size_t, std::span<const AffineD>, const Vec3f&)>;

  // How much a blend scales at rest.
  void SetSizes() {
    const std::vector<AffineD> rest = skin_.Matrices(skin_.bind.rest_model());
    for (std::size_t p = 0; p < first_.size(); ++p) {
      sizes_.push_back(
          std::cbrt(std::abs(Determinant(Linear(Blend(played_.weights.row(p), rest))))));
    }
    unit_ = skin_.diagonal / *std::ranges::max_element(sizes_);
  }

  // What linear blend lacks at a point, at rest.
  Vec3f Residual(std::size_t point, std::span<const AffineD> matrices, const Vec3f& target) const {
    const AffineD blend = Blend(played_.weights.row(point), matrices);
    const Vec3d missing = ToDouble(target) - Apply(blend, ToDouble(skin_.rest[first_[point]]));
    if (Length(missing) <= kRounding / 10 * skin_.diagonal) return {};
    return ToFloat(ToRest(Linear(blend), missing, sizes_[point]));
  }

  // [bindings] whether they move when a joint turns.
  std::vector<bool> MovedBy(std::uint32_t joint) const {
    std::vector<bool> below(skin_.bind.joints());
    for (std::size_t j = joint; j < below.size(); ++j) {
      const std::uint32_t parent = skin_.bind.joint(j).parent;
      below[j] = j == joint || (parent != kNoParent && below[parent]);
    }
    std::vector<bool> moved;
    for (const Binding& binding : skin_.bindings) moved.push_back(below[binding.joint]);
    return moved;
  }

  // The shapes of some joints, each of which is turned alone.
  absl::Status FitJoints(const std::vector<JointTurns>& batch) {
    if (batch.empty()) return absl::OkStatus();
    const Task task(frames_.TaskOptions());
    std::vector<Pose> poses;
    for (const JointTurns& joint : batch) {
      for (const Vec3d& turn : joint.turns) {
        std::vector<Vec3d> turns(skin_.bind.joints());
        turns[joint.joint] = turn;
        poses.push_back(TurnedPose(skin_.bind, turns));
      }
    }
    std::vector<std::vector<Vec3f>> residuals;  // of the joint that is being evaluated
    Frame at_rest;                              // its first frame
    std::vector<bool> moved;                    // [bindings] by it
    std::size_t next = 0;
    const ShapeLimits limits = {.least_shape = kLeastShape * unit_,
                                .least_offset = kLeastOffset * unit_};
    const auto add = [&](std::size_t, std::span<const AffineD> matrices, const Frame& frame) {
      const auto& [joint, turns] = batch[next];
      const bool is_first = residuals.empty();
      if (is_first) {
        at_rest = frame;
        moved = MovedBy(joint);
      }
      std::vector<Vec3f>& residual = residuals.emplace_back(first_.size());
      task.For(residual.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
          const std::uint32_t v = first_[p];
          const bool stays =
              !is_first && frame[v] == at_rest[v] &&
              std::ranges::none_of(played_.weights.row(p),
                                   [&](const JointWeight& entry) { return moved[entry.joint]; });
          residual[p] = stays ? residuals[0][p] : Residual(p, matrices, frame[v]);
        }
      });
      if (residuals.size() < turns.size()) return absl::OkStatus();
      drivers_.Add(joint, FitJointShapes(turns, residuals, limits, task));
      residuals.clear();
      ++next;
      return task.CheckCancelled();
    };
    return frames_.Evaluate("Evaluate joints", poses, add);
  }

  absl::Status FitAllJoints() {
    const std::size_t joints = skin_.bind.joints();
    std::vector<JointTurns> batch;
    std::size_t matrices = 0;
    for (std::uint32_t j = 0; j < joints; ++j) {
      if (played_.set.ranges[j].fixed()) continue;
      batch.push_back({j, SpanningTurns(played_.set.ranges[j])});
      matrices += batch.back().turns.size() * joints;
      if (matrices < kBatchMatrices) continue;
      SINEW_RETURN_IF_ERROR(FitJoints(batch));
      batch.clear();
      matrices = 0;
    }
    return FitJoints(batch);
  }

  // Random poses that only shapes are fitted to, as many as memory is for.
  std::vector<Pose> MorePoses(std::size_t training) const {
    const std::size_t fit =
        std::min(kWindowBytes / (first_.size() * sizeof(Vec3f)),
                 kBatchMatrices / std::max(skin_.bind.joints(), skin_.bindings.size()));
    const std::size_t wanted =
        std::clamp(kMorePoints / first_.size(), kLeastMorePoses, kMostMorePoses);
    const std::size_t more = std::min(wanted, fit - std::min(fit, training)),
                      random = played_.set.random;
    std::vector<Pose> poses;
    for (std::size_t k = random + 1; k <= random + more; ++k) {
      poses.push_back(TurnedPose(skin_.bind, RandomTurns(played_.set.ranges, seed_, k)));
    }
    return poses;
  }

  // [poses][J] within the ranges.
  std::vector<std::vector<Vec3d>> TurnsIn(const std::vector<Pose>& poses, const Task& task) const {
    std::vector<std::vector<Vec3d>> turns(poses.size());
    task.For(poses.size(), kPoseGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        turns[k] = played_.meter.Measure(poses[k]);
        for (std::size_t j = 0; j < turns[k].size(); ++j) {
          turns[k][j] = played_.set.ranges[j].Clamp(turns[k][j]);
        }
      }
    });
    return turns;
  }

  // [poses][shapes] what the poses need of each shape.
  std::vector<double> ValuesIn(const std::vector<std::vector<Vec3d>>& turns,
                               const Task& task) const {
    const std::size_t shapes = drivers_.size();
    std::vector<double> values(turns.size() * shapes);
    task.For(turns.size(), kPoseGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        std::ranges::copy(drivers_.Values(turns[k], played_.set.ranges), &values[k * shapes]);
      }
    });
    return values;
  }

  // Fits the offsets to what is lacking in poses of all joints, with further shapes
  // of several joints.
  absl::Status FitTogether() {
    const std::size_t shapes = drivers_.size(), n = first_.size();
    if (shapes == 0) return absl::OkStatus();
    const PoseSet& set = played_.set;
    const std::vector<std::size_t> training = set.Training();
    std::vector<Pose> poses = set.Of(training), more = MorePoses(poses.size());
    const auto random = static_cast<std::size_t>(
        std::ranges::count_if(training, [&](std::size_t k) { return k <= set.random; }));
    const std::size_t clips = training.size() - random;
    // Random poses together count as much as without more of them, at least as much as clips.
    const double weight =
        static_cast<double>(std::max(random, clips)) / static_cast<double>(random + more.size());
    std::vector<double> weights(training.size() + more.size(), weight);
    std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(random), clips, 1.0);
    std::ranges::move(more, std::back_inserter(poses));

    Task task(frames_.TaskOptions("Fit shapes"));
    task.SetTotal(static_cast<double>(2 * ProductPlaces(n) + 2 * n + skin_.vertices()));
    std::optional<Targets> targets(std::in_place, frames_, poses, first_);
    const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> lacking) {
      return FillResiduals(
          *targets, begin, end, lacking,
          [&](std::size_t p, std::span<const AffineD> matrices, const Vec3f& at) {
            return Residual(p, matrices, at);
          },
          task);
    };
    const std::vector<std::vector<Vec3d>> turns = TurnsIn(poses, task);
    std::vector<double> values = ValuesIn(turns, task);
    const std::vector<CorrectiveShape*> singles = drivers_.Shapes();
    SINEW_ASSIGN_OR_RETURN(
        std::vector<ProductShapes> further,
        FindProductShapes(std::vector<const CorrectiveShape*>(singles.begin(), singles.end()),
                          drivers_.Joints(), {values, weights}, turns, n,
                          {.sums = MostSums(shapes), .least_offset = kLeastMoved * unit_}, fill,
                          task));
    drivers_.Add(std::move(further));
    values = ValuesIn(turns, task);
    SINEW_RETURN_IF_ERROR(
        RefitShapes(drivers_.Shapes(), {values, weights}, n, fill, task, kLeastShapeGain));
    const std::size_t count = drivers_.size();
    const std::size_t most = max_shapes_ > 0 ? max_shapes_ : count;
    result_.left_out += drivers_.Keep(most, {values, weights}, kLeastShape * unit_);
    values = ValuesIn(turns, task);
    if (drivers_.size() < count) {
      SINEW_RETURN_IF_ERROR(RefitShapes(drivers_.Shapes(), {values, weights}, n, fill, task));
    } else {
      task.Advance(static_cast<double>(n));
    }
    targets.reset();  // before another window of that size
    return FitNormals(std::move(poses), {values, weights}, task);
  }

  // The normals of the file: those of the meshes, or what linear blend makes those of the deformer
  // of at rest.
  absl::Status FindRestNormals() {
    std::vector<Vec3d>& found = result_.rest_normals;
    std::vector<bool> lacks;
    for (const client::Mesh& mesh : played_.rig.meshes) {
      lacks.insert(lacks.end(), mesh.vertices(), mesh.normals.size() != mesh.positions.size());
      SINEW_ASSIGN_OR_RETURN(const std::vector<float> normals, UnitNormals(mesh));
      for (std::size_t k = 0; k < normals.size(); k += 3) {
        found.push_back({normals[k], normals[k + 1], normals[k + 2]});
      }
    }
    if (std::ranges::find(lacks, true) == lacks.end()) return absl::OkStatus();
    const auto keep = [&](std::size_t, std::span<const AffineD> matrices, const Frame& normals) {
      for (std::size_t v = 0; v < normals.size(); ++v) {
        const std::uint32_t p = played_.points.point[v];
        const Mat3d blend = Linear(Blend(played_.weights.row(p), matrices));
        const Vec3d rest = ToRest(blend, ToDouble(normals[v]), sizes_[p]);
        if (lacks[v] && Length(rest) > 0) found[v] = Unit(rest);
      }
      return absl::OkStatus();
    };
    return frames_.Evaluate("Evaluate normals at rest", {played_.set.joints[0]}, keep,
                            client::Attribute::kNormals);
  }

  // What the shapes add to the normals, so that they come near those of the deformer.
  absl::Status FitNormals(std::vector<Pose> poses, const ShapeValues& given, Task& task) {
    const std::size_t n = skin_.vertices();
    const std::vector<std::uint32_t>& point = played_.points.point;
    std::vector<std::uint32_t> vertices(n);
    for (std::uint32_t v = 0; v < n; ++v) vertices[v] = v;
    result_.normals.resize(drivers_.size());
    std::vector<CorrectiveShape*> shapes;
    for (std::size_t k = 0; k < drivers_.size(); ++k) {
      std::vector<bool> moves(first_.size());
      for (const std::uint32_t p : drivers_.shape(k).vertices) moves[p] = true;
      CorrectiveShape& normals = result_.normals[k];
      std::ranges::copy_if(vertices, std::back_inserter(normals.vertices),
                           [&](std::uint32_t v) { return moves[point[v]]; });
      normals.offsets.resize(normals.vertices.size());
      shapes.push_back(&normals);
    }
    Targets targets(frames_, std::move(poses), vertices, client::Attribute::kNormals);
    const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> lacking) {
      return FillResiduals(
          targets, begin, end, lacking,
          [&](std::size_t v, std::span<const AffineD> matrices, const Vec3f& normal) -> Vec3f {
            const std::uint32_t p = point[v];
            const Mat3d blend = Linear(Blend(played_.weights.row(p), matrices));
            const Vec3d played = Multiply(blend, result_.rest_normals[v]);
            const Vec3d wanted = Length(played) * ToDouble(normal);
            if (Length(wanted) == 0) return {};
            return ToFloat(ToRest(blend, wanted - played, sizes_[p]));
          },
          task);
    };
    return RefitShapes(shapes, given, n, fill, task);
  }

  // [end - begin][poses] what is lacking at rest, of each target and the matrices of its pose.
  static absl::Status FillResiduals(Targets& targets, std::size_t begin, std::size_t end,
                                    std::span<Vec3f> lacking, ResidualOf residual,
                                    const Task& task) {
    const std::size_t poses = targets.poses();
    std::vector<Vec3f> frames(lacking.size());
    SINEW_RETURN_IF_ERROR(targets.Fill(begin, end, frames));
    const std::size_t bindings = targets.matrices().size() / poses;
    task.For(end - begin, kGrainInPoses, [&](std::size_t from, std::size_t to) {
      for (std::size_t f = 0; f < poses; ++f) {
        const auto matrices = std::span(targets.matrices()).subspan(f * bindings, bindings);
        for (std::size_t i = from; i < to; ++i) {
          lacking[i * poses + f] = residual(begin + i, matrices, frames[f * (end - begin) + i]);
        }
      }
    });
    return absl::OkStatus();
  }

  const PoseFrames& frames_;
  const PlayedSkin& played_;
  const RigSkin& skin_;
  const std::vector<std::uint32_t>& first_;  // [points] vertices
  const std::size_t max_shapes_;
  const std::uint64_t seed_;
  std::vector<double> sizes_;  // [points]
  double unit_ = 0;            // the diagonal, where blends scale most
  ShapeDrivers drivers_;
  SkinShapes result_;
};

}  // namespace

std::size_t MostShapes(std::size_t joints, std::size_t max_shapes) {
  const std::size_t single = std::min(kMostSingleShapes, 2 * ShapeLimits{}.components * joints);
  const std::size_t most = single + 2 * MostSums(single);
  return max_shapes > 0 ? std::min(max_shapes, most) : most;
}

absl::StatusOr<SkinShapes> FitShapes(const PoseFrames& frames, const PlayedSkin& played,
                                     std::size_t max_shapes, std::uint64_t seed) {
  return ShapeFitter(frames, played, max_shapes, seed).Run();
}

}  // namespace sinew::bake
