#include "core/deform/bulge_free/bulge_free.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/deform/bulge_free/bone_segments.h"
#include "core/deform/bulge_free/bulge_free_kernel.h"
#include "core/deform/method/slopes.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256;  // blocks per chunk: 4,096 vertices, about 20 microseconds
constexpr double kSoftWidth = 0.02;  // relative to the rest distance, at softness 1
constexpr double kTurnedBack = 0.1;  // |sum of two unit directions| below which bones are folded
constexpr double kBindWork = 100;    // nanoseconds per influence
constexpr double kComponentWork = 1000;      // nanoseconds per vertex
constexpr double kBoneWork = 500;            // nanoseconds per joint, and per binding
constexpr std::size_t kLanesAtATime = 4096;  // lanes between cancellation checks
constexpr double kTiny = 1e-30;              // shortest length with a direction

double InfluenceWork(const BindInput& input) {
  return kBindWork * static_cast<double>(input.rig.influences().size());
}

double BoneWork(const BindInput& input) {
  return kBoneWork * static_cast<double>(input.rig.joints() + input.rig.bindings().size());
}

// Calls bind(lane) for all lanes and reports progress.
template <class BindLane>
absl::Status ForEachLane(const BindInput& input, Task& task, BindLane&& bind) {
  const std::size_t lanes = input.layout.order.size();
  const double work = InfluenceWork(input) / static_cast<double>(lanes);
  for (std::size_t begin = 0; begin < lanes; begin += kLanesAtATime) {
    const std::size_t end = std::min(lanes, begin + kLanesAtATime);
    for (std::size_t i = begin; i < end; ++i) bind(i);
    task.Advance(work * static_cast<double>(end - begin));
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  return absl::OkStatus();
}

// weight^sharpness. Whole exponents use products, because std::pow rounds differently between
// platforms and the shares are bound data; other exponents have no equally cheap portable form.
double Sharpened(double weight, float sharpness) {
  if (sharpness != std::floor(sharpness)) return std::pow(weight, double{sharpness});
  double power = weight;
  for (int i = 1; i < static_cast<int>(sharpness); ++i) power *= weight;
  return power;
}

double ComponentWork(const BindInput& input) {
  return kComponentWork * static_cast<double>(input.rig.vertices());
}

// [V] 1 = in a rigid component, such as the separate limbs of a robot.
std::vector<std::uint8_t> FindRigidComponents(const BindInput& input, Task& task) {
  const std::vector<ComponentRole>& roles = input.surface.components();
  task.Advance(ComponentWork(input));
  std::vector<std::uint8_t> rigid;
  rigid.reserve(input.rig.vertices());
  for (const std::uint32_t p : input.surface.welded().point) {
    rigid.push_back(roles[p] == ComponentRole::kRigidComponent ? 1 : 0);
  }
  return rigid;
}

// Magnitude of the push relative to the distance from the strongest bone; 0 if the two largest
// weights are equal, where the sign changes, and if the second equals the third, where the second
// changes.
double PushCurve(std::span<const double> weights) {
  const double x = weights[1] / (weights[0] + weights[1]);
  const double third = weights.size() > 2 ? weights[2] : 0.0;
  return (2.2 * x - 9.6 * x * x + 10.4 * x * x * x) * (1 - third / weights[1]) *
         (weights[0] + weights[1]);
}

// Distance of p from the line through `root` along a unit direction.
double LineDistance(const Vec3d& p, const Vec3d& root, const Vec3d& direction) {
  return Length(Cross(p - root, direction));
}

// A unit direction of bind space in the pose, and the joint's stretch along it.
std::pair<Vec3d, double> Posed(const Affine& skin, const Vec3d& direction) {
  const Vec3d posed = Multiply(Linear(ToDouble(skin)), direction);
  const double length = Length(posed);
  return {length > kTiny ? (1 / length) * posed : Vec3d{}, length};
}

// Direction and magnitude of the push on vertices of a couple's upper bone: the bisector of the
// bones' directions without its component along their relative rotation's axis, times min(1, 2
// sqrt(1 - cos(angle / 2))). Fades out where the bones fold.
Vec3d Push(const Vec3d& upper, const Vec3d& lower, const DualQuat& p, const DualQuat& q) {
  const Vec3d pv = {p.real[1], p.real[2], p.real[3]}, qv = {q.real[1], q.real[2], q.real[3]};
  const double pw = p.real[0], qw = q.real[0];
  const Vec3d relative = qw * pv - pw * qv - Cross(pv, qv);
  const double cosine = std::abs(pw * qw + Dot(pv, qv)), sine = Length(relative);
  const Vec3d sum = upper + lower;
  if (!(sine > kTiny)) return {};
  const Vec3d bisector = (1 / std::max(Length(sum), kTurnedBack)) * sum;
  const Vec3d axis = (1 / sine) * relative;
  const double amount = std::min(1.0, 2 * sine / std::sqrt(1 + cosine));
  return amount * (bisector - Dot(axis, bisector) * axis);
}

}  // namespace

