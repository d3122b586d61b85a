#include "core/distil/joint_candidates.h"

#include <algorithm>
#include <vector>

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256;

// One entry for each joint, rising.
void MergeJoints(std::vector<JointWeight>& row) {
  std::ranges::stable_sort(row, {}, &JointWeight::joint);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (kept > 0 && row[kept - 1].joint == row[k].joint) {
      row[kept - 1].weight += row[k].weight;
    } else {
      row[kept++] = row[k];
    }
  }
  row.resize(kept);
}

// Keeps the `most` largest; of equal ones those of the lower joints.
void KeepLargest(std::size_t most, std::vector<JointWeight>& row) {
  if (row.size() <= most) return;
  std::ranges::stable_sort(row, std::ranges::greater{}, &JointWeight::weight);
  row.resize(most);
  std::ranges::sort(row, {}, &JointWeight::joint);
}

}  // namespace

Rows<JointWeight> JointCandidates(const Rows<JointWeight>& own,
                                  const Rows<std::uint32_t>& neighbours, std::size_t rings,
                                  std::size_t most,
                                  absl::FunctionRef<bool(std::size_t, std::uint32_t)> allowed,
                                  const Task& task) {
  const std::size_t n = own.offsets.size() - 1;
  std::vector<std::vector<JointWeight>> spread(n), next(n);
  for (std::size_t i = 0; i < n; ++i) spread[i].assign(own.row(i).begin(), own.row(i).end());
  for (std::size_t ring = 0; ring < rings; ++ring) {
    task.For(n, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        std::vector<JointWeight>& row = next[i];
        row = spread[i];
        const double share = 1 / static_cast<double>(neighbours.row(i).size());
        for (const std::uint32_t other : neighbours.row(i)) {
          for (const JointWeight& entry : spread[other]) {
            if (allowed(i, entry.joint)) row.push_back({entry.joint, share * entry.weight});
          }
        }
        MergeJoints(row);
        KeepLargest(most, row);
      }
    });
    spread.swap(next);
  }
  task.For(n, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      // Its own joints outrank all others; afterwards they alone have a weight.
      std::vector<JointWeight>& row = spread[i];
      for (JointWeight entry : own.row(i)) row.push_back({entry.joint, 1e9});
      MergeJoints(row);
      KeepLargest(std::max(most, own.row(i).size()), row);
      std::size_t k = 0;
      for (JointWeight& entry : row) {
        const bool is_own = k < own.row(i).size() && own.row(i)[k].joint == entry.joint;
        entry.weight = is_own ? own.row(i)[k++].weight : 0;
      }
    }
  });
  return CollectRows<JointWeight>(n, [&](const auto& add) {
    for (std::size_t i = 0; i < n; ++i) {
      for (const JointWeight& entry : spread[i]) add(i, entry);
    }
  });
}

}  // namespace sinew
