#include "core/deform/dqs/dqs.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "core/base/status.h"
#include "core/deform/dqs/dqs_kernel.h"
#include "core/deform/linear_blend_kernel.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256;  // blocks a chunk: 4,096 vertices, about 20 microseconds

// |M - R| below which a joint counts as rigid: what matrices composed in float32 are off by.
constexpr float kRigid = 2e-6f;

// M - R of every binding, and whether it counts.
void FillStretch(const PosedRig& posed, std::span<float> stretch) {
  for (std::size_t e = 0; e < posed.skin.size(); ++e) {
    const std::span<float> s = stretch.subspan(e * kStretchFloats, kStretchFloats);
    float largest = 0;
    for (std::size_t i = 0; i < 9; ++i) {
      s[i] = posed.skin[e].m[i / 3 * 4 + i % 3] - posed.rotations[e].m[i];
      largest = std::max(largest, std::abs(s[i]));
    }
    s[9] = largest > kRigid ? 1.0f : 0.0f;
  }
}

}  // namespace

absl::StatusOr<BindCost> Dqs::Cost(const BindInput& input, const DqsParams& params) {
  if (!params.blend_map.empty() && input.rig.FindMap(params.blend_map) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("dqs.blend_map: the rig has no vertex map '", params.blend_map, "'"));
  }
  const std::size_t bytes = WeightTable::CostBytes(input.rig, input.layout) +
                            (params.blend_map.empty() ? 0 : input.layout.order.size() * 4);
  return BindCost{.peak_bytes = bytes,
                  .bound_bytes = bytes,
                  .work = 50.0 * static_cast<double>(input.rig.influences().size()),
                  .frame_ns = 1.2 * static_cast<double>(input.rig.influences().size())};
}

absl::StatusOr<Dqs> Dqs::Bind(const BindInput& input, const DqsParams& params, Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_ASSIGN_OR_RETURN(const BindCost cost, Cost(input, params));
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
  dqs.table = WeightTable::Create(input.rig, input.layout, params.max_influences);
  task.Advance(cost.work);
  return dqs;
}

StageFacts Dqs::Facts() const {
  // A row of stretch per binding; the linear blend's points, one block per 16 lanes of the table's
  // order.
  const std::size_t blocks = std::max<std::size_t>(table.joints.offset.size(), 1) - 1;
  const std::size_t linear = mixes() ? blocks * 3 * kLanes : 0;
  return {.method = Params::kName,
          .in = Space::kRest,
          .out = Space::kPosed,
          .pointwise = true,
          .rotations = true,
          .scratch_floats = linear + bindings * kStretchFloats};
}

absl::Status Dqs::Check(const BlockLayout& layout, std::size_t binding_count) const {
  SINEW_RETURN_IF_ERROR(table.Check(layout, binding_count));
  if (bindings != binding_count) {
    return absl::DataLossError(
        absl::StrCat("bound data: bindings: got ", bindings, ", need ", binding_count));
  }
  if (!(blend >= 0 && blend <= 1)) {
    return absl::DataLossError(absl::StrCat("bound data: blend: got ", blend, ", need 0 to 1"));
  }
  if (!blend_lanes.empty() && blend_lanes.size() != layout.order.size()) {
    return absl::DataLossError(absl::StrCat("bound data: blend_lanes: got ", blend_lanes.size(),
                                            " values, need ", layout.order.size()));
  }
  for (const float lane : blend_lanes) {
    if (!(lane >= 0 && lane <= 1)) {
      return absl::DataLossError(
          absl::StrCat("bound data: blend_lanes: got ", lane, ", need 0 to 1"));
    }
  }
  return absl::OkStatus();
}

void Dqs::Run(const StageFrame& frame) const {
  const std::size_t linear_floats = mixes() ? frame.layout.blocks() * 3 * kLanes : 0;
  const std::span<float> linear = frame.scratch.first(linear_floats);
  const std::span<float> stretch = frame.scratch.subspan(linear_floats, bindings * kStretchFloats);
  FillStretch(frame.posed, stretch);
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
      .in = frame.in.front().x,
      .out = frame.out.front().x,
      .linear = mixes() ? linear.data() : nullptr,
      .blend_lanes = blend_lanes.empty() ? nullptr : blend_lanes.data(),
      .blend = blend,
  };
  frame.task.For(frame.layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    if (mixes()) LinearBlendKernel(linear_args, begin, end);
    DqsKernel(args, begin, end);
  });
}

}  // namespace sinew
