#include "core/deform/implicit/project/level_skin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/deform/implicit/project/constants.h"
#include "core/surface/rig_surface.h"

namespace sinew {
namespace {

constexpr float kFarGap = 100;        // of parts whose support a point is not in
constexpr std::size_t kGrain = 1024;  // points
constexpr float kInfinite = std::numeric_limits<float>::infinity();

// Another part near a point at bind.
struct Neighbour {
  std::uint16_t part = 0;
  float gap = 0, weight = 0;  // as in LevelSkin
};

class Binder {
 public:
  Binder(const BindInput& input, std::span<const std::int32_t> part_of_binding,
         const PosedField& bind_pose, const SkinSurface& skin, std::span<const Vec3d> rest)
      : rig_(input.rig),
        layout_(input.layout),
        ring_(input.surface.triangles()),
        points_of_(input.surface.order()),
        part_of_binding_(part_of_binding),
        bind_pose_(bind_pose),
        skin_(skin),
        rest_(rest),
        neighbours_(skin.points()) {
    for (std::vector<float>* const values :
         {&level_.level, &level_.to_axis, &level_.from_bone, &level_.own_weight,
          &level_.restore_share, &level_.move_share}) {
      values->resize(skin.points());
    }
    level_.owner.assign(skin.points(), kNoOwner);
    level_.restore_share.assign(skin.points(), 1);
    level_.inward.resize(skin.points());
  }

  absl::StatusOr<LevelSkin> Run(const Task& task) {
    if (bind_pose_.PartFrames().empty()) return Tables();
    ForBlocks(task, [&](std::size_t first, std::size_t count) { BindBlock(first, count); });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    SetMoveShares();
    ForBlocks(task, [&](std::size_t first, std::size_t count) { FindAxes(first, count); });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    return Tables();
  }

 private:
  template <class Visit>
  void ForBlocks(const Task& task, const Visit& visit) const {
    task.For(rest_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t first = begin; first < end; first += kLanes) {
        visit(first, std::min(kLanes, end - first));
      }
    });
  }

  std::uint32_t Vertex(std::size_t p) const { return layout_.Vertex(skin_.point_lane[p]); }

  // Welded points that share a triangle with point p.
  std::span<const std::uint32_t> Ring(std::uint32_t p) const {
    return ring_.row(points_of_.point[p]);
  }

