#include "core/deform/dqs/dqs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/deform/dqs/dqs_kernel.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "core/deform/method/slopes.h"
#include "core/deform/method/stretch.h"
#include "core/rig/signed_rotation.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256;  // blocks per chunk: 4,096 vertices, about 20 microseconds

constexpr double kPackWork = 50;                // nanoseconds per influence
constexpr double kFollowWork = 2000;            // nanoseconds per binding
constexpr std::size_t kBindingsAtATime = 4096;  // bindings between cancellation checks
constexpr std::size_t kMaxFollowed = 64;        // bindings of one joint that are compared
constexpr double kSamePose = 3 - 1e-6;          // Closeness of rotations 0.001 rad apart

// Rotation of a binding in the rest pose; the identity where bind and rest pose agree.
Mat3d RestRotation(const Rig& rig, const Binding& binding) {
  const AffineD& rest = rig.skeleton().rest_model()[binding.joint];
  const Mat3d skin = Linear(Compose(rest, binding.inverse_bind));
  return Factor(skin, SignOf(skin)).rotation;
}

// tr(A^T B): larger for closer rotations.
double Closeness(const Mat3d& a, const Mat3d& b) {
  return std::inner_product(a.m.begin(), a.m.end(), b.m.begin(), 0.0);
}

// Which of a joint's bindings its descendants may follow: all, or if there are very many, one per
// bind pose.
void AppendFollowed(std::span<const std::uint16_t> bindings, std::span<const Mat3d> rest,
                    std::vector<std::uint16_t>& followed) {
  if (bindings.size() <= kMaxFollowed) {
    followed.insert(followed.end(), bindings.begin(), bindings.end());
    return;
  }
  const std::size_t begin = followed.size();
  for (const std::uint16_t e : bindings) {
    const bool known = std::any_of(
        followed.begin() + static_cast<std::ptrdiff_t>(begin), followed.end(),
        [&](std::uint16_t other) { return Closeness(rest[other], rest[e]) > kSamePose; });
    if (!known) followed.push_back(e);
    if (followed.size() - begin == kMaxFollowed) return;
  }
}

// Fills sign_order and sign_parent. A binding follows a binding of its nearest bound ancestor;
// among those of several meshes the one with the same bind pose, so that only the relative motion
// of the two joints decides. Bindings without such an ancestor follow the first.
absl::Status FollowParents(const Rig& rig, Task& task, std::vector<std::uint16_t>& order,
                           std::vector<std::uint16_t>& parent) {
  const auto bindings = rig.bindings();
  order.resize(bindings.size());
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::sort(order.begin(), order.end(), [&](std::uint16_t a, std::uint16_t b) {
    return std::pair(bindings[a].joint, a) < std::pair(bindings[b].joint, b);
  });
  std::vector<Mat3d> rest;
  rest.reserve(bindings.size());
  parent.reserve(bindings.size());
  for (const Binding& binding : bindings) rest.push_back(RestRotation(rig, binding));
  std::vector<std::uint32_t> bound(rig.joints());  // nearest bound joint: itself or an ancestor
  std::vector<std::uint32_t> offset = {0};         // [J + 1] into `followed`
  offset.reserve(rig.joints() + 1);
  std::vector<std::uint16_t> followed;
  followed.reserve(bindings.size());
  std::size_t next = 0, reported = 0;
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {  // parents come first
    const std::uint32_t above = rig.skeleton().joint(j).parent;
    const std::uint32_t ancestor = above == kNoParent ? kNoParent : bound[above];
    std::span<const std::uint16_t> candidates = {order.data(), 1};
    if (ancestor != kNoParent) {
      candidates = std::span<const std::uint16_t>(followed).subspan(
          offset[ancestor], offset[ancestor + 1] - offset[ancestor]);
    }
    const std::size_t first = next;
    for (; next < order.size() && bindings[order[next]].joint == j; ++next) {
      const Mat3d& own = rest[order[next]];
      parent.push_back(*std::max_element(candidates.begin(), candidates.end(),
                                         [&](std::uint16_t a, std::uint16_t b) {
                                           return Closeness(rest[a], own) < Closeness(rest[b], own);
                                         }));
      if (next + 1 - reported < kBindingsAtATime && next + 1 < order.size()) continue;
      task.Advance(kFollowWork * static_cast<double>(next + 1 - reported));
      SINEW_RETURN_IF_ERROR(task.CheckCancelled());
      reported = next + 1;
    }
    bound[j] = next > first ? j : ancestor;
    AppendFollowed(std::span<const std::uint16_t>(order).subspan(first, next - first), rest,
                   followed);
    offset.push_back(static_cast<std::uint32_t>(followed.size()));
  }
  return absl::OkStatus();
}

// signs[e] = +-1 puts signs[e] q_e into the hemisphere of the binding that e follows.
void FillSigns(const PosedRig& posed, std::span<const std::uint16_t> order,
               std::span<const std::uint16_t> parent, std::span<float> signs) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto& q = posed.dual_quats[order[k]].real;
    const auto& p = posed.dual_quats[parent[k]].real;
    const float dot = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
    const float followed = k == 0 ? 1.0f : signs[parent[k]];
    signs[order[k]] = dot < 0.0f ? -followed : followed;
  }
}

}  // namespace

