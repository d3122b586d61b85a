#include "core/deform/shapes/shapes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/status.h"
#include "core/deform/shapes/shapes_kernel.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 64;     // blocks per chunk: its sums (12 KB) stay in the L1 cache
constexpr double kBindWork = 20;       // nanoseconds per offset
constexpr double kSearch = 15;         // nanoseconds to find a target's blocks in a chunk
constexpr std::size_t kMaxActive = 2;  // targets of one shape with non-zero coefficients
constexpr std::size_t kBlockFloats = 3 * kLanes;

// A target with a non-zero coefficient in this frame.
struct ActiveTarget {
  float coefficient;
  std::uint32_t target;
};
constexpr std::size_t kActiveFloats = sizeof(ActiveTarget) / sizeof(float);

bool Moves(const Vec3f& offset) {
  return offset.x != 0 || offset.y != 0 || offset.z != 0;
}

// Blocks with vertices of a target, ascending.
std::vector<std::uint32_t> BlocksOf(const ShapeTarget& target, const BlockLayout& layout) {
  std::vector<std::uint32_t> blocks;
  for (std::size_t i = 0; i < target.vertices.size(); ++i) {
    const auto block = layout.lane[target.vertices[i]] / static_cast<std::uint32_t>(kLanes);
    if (Moves(target.offsets[i]) && (blocks.empty() || blocks.back() != block)) {
      blocks.push_back(block);
    }
  }
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

void FillOffsets(const ShapeTarget& target, const BlockLayout& layout,
                 std::span<const std::uint32_t> blocks, std::span<float> offsets) {
  for (std::size_t i = 0; i < target.vertices.size(); ++i) {
    const Vec3f& d = target.offsets[i];
    if (!Moves(d)) continue;
    const std::size_t lane = layout.lane[target.vertices[i]];
    const auto row = static_cast<std::size_t>(
        std::lower_bound(blocks.begin(), blocks.end(), lane / kLanes) - blocks.begin());
    float* const out = &offsets[row * kBlockFloats + lane % kLanes];
    out[0] = d.x;
    out[kLanes] = d.y;
    out[2 * kLanes] = d.z;
  }
  // Padding lanes repeat the first vertex of their block.
  for (std::size_t row = 0; row < blocks.size(); ++row) {
    for (std::size_t i = 1; i < kLanes; ++i) {
      if (layout.order[blocks[row] * kLanes + i] >= 0) continue;
      for (std::size_t c = 0; c < kBlockFloats; c += kLanes) {
        offsets[row * kBlockFloats + c + i] = offsets[row * kBlockFloats + c];
      }
    }
  }
}

}  // namespace

void BlendTargets(std::span<const float> weights, double value, double strength,
                  std::span<float> coefficients) {
  std::fill(coefficients.begin(), coefficients.end(), 0.0f);
  if (value == 0) return;
  // Knot k is target k below the knot at 0, and target k - 1 above it.
  const std::size_t targets = weights.size();
  const auto zero = static_cast<std::size_t>(
      std::upper_bound(weights.begin(), weights.end(), 0.0f) - weights.begin());
  const auto knot = [&](std::size_t k) {
    return k == zero ? 0.0 : double{weights[k < zero ? k : k - 1]};
  };
  std::size_t left = 0;  // left knot of the segment
  while (left + 1 < targets && knot(left + 1) <= value) ++left;
  const double t = (value - knot(left)) / (knot(left + 1) - knot(left));
  const auto set = [&](std::size_t k, double part) {
    constexpr double kMost = std::numeric_limits<float>::max();
    if (k == zero) return;
    coefficients[k < zero ? k : k - 1] =
        static_cast<float>(std::clamp(part * strength, -kMost, kMost));
  };
  set(left, 1 - t);
  set(left + 1, t);
}

absl::StatusOr<BindCost> Shapes::Cost(const BindInput& input, const ShapesParams&) {
  std::size_t targets = 0, active = 0, pairs = 0, entries = 0, most = 0;
  for (const Shape& shape : input.rig.shapes()) {
    std::size_t moving = 0;
    for (const ShapeTarget& target : shape.targets) {
      ++targets;
      const std::size_t blocks = BlocksOf(target, input.layout).size();
      pairs += blocks;
      moving += blocks > 0;
      entries += target.vertices.size();
      most = std::max(most, target.vertices.size());
    }
    active += std::min(moving, kMaxActive);
  }
  const std::size_t bytes = sizeof(Shapes) + (input.rig.shapes().size() + 1) * 8 +
                            (targets + 1) * 8 + pairs * (kBlockFloats * 4 + 4);
  const std::size_t chunks = (input.layout.blocks() + kGrain - 1) / kGrain;
  // Plus temporaries: the blocks of one target, and those of all targets while their list grows.
  return BindCost{.peak_bytes = bytes + most * 12 + pairs * 8,
                  .bound_bytes = bytes,
                  .work = kBindWork * static_cast<double>(entries),
                  .frame_ns = 10.0 * static_cast<double>(input.layout.blocks() + pairs + targets) +
                              kSearch * static_cast<double>(chunks * active)};
}

