#include "core/deform/ddm/ddm.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/base/status.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "core/deform/ddm/ddm_lane.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 64;  // blocks a chunk: 1,024 vertices, some 15 microseconds

DdmJoint MakeJoint(const Affine& skin, const Mat3& rotation, const DualQuat& dual_quat,
                   bool enhanced) {
  DdmJoint joint{};
  std::copy(skin.m.begin(), skin.m.end(), joint.affine);
  for (std::size_t i = 0; i < 9; ++i) {
    joint.linear[i] = enhanced ? rotation.m[i] : skin.m[i / 3 * 4 + i % 3];
  }
  std::copy(dual_quat.real.begin(), dual_quat.real.end(), joint.quaternion);
  return joint;
}

absl::Status Damaged(std::string_view what, std::size_t got, std::size_t need) {
  return absl::DataLossError(
      absl::StrCat("bound data: ", AbslView(what), ": got ", got, ", need ", need));
}

}  // namespace

std::size_t DdmTables::fields() const {
  return kDdmFields + (alpha > 0 ? 1 : 0);
}

absl::Status DdmTables::Validate(const DdmParams& params) {
  if (params.variant != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("variant: got ", params.variant, ", this version has 0"));
  }
  if (params.smoothing == Smoothing::kExplicit && !params.radius.has_value() && params.lambda > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "lambda: got ", params.lambda, ", explicit smoothing needs 0 to 1 (or a radius)"));
  }
  return absl::OkStatus();
}

StageFacts DdmTables::Facts(std::string_view method) const {
  return {.method = method,
          .in = Space::kRest,
          .out = Space::kPosed,
          .pointwise = true,
          .rotations = true,
          .scratch_floats = bindings * sizeof(DdmJoint) / sizeof(float)};
}

absl::Status DdmTables::Check(const BlockLayout& layout, std::size_t binding_count) const {
  if (bindings != binding_count) return Damaged("bindings", bindings, binding_count);
  SINEW_RETURN_IF_ERROR(CheckBlockJoints(layout, joints, binding_count, "ddm"));
  if (!(alpha >= 0 && alpha <= 1)) {
    return absl::DataLossError(absl::StrCat("bound data: alpha: got ", alpha, ", need 0 to 1"));
  }
  if (pop_guard > 1) return Damaged("pop_guard", pop_guard, 1);
  const std::size_t values = joints.pairs() * fields() * kLanes;
  if (moments.size() != values) return Damaged("moments", moments.size(), values);
  if (centroid.size() != layout.blocks() * 3 * kLanes) {
    return Damaged("centroid", centroid.size(), layout.blocks() * 3 * kLanes);
  }
  for (const AlignedVector<float>* table : {&moments, &centroid}) {
    for (const float value : *table) {
      if (!std::isfinite(value)) {
        return absl::DataLossError("bound data: ddm: a value is not finite");
      }
    }
  }
  return absl::OkStatus();
}

void DdmTables::Run(const StageFrame& frame, bool enhanced) const {
  static_assert(alignof(DdmJoint) <= kAlignment);
  const auto poses = reinterpret_cast<DdmJoint*>(frame.scratch.data());
  for (std::size_t e = 0; e < bindings; ++e) {
    poses[e] = MakeJoint(frame.posed.skin[e], frame.posed.rotations[e], frame.posed.dual_quats[e],
                         enhanced);
  }
  const DdmKernelArgs args = {
      .pair_offset = joints.offset.data(),
      .pair_entry = joints.entry.data(),
      .table = moments.data(),
      .fields = fields(),
      .centroid = centroid.data(),
      .joints = poses,
      .rest = frame.layout.rest.front().x,
      .in = frame.in_is_rest ? nullptr : frame.in.front().x,
      .out = frame.out.front().x,
      .alpha = alpha,
      .guard = pop_guard != 0,
  };
  frame.task.For(frame.layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::array<std::uint16_t, kGrain> left;
    DdmKernel(args, begin, end, left.data());
    for (std::size_t b = begin; b < end; ++b) {
      for (unsigned lanes = left[b - begin]; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
        const Vec3f moved = DdmLane(args, b, lane);
        PointBlock& block = frame.out[b];
        block.x[lane] = moved.x;
        block.y[lane] = moved.y;
        block.z[lane] = moved.z;
      }
    }
  });
}

absl::StatusOr<Ddm> Ddm::Bind(const BindInput& input, const Params& params, Task& task) {
  Ddm ddm;
  SINEW_ASSIGN_OR_RETURN(ddm.tables, DdmTables::Bind(input, params, {}, task));
  return ddm;
}

absl::StatusOr<EnhancedDdm> EnhancedDdm::Bind(const BindInput& input, const Params& params,
                                              Task& task) {
  EnhancedDdm ddm;
  SINEW_ASSIGN_OR_RETURN(ddm.tables, DdmTables::Bind(input, params, {}, task));
  return ddm;
}

}  // namespace sinew
