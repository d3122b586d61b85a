#include "core/rig/layout.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <numeric>

#include "core/base/status.h"

namespace sinew {
namespace {

absl::Status Damaged(std::string_view what) {
  return DataLoss("bound data: layout: ", what);
}

// File vertices by (pivot, set of bindings, index). Sets are compared as sorted lists.
std::vector<std::uint32_t> SortVertices(const Rig& rig) {
  const Influences& influences = rig.influences();
  std::vector<std::uint16_t> sorted(influences.all_bindings().begin(),
                                    influences.all_bindings().end());
  const auto row = [&](std::uint32_t v) {
    return std::span(sorted).subspan(influences.offsets()[v],
                                     influences.offsets()[v + 1] - influences.offsets()[v]);
  };
  std::vector<std::uint32_t> order(rig.vertices());
  std::iota(order.begin(), order.end(), 0u);
  for (const std::uint32_t v : order) std::sort(row(v).begin(), row(v).end());
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::uint16_t pa = influences.bindings(a).front(), pb = influences.bindings(b).front();
    if (pa != pb) return pa < pb;
    const auto ra = row(a), rb = row(b);
    if (!std::ranges::equal(ra, rb)) {
      return std::lexicographical_compare(ra.begin(), ra.end(), rb.begin(), rb.end());
    }
    return a < b;
  });
  return order;
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