absl::StatusOr<Shapes> Shapes::Bind(const BindInput& input, const ShapesParams& params,
                                    Task& task) {
  Shapes shapes;
  shapes.strength = params.strength;
  shapes.shape_target = {0};
  shapes.target_pair = {0};
  std::vector<const ShapeTarget*> targets;
  for (const Shape& shape : input.rig.shapes()) {
    shapes.shape_control.push_back(shape.control);
    for (const ShapeTarget& target : shape.targets) {
      SINEW_RETURN_IF_ERROR(task.CheckCancelled());
      const std::vector<std::uint32_t> blocks = BlocksOf(target, input.layout);
      shapes.pair_block.insert(shapes.pair_block.end(), blocks.begin(), blocks.end());
      shapes.target_pair.push_back(static_cast<std::uint32_t>(shapes.pair_block.size()));
      shapes.target_weight.push_back(target.weight);
      targets.push_back(&target);
    }
    shapes.shape_target.push_back(static_cast<std::uint32_t>(targets.size()));
  }
  shapes.offsets.resize(shapes.pair_block.size() * kBlockFloats);
  task.For(targets.size(), 1, [&](std::size_t t, std::size_t) {
    const std::size_t first = shapes.target_pair[t], count = shapes.target_pair[t + 1] - first;
    FillOffsets(*targets[t], input.layout, std::span(shapes.pair_block).subspan(first, count),
                std::span(shapes.offsets).subspan(first * kBlockFloats, count * kBlockFloats));
    task.Advance(kBindWork * static_cast<double>(targets[t]->vertices.size()));
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return shapes;
}

StageFacts Shapes::Facts() const {
  std::size_t controls = 0;
  for (const std::size_t control : shape_control) controls = std::max(controls, control + 1);
  return {.method = Params::kName,
          .in = Space::kRest,
          .out = Space::kRest,
          .pointwise = true,
          .scratch_floats = target_weight.size() * (kActiveFloats + 1),
          .controls = controls};
}

void Shapes::Run(const StageFrame& frame) const {
  const auto list = reinterpret_cast<ActiveTarget*>(frame.scratch.data());
  std::size_t count = 0;
  for (std::size_t s = 0; s < shape_control.size(); ++s) {
    const float value = frame.posed.controls[shape_control[s]];
    if (value == 0) continue;
    const std::size_t first = shape_target[s], targets = shape_target[s + 1] - first;
    const auto coefficients = frame.scratch.subspan(target_weight.size() * kActiveFloats, targets);
    BlendTargets(std::span(target_weight).subspan(first, targets), double{value}, double{strength},
                 coefficients);
    for (std::size_t t = 0; t < targets; ++t) {
      // An empty target is a knot, but no chunk needs to search its blocks.
      const bool empty = target_pair[first + t] == target_pair[first + t + 1];
      if (coefficients[t] == 0 || empty) continue;
      list[count++] = {coefficients[t], static_cast<std::uint32_t>(first + t)};
    }
  }
  const std::span<const ActiveTarget> active(list, count);

  frame.task.For(frame.layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    alignas(kAlignment) float sum[kGrain * kBlockFloats];
    bool moved = false;
    for (const ActiveTarget& a : active) {
      const auto blocks = pair_block.begin();
      const auto first = std::lower_bound(blocks + target_pair[a.target],
                                          blocks + target_pair[a.target + 1], begin);
      const auto last = std::lower_bound(first, blocks + target_pair[a.target + 1], end);
      if (first == last) continue;
      if (!moved) std::fill_n(sum, (end - begin) * kBlockFloats, 0.0f);
      moved = true;
      AddOffsetsKernel({.block = pair_block.data(),
                        .offsets = offsets.data(),
                        .sum = sum,
                        .first_block = static_cast<std::uint32_t>(begin),
                        .coefficient = a.coefficient},
                       static_cast<std::size_t>(first - blocks),
                       static_cast<std::size_t>(last - blocks));
    }
    if (moved) {
      MoveByKernel(frame.in[begin].x, sum, frame.out[begin].x, end - begin);
    } else if (frame.in.data() != frame.out.data()) {
      std::copy(frame.in.begin() + static_cast<std::ptrdiff_t>(begin),
                frame.in.begin() + static_cast<std::ptrdiff_t>(end),
                frame.out.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  });
}

std::vector<BindStatistic> Shapes::Statistics() const {
  return {{.name = "targets",
           .value = static_cast<double>(target_weight.size()),
           .unit = "",
           .description = "Shape targets the stage blends; 0 = the rig has no shapes and the stage "
                          "does nothing."}};
}

}  // namespace sinew
