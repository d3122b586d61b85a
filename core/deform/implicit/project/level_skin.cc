#include "core/deform/implicit/project/level_skin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

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

Vec3d GradientOf(const FieldBlock& block, std::size_t i) {
  return {double{block.x[i]}, double{block.y[i]}, double{block.z[i]}};
}

// One point at bind.
struct BoundPoint {
  std::uint16_t owner = kNoOwner;
  float level = 0, to_axis = 0, from_bone = 0, own_weight = 0, restore_share = 1, move_share = 0;
  Vec3f inward;
  std::vector<LevelSkin::Neighbour> neighbours;
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
        points_(skin.points()) {}

  absl::StatusOr<LevelSkin> Run(const Task& task) {
    task.For(points_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t first = begin; first < end; first += kLanes) {
        BindBlock(first, std::min(kLanes, end - first));
      }
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    SetMoveShares();
    task.For(points_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t first = begin; first < end; first += kLanes) {
        FindAxes(first, std::min(kLanes, end - first));
      }
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    return Tables();
  }

 private:
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
    if (bind_pose_.PartFrames().empty()) return;
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
    BoundPoint& point = points_[p];
    double most = 0;
    for (const PartBlock& part : parts) {
      if (IsNear(part, i)) most = std::max(most, WeightOf(p, part.part));
    }
    const PartBlock* owner = nullptr;
    for (const PartBlock& part : parts) {
      const double weight = WeightOf(p, part.part);
      if (!IsNear(part, i) || !(weight > 0) || weight < most - kTiedWeight) continue;
      owner = &part;
      break;
    }
    if (owner == nullptr) return;
    const Vec3d gradient = GradientOf(*owner, i);
    if (!(Length(gradient) > 0)) return;
    const float size = bind_pose_.Size(owner->part);
    point.owner = static_cast<std::uint16_t>(owner->part);
    point.own_weight = static_cast<float>(WeightOf(p, owner->part));
    point.inward = ToFloat(-1 * Unit(gradient));
    point.level = owner->value[i] / size;
    const Vec3d from_bone = ToDouble(bind_pose_.FromBone(owner->part, ToFloat(rest_[p])));
    point.from_bone = static_cast<float>(Length(from_bone)) / size;
    for (const PartBlock& part : parts) {
      if (&part == owner || !IsNear(part, i)) continue;
      const float gap = (part.value[i] - owner->value[i]) / size;
      const double weight = WeightOf(p, part.part);
      if (!(weight > 0) && !(gap < kLeanWidth)) continue;
      point.neighbours.push_back({.part = static_cast<std::uint16_t>(part.part),
                                  .gap = gap,
                                  .weight = static_cast<float>(weight)});
    }
    AddFarParts(p);
    KeepNearest(point.neighbours);
    for (const LevelSkin::Neighbour& of : point.neighbours) {
      point.restore_share = std::min(point.restore_share, RestoreShareBeside(p, of));
    }
  }

  // Two bones that meet near the point belong to one joint, and their parts agree on the level of
  // their common skin. Between bones that lie apart, such as those of thumb and index finger, each
  // would pull its own points towards itself; such points follow the blend, the more equally both
  // bones carry them.
  float RestoreShareBeside(std::size_t p, const LevelSkin::Neighbour& of) const {
    const BoundPoint& point = points_[p];
    const Vec3f at = ToFloat(rest_[p]);
    const Vec3d own = ToDouble(bind_pose_.FromBone(point.owner, at));
    const Vec3d other = ToDouble(bind_pose_.FromBone(of.part, at));
    const double apart = Length(own - other) / double{bind_pose_.Size(point.owner)};
    const double more = double{point.own_weight - of.weight};
    const double share = more > 0 ? SmoothStep(more / double{point.own_weight + of.weight}) : 0;
    return static_cast<float>(std::max(share, 1 - SmoothStep(kOneJoint, kApart, apart)));
  }

  // Parts that carry the point, but whose support it is not in.
  void AddFarParts(std::size_t p) {
    BoundPoint& point = points_[p];
    for (const std::uint32_t binding : rig_.influences().bindings(Vertex(p))) {
      const std::int32_t part = part_of_binding_[binding];
      if (part < 0 || part == static_cast<std::int32_t>(point.owner)) continue;
      const auto number = static_cast<std::uint16_t>(part);
      const double weight = WeightOf(p, number);
      if (!(weight > 0) ||
          std::ranges::count(point.neighbours, number, &LevelSkin::Neighbour::part) > 0) {
        continue;
      }
      point.neighbours.push_back(
          {.part = number, .gap = kFarGap, .weight = static_cast<float>(weight)});
    }
    std::ranges::sort(point.neighbours, {}, &LevelSkin::Neighbour::part);
  }

  static double WeightOfTwo(const BoundPoint& point) {
    float second = 0;
    for (const LevelSkin::Neighbour& of : point.neighbours) {
      if (of.gap < kFarGap) second = std::max(second, of.weight);
    }
    return double{point.own_weight + second};
  }

  // Skin that the field of its owner does not fit, or that many parts share, is not projected.
  void SetMoveShares() {
    for (BoundPoint& point : points_) {
      if (point.owner == kNoOwner) continue;
      point.move_share = static_cast<float>(
          (1 - SmoothStep(kFieldFits, kFieldMisses, double{std::abs(point.level)})) *
          SmoothStep(kMixedSkin, kOwnSkin, WeightOfTwo(point)));
    }
    for (int pass = 0; pass < kShareSmoothing; ++pass) {
      const std::vector<float> smoothed = SmoothedShares();
      for (std::size_t p = 0; p < points_.size(); ++p) {
        points_[p].move_share = std::min(points_[p].move_share, smoothed[p]);
      }
    }
    for (BoundPoint& point : points_) {
      if (!(point.move_share > 0)) point.owner = kNoOwner;
    }
  }

  // Steps inward until f of the owner rises again.
  void FindAxes(std::size_t first, std::size_t count) {
    if (bind_pose_.PartFrames().empty()) return;
    DistanceNeed need;
    need.level.fill(-kInfinite);
    need.margin.fill(-kInfinite);
    std::array<std::array<float, 2>, kLanes> last;  // f at the two steps before
    last.fill({kInfinite, kInfinite});
    std::array<bool, kLanes> done{};
    for (std::size_t i = 0; i < count; ++i) {
      need.own[i] = points_[first + i].owner;
      done[i] = need.own[i] == kNoOwner;
      if (done[i]) need.own[i] = 0;
    }
    for (std::size_t i = count; i < kLanes; ++i) need.own[i] = need.own[0];
    for (int k = 0; k <= kAxisSteps; ++k) {
      const float way = static_cast<float>(k) * (kMostToAxis / kAxisSteps);
      const PointBlock at = BlockOf(count, [&](std::size_t i) {
        const float length = way * bind_pose_.Size(need.own[i]) * bind_pose_.unit();
        return ToFloat(rest_[first + i] + double{length} * ToDouble(points_[first + i].inward));
      });
      const PartBlocks parts = bind_pose_.Distances(at, need);
      for (std::size_t i = 0; i < count; ++i) {
        const float f = std::ranges::find(parts, need.own[i], &PartBlock::part)->value[i];
        if (done[i]) continue;
        float& to_axis = points_[first + i].to_axis;
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

  // Averages of each point and of its projected neighbours.
  std::vector<float> SmoothedShares() const {
    std::vector<float> next;
    next.reserve(points_.size());
    for (std::uint32_t p = 0; p < points_.size(); ++p) {
      float sum = 0, count = 0;
      for (const std::uint32_t q : Ring(p)) {
        const BoundPoint& beside = points_[points_of_.number[q]];
        if (beside.owner == kNoOwner) continue;
        sum += beside.move_share;
        ++count;
      }
      const float own = points_[p].move_share;
      next.push_back(count > 0 ? 0.5f * (own + sum / count) : own);
    }
    return next;
  }

  static void KeepNearest(std::vector<LevelSkin::Neighbour>& neighbours) {
    if (neighbours.size() > kMostNeighbours) {
      std::ranges::stable_sort(neighbours, {}, &LevelSkin::Neighbour::gap);
      neighbours.resize(kMostNeighbours);
      std::ranges::sort(neighbours, {}, &LevelSkin::Neighbour::part);
    }
    neighbours.shrink_to_fit();
  }

  bool IsNear(const PartBlock& part, std::size_t i) const {
    return part.value[i] < bind_pose_.Reach(part.part);
  }

  LevelSkin Tables() const {
    const auto column = [&]<class T>(T BoundPoint::*member) {
      std::vector<T> values;
      values.reserve(points_.size());
      for (const BoundPoint& point : points_) values.push_back(point.*member);
      return values;
    };
    std::vector<std::uint32_t> offsets = {0};
    offsets.reserve(points_.size() + 1);
    for (const BoundPoint& point : points_) {
      offsets.push_back(offsets.back() + static_cast<std::uint32_t>(point.neighbours.size()));
    }
    const auto rows = [&]<class T>(T LevelSkin::Neighbour::*member) {
      std::vector<T> values;
      values.reserve(offsets.back());
      for (const BoundPoint& point : points_) {
        for (const LevelSkin::Neighbour& of : point.neighbours) values.push_back(of.*member);
      }
      return values;
    };
    return {.owner = column(&BoundPoint::owner),
            .level = column(&BoundPoint::level),
            .to_axis = column(&BoundPoint::to_axis),
            .from_bone = column(&BoundPoint::from_bone),
            .own_weight = column(&BoundPoint::own_weight),
            .restore_share = column(&BoundPoint::restore_share),
            .move_share = column(&BoundPoint::move_share),
            .inward = column(&BoundPoint::inward),
            .neighbours = offsets,
            .part = rows(&LevelSkin::Neighbour::part),
            .gap = rows(&LevelSkin::Neighbour::gap),
            .weight = rows(&LevelSkin::Neighbour::weight)};
  }

  const Rig& rig_;
  const BlockLayout& layout_;
  const Adjacency& ring_;
  const PointOrder& points_of_;  // of welded points
  const std::span<const std::int32_t> part_of_binding_;
  const PosedField& bind_pose_;
  const SkinSurface& skin_;
  const std::span<const Vec3d> rest_;  // [P] bind pose
  std::vector<BoundPoint> points_;
};

}  // namespace

absl::StatusOr<LevelSkin> BindLevelSkin(const BindInput& input,
                                        std::span<const std::int32_t> part_of_binding,
                                        const PosedField& bind_pose, const SkinSurface& skin,
                                        std::span<const Vec3d> rest, const Task& task) {
  return Binder(input, part_of_binding, bind_pose, skin, rest).Run(task);
}

}  // namespace sinew
