#include "core/decompose/decompose.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/decompose/bones.h"
#include "core/decompose/clusters.h"
#include "core/decompose/inside.h"
#include "core/decompose/joined_bones.h"
#include "core/decompose/joint_tree.h"
#include "core/decompose/sequence.h"
#include "core/decompose/spikes.h"
#include "core/examples/linear_blend_fit.h"
#include "core/mesh/edge_lengths.h"
#include "core/solve/rotation.h"

namespace sinew {
namespace {

static_assert(kNoJoint == decompose::kNone);  // parents are handed out as they are
using decompose::Bones;
using decompose::Sequence;
using decompose::WeightRows;

constexpr std::size_t kSmoothGrain = 64;  // points
constexpr int kSmoothPasses = 10;
constexpr std::size_t kCandidates = 12;   // of a point by smoothed weight
constexpr std::size_t kBestAlone = 4;     // candidates by their own error
constexpr double kLeastCandidate = 1e-6;  // smoothed weight
constexpr double kPullToSmooth = 0.25;    // lambda of FitLinearBlend, in parts of the error
constexpr std::size_t kBoneRounds = 5;    // of an iteration
constexpr double kFirstStep = 0.25, kStepGrowth = 1.5, kLargestStep = 20;
constexpr double kStepFall = 0.3;        // of joined bones, after a step that raises the error
constexpr double kLeastGain = 1e-3;      // of the error in an iteration
constexpr int kPatience = 3;             // iterations with less
constexpr std::size_t kSeedPoints = 20;  // of a new bone
constexpr double kClusterWork = 0.2, kPruneWork = 0.2, kTreeWork = 0.02;  // of the progress
constexpr double kConnectWork = 0.3;
constexpr double kPrunedShare = 0.01;  // of the error by which it may rise
constexpr std::size_t kMostPruned = 24;
constexpr int kPrunePatience = 6;                    // bones in turn that are needed
constexpr double kMirrored = 0.3;                    // of how the rest mesh is spread
constexpr double kFlat = 1e-12;                      // of the sixth power of the diagonal
constexpr int kPinRounds = 20;                       // until joints are nearly together
constexpr double kFirstPin = 0.1, kPinGrowth = 1.6;  // in points of a bone

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

absl::Status CheckRange(const char* field, std::uint32_t value, std::size_t most) {
  if (value >= 1 && value <= most) return absl::OkStatus();
  return InvalidArgument(field, ": got ", value, ", need 1 to ", most);
}

absl::Status Check(const MeshAnimation& animation, const DecomposeOptions& options) {
  SINEW_RETURN_IF_ERROR(CheckRange("joints", options.joints, kMaxDecomposedJoints));
  SINEW_RETURN_IF_ERROR(CheckRange("influences", options.influences, 8));
  SINEW_RETURN_IF_ERROR(CheckRange("iterations", options.iterations, 1000));
  const std::size_t vertices = animation.rest->vertices();
  if (animation.frames == 0 || animation.frames > kMaxAnimationPlaces / vertices) {
    return InvalidArgument("frames: got ", animation.frames, " of ", vertices,
                           " vertices, need 1 to ", kMaxAnimationPlaces / vertices);
  }
  if (animation.places.size() != animation.frames * vertices) {
    return InvalidArgument("places: got ", animation.places.size(), ", need ", animation.frames,
                           " frames of ", vertices, " vertices");
  }
  for (std::size_t k = 0; k < animation.places.size(); ++k) {
    const Vec3f& p = animation.places[k];
    if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) continue;
    return InvalidArgument("places: vertex ", k % vertices, " of frame ", k / vertices,
                           " is not finite");
  }
  if (!(animation.rest->diagonal() > 0)) {
    return InvalidArgument("rest: all vertices are at one place, need a mesh");
  }
  std::vector<double> ratios;
  for (const std::size_t f : {std::size_t{0}, animation.frames / 2, animation.frames - 1}) {
    ratios.push_back(EdgeRatio(*animation.rest, animation.rest->positions(),
                               animation.places.subspan(f * vertices, vertices)));
  }
  return CheckEdgeRatios("rest: edges of the animation", std::move(ratios));
}

// Moves bones on, beyond where they are, by `step` times the way from `before`.
void Overstep(const Bones& before, double step, Bones& bones) {
  for (std::size_t k = 0; k < bones.motions.size(); ++k) {
    AffineD& motion = bones.motions[k];
    for (std::size_t e = 0; e < 12; ++e) {
      motion.m[e] += step * (motion.m[e] - before.motions[k].m[e]);
    }
    const Mat3d rotation = NearestRotation(Linear(motion)).rotation;
    for (std::size_t r = 0; r < 3; ++r) std::copy_n(&rotation.m[r * 3], 3, &motion.m[r * 4]);
  }
}

// The alternation, with its state.
class Solver {
 public:
  Solver(const Sequence& sequence, const DecomposeOptions& options,
         const Task::Options& options_of_task, Task& task)
      : sequence_(sequence), options_(options), task_options_(options_of_task), task_(task) {
    task_options_.progress = {};
  }

