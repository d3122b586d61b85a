#include "core/deform/ddm/ddm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/base/status.h"
#include "core/deform/ddm/ddm_kernel.h"
#include "core/deform/ddm/ddm_lane.h"
#include "core/deform/kernels/centre_blend_kernel.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "core/deform/method/slopes.h"
#include "core/deform/method/stretch.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 64;  // blocks per chunk: 1,024 vertices, about 15 microseconds

bool NeedsRotations(std::uint32_t variant, bool enhanced) {
  return variant == 5 ? false : variant != 3 || enhanced;
}

DdmJoint MakeJoint(const PosedRig& posed, std::size_t e, bool enhanced) {
  const Affine& skin = posed.skin[e];
  DdmJoint joint{};
  std::copy(skin.m.begin(), skin.m.end(), joint.affine);
  for (std::size_t i = 0; i < 9; ++i) {
    joint.linear[i] =
        enhanced ? posed.signs[e] * posed.rotations[e].m[i] : skin.m[i / 3 * 4 + i % 3];
  }
  joint.sign = posed.signs[e];
  if (!posed.dual_quats.empty()) {
    const auto& real = posed.dual_quats[e].real;
    std::copy(real.begin(), real.end(), joint.quaternion);
  }
  return joint;
}

}  // namespace

bool DdmTables::HasVariant(std::uint32_t variant, bool enhanced) {
  return enhanced ? std::ranges::count(EnhancedDdmParams::kVariants, variant) > 0 : variant <= 5;
}

absl::Status DdmTables::Validate(const DdmParams& params, std::string_view method, bool enhanced) {
  if (!HasVariant(params.variant, enhanced)) {
    return InvalidArgument(method, ".variant: got ", params.variant, ", need 0, 2, 3 or 4",
                           params.variant == 1 ? ": the affine fit has no enhanced form"
                           : params.variant == 5
                               ? ": ddm(variant=5) already keeps the scale of joints"
                               : "");
  }
  if (params.smoothing == Smoothing::kExplicit && !params.radius.has_value() && params.lambda > 1) {
    return InvalidArgument(method, ".lambda: got ", params.lambda,
                           ", explicit smoothing needs 0 to 1 (or a radius)");
  }
  return absl::OkStatus();
}

absl::Status DdmTables::Check(const BlockLayout& layout, std::size_t binding_count,
                              bool enhanced) const {
  SINEW_RETURN_IF_ERROR(CheckFields("ddm", *this, layout.Sizes(binding_count)));
  if (!HasVariant(variant, enhanced)) {
    return DataLoss("bound data: ddm: variant: value 0 is ", variant, ", need ",
                    enhanced ? "0, 2, 3 or 4" : "0 to 5");
  }
  return absl::OkStatus();
}

std::size_t DdmTables::fields() const {
  const std::size_t extra = alpha > 0 ? 1 : 0;
  if (variant <= 1) return kDdmFields + extra;
  if (variant <= 3) return kDdmBlendFields + extra;
  return variant == 4 ? 1 + extra : 1;
}

std::size_t DdmTables::Place(std::size_t pair, std::size_t field) const {
  return (variant == 4 ? field * joints.pairs() + pair : pair * fields() + field) * kLanes;
}

StageFacts DdmTables::Facts(std::string_view method, bool enhanced) const {
  std::size_t scratch = 0;
  if (variant <= 3) scratch = bindings * sizeof(DdmJoint) / sizeof(float);
  if (variant == 4) scratch = bindings * kStretchFloats;
  return {.method = method,
          .in = Space::kRest,
          .out = Space::kPosed,
          .pointwise = true,
          .rotations = NeedsRotations(variant, enhanced),
          .scratch_floats = scratch,
          .slopes = !slopes.empty()};
}

std::vector<BindStatistic> DdmTables::Statistics() const {
  return {
      {"dropped_mass", double{dropped}, "", "Largest weight of a vertex dropped by truncation."},
      {"smoothing_radius", double{radius}, "edges", "Radius of the smoothing."}};
}

void DdmTables::Run(const StageFrame& frame, bool enhanced) const {
  if (variant >= 4) return RunWeights(frame, enhanced);
  static_assert(alignof(DdmJoint) <= kAlignment);
  const std::span poses(reinterpret_cast<DdmJoint*>(frame.scratch.data()), bindings);
  for (std::size_t e = 0; e < bindings; ++e) poses[e] = MakeJoint(frame.posed, e, enhanced);
  variant <= 1 ? RunFitted(frame, poses) : RunBlended(frame, poses);
}

void DdmTables::RunFitted(const StageFrame& frame, std::span<DdmJoint> poses) const {
  const DdmKernelArgs args = {
      .pair_offset = joints.offset.data(),
      .pair_entry = joints.entry.data(),
      .table = view(),
      .centroid = centroid.data(),
      .fit = variant == 1 ? fit.data() : nullptr,
      .joints = poses.data(),
      .rest = frame.layout.rest.front().x,
      .in = frame.in_is_rest ? nullptr : frame.in.front().x,
      .out = frame.out.front().x,
      .alpha = alpha,
      .guard = pop_guard != 0,
  };
  frame.ForBlocks<kGrain>([&](std::size_t begin, std::size_t end) {
    std::array<std::uint16_t, kGrain> left;
    DdmKernel(args, begin, end, left.data());
    for (std::size_t b = begin; b < end; ++b) {
      for (unsigned lanes = left[b - begin]; lanes != 0; lanes &= lanes - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(lanes));
        frame.out[b].Set(lane, DdmLane(args, b, lane));
      }
    }
  });
}

void DdmTables::RunBlended(const StageFrame& frame, std::span<DdmJoint> poses) const {
  const DdmBlendKernelArgs args = {
      .pair_offset = joints.offset.data(),
      .pair_entry = joints.entry.data(),
      .table = view(),
      .centroid = centroid.data(),
      .joints = poses.data(),
      .rest = frame.layout.rest.front().x,
      .in = frame.in.front().x,
      .out = frame.out.front().x,
      .matrices = variant == 3,
  };
  frame.ForBlocks<kGrain>(
      [&](std::size_t begin, std::size_t end) { DdmBlendKernel(args, begin, end); });
}

void DdmTables::RunWeights(const StageFrame& frame, bool enhanced) const {
  if (variant == 4) std::fill(frame.scratch.begin(), frame.scratch.end(), 0.0f);
  const bool stretches =
      variant == 4 && enhanced && FillStretch(frame.posed, frame.posed.signs, frame.scratch);
  const std::uint32_t* const offset = joints.offset.data();
  const std::uint16_t* const entry = joints.entry.data();
  const float* const skin = frame.posed.skin.front().m.data();
  const float* const in = frame.in.front().x;
  float* const out = frame.out.front().x;
  const SlopeArgs along = SlopesOf(frame, slopes);
  const std::size_t last = Place(0, fields() - 1);  // of the weights of rotations
  frame.ForBlocks<kGrain>([&](std::size_t begin, std::size_t end) {
    if (variant == 5) {
      LinearBlendKernel({offset, entry, moments.data(), skin, in, out, along}, begin, end);
    } else {
      CentreBlendKernel({offset, entry, moments.data() + last, moments.data(), skin,
                         frame.posed.dual_quats.front().real.data(), frame.posed.signs.data(),
                         frame.scratch.data(), stretches, centroid.data(), in, out, along,
                         slopes.empty() ? nullptr : slopes.data() + 2 * last, centre_slopes.data()},
                        begin, end);
    }
  });
}

}  // namespace sinew
