#include "core/deform/multi_weight/multi_weight.h"

#include <algorithm>
#include <optional>

#include "core/base/status.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "core/deform/multi_weight/multi_weight_kernel.h"
#include "core/rig/coefficient_row.h"

namespace sinew {
namespace {

constexpr std::uint32_t kColumns = JointCoefficients::kMultiWeight;
constexpr double kBindWork = 300;    // nanoseconds per lane and pair
constexpr std::size_t kGrain = 128;  // blocks per chunk

RelativeJoint Seen(std::uint16_t main, std::uint16_t joint) {
  return std::uint32_t{main} << 16 | joint;
}

// The pairs of each block: those of its vertices.
struct Pairs {
  std::vector<RelativeJoint> relative;
  std::vector<std::uint32_t> offset{0}, entry;
};

Pairs FindPairs(const BindInput& input) {
  const BlockLayout& layout = input.layout;
  std::vector<RelativeJoint> all, row;  // of all blocks, one after the other
  Pairs pairs;
  for (std::size_t b = 0; b < layout.blocks(); ++b) {
    row.clear();
    for (std::size_t i = b * kLanes; i < (b + 1) * kLanes && layout.order[i] >= 0; ++i) {
      const auto bindings = CoefficientBindings(input.rig, kColumns, layout.Vertex(i));
      for (const std::uint16_t joint : bindings) row.push_back(Seen(bindings.front(), joint));
    }
    std::ranges::sort(row);
    row.erase(std::ranges::unique(row).begin(), row.end());
    all.insert(all.end(), row.begin(), row.end());
    pairs.offset.push_back(static_cast<std::uint32_t>(all.size()));
  }
  pairs.relative = all;
  std::ranges::sort(pairs.relative);
  pairs.relative.erase(std::ranges::unique(pairs.relative).begin(), pairs.relative.end());
  pairs.relative.shrink_to_fit();
  for (const RelativeJoint& pair : all) {
    pairs.entry.push_back(static_cast<std::uint32_t>(
        std::ranges::lower_bound(pairs.relative, pair) - pairs.relative.begin()));
  }
  return pairs;
}

BlockJoints MainJoints(const BindInput& input) {
  return UniteRows(input.layout, [&](std::size_t v) {
    return CoefficientBindings(input.rig, kColumns, v).first(1);
  });
}

}  // namespace

absl::StatusOr<BindCost> MultiWeight::Cost(const BindInput& input, const MultiWeightParams&) {
  const Pairs pairs = FindPairs(input);
  const std::size_t lanes = pairs.entry.size() * kLanes, mains = MainJoints(input).pairs();
  const std::size_t bytes = sizeof(MultiWeight) + lanes * kColumns * sizeof(float) +
                            pairs.entry.size() * 4 + (input.layout.blocks() + 1) * 8 +
                            mains * (kLanes * sizeof(float) + 2) +
                            pairs.relative.size() * sizeof(RelativeJoint);
  return BindCost{.peak_bytes = bytes + pairs.entry.size() * 4 * sizeof(RelativeJoint),
                  .bound_bytes = bytes,
                  .work = kBindWork * static_cast<double>(lanes),
                  .frame_ns = 2.0 * static_cast<double>(lanes) +
                              100.0 * static_cast<double>(pairs.relative.size())};
}

absl::StatusOr<MultiWeight> MultiWeight::Bind(const BindInput& input, const MultiWeightParams&,
                                              Task& task) {
  const BlockLayout& layout = input.layout;
  MultiWeight bound;
  Pairs pairs = FindPairs(input);
  bound.main = MainJoints(input);
  bound.is_main.resize(bound.main.pairs() * kLanes);
  bound.values.resize(pairs.entry.size() * kColumns * kLanes);
  task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::size_t b = i / kLanes;
      const std::uint32_t v = layout.Vertex(i);
      const auto bindings = CoefficientBindings(input.rig, kColumns, v);
      const std::vector<double> values = CoefficientValues(input.rig, kColumns, v);
      bound.is_main[FindPair(bound.main, b, bindings.front()) * kLanes + i % kLanes] = 1;
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        const RelativeJoint wanted = Seen(bindings.front(), bindings[k]);
        std::uint32_t pair = pairs.offset[b];
        while (pairs.relative[pairs.entry[pair]] != wanted) ++pair;
        for (std::size_t c = 0; c < kColumns; ++c) {
          bound.values[(std::size_t{pair} * kColumns + c) * kLanes + i % kLanes] =
              static_cast<float>(values[k * kColumns + c]);
        }
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(kBindWork * static_cast<double>(pairs.entry.size() * kLanes));
  bound.relative = std::move(pairs.relative);
  bound.pair_offset = std::move(pairs.offset);
  bound.pair_entry = std::move(pairs.entry);
  return bound;
}

void MultiWeight::Run(const StageFrame& frame) const {
  const auto skin = frame.posed.skin;
  const auto seen = reinterpret_cast<Affine*>(frame.scratch.data());
  std::optional<AffineD> inverse;  // of the main joint, of which all pairs follow each other
  for (std::size_t k = 0; k < relative.size(); ++k) {
    const RelativeJoint from = relative[k] >> 16, joint = relative[k] & 0xffff;
    if (k == 0 || relative[k - 1] >> 16 != from) inverse = UsefulInverse(ToDouble(skin[from]));
    seen[k] =
        from == joint || !inverse ? Affine{} : ToFloat(Compose(*inverse, ToDouble(skin[joint])));
  }
  const MultiWeightArgs args = {.pair_offset = pair_offset.data(),
                                .pair_entry = pair_entry.data(),
                                .values = values.data(),
                                .relative = frame.scratch.data(),
                                .in = frame.in.front().x,
                                .out = frame.out.front().x};
  const LinearBlendKernelArgs move = {.pair_offset = main.offset.data(),
                                      .pair_entry = main.entry.data(),
                                      .weights = is_main.data(),
                                      .skin = skin.front().m.data(),
                                      .in = frame.out.front().x,
                                      .out = frame.out.front().x};
  frame.ForBlocks<kGrain>([&](std::size_t begin, std::size_t end) {
    MultiWeightKernel(args, begin, end);
    LinearBlendKernel(move, begin, end);
  });
}

}  // namespace sinew