  absl::Status Start();
  absl::Status Iterate();
  // Removes bones, those of small weights first, without which the rest is almost as good. Only for
  // what iterations hardly improve: each removal improves the rest, too, which would hide its cost.
  absl::Status Prune();
  // Removes bones without weight.
  void Finish();
  // Puts joints together and then improves all, their places too. errors: as
  // Decomposition::connected_errors.
  absl::Status Connect(const decompose::Inside& inside, decompose::JointTree& tree,
                       std::vector<double>& errors);
  // Puts joints together by shifting bones.
  absl::Status Join(const decompose::JointTree& tree);

  double rms() const {
    return std::sqrt(Sum(errors_) / static_cast<double>(sequence_.points() * sequence_.frames));
  }
  const Bones& bones() const { return bones_; }
  const WeightRows& weights() const { return weights_; }
  std::size_t pruned() const { return pruned_; }

 private:
  void FindBestAlone();
  // Gives the weights of a bone to others.
  absl::Status Remove(std::uint32_t bone);
  void SeedBones();
  std::vector<float> Smoothed() const;
  WeightRows Candidates() const;
  absl::Status FitWeights();
  absl::Status IterateJoined(const decompose::Inside& inside, decompose::JointTree& tree);
  // Takes the rows that lower a point's error.
  void Accept(const WeightRows& rows);
  std::vector<double> Squares() const;  // [bones] sum of squared weights

  const Sequence& sequence_;
  const DecomposeOptions& options_;
  Task::Options task_options_;
  Task& task_;
  Bones bones_;
  WeightRows weights_;
  std::vector<double> errors_;  // [P]
  // [P] the bones of the start that move a point best; the weights of bones that edges do not
  // connect it with never reach it by smoothing.
  std::vector<std::vector<std::uint32_t>> best_alone_;
  double step_ = kFirstStep;  // beyond the best bones, in parts of the way to them
  std::size_t pruned_ = 0;    // bones
};

absl::Status Solver::Start() {
  SINEW_ASSIGN_OR_RETURN(decompose::Clusters clusters,
                         decompose::MakeClusters(sequence_, options_.joints, task_));
  bones_ = std::move(clusters.bones);
  weights_ = decompose::LabelRows(clusters.label);
  errors_ = PointErrors(sequence_, bones_, weights_, task_);
  FindBestAlone();
  return task_.CheckCancelled();
}

void Solver::FindBestAlone() {
  const std::size_t most = std::min(kBestAlone, bones_.count());
  best_alone_.resize(sequence_.points());
  task_.For(sequence_.points(), kSmoothGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::pair<double, std::uint32_t>> order(bones_.count());
    for (std::size_t p = begin; p < end; ++p) {
      for (std::uint32_t j = 0; j < order.size(); ++j) {
        order[j] = {BoneError(sequence_, bones_.row(j), p), j};
      }
      std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(most));
      for (std::size_t k = 0; k < most; ++k) best_alone_[p].push_back(order[k].second);
    }
  });
}

