// clusters.h - parts of a mesh that move rigidly, as the start of a decomposition.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/decompose/bones.h"
#include "core/decompose/sequence.h"
#include "core/parallel/task.h"

namespace sinew::decompose {

struct Clusters {
  std::vector<std::uint32_t> label;  // [P] bone of a point
  Bones bones;
};

// At most `most` clusters, which stay connected along edges: each round splits the worst and moves
// their borders. Ends early when a round adds none, as when all is exact. kCancelled.
absl::StatusOr<Clusters> MakeClusters(const Sequence& sequence, std::size_t most, const Task& task);

}  // namespace sinew::decompose
