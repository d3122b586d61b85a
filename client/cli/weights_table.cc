#include "client/cli/weights_table.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "client/cli/quantity.h"
#include "client/cli/table.h"

namespace sinew::cli {
namespace {

// Calls visit(vertex, joint, weight) for every influence, vertices in rig order.
template <class Visit>
void ForEachInfluence(const client::RigData& rig, Visit&& visit) {
  std::size_t first = 0;
  for (const client::Mesh& mesh : rig.meshes) {
    const client::Skin& skin = mesh.skin;
    std::size_t at = 0;
    for (std::size_t v = 0; v < skin.influence_counts.size(); ++v) {
      for (const std::size_t end = at + skin.influence_counts[v]; at < end; ++at) {
        const std::size_t slot = skin.influence_joints[at];
        if (slot >= skin.joints.size() || skin.joints[slot] >= rig.joints.size()) continue;
        visit(first + v, std::size_t{skin.joints[slot]}, skin.influence_weights[at]);
      }
    }
    first += mesh.vertices();
  }
}

bool HasWeights(const client::RigData& rig) {
  return std::none_of(rig.meshes.begin(), rig.meshes.end(),
                      [](const client::Mesh& mesh) { return mesh.skin.empty(); });
}

// [V] joint to weight.
std::vector<std::unordered_map<std::size_t, double>> Rows(const client::RigData& rig) {
  std::vector<std::unordered_map<std::size_t, double>> rows(rig.vertices());
  ForEachInfluence(rig, [&](std::size_t v, std::size_t joint, float weight) {
    rows[v][joint] += double{weight};
  });
  return rows;
}

}  // namespace

std::vector<JointShare> JointShares(const client::RigData& rig) {
  std::vector<JointShare> shares(rig.joints.size());
  for (std::size_t j = 0; j < shares.size(); ++j) shares[j].joint = j;
  double total = 0;
  ForEachInfluence(rig, [&](std::size_t, std::size_t joint, float weight) {
    if (weight == 0) return;
    JointShare& share = shares[joint];
    ++share.vertices;
    share.share += double{weight};
    share.largest = std::max(share.largest, weight);
    total += double{weight};
  });
  for (JointShare& share : shares) share.share = total > 0 ? share.share / total : 0;
  return shares;
}

std::optional<WeightDifference> CompareWeights(const client::RigData& a, const client::RigData& b) {
  if (!HasWeights(a) || !HasWeights(b) || a.vertices() != b.vertices() ||
      a.joints.size() != b.joints.size() || a.vertices() == 0) {
    return std::nullopt;
  }
  const auto rows_a = Rows(a), rows_b = Rows(b);
  double sum = 0, entries = 0;
  const auto weight = [](const auto& row, std::size_t joint) {
    const auto found = row.find(joint);
    return found == row.end() ? 0.0 : found->second;
  };
  for (std::size_t v = 0; v < rows_a.size(); ++v) {
    for (const auto& [joint, value] : rows_a[v]) {
      sum += std::abs(value - weight(rows_b[v], joint));
      ++entries;
    }
    for (const auto& [joint, value] : rows_b[v]) {
      if (rows_a[v].contains(joint)) continue;
      sum += std::abs(value);
      ++entries;
    }
  }
  return WeightDifference{.mean_absolute = entries > 0 ? sum / entries : 0,
                          .moved = 0.5 * sum / static_cast<double>(rows_a.size())};
}

std::string WeightsText(const client::RigData& rig) {
  std::vector<JointShare> shares = JointShares(rig);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const JointShare& a, const JointShare& b) { return a.share > b.share; });
  using enum Table::Align;
  Table table({{"joint"}, {"vertices", kRight}, {"share", kRight}, {"largest", kRight}});
  for (const JointShare& share : shares) {
    if (share.vertices == 0) break;
    table.Add({rig.joints[share.joint].name, CountText(share.vertices),
               absl::StrFormat("%.2f %%", share.share * 100),
               absl::StrFormat("%.3f", share.largest)});
  }
  return table.Text();
}

}  // namespace sinew::cli