std::vector<double> Solver::Squares() const {
  std::vector<double> squares(bones_.count());
  for (const JointWeight& w : weights_.values) squares[w.joint] += w.weight * w.weight;
  return squares;
}

void Solver::Accept(const WeightRows& rows) {
  const std::vector<double> errors = PointErrors(sequence_, bones_, rows, task_);
  if (task_.cancelled()) return;
  const auto row = [&](std::size_t p) {
    return errors[p] < errors_[p] ? rows.row(p) : weights_.row(p);
  };
  WeightRows taken = CollectRows<JointWeight>(sequence_.points(), [&](const auto& add) {
    for (std::size_t p = 0; p < sequence_.points(); ++p) {
      for (const JointWeight& w : row(p)) add(p, w);
    }
  });
  weights_ = std::move(taken);
  for (std::size_t p = 0; p < errors.size(); ++p) errors_[p] = std::min(errors_[p], errors[p]);
}

// Places bones without weight, and bones that no cluster needed, at the point with the largest
// error and the points around it, if they move these better than before.
void Solver::SeedBones() {
  const std::vector<double> squares = Squares();
  std::vector<std::uint32_t> free;
  for (std::uint32_t j = 0; j < bones_.count(); ++j) {
    if (squares[j] == 0) free.push_back(j);
  }
  if (free.empty()) {
    if (bones_.count() >= options_.joints) return;
    free.push_back(static_cast<std::uint32_t>(bones_.count()));
    bones_.motions.resize(bones_.motions.size() + sequence_.frames);
  }
  const auto worst =
      static_cast<std::uint32_t>(std::ranges::max_element(errors_) - errors_.begin());
  if (errors_[worst] <= sequence_.exact()) return;
  std::vector<std::uint32_t> around = {worst};
  for (std::size_t k = 0; k < around.size() && around.size() < kSeedPoints; ++k) {
    for (const std::uint32_t q : sequence_.neighbours.row(around[k])) {
      if (around.size() < kSeedPoints && std::ranges::find(around, q) == around.end()) {
        around.push_back(q);
      }
    }
  }
  // Alone, so that no other bone takes part.
  Bones alone{.frames = sequence_.frames, .motions = std::vector<AffineD>(sequence_.frames)};
  const WeightRows seeds = CollectRows<JointWeight>(sequence_.points(), [&](const auto& add) {
    for (const std::uint32_t p : around) add(p, {0, 1});
  });
  FitBones(sequence_, seeds, 1, task_, alone);
  std::ranges::copy(alone.motions, bones_.row(free[0]).begin());
  std::vector<std::uint8_t> is_seed(sequence_.points(), 0);
  for (const std::uint32_t p : around) is_seed[p] = 1;
  Accept(CollectRows<JointWeight>(sequence_.points(), [&](const auto& add) {
    for (std::size_t p = 0; p < sequence_.points(); ++p) {
      if (is_seed[p] != 0) {
        add(p, {free[0], 1});
      } else {
        for (const JointWeight& w : weights_.row(p)) add(p, w);
      }
    }
  }));
}

// [P][bones] weights w of (I + L) w = weights_, where L is the Laplacian by closeness.
std::vector<float> Solver::Smoothed() const {
  const std::size_t count = bones_.count(), points = sequence_.points();
  std::vector<float> start(points * count), now, next(points * count);
  for (std::size_t p = 0; p < points; ++p) {
    for (const JointWeight& w : weights_.row(p)) {
      start[p * count + w.joint] = static_cast<float>(w.weight);
    }
  }
  now = start;
  for (int pass = 0; pass < kSmoothPasses; ++pass) {
    task_.For(points, kSmoothGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        float* const to = next.data() + p * count;
        const auto row = sequence_.neighbours.row(p);
        const float share = row.empty() ? 1.0F : 0.5F;
        for (std::size_t j = 0; j < count; ++j) to[j] = share * start[p * count + j];
        for (std::size_t k = 0; k < row.size(); ++k) {
          const auto close =
              static_cast<float>(0.5 * sequence_.closeness[sequence_.neighbours.offsets[p] + k]);
          const float* const from = now.data() + row[k] * count;
          for (std::size_t j = 0; j < count; ++j) to[j] += close * from[j];
        }
      }
    });
    std::swap(now, next);
  }
  return now;
}