absl::Status BulgeFree::Validate(const BulgeFreeParams& params) {
  if (params.strongest && params.method == BulgeMethod::kBisector) {
    return InvalidArgument(
        "bulge_free.strongest: got true with method=bisector, need method=projection or "
        "strongest=false");
  }
  return absl::OkStatus();
}

absl::StatusOr<BindCost> BulgeFree::Cost(const BindInput& input, const BulgeFreeParams& params) {
  const std::size_t pairs = input.layout.skin.pairs(), bindings = input.rig.bindings().size();
  const std::size_t influences = input.rig.influences().size();
  const bool bisector = params.method == BulgeMethod::kBisector;
  // The unions are subsets of the skin's, and there are at most as many couples as pairs.
  const std::size_t bound =
      pairs * (kLanes * sizeof(float) * (input.slopes ? 3 : 1) + sizeof(std::uint16_t)) +
      input.layout.skin.offset.size() * sizeof(std::uint32_t) +
      (bisector ? pairs * (sizeof(std::uint32_t) + 2 * (sizeof(std::uint16_t) + sizeof(Vec3d)))
                : bindings * 2 * sizeof(Vec3d));
  const std::size_t rows = (input.layout.vertices + 1) * sizeof(std::uint64_t) + influences * 2;
  const std::size_t segments = (bindings + input.rig.joints()) * 256;
  // Welding and components; finding the skin of leaf bones, earlier, needs less.
  const std::size_t components = input.layout.vertices * 320 + ShapeWeldBytes(input.rig) +
                                 input.rig.mesh().face_vertices().size() * 48 +
                                 (input.rig.joints() + bindings) * kComponentJointBytes;
  return BindCost{
      .peak_bytes = 2 * bound + 2 * rows + segments + components + (bisector ? pairs * 64 : 0),
      .bound_bytes = bound,
      .work = BoneWork(input) + ComponentWork(input) + InfluenceWork(input),
      .frame_ns = (bisector ? 0.4 : 2.6) * static_cast<double>(influences),
      .surface = RigSurface::kWelded | RigSurface::kTriangles | RigSurface::kBorder |
                 RigSurface::kComponents};
}

absl::StatusOr<BulgeFree> BulgeFree::Bind(const BindInput& input, const BulgeFreeParams& params,
                                          Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(Validate(params));
  BulgeFree bound;
  SINEW_RETURN_IF_ERROR(params.method == BulgeMethod::kProjection
                            ? bound.BindProjection(input, params, task)
                            : bound.BindBisector(input, params, task));
  return bound;
}