absl::StatusOr<BindCost> Dqs::Cost(const BindInput& input, const DqsParams& params) {
  if (!params.blend_map.empty() && input.rig.FindMap(params.blend_map) == nullptr) {
    return InvalidArgument("dqs.blend_map: the rig has no vertex map '", params.blend_map, "'");
  }
  const std::size_t chain = params.signs == SignRule::kParent ? input.rig.bindings().size() : 0;
  const std::size_t bytes = WeightBytes(input) +
                            (params.blend_map.empty() ? 0 : input.layout.order.size() * 4) +
                            chain * 2 * sizeof(std::uint16_t);
  const std::size_t following = chain == 0 ? 0 : chain * 80 + input.rig.joints() * 8;
  return BindCost{.peak_bytes = bytes + following,
                  .bound_bytes = bytes,
                  .work = kPackWork * static_cast<double>(input.rig.influences().size()) +
                          kFollowWork * static_cast<double>(chain),
                  .frame_ns = 1.2 * static_cast<double>(input.rig.influences().size())};
}

absl::StatusOr<Dqs> Dqs::Bind(const BindInput& input, const DqsParams& params, Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(Cost(input, params).status());
  Dqs dqs;
  dqs.blend = params.blend;
  dqs.bindings = static_cast<std::uint32_t>(input.rig.bindings().size());
  if (!params.blend_map.empty()) {
    const VertexMap* map = input.rig.FindMap(params.blend_map);
    dqs.blend_lanes.resize(input.layout.order.size());
    for (std::size_t i = 0; i < dqs.blend_lanes.size(); ++i) {
      dqs.blend_lanes[i] =
          std::clamp(params.blend * map->values[input.layout.Vertex(i)], 0.0f, 1.0f);
    }
  }
  if (params.signs == SignRule::kParent) {
    SINEW_RETURN_IF_ERROR(FollowParents(input.rig, task, dqs.sign_order, dqs.sign_parent));
  }
  SINEW_ASSIGN_OR_RETURN(dqs.table,
                         WeightTable::Create(input.rig, input.layout, params.max_influences, task));
  dqs.slopes = BindSlopes(input, dqs.table.joints, dqs.table.weights, task);
  task.Advance(kPackWork * static_cast<double>(input.rig.influences().size()));
  return dqs;
}

StageFacts Dqs::Facts() const {
  // Linear blend points, one block per 16 lanes of the table's order; a stretch row and a sign per
  // binding.
  const std::size_t blocks = std::max<std::size_t>(table.joints.offset.size(), 1) - 1;
  const std::size_t linear = mixes() ? blocks * 3 * kLanes : 0;
  return {.method = Params::kName,
          .in = Space::kRest,
          .out = Space::kPosed,
          .pointwise = true,
          .rotations = true,
          .scratch_floats = linear + bindings * kStretchFloats + sign_order.size(),
          .slopes = !slopes.empty()};
}

absl::Status Dqs::Check(const BlockLayout& layout, std::size_t binding_count) const {
  SINEW_RETURN_IF_ERROR(MethodOf::Check(layout, binding_count));
  std::vector<bool> seen(bindings);
  for (std::size_t k = 0; k < sign_order.size(); ++k) {
    if (k == 0 ? sign_parent[k] != sign_order[k] : !seen[sign_parent[k]]) {
      return DataLoss("bound data: dqs: sign_parent: binding ", sign_order[k], " follows ",
                      sign_parent[k], ", need one before it");
    }
    seen[sign_order[k]] = true;
  }
  return absl::OkStatus();
}

void Dqs::Run(const StageFrame& frame) const {
  const std::size_t linear_floats = mixes() ? frame.layout.blocks() * 3 * kLanes : 0;
  const std::span<float> linear = frame.scratch.first(linear_floats);
  const std::span<float> stretch = frame.scratch.subspan(linear_floats, bindings * kStretchFloats);
  const std::span<float> signs = frame.scratch.last(sign_order.size());
  // The blend depends only on where each joint moves a point and on its quaternion, not on how a
  // motion is split, so a mirror may stay in the stretch.
  const bool stretches = FillStretch(frame.posed, {}, stretch);
  FillSigns(frame.posed, sign_order, sign_parent, signs);
  const LinearBlendKernelArgs linear_args = {
      .pair_offset = table.joints.offset.data(),
      .pair_entry = table.joints.entry.data(),
      .weights = table.weights.data(),
      .skin = frame.posed.skin.front().m.data(),
      .in = frame.in.front().x,
      .out = linear.data(),
  };
  const DqsKernelArgs args = {
      .pair_offset = table.joints.offset.data(),
      .pair_entry = table.joints.entry.data(),
      .weights = table.weights.data(),
      .dual_quats = frame.posed.dual_quats.front().real.data(),
      .stretch = stretch.data(),
      .stretches = stretches,
      .signs = signs.empty() ? nullptr : signs.data(),
      .in = frame.in.front().x,
      .out = frame.out.front().x,
      .linear = mixes() ? linear.data() : nullptr,
      .blend_lanes = blend_lanes.empty() ? nullptr : blend_lanes.data(),
      .blend = blend,
      .slopes = SlopesOf(frame, slopes),
  };
  frame.ForBlocks<kGrain>([&](std::size_t begin, std::size_t end) {
    if (mixes()) LinearBlendKernel(linear_args, begin, end);
    DqsKernel(args, begin, end);
  });
}

}  // namespace sinew
