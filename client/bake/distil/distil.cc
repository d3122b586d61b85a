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
#include "client/bake/distil/pose_frames.h"
#include "client/bake/distil/rig_skin.h"
#include "client/bake/distil/shape_fit.h"
#include "client/bake/files/skinned_glb.h"
#include "client/bake/fit/fit_weights.h"
#include "client/rig/core_parts.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"
#include "core/base/trs.h"
#include "core/base/vectors.h"
#include "core/distil/corrective_shapes.h"
#include "core/examples/candidates.h"
#include "core/examples/coefficient_fit.h"
#include "core/examples/linear_blend_fit.h"
#include "core/surface/adjacency.h"

namespace sinew::bake {
namespace {

constexpr double kApart = 1e-4;           // of the diagonal: not one point
constexpr double kLeastJump = 1e-3;       // of the diagonal
constexpr double kLeastWeight = 0x1p-23;  // what MakeSumExact keeps
constexpr std::size_t kGrain = 1024, kFrameGrain = 16;

double DistanceOf(const Vec3d& a, const Vec3f& b) {
  return Length(a - ToDouble(b));
}

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
    SINEW_ASSIGN_OR_RETURN(const client::Character* const bound, bind());
    frames_.emplace(monitor_, character_.rig, *skin_, *bound);
    SINEW_RETURN_IF_ERROR(FitWeights());
    if (request_.shapes) SINEW_RETURN_IF_ERROR(FitShapes());
    Distilled result;
    SINEW_RETURN_IF_ERROR(Judge(result));
    if (shapes_.drivers.size() > 0) SINEW_RETURN_IF_ERROR(JudgeNormals());
    MakeRig(result.rig);
    result.clips = std::move(clips);
    for (client::ClipData& clip : result.clips) SINEW_RETURN_IF_ERROR(AddControls(clip));
    Describe(result);
    return result;
  }

 private:
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

  absl::Status FitShapes() {
    const PlayedSkin played = {.rig = character_.rig,
                               .skin = *skin_,
                               .meter = *meter_,
                               .set = set_,
                               .points = points_,
                               .weights = fitted_};
    SINEW_ASSIGN_OR_RETURN(
        shapes_, bake::FitShapes(*frames_, played, request_.max_shapes, request_.poses.seed));
    report_.shape_count = shapes_.drivers.size();
    report_.dropped_shapes = shapes_.left_out;
    report_.jumps = shapes_.drivers.Jumps(set_.ranges, kLeastJump * skin_->diagonal);
    return absl::OkStatus();
  }

