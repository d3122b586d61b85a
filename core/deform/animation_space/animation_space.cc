#include "core/deform/animation_space/animation_space.h"

#include "core/base/status.h"
#include "core/deform/animation_space/animation_space_kernel.h"
#include "core/rig/coefficient_row.h"

namespace sinew {
namespace {

constexpr std::uint32_t kColumns = JointCoefficients::kAnimationSpace;
constexpr double kBindWork = 100;    // nanoseconds per lane and binding
constexpr std::size_t kGrain = 256;  // blocks per chunk

BlockJoints Joints(const BindInput& input) {
  return UniteRows(input.layout,
                   [&](std::size_t v) { return CoefficientBindings(input.rig, kColumns, v); });
}

}  // namespace

absl::StatusOr<BindCost> AnimationSpace::Cost(const BindInput& input, const AnimationSpaceParams&) {
  const std::size_t pairs = Joints(input).pairs(), lanes = pairs * kLanes;
  const std::size_t bytes = sizeof(AnimationSpace) + lanes * kColumns * sizeof(float) +
                            pairs * sizeof(std::uint16_t) + (input.layout.blocks() + 1) * 4;
  return BindCost{.peak_bytes = bytes,
                  .bound_bytes = bytes,
                  .work = kBindWork * static_cast<double>(lanes),
                  .frame_ns = 0.9 * static_cast<double>(lanes)};
}

absl::StatusOr<AnimationSpace> AnimationSpace::Bind(const BindInput& input,
                                                    const AnimationSpaceParams&, Task& task) {
  const BlockLayout& layout = input.layout;
  AnimationSpace bound;
  bound.joints = Joints(input);
  bound.values.resize(bound.joints.pairs() * kColumns * kLanes);
  task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::uint32_t v = layout.Vertex(i);
      const auto bindings = CoefficientBindings(input.rig, kColumns, v);
      const std::vector<double> values = CoefficientValues(input.rig, kColumns, v);
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        const std::size_t pair = FindPair(bound.joints, i / kLanes, bindings[k]);
        for (std::size_t c = 0; c < kColumns; ++c) {
          bound.values[(pair * kColumns + c) * kLanes + i % kLanes] =
              static_cast<float>(values[k * kColumns + c]);
        }
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(kBindWork * static_cast<double>(bound.joints.pairs() * kLanes));
  return bound;
}

void AnimationSpace::Run(const StageFrame& frame) const {
  const AnimationSpaceArgs args = {.pair_offset = joints.offset.data(),
                                   .pair_entry = joints.entry.data(),
                                   .values = values.data(),
                                   .skin = frame.posed.skin.front().m.data(),
                                   .in = frame.in.front().x,
                                   .out = frame.out.front().x};
  frame.ForBlocks<kGrain>(
      [&](std::size_t begin, std::size_t end) { AnimationSpaceKernel(args, begin, end); });
}

}  // namespace sinew