  // Skin weight of a part's joints at point p.
  double WeightOf(std::size_t p, std::uint32_t part) const {
    const auto bindings = rig_.influences().bindings(Vertex(p));
    const auto weights = rig_.influences().weights(Vertex(p));
    double sum = 0;
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      if (part_of_binding_[bindings[k]] == static_cast<std::int32_t>(part)) {
        sum += double{weights[k]};
      }
    }
    return sum;
  }

  void BindBlock(std::size_t first, std::size_t count) {
    const PointBlock at = BlockOf(count, [&](std::size_t i) { return ToFloat(rest_[first + i]); });
    DistanceNeed all;
    all.margin.fill(kInfinite);
    const PartBlocks parts = bind_pose_.Distances(at, all);
    for (std::size_t i = 0; i < count; ++i) {
      if (skin_.IsSkin(first + i)) BindPoint(first + i, i, parts);
    }
  }

  // The owner is the part that carries most of the point, of those whose support it is in; of
  // several that carry as much, the first.
  void BindPoint(std::size_t p, std::size_t i, const PartBlocks& parts) {
    double most = 0;
    for (const PartBlock& part : parts) {
      if (IsNear(part, i)) most = std::max(most, WeightOf(p, part.part));
    }
    const auto owner = std::ranges::find_if(parts, [&](const PartBlock& part) {
      const double weight = WeightOf(p, part.part);
      return IsNear(part, i) && weight > 0 && weight >= most - kTiedWeight;
    });
    if (owner == parts.end()) return;
    const Vec3d gradient = {double{owner->x[i]}, double{owner->y[i]}, double{owner->z[i]}};
    if (!(Length(gradient) > 0)) return;
    const float size = bind_pose_.Size(owner->part);
    level_.owner[p] = static_cast<std::uint16_t>(owner->part);
    level_.own_weight[p] = static_cast<float>(WeightOf(p, owner->part));
    level_.inward[p] = ToFloat(-1 * Unit(gradient));
    level_.level[p] = owner->value[i] / size;
    const Vec3d from_bone = ToDouble(bind_pose_.FromBone(owner->part, ToFloat(rest_[p])));
    level_.from_bone[p] = static_cast<float>(Length(from_bone)) / size;
    std::vector<Neighbour>& neighbours = neighbours_[p];
    for (const PartBlock& part : parts) {
      if (&part == &*owner || !IsNear(part, i)) continue;
      const float gap = (part.value[i] - owner->value[i]) / size;
      const double weight = WeightOf(p, part.part);
      if (!(weight > 0) && !(gap < kLeanWidth)) continue;
      neighbours.push_back(
          {static_cast<std::uint16_t>(part.part), gap, static_cast<float>(weight)});
    }
    AddFarParts(p);
    if (neighbours.size() > kMostNeighbours) {
      std::ranges::stable_sort(neighbours, {}, &Neighbour::gap);
      neighbours.resize(kMostNeighbours);
      std::ranges::sort(neighbours, {}, &Neighbour::part);
    }
    neighbours.shrink_to_fit();
    for (const Neighbour& of : neighbours) {
      level_.restore_share[p] = std::min(level_.restore_share[p], RestoreShareBeside(p, of));
    }
  }

  // Two bones that meet near the point belong to one joint, and their parts agree on the level of
  // their common skin. Between bones that lie apart, such as those of thumb and index finger, each
  // would pull its own points towards itself; such points follow the blend, the more equally both
  // bones carry them.
  float RestoreShareBeside(std::size_t p, const Neighbour& of) const {
    const Vec3f at = ToFloat(rest_[p]);
    const Vec3d own = ToDouble(bind_pose_.FromBone(level_.owner[p], at));
    const Vec3d other = ToDouble(bind_pose_.FromBone(of.part, at));
    const double apart = Length(own - other) / double{bind_pose_.Size(level_.owner[p])};
    const float weight = level_.own_weight[p];
    const double more = double{weight - of.weight};
    const double share = more > 0 ? SmoothStep(more / double{weight + of.weight}) : 0;
    return static_cast<float>(std::max(share, 1 - SmoothStep(kOneJoint, kApart, apart)));
  }

  // Parts that carry the point, but whose support it is not in.
  void AddFarParts(std::size_t p) {
    std::vector<Neighbour>& neighbours = neighbours_[p];
    for (const std::uint32_t binding : rig_.influences().bindings(Vertex(p))) {
      const std::int32_t part = part_of_binding_[binding];
      if (part < 0 || part == static_cast<std::int32_t>(level_.owner[p])) continue;
      const auto number = static_cast<std::uint16_t>(part);
      const double weight = WeightOf(p, number);
      if (!(weight > 0) || std::ranges::count(neighbours, number, &Neighbour::part) > 0) continue;
      neighbours.push_back({number, kFarGap, static_cast<float>(weight)});
    }
    std::ranges::sort(neighbours, {}, &Neighbour::part);
  }

  // Skin that the field of its owner does not fit, or that many parts share, is not projected.
  void SetMoveShares() {
    for (std::size_t p = 0; p < rest_.size(); ++p) {
      if (level_.owner[p] == kNoOwner) continue;
      float second = 0;
      for (const Neighbour& of : neighbours_[p]) {
        if (of.gap < kFarGap) second = std::max(second, of.weight);
      }
      level_.move_share[p] = static_cast<float>(
          (1 - SmoothStep(kFieldFits, kFieldMisses, double{std::abs(level_.level[p])})) *
          SmoothStep(kMixedSkin, kOwnSkin, double{level_.own_weight[p] + second}));
    }
    for (int pass = 0; pass < kShareSmoothing; ++pass) {
      const std::vector<float> before = level_.move_share;
      for (std::uint32_t p = 0; p < rest_.size(); ++p) {
        // The average of the point and of its projected neighbours.
        float sum = 0, count = 0;
        for (const std::uint32_t q : Ring(p)) {
          const std::uint32_t beside = points_of_.number[q];
          if (level_.owner[beside] == kNoOwner) continue;
          sum += before[beside];
          ++count;
        }
        if (count > 0) {
          level_.move_share[p] = std::min(before[p], 0.5f * (before[p] + sum / count));
        }
      }
    }
    for (std::size_t p = 0; p < rest_.size(); ++p) {
      if (!(level_.move_share[p] > 0)) level_.owner[p] = kNoOwner;
    }
  }

  // Steps inward until f of the owner rises again.
  void FindAxes(std::size_t first, std::size_t count) {
    DistanceNeed need;
    need.level.fill(-kInfinite);
    need.margin.fill(-kInfinite);
    std::array<std::array<float, 2>, kLanes> last;  // f at the two steps before
    last.fill({kInfinite, kInfinite});
    std::array<bool, kLanes> done{};
    for (std::size_t i = 0; i < count; ++i) {
      need.own[i] = level_.owner[first + i];
      done[i] = need.own[i] == kNoOwner;
      if (done[i]) need.own[i] = 0;
    }
    for (std::size_t i = count; i < kLanes; ++i) need.own[i] = need.own[0];
    for (int k = 0; k <= kAxisSteps; ++k) {
      const float way = static_cast<float>(k) * (kMostToAxis / kAxisSteps);
      const PointBlock at = BlockOf(count, [&](std::size_t i) {
        const float length = way * bind_pose_.Size(need.own[i]) * bind_pose_.unit();
        return ToFloat(rest_[first + i] + double{length} * ToDouble(level_.inward[first + i]));
      });
      const PartBlocks parts = bind_pose_.Distances(at, need);
      for (std::size_t i = 0; i < count; ++i) {
        const float f = std::ranges::find(parts, need.own[i], &PartBlock::part)->value[i];
        if (done[i]) continue;
        float& to_axis = level_.to_axis[first + i];
        const auto [before, at_least] = last[i];
        if (f < at_least) {
          to_axis = way;
        } else {
          done[i] = true;
          // The vertex of the parabola through the three steps.
          const float bend = before - 2 * at_least + f;
          if (before < kInfinite && bend > 0) {
            to_axis += 0.5f * (before - f) / bend * (kMostToAxis / kAxisSteps);
            to_axis = std::clamp(to_axis, 0.0f, kMostToAxis);
          }
        }
        last[i] = {at_least, f};
      }
    }
  }

  bool IsNear(const PartBlock& part, std::size_t i) const {
    return part.value[i] < bind_pose_.Reach(part.part);
  }

  LevelSkin Tables() {
    level_.neighbours = {0};
    level_.neighbours.reserve(rest_.size() + 1);
    for (const std::vector<Neighbour>& neighbours : neighbours_) {
      for (const Neighbour& of : neighbours) {
        level_.part.push_back(of.part);
        level_.gap.push_back(of.gap);
        level_.weight.push_back(of.weight);
      }
      level_.neighbours.push_back(static_cast<std::uint32_t>(level_.part.size()));
    }
    level_.part.shrink_to_fit();
    level_.gap.shrink_to_fit();
    level_.weight.shrink_to_fit();
    return std::move(level_);
  }

  const Rig& rig_;
  const BlockLayout& layout_;
  const Adjacency& ring_;
  const PointOrder& points_of_;  // of welded points
  const std::span<const std::int32_t> part_of_binding_;
  const PosedField& bind_pose_;
  const SkinSurface& skin_;
  const std::span<const Vec3d> rest_;               // [P] bind pose
  std::vector<std::vector<Neighbour>> neighbours_;  // [P] ascending
  LevelSkin level_;
};

}  // namespace

absl::StatusOr<LevelSkin> BindLevelSkin(const BindInput& input,
                                        std::span<const std::int32_t> part_of_binding,
                                        const PosedField& bind_pose, const SkinSurface& skin,
                                        std::span<const Vec3d> rest, const Task& task) {
  return Binder(input, part_of_binding, bind_pose, skin, rest).Run(task);
}

}  // namespace sinew
