#include "core/deform/implicit/track/tracking_status.h"

#include <algorithm>
#include <cmath>

#include "core/deform/implicit/track/tracking_buffers.h"
#include "core/deform/method/vertex_status.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 64;     // blocks
constexpr float kDisplaced = 1e-3f;    // relative to unit: smaller displacements count as none
constexpr float kOffLevel = 0.02f;     // relative to unit
constexpr float kNoDirection = 1e-5f;  // |gradient| times the unit

}  // namespace

std::vector<std::uint8_t> TrackedVertexStatus(const SkinSurface& skin, const PosedField& field,
                                              Contact contact, float unit,
                                              const TrackedPoints& points, const Task& task) {
  std::vector<std::uint8_t> vertex_status(skin.points());
  const auto state_of = [&](std::size_t p, const FieldBlock& now, const FieldBlock& plain) {
    const std::size_t i = p % kLanes;
    if (!skin.IsSkin(p)) return VertexStatus::kExcluded;
    const float slope = std::hypot(now.x[i], now.y[i], now.z[i]), near = kOffLevel * unit * slope;
    if (!(slope * unit > kNoDirection)) return VertexStatus::kZeroGradient;
    if (std::abs(now.value[i] - skin.potential[p]) > near) return VertexStatus::kIterationLimit;
    if (plain.value[i] - now.value[i] > near) return VertexStatus::kGradientDivergence;
    const float *at = points.at + p * 4, *skinned = points.skinned + p * 4;
    const float shift = std::hypot(at[0] - skinned[0], at[1] - skinned[1], at[2] - skinned[2]);
    return shift > kDisplaced * unit ? VertexStatus::kFitted : VertexStatus::kNotDisplaced;
  };
  task.For(WholeBlocks(skin.points()), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t first = begin * kLanes; first < end * kLanes; first += kLanes) {
      const PointBlock block = PackedBlock(points.at + first * 4, kLanes);
      FieldBlock now, plain;
      field.Evaluate(block, contact, now);
      field.Evaluate(block, Contact::kCrease, plain);
      for (std::size_t p = first; p < std::min(first + kLanes, skin.points()); ++p) {
        vertex_status[p] = static_cast<std::uint8_t>(state_of(p, now, plain));
      }
    }
  });
  return vertex_status;
}

}  // namespace sinew