// The bones of a point, the best ones alone, and those with the largest smoothed weights, which are
// the start.
WeightRows Solver::Candidates() const {
  const std::size_t count = bones_.count(), points = sequence_.points();
  const std::vector<float> smoothed = Smoothed();
  std::vector<std::vector<JointWeight>> rows(points);
  task_.For(points, kSmoothGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      std::vector<JointWeight>& row = rows[p];
      std::vector<std::uint8_t> own(count, 0);
      for (const JointWeight& w : weights_.row(p)) own[w.joint] = 1;
      const bool exact = errors_[p] <= sequence_.exact();
      for (const std::uint32_t j : best_alone_[p]) {
        if (!exact) own[j] = 1;
      }
      for (std::uint32_t j = 0; j < count; ++j) {
        const double weight = smoothed[p * count + j];
        if (own[j] != 0 || (!exact && weight > kLeastCandidate)) row.push_back({j, weight});
      }
      std::ranges::stable_sort(row, [&](const JointWeight& a, const JointWeight& b) {
        return std::pair(own[a.joint], a.weight) > std::pair(own[b.joint], b.weight);
      });
      row.resize(std::min(row.size(), kCandidates));
      std::ranges::sort(row, {}, &JointWeight::joint);
    }
  });
  return CollectRows<JointWeight>(points, [&](const auto& add) {
    for (std::size_t p = 0; p < points; ++p) {
      for (const JointWeight& w : rows[p]) add(p, w);
    }
  });
}

absl::Status Solver::FitWeights() {
  errors_ = PointErrors(sequence_, bones_, weights_, task_);
  SINEW_RETURN_IF_ERROR(task_.CheckCancelled());
  const WeightRows candidates = Candidates();
  SINEW_RETURN_IF_ERROR(task_.CheckCancelled());
  std::vector<AffineD> matrices(bones_.motions.size());
  for (std::size_t j = 0; j < bones_.count(); ++j) {
    for (std::size_t f = 0; f < sequence_.frames; ++f) {
      matrices[f * bones_.count() + j] = bones_.row(j)[f];
    }
  }
  const PoseExamples examples = {
      .poses = sequence_.frames,
      .joints = bones_.count(),
      .matrices = matrices,
      .rest = sequence_.rest,
      .targets = [&](std::size_t begin, std::size_t end, std::span<Vec3f> targets) {
        for (std::size_t f = 0; f < sequence_.frames; ++f) {
          for (std::size_t p = begin; p < end; ++p) {
            targets[f * (end - begin) + p - begin] = sequence_.row(p)[f];
          }
        }
        return absl::OkStatus();
      }};
  // Weights as smooth as the error allows: differences that matter less than it are not fitted.
  const double pull = kPullToSmooth * rms() / sequence_.diagonal;
  Task task(task_options_);
  SINEW_ASSIGN_OR_RETURN(
      const WeightRows fitted,
      FitLinearBlend(examples, candidates, {.max_influences = options_.influences, .lambda = pull},
                     task));
  Accept(fitted);
  return task_.CheckCancelled();
}

