#include "core/deform/lbs/lbs.h"

#include "core/base/status.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "core/deform/method/slopes.h"
#include "core/rig/point_weights.h"

namespace sinew {
namespace {

constexpr double kBindWork = 50;     // nanoseconds per influence
constexpr std::size_t kGrain = 256;  // blocks per chunk: 4,096 vertices, about 5 microseconds

}  // namespace

absl::StatusOr<BindCost> Lbs::Cost(const BindInput& input, const LbsParams&) {
  const std::size_t bytes = WeightBytes(input);
  return BindCost{.peak_bytes = bytes,
                  .bound_bytes = bytes,
                  .work = kBindWork * static_cast<double>(input.rig.influences().size()),
                  .frame_ns = 0.6 * static_cast<double>(input.rig.influences().size())};
}

absl::StatusOr<Lbs> Lbs::Bind(const BindInput& input, const LbsParams& params, Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  Lbs lbs;
  const bool all = BlendsAll(input.rig, params.max_influences);
  SINEW_ASSIGN_OR_RETURN(
      lbs.table, all ? WeightTable::CreateOwn(input.rig, input.layout, task)
                     : WeightTable::Create(input.rig, input.layout, params.max_influences, task));
  // Rows of the vertices of one point differ only as own rows.
  const bool own = all && &input.rig.own_influences() != &input.rig.influences();
  lbs.slopes = BindSlopes(input, lbs.table.joints, lbs.table.weights, task, own ? kSameWeight : 0);
  task.Advance(kBindWork * static_cast<double>(input.rig.influences().size()));
  return lbs;
}

void Lbs::Run(const StageFrame& frame) const {
  const LinearBlendKernelArgs args = {
      .pair_offset = table.joints.offset.data(),
      .pair_entry = table.joints.entry.data(),
      .weights = table.weights.data(),
      .skin = frame.posed.skin.front().m.data(),
      .in = frame.in.front().x,
      .out = frame.out.front().x,
      .slopes = SlopesOf(frame, slopes),
  };
  frame.ForBlocks<kGrain>(
      [&](std::size_t begin, std::size_t end) { LinearBlendKernel(args, begin, end); });
}

}  // namespace sinew