absl::Status BulgeFree::BindProjection(const BindInput& input, const BulgeFreeParams& params,
                                       Task& task) {
  const Influences& influences = input.rig.influences();
  const BoneSegments segments(input.rig, input.surface.welded(), input.layout.centre);
  task.Advance(BoneWork(input));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  width = static_cast<float>(kSoftWidth * params.softness);
  for (std::size_t e = 0; e < input.rig.bindings().size(); ++e) {
    root.push_back(segments.segment(e).root);
    tip.push_back(segments.segment(e).tip);
  }
  joints = params.strongest ? UniteInfluences(input.layout, input.rig.influences(), 1)
                            : input.layout.skin;
  shares.resize(joints.pairs() * kLanes);
  const std::vector<std::uint8_t> rigid = FindRigidComponents(input, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<double> powers;
  SINEW_RETURN_IF_ERROR(ForEachLane(input, task, [&](std::size_t i) {
    const std::uint32_t v = input.layout.Vertex(i);
    if (rigid[v] != 0) return;
    const auto weights =
        influences.weights(v).first(params.strongest ? 1 : influences.weights(v).size());
    powers.clear();
    double sum = 0;
    for (const double w : weights) {
      powers.push_back(Sharpened(w, params.sharpness));
      sum += powers.back();
    }
    for (std::size_t k = 0; k < powers.size(); ++k) {
      const std::size_t pair = FindPair(joints, i / kLanes, influences.bindings(v)[k]);
      shares[pair * kLanes + i % kLanes] = static_cast<float>(params.strength * powers[k] / sum);
    }
  }));
  slopes = BindSlopes(input, joints, shares, task);
  return task.CheckCancelled();
}

absl::Status BulgeFree::BindBisector(const BindInput& input, const BulgeFreeParams& params,
                                     Task& task) {
  const Influences& influences = input.rig.influences();
  const BoneSegments segments(input.rig, input.surface.welded(), input.layout.centre);
  task.Advance(BoneWork(input));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  joints = UniteInfluences(input.layout, input.rig.influences(), 2);
  shares.resize(joints.pairs() * kLanes);
  pair_couple.assign(joints.pairs(), kNoPush);
  const std::vector<std::uint8_t> rigid = FindRigidComponents(input, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::uint32_t> known;  // upper, lower
  return ForEachLane(input, task, [&](std::size_t i) {
    const std::uint32_t v = input.layout.Vertex(i);
    const auto bindings = influences.bindings(v);
    if (bindings.size() < 2 || rigid[v] != 0) return;
    const std::uint16_t first = bindings[0], second = bindings[1];
    const bool is_upper = segments.IsAncestor(first, second);
    if (!is_upper && !segments.IsAncestor(second, first)) return;
    const std::pair key = is_upper ? std::pair(first, second) : std::pair(second, first);
    const auto [found, fresh] = known.emplace(key, static_cast<std::uint32_t>(upper.size()));
    if (fresh) {
      const BoneCouple couple = segments.Couple(key.first, key.second);
      upper.push_back(key.first);
      lower.push_back(key.second);
      upper_direction.push_back(couple.upper);
      lower_direction.push_back(couple.lower);
    }
    const std::uint32_t c = found->second;
    const Vec3d p = ToDouble(input.rig.mesh().positions()[v]) - input.layout.centre;
    const double distance = LineDistance(p, segments.segment(first).root,
                                         is_upper ? upper_direction[c] : lower_direction[c]);
    const double push = params.strength * distance * PushCurve(influences.weights(v));
    const std::size_t pair = FindPair(joints, i / kLanes, second);
    pair_couple[pair] = c;
    shares[pair * kLanes + i % kLanes] = static_cast<float>(is_upper ? push : -push);
  });
}

StageFacts BulgeFree::Facts() const {
  return {.method = Params::kName,
          .in = Space::kPosed,
          .out = Space::kPosed,
          .pointwise = true,
          .rotations = !projects(),
          .scratch_floats = root.size() * kBoneFloats + upper.size() * kPushFloats,
          .slopes = !slopes.empty()};
}

void BulgeFree::Run(const StageFrame& frame) const {
  projects() ? RunProjection(frame) : RunBisector(frame);
}

void BulgeFree::RunProjection(const StageFrame& frame) const {
  const std::span<float> bones = frame.scratch;
  for (std::size_t e = 0; e < root.size(); ++e) {
    const AffineD skin = ToDouble(frame.posed.skin[e]);
    const Vec3d from = Apply(skin, root[e]), along = Apply(skin, tip[e]) - from;
    const double length2 = Dot(along, along);
    const double row[kBoneFloats] = {
        from.x, from.y, from.z, along.x, along.y, along.z, length2 > kTiny ? 1 / length2 : 0.0};
    for (std::size_t i = 0; i < kBoneFloats; ++i) {
      bones[e * kBoneFloats + i] = static_cast<float>(row[i]);
    }
  }
  const ProjectionKernelArgs args = {
      .pair_offset = joints.offset.data(),
      .pair_entry = joints.entry.data(),
      .shares = shares.data(),
      .skin = frame.posed.skin.front().m.data(),
      .bones = bones.data(),
      .width = width,
      .rest = frame.rest.front().x,
      .in = frame.in.front().x,
      .out = frame.out.front().x,
      .slopes = SlopesOf(frame, slopes),
      .rest_slopes = frame.out_slopes.empty() ? nullptr : frame.rest_slopes.front().x,
  };
  frame.ForBlocks<kGrain>(
      [&](std::size_t begin, std::size_t end) { ProjectionKernel(args, begin, end); });
}

void BulgeFree::RunBisector(const StageFrame& frame) const {
  const std::span<float> pushes = frame.scratch;
  for (std::size_t c = 0; c < upper.size(); ++c) {
    const auto [above, stretch] = Posed(frame.posed.skin[upper[c]], upper_direction[c]);
    const auto [below, lower_stretch] = Posed(frame.posed.skin[lower[c]], lower_direction[c]);
    const Vec3d push =
        0.5 * (stretch + lower_stretch) *
        Push(above, below, frame.posed.dual_quats[upper[c]], frame.posed.dual_quats[lower[c]]);
    const double row[kPushFloats] = {push.x, push.y, push.z, 0};
    for (std::size_t i = 0; i < kPushFloats; ++i) {
      pushes[c * kPushFloats + i] = static_cast<float>(row[i]);
    }
  }
  const PushKernelArgs args = {
      .pair_offset = joints.offset.data(),
      .pair_push = pair_couple.data(),
      .shares = shares.data(),
      .pushes = pushes.data(),
      .in = frame.in.front().x,
      .out = frame.out.front().x,
  };
  frame.ForBlocks<kGrain>(
      [&](std::size_t begin, std::size_t end) { PushKernel(args, begin, end); });
}

}  // namespace sinew