// Turns take many small steps in one direction. So bones go further than the best ones for the
// present weights, as long as that lowers the error (over-relaxation).
absl::Status Solver::Iterate() {
  SeedBones();
  const Bones before = bones_;
  const WeightRows weights = weights_;
  const double error = Sum(errors_);
  FitBones(sequence_, weights_, kBoneRounds, task_, bones_);
  const Bones fitted = bones_;
  Overstep(before, step_, bones_);
  SINEW_RETURN_IF_ERROR(FitWeights());
  step_ = std::min(step_ * kStepGrowth, kLargestStep);
  if (Sum(errors_) < error) return absl::OkStatus();
  step_ = kFirstStep;
  bones_ = fitted;
  weights_ = weights;
  return FitWeights();
}

absl::Status Solver::Remove(std::uint32_t bone) {
  for (std::vector<std::uint32_t>& row : best_alone_) std::erase(row, bone);
  std::vector<double> squares = Squares();
  squares[bone] = -1;  // it may have become the largest
  const auto largest =
      static_cast<std::uint32_t>(std::ranges::max_element(squares) - squares.begin());
  WeightRows rows = CollectRows<JointWeight>(sequence_.points(), [&](const auto& add) {
    for (std::size_t p = 0; p < sequence_.points(); ++p) {
      double left = 0;
      for (const JointWeight& w : weights_.row(p)) left += w.joint == bone ? 0 : w.weight;
      for (const JointWeight& w : weights_.row(p)) {
        if (w.joint != bone) add(p, {w.joint, w.weight / left});
      }
      if (left == 0) add(p, {best_alone_[p].empty() ? largest : best_alone_[p][0], 1});
    }
  });
  weights_ = std::move(rows);
  SINEW_RETURN_IF_ERROR(FitWeights());
  FitBones(sequence_, weights_, kBoneRounds, task_, bones_);
  return FitWeights();
}

absl::Status Solver::Prune() {
  const double allowed = std::max(Sum(errors_) * (1 + kPrunedShare) * (1 + kPrunedShare),
                                  sequence_.exact() * static_cast<double>(sequence_.points()));
  const std::vector<double> squares = Squares();
  std::vector<std::uint32_t> order;
  for (std::uint32_t j = 0; j < bones_.count(); ++j) {
    if (squares[j] > 0) order.push_back(j);
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t j) { return squares[j]; });
  if (!order.empty()) order.pop_back();  // the largest stays
  order.resize(std::min<std::size_t>({order.size(), kMostPruned, options_.iterations}));
  int failed = 0;  // in turn
  for (std::size_t k = 0; k < order.size() && failed < kPrunePatience; ++k) {
    const Solver before = *this;
    SINEW_RETURN_IF_ERROR(Remove(order[k]));
    task_.Advance(kPruneWork / static_cast<double>(order.size()));
    failed = Sum(errors_) <= allowed ? 0 : failed + 1;
    if (failed == 0) {
      ++pruned_;
      continue;
    }
    bones_ = before.bones_;
    weights_ = before.weights_;
    errors_ = before.errors_;
    best_alone_ = before.best_alone_;
  }
  return absl::OkStatus();
}

void Solver::Finish() {
  std::vector<bool> kept;
  for (const double squares : Squares()) kept.push_back(squares > 0);
  const std::vector<std::uint32_t> number = KeepBones(kept, bones_);
  for (JointWeight& w : weights_.values) w.joint = number[w.joint];
  for (std::vector<std::uint32_t>& row : best_alone_) {
    for (std::uint32_t& j : row) j = number[j];
    std::erase(row, decompose::kNone);
  }
}

