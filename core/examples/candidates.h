// candidates.h - the joints that may carry a vertex when weights are fitted to examples: its own
// and those of its surroundings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rows.h"
#include "core/examples/pose_examples.h"
#include "core/parallel/task.h"

namespace sinew {

// What a fit to a whole character uses: no vertex of the ones tried needed more.
inline constexpr std::size_t kCandidateRings = 12, kMostCandidates = 16;

struct Candidates {
  Rows<JointWeight> rows;     // rising joints with the given weights, 0 for those of others
  std::vector<double> reach;  // [rows.values] weights smoothed over the surface, sum about 1
};

// The joints that have weight within `rings` rings, of which the `most` with the largest reach, and
// all that the vertex has itself if those are fewer. O(joints rings edges).
//
//    own         [n] rows of rising joints below `joints`, with weights
//    offsets     [n + 1] into neighbours: the surface
Candidates FindCandidates(const Rows<JointWeight>& own, std::size_t joints,
                          std::span<const std::uint64_t> offsets,
                          std::span<const std::uint32_t> neighbours, std::size_t rings,
                          std::size_t most, const Task& task);

// Weights, filled up to `most` joints a row by candidates of weight 0 with the largest reach;
// rising. A row with more joints keeps them.
Rows<JointWeight> FillUp(const Rows<JointWeight>& weights, const Candidates& candidates,
                         std::size_t most);

}  // namespace sinew
