#include "core/rig/layout.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>
#include <absl/types/span.h>

#include <algorithm>
#include <numeric>

#include "core/base/rows.h"
#include "core/base/status.h"

namespace sinew {
namespace {

absl::Status Damaged(std::string_view what) {
  return DataLoss("bound data: layout: ", what);
}

// Compares vertices by their pivot and the set of their bindings, a sorted list.
struct Binders {
  const Influences& influences;
  std::vector<std::uint16_t> sorted{influences.all_bindings().begin(),
                                    influences.all_bindings().end()};

  std::uint16_t pivot(std::uint32_t v) const { return influences.bindings(v).front(); }
  std::span<std::uint16_t> row(std::uint32_t v) {
    const auto offsets = influences.offsets();
    return std::span(sorted).subspan(offsets[v], offsets[v + 1] - offsets[v]);
  }
  absl::Span<const std::uint16_t> set(std::uint32_t v) const {
    const auto offsets = influences.offsets();
    return {sorted.data() + offsets[v], offsets[v + 1] - offsets[v]};
  }
};
struct BindersHash {
  const Binders* binders;
  std::size_t operator()(std::uint32_t v) const {
    return absl::HashOf(binders->pivot(v), binders->set(v));
  }
};
struct BindersEqual {
  const Binders* binders;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    return binders->pivot(a) == binders->pivot(b) && binders->set(a) == binders->set(b);
  }
};

// File vertices by (pivot, set of bindings, index).
std::vector<std::uint32_t> SortVertices(const Rig& rig) {
  const auto vertices = static_cast<std::uint32_t>(rig.vertices());
  Binders binders{rig.influences()};
  const BindersEqual equal{&binders};
  absl::flat_hash_set<std::uint32_t, BindersHash, BindersEqual> seen(0, BindersHash{&binders},
                                                                     equal);
  std::vector<std::uint32_t> place(vertices), first(vertices);  // first: vertex of the same set
  for (std::uint32_t v = 0; v < vertices; ++v) {
    std::ranges::sort(binders.row(v));
    first[v] = v > 0 && equal(v, v - 1) ? first[v - 1] : *seen.insert(v).first;
  }
  std::vector<std::uint32_t> sets(seen.begin(), seen.end());
  std::ranges::sort(sets, [&](std::uint32_t a, std::uint32_t b) {
    const std::uint16_t pa = binders.pivot(a), pb = binders.pivot(b);
    return pa != pb ? pa < pb : binders.set(a) < binders.set(b);
  });
  for (std::uint32_t i = 0; i < sets.size(); ++i) place[sets[i]] = i;
  return CollectRows<std::uint32_t>(sets.size(),
                                    [&](auto add) {
                                      for (std::uint32_t v = 0; v < vertices; ++v)
                                        add(place[first[v]], v);
                                    })
      .values;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const BlockLayout>> BlockLayout::Create(const Rig& rig) {
  auto layout = std::make_shared<BlockLayout>();
  layout->vertices = static_cast<std::uint32_t>(rig.vertices());
  layout->centre = rig.mesh().centre();
  layout->lane.resize(rig.vertices());
  const Influences& influences = rig.influences();
  std::size_t lane = kLanes;  // in the open block; kLanes = no block is open
  for (const std::uint32_t v : SortVertices(rig)) {
    const std::uint16_t pivot = influences.bindings(v).front();
    if (lane == kLanes || layout->pivot.back() != pivot) {
      layout->pivot.push_back(pivot);
      layout->order.resize(layout->pivot.size() * kLanes, -1);
      lane = 0;
    }
    const std::size_t at = (layout->pivot.size() - 1) * kLanes + lane++;
    layout->order[at] = static_cast<std::int32_t>(v);
    layout->lane[v] = static_cast<std::uint32_t>(at);
  }
  layout->rest.resize(layout->blocks());
  for (std::size_t i = 0; i < layout->order.size(); ++i) {
    const Vec3d p = ToDouble(rig.mesh().positions()[layout->Vertex(i)]) - layout->centre;
    layout->rest[i / kLanes].Set(i % kLanes, ToFloat(p));
  }
  layout->skin = UniteInfluences(*layout, influences);
  return std::shared_ptr<const BlockLayout>(std::move(layout));
}

absl::Status BlockLayout::Check(std::size_t bindings) const {
  SINEW_RETURN_IF_ERROR(CheckFields("layout", *this, Sizes(bindings)));
  for (std::size_t v = 0; v < vertices; ++v) {
    if (order[lane[v]] != static_cast<std::int32_t>(v)) {
      return Damaged(absl::StrCat("lane: vertex ", v, " has lane ", lane[v],
                                  ", which holds vertex ", order[lane[v]]));
    }
  }
  std::size_t used = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    // The writer of frames stops at the first padding lane of a block.
    if (order[i] >= 0 ? i % kLanes > 0 && order[i - 1] < 0 : i % kLanes == 0) {
      return Damaged(absl::StrCat("order: lane ", i, ": need vertices before padding in a block"));
    }
    used += order[i] >= 0;
  }
  if (used != vertices) {
    return Damaged(
        absl::StrCat("order: got ", used, " vertices, need each of ", vertices, " once"));
  }
  return absl::OkStatus();
}

BlockJoints UniteInfluences(const BlockLayout& layout, const Influences& influences,
                            std::size_t most) {
  return UniteRows(layout, [&](std::size_t v) { return influences.bindings(v, most); });
}

BlockJoints UniteRows(const BlockLayout& layout,
                      absl::FunctionRef<std::span<const std::uint16_t>(std::size_t v)> row) {
  BlockJoints joints;
  joints.offset.push_back(0);
  std::vector<std::uint16_t> united;
  for (std::size_t b = 0; b < layout.blocks(); ++b) {
    united.clear();
    for (std::size_t i = b * kLanes; i < (b + 1) * kLanes; ++i) {
      if (layout.order[i] < 0) continue;
      const auto bindings = row(static_cast<std::size_t>(layout.order[i]));
      united.insert(united.end(), bindings.begin(), bindings.end());
    }
    std::sort(united.begin(), united.end());
    united.erase(std::unique(united.begin(), united.end()), united.end());
    joints.entry.push_back(layout.pivot[b]);
    for (const std::uint16_t binding : united) {
      if (binding != layout.pivot[b]) joints.entry.push_back(binding);
    }
    joints.offset.push_back(static_cast<std::uint32_t>(joints.entry.size()));
  }
  return joints;
}

std::size_t FindPair(const BlockJoints& joints, std::size_t block, std::uint16_t binding) {
  const auto first = joints.entry.begin() + joints.offset[block];
  if (*first == binding) return joints.offset[block];
  const auto last = joints.entry.begin() + joints.offset[block + 1];
  return static_cast<std::size_t>(std::lower_bound(first + 1, last, binding) -
                                  joints.entry.begin());
}

}  // namespace sinew