absl::Status Solver::Connect(const decompose::Inside& inside, decompose::JointTree& tree,
                             std::vector<double>& errors) {
  const double points =
      static_cast<double>(sequence_.points()) / static_cast<double>(bones_.count());
  double weight = kFirstPin * points;
  for (int k = 0; k < kPinRounds; ++k, weight *= kPinGrowth) {
    std::vector<decompose::Pin> pins;
    for (std::size_t j = 1; j < tree.bones.size(); ++j) {
      pins.push_back({tree.bones[j], tree.bones[tree.parents[j]], tree.places[j], weight});
    }
    FitBones(sequence_, weights_, kBoneRounds, task_, bones_, pins);
    SINEW_RETURN_IF_ERROR(FitWeights());
    task_.Advance(kConnectWork / 2 / kPinRounds);
  }
  SINEW_RETURN_IF_ERROR(Join(tree));
  errors = {rms()};
  step_ = kFirstStep;
  int idle = 0;
  for (std::uint32_t k = 0; k < options_.iterations && idle < kPatience; ++k) {
    SINEW_RETURN_IF_ERROR(IterateJoined(inside, tree));
    const double before = errors.back();
    errors.push_back(rms());
    idle = before - errors.back() < kLeastGain * before ? idle + 1 : 0;
    if (errors.back() <= sequence_.rounding) idle = kPatience;
    task_.Advance(kConnectWork / 2 / options_.iterations);
  }
  return absl::OkStatus();
}

absl::Status Solver::Join(const decompose::JointTree& tree) {
  JoinBones(tree, bones_);
  return FitWeights();
}

// Improves weights, rotations and places of joints, which stay together, see Iterate.
absl::Status Solver::IterateJoined(const decompose::Inside& inside, decompose::JointTree& tree) {
  const Solver before = *this;
  const std::vector<Vec3d> places = tree.places;
  FitJoinedBones(sequence_, weights_, tree, kBoneRounds, task_, bones_);
  FitPlaces(sequence_, weights_, inside, task_, tree, bones_);
  FitJoinedBones(sequence_, weights_, tree, kBoneRounds, task_, bones_);
  SINEW_RETURN_IF_ERROR(task_.CheckCancelled());
  const Bones fitted = bones_;
  const std::vector<Vec3d> fitted_places = tree.places;
  Overstep(before.bones_, step_, bones_);
  for (std::size_t j = 1; j < places.size(); ++j) {
    if (tree.places[j] == places[j]) continue;
    const Vec3d on = inside.Snapped(tree.places[j] + step_ * (tree.places[j] - places[j]));
    if (tree.Allows(inside, j, on, task_)) tree.places[j] = on;
  }
  SINEW_RETURN_IF_ERROR(task_.CheckCancelled());
  SINEW_RETURN_IF_ERROR(Join(tree));
  step_ = std::min(step_ * kStepGrowth, kLargestStep);
  if (Sum(errors_) < Sum(before.errors_)) return absl::OkStatus();
  step_ = std::max(kFirstStep, step_ * kStepFall);
  bones_ = fitted;
  tree.places = fitted_places;
  weights_ = before.weights_;
  SINEW_RETURN_IF_ERROR(FitWeights());
  if (Sum(errors_) <= Sum(before.errors_)) return absl::OkStatus();
  bones_ = before.bones_;  // rounding
  tree.places = places;
  weights_ = before.weights_;
  errors_ = before.errors_;
  return absl::OkStatus();
}

// Everything in the mesh's space, by joints.
void Fill(const Mesh& mesh, const Sequence& sequence, const Solver& solver,
          const decompose::JointTree& tree, Decomposition& result) {
  const std::size_t joints = tree.bones.size();
  result.parents = tree.parents;
  std::vector<std::uint32_t> joint_of(joints);
  for (std::uint32_t j = 0; j < joints; ++j) {
    joint_of[tree.bones[j]] = j;
  }
  result.poses.resize(sequence.frames * joints);
  for (std::size_t j = 0; j < joints; ++j) {
    for (std::size_t f = 0; f < sequence.frames; ++f) {
      const AffineD& motion = solver.bones().row(tree.bones[j])[f];
      const Vec3d at =
          Apply(motion, ToDouble(result.places[j]) - sequence.centre) + sequence.centre;
      AffineD& pose = result.poses[f * joints + j];
      pose = motion;
      pose.m[3] = at.x;
      pose.m[7] = at.y;
      pose.m[11] = at.z;
    }
  }
  result.weights = CollectRows<JointWeight>(mesh.vertices(), [&](const auto& add) {
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      for (const JointWeight& w : solver.weights().row(sequence.point[v])) {
        add(v, {joint_of[w.joint], w.weight});
      }
    }
  });
}

