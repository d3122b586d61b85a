#include "core/examples/candidates.h"

#include <algorithm>
#include <numeric>

namespace sinew {
namespace {

constexpr double kNothing = 1e-12;

}  // namespace

Candidates FindCandidates(const Rows<JointWeight>& own, std::size_t joints,
                          std::span<const std::uint64_t> offsets,
                          std::span<const std::uint32_t> neighbours, std::size_t rings,
                          std::size_t most, const Task& task) {
  const std::size_t points = offsets.size() - 1;
  const auto carried = CollectRows<std::pair<std::uint32_t, double>>(joints, [&](const auto& add) {
    for (std::size_t p = 0; p < points; ++p) {
      for (const JointWeight& entry : own.row(p)) {
        add(entry.joint, std::pair(static_cast<std::uint32_t>(p), entry.weight));
      }
    }
  });
  // By joint: one column at a time, kept where it is above zero.
  std::vector<std::vector<std::pair<std::uint32_t, double>>> reached(joints);
  task.For(joints, 1, [&](std::size_t j, std::size_t) {
    if (carried.row(j).empty()) return;
    std::vector<double> column(points), next(points);
    for (const auto& [point, weight] : carried.row(j)) column[point] = weight;
    for (std::size_t ring = 0; ring < rings && !task.cancelled(); ++ring) {
      for (std::size_t p = 0; p < points; ++p) {
        double sum = 0;
        for (std::uint64_t k = offsets[p]; k < offsets[p + 1]; ++k) sum += column[neighbours[k]];
        const auto count = static_cast<double>(offsets[p + 1] - offsets[p]);
        next[p] = count > 0 ? 0.5 * (column[p] + sum / count) : column[p];
      }
      column.swap(next);
    }
    for (std::size_t p = 0; p < points; ++p) {
      if (column[p] > kNothing) reached[j].emplace_back(static_cast<std::uint32_t>(p), column[p]);
    }
  });
  struct Entry {
    JointWeight own;
    double reach;
  };
  const auto all = CollectRows<Entry>(points, [&](const auto& add) {
    for (std::uint32_t j = 0; j < joints; ++j) {
      for (const auto& [point, reach] : reached[j]) add(point, Entry{{j, 0}, reach});
    }
  });
  reached.clear();
  Candidates result;
  result.rows.offsets.push_back(0);
  for (std::size_t p = 0; p < points; ++p) {
    std::vector<Entry> row(all.row(p).begin(), all.row(p).end());
    for (const JointWeight& entry : own.row(p)) {
      const auto found = std::ranges::lower_bound(row, entry.joint, {},
                                                  [](const Entry& e) { return e.own.joint; });
      if (found == row.end() || found->own.joint != entry.joint) {
        row.insert(found, {entry, kNothing});
      } else {
        found->own.weight = entry.weight;
      }
    }
    // Its own first, then by reach; of equal ones the lower joint.
    std::ranges::stable_sort(row, [](const Entry& a, const Entry& b) {
      const bool mine = a.own.weight > 0, other = b.own.weight > 0;
      return mine != other ? mine : a.reach > b.reach;
    });
    const auto kept = static_cast<std::size_t>(
        std::ranges::count_if(row, [](const Entry& e) { return e.own.weight > 0; }));
    row.resize(std::min(row.size(), std::max(most, kept)));
    std::ranges::sort(row, {}, [](const Entry& e) { return e.own.joint; });
    for (const Entry& entry : row) {
      result.rows.values.push_back(entry.own);
      result.reach.push_back(entry.reach);
    }
    result.rows.offsets.push_back(result.rows.values.size());
  }
  return result;
}

Rows<JointWeight> FillUp(const Rows<JointWeight>& weights, const Candidates& candidates,
                         std::size_t most) {
  Rows<JointWeight> rows;
  rows.offsets.push_back(0);
  for (std::size_t v = 0; v + 1 < weights.offsets.size(); ++v) {
    std::vector<JointWeight> row(weights.row(v).begin(), weights.row(v).end());
    std::vector<std::size_t> order(candidates.rows.row(v).size());
    std::iota(order.begin(), order.end(), candidates.rows.offsets[v]);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t k) { return candidates.reach[k]; });
    for (const std::size_t k : order) {
      const std::uint32_t joint = candidates.rows.values[k].joint;
      if (row.size() >= most) break;
      if (std::ranges::find(row, joint, &JointWeight::joint) == row.end())
        row.push_back({joint, 0});
    }
    std::ranges::sort(row, {}, &JointWeight::joint);
    rows.values.insert(rows.values.end(), row.begin(), row.end());
    rows.offsets.push_back(rows.values.size());
  }
  return rows;
}

}  // namespace sinew
