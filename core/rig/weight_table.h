// weight_table.h - skin weights packed for kernels: 16 lanes of weights per (block, binding) pair.
//
// Shared by all methods that blend the rig's influences (lbs, dqs, ...).
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>

#include "core/base/aligned.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/rig.h"

namespace sinew {

// Whether linear blending of the `most` strongest weights (0 = all) has them all. Then it uses own
// rows; a choice of joints must be the same on both sides of a seam.
inline bool BlendsAll(const Rig& rig, std::size_t most) {
  return most == 0 || rig.own_influences().max_per_vertex() <= most;
}

struct WeightTable {
  BlockJoints joints;
  AlignedVector<float> weights;  // [pairs][16], 0 where a lane does not use the binding

  // max_influences > 0 keeps that many strongest weights per vertex and renormalises them in
  // double; 0 keeps all. kCancelled.
  static absl::StatusOr<WeightTable> Create(const Rig& rig, const BlockLayout& layout,
                                            std::uint32_t max_influences, const Task& task);
  // All weights of Rig::own_influences. kCancelled.
  static absl::StatusOr<WeightTable> CreateOwn(const Rig& rig, const BlockLayout& layout,
                                               const Task& task);
  // Upper limit of the bytes that either allocates and keeps.
  static std::size_t CostBytes(const Rig& rig, const BlockLayout& layout);

  // For the Fields function of the method that contains it.
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    BlockJoints::Fields(self.joints, visit, rig);
    visit("weights", self.weights, rule::Size(self.joints.pairs() * kLanes),
          rule::Within{0, 1.0001f});
  }
};

}  // namespace sinew