std::size_t DifferentFrames(const MeshAnimation& animation) {
  const std::size_t vertices = animation.rest->vertices();
  std::set<std::string_view> frames;
  for (std::size_t f = 0; f < animation.frames; ++f) {
    frames.emplace(reinterpret_cast<const char*>(&animation.places[f * vertices]),
                   vertices * sizeof(Vec3f));
  }
  return frames.size();
}

// Sums of products of places in a frame and at rest, both from their means.
double SpreadDeterminant(std::span<const Vec3f> frame, std::span<const Vec3f> rest) {
  const double share = 1 / static_cast<double>(rest.size());
  Vec3d middle_y, middle_v;
  for (std::size_t k = 0; k < rest.size(); ++k) {
    middle_y = middle_y + share * ToDouble(frame[k]);
    middle_v = middle_v + share * ToDouble(rest[k]);
  }
  decompose::Cross sum{};
  for (std::size_t k = 0; k < rest.size(); ++k) {
    decompose::AddCross(share, ToDouble(frame[k]) - middle_y, ToDouble(rest[k]) - middle_v, sum);
  }
  return Determinant(Linear(AffineD{sum}));
}

// An axis that is flipped between programs leaves the lengths of edges. Of flat meshes nothing can
// be said.
bool IsMirrored(const MeshAnimation& animation) {
  const std::span<const Vec3f> rest = animation.rest->positions();
  const double least = kMirrored * SpreadDeterminant(rest, rest);
  const double diagonal = animation.rest->diagonal();
  if (!(least > kFlat * std::pow(diagonal, 6))) return false;
  for (std::size_t f = 0; f < animation.frames; ++f) {
    const auto frame = animation.places.subspan(f * rest.size(), rest.size());
    if (!(SpreadDeterminant(frame, rest) < -least)) return false;
  }
  return true;
}

void Warn(const MeshAnimation& animation, const DecomposeOptions& options, std::size_t pruned,
          bool exact, Decomposition& result) {
  const std::size_t joints = result.parents.size();
  if (joints < options.joints) {
    std::string text = absl::StrFormat("%d of %d", joints, options.joints);
    if (pruned > 0) {
      absl::StrAppendFormat(
          &text, "; %d removed, as the error without them is at most 1 %% larger or rounding",
          pruned);
    }
    if (joints + pruned < options.joints) {
      absl::StrAppendFormat(&text, "; %d not used, as %s", options.joints - joints - pruned,
                            exact ? "no other part moves by itself"
                                  : absl::StrCat("no more lowered the error in ",
                                                 result.errors.size() - 1, " iterations"));
    }
    result.warnings.push_back({Severity::kInfo, "joints", text});
  }
  const std::size_t different = DifferentFrames(animation);
  if (different == 1) {
    const char* const equal = animation.frames > 1 ? ", all of them equal, are" : " is";
    result.warnings.push_back(
        {Severity::kWarning, "frames",
         absl::StrCat(animation.frames, equal,
                      " no animation: weights fit this frame only, and nothing says which parts of "
                      "the mesh move by themselves")});
  } else if (joints > 1 && 3 * different < 2 * joints) {
    result.warnings.push_back(
        {Severity::kWarning, "frames",
         absl::StrFormat("%d%s for %d joints are few: weights may fit these frames only", different,
                         different < animation.frames ? " different ones" : "", joints)});
  }
  if (IsMirrored(animation)) {
    result.warnings.push_back({Severity::kWarning, "rest",
                               "in every frame the animation is like a mirror image of the mesh, "
                               "which bones cannot follow: is an axis flipped?"});
  }
}

}  // namespace

