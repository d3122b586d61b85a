#include "core/deform/spherical_blend/joint_sets.h"

#include <algorithm>
#include <numeric>

#include "core/base/status.h"
#include "core/rig/bones.h"

namespace sinew {
namespace {

constexpr std::size_t kCheckedLanes = 65536;  // some milliseconds

// Calls visit(lane, set) whenever the set differs from the previous lane's. Rare, because vertices
// are sorted by their sets. kCancelled.
template <class Visit>
absl::Status ForEachRun(const Rig& rig, const BlockLayout& layout, std::uint32_t max_influences,
                        const Task& task, Visit&& visit) {
  std::vector<std::uint16_t> set, last;
  for (std::size_t lane = 0; lane < layout.order.size(); ++lane) {
    if (lane % kCheckedLanes == 0) SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    const auto row = rig.influences().bindings(layout.Vertex(lane), max_influences);
    set.assign(row.begin(), row.end());
    std::sort(set.begin(), set.end());
    if (set == last) continue;
    visit(lane, std::span<const std::uint16_t>(set));
    last = set;
  }
  return task.CheckCancelled();
}

constexpr std::uint32_t kNoBinding = 0xffffffffu;

}  // namespace

absl::StatusOr<JointSets> JointSets::Create(const Rig& rig, const BlockLayout& layout,
                                            std::uint32_t max_influences, const Task& task) {
  std::vector<std::uint32_t> first;  // lane of each run
  JointSets runs;
  runs.offset.push_back(0);
  SINEW_RETURN_IF_ERROR(
      ForEachRun(rig, layout, max_influences, task, [&](std::size_t lane, auto set) {
        first.push_back(static_cast<std::uint32_t>(lane));
        runs.entry.insert(runs.entry.end(), set.begin(), set.end());
        runs.offset.push_back(static_cast<std::uint32_t>(runs.entry.size()));
      }));
  std::vector<std::uint32_t> order(first.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(runs.set(a), runs.set(b));
  });

  JointSets sets;
  sets.offset.push_back(0);
  sets.lane_set.resize(layout.order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto set = runs.set(order[i]);
    if (i == 0 || !std::ranges::equal(set, runs.set(order[i - 1]))) {
      sets.entry.insert(sets.entry.end(), set.begin(), set.end());
      sets.offset.push_back(static_cast<std::uint32_t>(sets.entry.size()));
    }
    const std::size_t run = order[i];
    const std::size_t end = run + 1 < first.size() ? first[run + 1] : layout.order.size();
    std::fill(sets.lane_set.begin() + first[run],
              sets.lane_set.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<std::uint32_t>(sets.size() - 1));
  }
  sets.offset.shrink_to_fit();
  sets.entry.shrink_to_fit();
  return sets;
}

absl::StatusOr<JointSets::Bound> JointSets::CountAtMost(const Rig& rig, const BlockLayout& layout,
                                                        std::uint32_t max_influences,
                                                        const Task& task) {
  Bound bound;
  SINEW_RETURN_IF_ERROR(ForEachRun(rig, layout, max_influences, task, [&](std::size_t, auto set) {
    ++bound.sets;
    bound.entries += set.size();
  }));
  return bound;
}

std::vector<Vec3d> BindOrigins(const Rig& rig, const Vec3d& centre) {
  std::vector<Vec3d> origins;
  for (const Binding& binding : rig.bindings()) {
    const AffineD& rest = rig.skeleton().rest_model()[binding.joint];
    origins.push_back(
        Translation(Flattens(Linear(binding.inverse_bind)) ? rest : Inverse(binding.inverse_bind)) -
        centre);
  }
  return origins;
}

ExpectedCentres::ExpectedCentres(const Rig& rig, const Vec3d& centre,
                                 std::span<const Vec3d> origins)
    : rig_(rig),
      centre_(centre),
      origins_(origins),
      order_(rig.skeleton()),
      first_binding_(rig.joints(), kNoBinding) {
  for (std::size_t e = rig.bindings().size(); e-- > 0;) {
    first_binding_[rig.bindings()[e].joint] = static_cast<std::uint32_t>(e);
  }
}

Vec3d ExpectedCentres::Of(std::span<const std::uint16_t> set) {
  const auto joint = [&](std::size_t i) { return std::uint32_t{rig_.bindings()[set[i]].joint}; };
  entered_.resize(set.size());
  std::iota(entered_.begin(), entered_.end(), 0u);
  std::sort(entered_.begin(), entered_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return order_.entry(joint(a)) < order_.entry(joint(b));
  });
  // In preorder, a joint that enters before the end of an earlier one is its descendant.
  descends_.resize(set.size());
  std::uint32_t end = 0, end_before = 0;  // latest end so far; the same without the joint itself
  for (std::size_t k = 0; k < set.size(); ++k) {
    const std::uint32_t j = joint(entered_[k]);
    if (k == 0 || j != joint(entered_[k - 1])) end_before = end;
    descends_[entered_[k]] = order_.entry(j) < end_before;
    end = std::max(end, order_.end(j));
  }
  Vec3d all, below;
  std::size_t count = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    all = all + origins_[set[i]];
    if (!descends_[i]) continue;
    below = below + origins_[set[i]];
    ++count;
  }
  if (count > 0) return (1 / static_cast<double>(count)) * below;
  const std::uint32_t common = order_.LowestCommon(joint(entered_.front()), joint(entered_.back()));
  if (common != kNoParent) return OriginOf(common, set.front());
  return (1 / static_cast<double>(set.size())) * all;
}

// Bind origin of a joint. If it is not bound: its rest position relative to the joint of binding
// `near`, mapped by that bind matrix.
Vec3d ExpectedCentres::OriginOf(std::uint32_t joint, std::uint16_t near) const {
  if (first_binding_[joint] != kNoBinding) return origins_[first_binding_[joint]];
  const auto rest = rig_.skeleton().rest_model();
  const Binding& binding = rig_.bindings()[near];
  const Vec3d at_rest = Translation(rest[joint]);
  const AffineD& near_rest = rest[binding.joint];
  if (Flattens(Linear(binding.inverse_bind)) || Flattens(Linear(near_rest))) {
    return at_rest - centre_;
  }
  return Apply(Inverse(binding.inverse_bind), Apply(Inverse(near_rest), at_rest)) - centre_;
}

}  // namespace sinew