  absl::Status FitWeights() {
    const Task welding(frames_->TaskOptions());
    SINEW_ASSIGN_OR_RETURN(const Mesh rest_mesh,
                           client::CoreMesh(client::MergedMesh(character_.rig)));
    points_ = WeldSkin(*skin_, rest_mesh, {}, welding);
    SINEW_RETURN_IF_ERROR(welding.CheckCancelled());
    Targets targets(*frames_, set_.Of(set_.Training()), points_.first);
    // Vertices that are not where the first vertex of their point is.
    std::vector<bool> apart(skin_->vertices());
    const auto find_apart = [&](std::size_t, std::span<const AffineD>, const Frame& frame) {
      for (std::size_t v = 0; v < frame.size(); ++v) {
        const Vec3f& first = frame[points_.first[points_.point[v]]];
        if (DistanceOf(ToDouble(first), frame[v]) > kApart * skin_->diagonal) apart[v] = true;
      }
      return absl::OkStatus();
    };
    SINEW_RETURN_IF_ERROR(targets.Load(0, 0, find_apart));
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
    Task task(frames_->TaskOptions("Fit weights"));
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
    Task task(frames_->TaskOptions("Fit animation space"));
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

  // [shapes] in a pose.
  std::vector<double> ValuesIn(std::span<const AffineD> joints) const {
    return shapes_.drivers.Values(meter_->Measure(joints), set_.ranges);
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
      const CorrectiveShape& shape = shapes_.drivers.shape(k);
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
    SINEW_RETURN_IF_ERROR(
        frames_->Evaluate("Evaluate held-out poses", set_.Of(set_.held_out), evaluate));
    report_.own = own.Errors();
    if (cuts) report_.own_cut = own_cut.Errors();
    report_.linear = linear.Errors();
    if (request_.shapes) report_.shapes = more.Errors();
    if (request_.space) report_.space = more.Errors();
    if (std::isfinite(report_.own.all.rms + report_.result().all.rms)) return absl::OkStatus();
    return absl::InternalError("distil: the result is not finite in a held-out pose");
  }

  // How far normals are turned from those of the deformer in held-out poses, with those of the
  // shapes and without.
  absl::Status JudgeNormals() {
    const Task task(frames_->TaskOptions());
    NormalErrors& errors = report_.normals.emplace();
    std::size_t count = 0;
    std::vector<double> with(skin_->vertices()), without(skin_->vertices());
    const auto measure = [&](std::size_t k, std::span<const AffineD> matrices,
                             const Frame& normals) {
      std::vector<Vec3d> rest = shapes_.rest_normals;
      const std::vector<double> values = ValuesIn(set_.joints[set_.held_out[k]]);
      for (std::size_t s = 0; s < values.size(); ++s) {
        const CorrectiveShape& turned = shapes_.normals[s];
        for (std::size_t i = 0; i < turned.vertices.size(); ++i) {
          Vec3d& normal = rest[turned.vertices[i]];
          normal = normal + values[s] * ToDouble(turned.offsets[i]);
        }
      }
      task.For(normals.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t v = begin; v < end; ++v) {
          const Mat3d blend = Linear(Blend(fitted_.row(points_.point[v]), matrices));
          const Vec3d wanted = ToDouble(normals[v]);
          const auto angle = [&](const Vec3d& normal) {
            const Vec3d played = Multiply(blend, normal);
            return std::atan2(Length(Cross(played, wanted)), Dot(played, wanted));
          };
          with[v] = angle(rest[v]);
          without[v] = angle(shapes_.rest_normals[v]);
        }
      });
      for (std::size_t v = 0; v < normals.size(); ++v) {
        if (normals[v] == Vec3f{}) continue;
        errors.mean += with[v];
        errors.mean_without += without[v];
        ++count;
      }
      return task.CheckCancelled();
    };
    SINEW_RETURN_IF_ERROR(frames_->Evaluate("Evaluate held-out normals", set_.Of(set_.held_out),
                                            measure, client::Attribute::kNormals));
    errors.mean /= static_cast<double>(std::max<std::size_t>(count, 1));
    errors.mean_without /= static_cast<double>(std::max<std::size_t>(count, 1));
    return absl::OkStatus();
  }

  void MakeRig(client::RigData& rig) const {
    rig = character_.rig;
    rig.muscles.clear();
    rig.controls.clear();
    const std::vector<double> at_rest = ValuesIn(set_.joints[0]);
    for (std::size_t k = 0; k < shapes_.drivers.size(); ++k) {
      rig.controls.push_back({.name = shapes_.drivers.Name(k, character_.rig),
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
      if (!shapes_.rest_normals.empty()) {
        mesh.normals.clear();
        for (std::size_t v = first; v < first + mesh.vertices(); ++v) {
          const Vec3f normal = ToFloat(shapes_.rest_normals[v]);
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
    for (std::size_t k = 0; k < shapes_.drivers.size(); ++k) {
      const CorrectiveShape& from = shapes_.drivers.shape(k);
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
        const auto turned = std::ranges::lower_bound(shapes_.normals[k].vertices, first + v);
        const Vec3f& turn =
            shapes_.normals[k]
                .offsets[static_cast<std::size_t>(turned - shapes_.normals[k].vertices.begin())];
        target.normal_offsets.insert(target.normal_offsets.end(), {turn.x, turn.y, turn.z});
      }
      if (!target.vertices.empty())
        mesh.shapes.push_back({shapes_.drivers.Name(k, character_.rig), {std::move(target)}});
    }
  }

  absl::Status AddControls(client::ClipData& clip) const {
    const std::size_t floats = 12 * skin_->skeleton.joints(), shapes = shapes_.drivers.size();
    const Task task(frames_->TaskOptions());
    clip.controls.assign(clip.frames * shapes, 0);
    task.For(shapes > 0 ? clip.frames : 0, kFrameGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const auto joints = std::span(clip.joint_transforms).subspan(k * floats, floats);
        std::ranges::transform(ValuesIn(ToMatrices(joints)), &clip.controls[k * shapes],
                               [](double value) { return static_cast<float>(value); });
      }
    });
    return task.CheckCancelled();
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
    if (shapes_.drivers.size() == 0) return;
    result.shapes = shapes_.drivers.Describe(character_.rig, *meter_, set_.ranges);
  }

  const Monitor& monitor_;
  const CharacterFile& character_;
  const DistilRequest& request_;
  std::unique_ptr<const RigSkin> skin_;
  std::optional<PoseFrames> frames_;
  std::optional<TurnMeter> meter_;       // of its bind pose
  std::vector<std::uint32_t> carriers_;  // [V] the joint with the largest weight
  PoseSet set_;
  WeldedPoints points_;
  std::vector<std::vector<std::uint32_t>> point_meshes_;  // [points]
  std::vector<std::vector<bool>> binding_meshes_;         // [bindings][meshes]
  Rows<JointWeight> fitted_;                              // [points]
  std::vector<double> coefficients_;                      // [fitted_.values][4] or empty
  SkinShapes shapes_;
  DistilReport report_;
};

}  // namespace

absl::StatusOr<Distilled> Distil(const Monitor& monitor, const CharacterFile& character,
                                 std::vector<client::ClipData> clips, BindOnce bind,
                                 const DistilRequest& request) {
  return Distiller(monitor, character, request).Run(std::move(clips), bind);
}

}  // namespace sinew::bake