absl::StatusOr<Decomposition> Decompose(const MeshAnimation& animation,
                                        const DecomposeOptions& options,
                                        const Task::Options& task_options) {
  SINEW_RETURN_IF_ERROR(Check(animation, options));
  const DenormalGuard guard;
  Task task(task_options);
  task.SetTotal(1);
  SINEW_RETURN_IF_ERROR(
      task.CheckMemory(Sequence::Bytes(animation.rest->vertices(), animation.frames) +
                       animation.rest->vertices() * (3 * options.joints * sizeof(float) + 1024)));
  SINEW_ASSIGN_OR_RETURN(
      const Sequence sequence,
      Sequence::Create(*animation.rest, animation.places, animation.frames, task));
  Solver solver(sequence, options, task_options, task);
  SINEW_RETURN_IF_ERROR(solver.Start());
  task.Advance(kClusterWork);

  const double connect_work = options.connected ? kConnectWork : 0;
  Decomposition result;
  result.errors = {solver.rms()};
  int idle = 0;
  for (std::uint32_t k = 0; k < options.iterations && idle < kPatience; ++k) {
    SINEW_RETURN_IF_ERROR(solver.Iterate());
    const double before = result.errors.back();
    result.errors.push_back(solver.rms());
    idle = before - result.errors.back() < kLeastGain * before ? idle + 1 : 0;
    if (result.errors.back() <= sequence.rounding) idle = kPatience;
    task.Advance((1 - kClusterWork - kPruneWork - kTreeWork - connect_work) / options.iterations);
  }
  if (idle >= kPatience) SINEW_RETURN_IF_ERROR(solver.Prune());
  solver.Finish();
  const decompose::Inside inside(*animation.rest, sequence.centre);
  SINEW_ASSIGN_OR_RETURN(
      decompose::JointTree tree,
      decompose::MakeJointTree(sequence, solver.bones(), solver.weights(), inside, task));
  result.gap = tree.gap;
  if (options.connected) {
    SINEW_RETURN_IF_ERROR(solver.Connect(inside, tree, result.connected_errors));
    result.gap = 0;
  }
  for (const Vec3d& place : tree.places) result.places.push_back(inside.Held(place));
  Fill(*animation.rest, sequence, solver, tree, result);
  Warn(animation, options, solver.pruned(), result.errors.back() <= sequence.rounding, result);
  task.Advance(kTreeWork);
  if (auto spikes = FindSpikes(sequence, task)) result.warnings.push_back(*std::move(spikes));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(1);
  return result;
}

DecompositionError MeasureDecomposition(const MeshAnimation& animation, const Decomposition& result,
                                        const Task& task) {
  const std::size_t vertices = animation.rest->vertices(), joints = result.parents.size();
  std::vector<float> lengths(animation.places.size());
  task.For(animation.frames, 1, [&](std::size_t f, std::size_t) {
    std::vector<AffineD> skin(joints);
    for (std::size_t j = 0; j < joints; ++j) {
      const Vec3f& at = result.places[j];
      skin[j] = Compose(ToDouble(ToFloat(result.poses[f * joints + j])),
                        AffineD{{1, 0, 0, -at.x, 0, 1, 0, -at.y, 0, 0, 1, -at.z}});
    }
    for (std::size_t v = 0; v < vertices; ++v) {
      Vec3d sum;
      double weights = 0;
      for (const JointWeight& w : result.weights.row(v)) {
        const double weight = static_cast<float>(w.weight);
        sum = sum + weight * Apply(skin[w.joint], ToDouble(animation.rest->positions()[v]));
        weights += weight;
      }
      const std::size_t k = f * vertices + v;
      lengths[k] = static_cast<float>(Length((1 / weights) * sum - ToDouble(animation.places[k])));
    }
  });
  DecompositionError error;
  DistanceMeter meter;
  for (std::size_t f = 0; f < animation.frames; ++f) {
    const std::span<const float> frame = std::span(lengths).subspan(f * vertices, vertices);
    error.frame_rms.push_back(meter.Add(f, frame));
    error.frame_largest.push_back(*std::ranges::max_element(frame));
  }
  error.all = meter.Result();
  return error;
}

}  // namespace sinew
