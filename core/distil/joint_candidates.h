// joint_candidates.h - which joints could move a vertex: its own, and those of the skin around it.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>

#include "core/base/rows.h"
#include "core/examples/linear_blend_fit.h"
#include "core/parallel/task.h"

namespace sinew {

// Spreads the weights over the neighbours `rings` times and returns for each vertex the joints that
// it then has, rising: its own with their weights, then the strongest others, with the weight 0, up
// to `most`. The same for any number of threads.
//
//    own         [n] joints rising, each once, at least one with a weight above 0
//    neighbours  [n]
//    allowed     whether a joint may move a vertex that does not have it
Rows<JointWeight> JointCandidates(const Rows<JointWeight>& own,
                                  const Rows<std::uint32_t>& neighbours, std::size_t rings,
                                  std::size_t most,
                                  absl::FunctionRef<bool(std::size_t, std::uint32_t)> allowed,
                                  const Task& task);

}  // namespace sinew
