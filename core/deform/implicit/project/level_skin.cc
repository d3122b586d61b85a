#include "core/deform/implicit/project/level_skin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/rig/bind_pose.h"
#include "core/rig/joint_order.h"
#include "core/surface/rig_surface.h"

namespace sinew {
namespace {

// How much skin weight a depth of a part's size in its field is worth when a point's owner is
// chosen: the owner is the part of the strongest joint, unless the point lies outside its field.
constexpr float kDepthWorth = 6;
// Share of the direction in which the field of a neighbour takes over, beside that of its weights:
// decides where the weights of a point and its one-ring are all equal.
constexpr double kFieldShare = 0.3;
// Levels up to which, and from which on, the field fits the skin or does not: an ear in the field
// of the head, a tip without samples.
constexpr double kFits = 0.15, kFitsNot = 0.5;
constexpr double kHolds = 0.5;     // weight of the owner from which on it carries the point
constexpr int kHoldSmoothing = 2;  // so that neighbours do not tear
// Least weight for outward moves: of two joints, and of all joints in line with the strongest. Skin
// shared by more follows their blend: a thumb with a tenth of the palm's weight drags it off the
// palm's field.
constexpr double kMinOfTwo = 0.6, kMinOfChain = 0.8;
constexpr int kRoomSteps = 12;  // places at which the room of a point is looked for
// Part of its reach over which a part ends; half and double change no figure by a tenth.
constexpr float kEnding = 0.25f;
constexpr std::size_t kGrain = 1024;  // points
constexpr float kInfinite = std::numeric_limits<float>::infinity();

Vec3d GradientOf(const FieldBlock& block, std::size_t i) {
  return {double{block.x[i]}, double{block.y[i]}, double{block.z[i]}};
}

// One point at bind.
struct BoundPoint {
  std::uint16_t owner = kNoOwner;
  float level = 0, room = 0, own_weight = 0, hold = 0, outward = 0;
  Vec3f inward;
  std::vector<LevelSkin::Neighbour> neighbours;
};

class Binder {
 public:
  Binder(const BindInput& input, std::span<const std::int32_t> part_of_binding,
         std::span<const std::int32_t> parents, const PosedField& bind_pose, const PosedField& bare,
         const SkinSurface& skin)
      : rig_(input.rig),
        layout_(input.layout),
        ring_(input.surface.triangles()),
        points_of_(input.surface.order()),
        part_of_binding_(part_of_binding),
        parents_(parents),
        bind_pose_(bind_pose),
        bare_(bare),
        skin_(skin),
        order_(input.rig.skeleton()),
        points_(skin.points()) {
    const std::vector<AffineD> to_pose = ToBindPose(rig_, BindPose(rig_));
    for (std::size_t p = 0; p < skin.points(); ++p) {
      rest_.push_back(InBindPose(rig_, to_pose, Vertex(p)));
    }
  }

  absl::StatusOr<LevelSkin> Run(const Task& task) {
    task.For(points_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t first = begin; first < end; first += kLanes) {
        BindBlock(first, std::min(kLanes, end - first));
      }
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    task.For(points_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) SetDirections(static_cast<std::uint32_t>(p));
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    SetHolds();
    task.For(points_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t first = begin; first < end; first += kLanes) {
        SetRooms(first, std::min(kLanes, end - first));
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
    const PartBlocks bare = bare_.Distances(at, all);
    for (std::size_t i = 0; i < count; ++i) {
      if (skin_.IsSkin(first + i)) BindPoint(first + i, i, parts, bare);
    }
  }

  void BindPoint(std::size_t p, std::size_t i, const PartBlocks& parts, const PartBlocks& bare) {
    BoundPoint& point = points_[p];
    const PartBlock* owner = nullptr;
    double best = -std::numeric_limits<double>::infinity();
    for (const PartBlock& part : parts) {
      if (!IsNear(part, i)) continue;
      const float depth = part.value[i] / bind_pose_.Size(part.part);
      const double score = WeightOf(p, part.part) - double{kDepthWorth * depth};
      if (!(score > best)) continue;
      best = score;
      owner = &part;
    }
    if (owner == nullptr) return;
    const Vec3d gradient = GradientOf(*owner, i);
    if (!(Length(gradient) > 0)) return;
    const float size = bind_pose_.Size(owner->part);
    point.owner = static_cast<std::uint16_t>(owner->part);
    point.own_weight = static_cast<float>(WeightOf(p, owner->part));
    point.inward = ToFloat(-1 * Unit(gradient));
    point.level = owner->value[i] / size;
    point.hold = 1;
    point.outward = static_cast<float>(WeightOfLimb(Vertex(p)));
    for (const PartBlock& part : parts) {
      if (&part == owner || !IsNear(part, i)) continue;
      const float shift = (1 - TrustAt(bare, part.part, i, size)) * kUntrusted;
      const float f = Beside(part.value[i] / size, bind_pose_.Reach(part.part) / size);
      point.level = std::min(point.level, f + shift);
      const float lead = (part.value[i] - owner->value[i]) / size;
      const double weight = WeightOf(p, part.part);
      if (!(weight > 0) && !(lead < kLeanWidth)) continue;
      point.neighbours.push_back({.part = static_cast<std::uint16_t>(part.part),
                                  .lead = lead,
                                  .weight = static_cast<float>(weight),
                                  .contact = ContactOf(point, part.part, weight),
                                  .towards = ToFloat(gradient - GradientOf(part, i))});
    }
    AddFarParts(p, gradient);
    KeepNearest(point.neighbours);
  }

  // Parts that carry the point, but whose support it is not in.
  void AddFarParts(std::size_t p, const Vec3d& gradient) {
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
      point.neighbours.push_back({.part = number,
                                  .lead = kFarLead,
                                  .weight = static_cast<float>(weight),
                                  .contact = ContactOf(point, number, weight),
                                  .towards = ToFloat(gradient)});
    }
    std::ranges::sort(point.neighbours, {}, &LevelSkin::Neighbour::part);
  }

  // Skin that the field of its owner does not fit, or that hardly moves with it, is not projected.
  void SetHolds() {
    for (BoundPoint& point : points_) {
      if (point.owner == kNoOwner) continue;
      point.hold =
          static_cast<float>((1 - SmoothStep(kFits, kFitsNot, double{std::abs(point.level)})) *
                             SmoothStep(double{point.own_weight} / kHolds));
    }
    for (int pass = 0; pass < kHoldSmoothing; ++pass) {
      const std::vector<float> outward = Smoothed(&BoundPoint::outward);
      const std::vector<float> hold = Smoothed(&BoundPoint::hold);
      for (std::size_t p = 0; p < points_.size(); ++p) {
        points_[p].outward = outward[p];
        points_[p].hold = std::min(points_[p].hold, hold[p]);
      }
    }
    for (BoundPoint& point : points_) {
      if (!(point.hold > 0)) point.owner = kNoOwner;
    }
  }

  // Steps inward until f of the owner rises again.
  void SetRooms(std::size_t first, std::size_t count) {
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
    for (int k = 0; k <= kRoomSteps; ++k) {
      const float way = static_cast<float>(k) * (kMostRoom / kRoomSteps);
      const PointBlock at = BlockOf(count, [&](std::size_t i) {
        const float length = way * bind_pose_.Size(need.own[i]) * bind_pose_.unit();
        return ToFloat(rest_[first + i] + double{length} * ToDouble(points_[first + i].inward));
      });
      const PartBlocks parts = bind_pose_.Distances(at, need);
      for (std::size_t i = 0; i < count; ++i) {
        const float f = std::ranges::find(parts, need.own[i], &PartBlock::part)->value[i];
        if (done[i]) continue;
        float& room = points_[first + i].room;
        const auto [before, at_least] = last[i];
        if (f < at_least) {
          room = way;
        } else {
          done[i] = true;
          // The vertex of the parabola through the three steps.
          const float bend = before - 2 * at_least + f;
          if (before < kInfinite && bend > 0) {
            room += 0.5f * (before - f) / bend * (kMostRoom / kRoomSteps);
            room = std::clamp(room, 0.0f, kMostRoom);
          }
        }
        last[i] = {at_least, f};
      }
    }
  }

  // Averages of a value of each projected point and of its projected neighbours.
  std::vector<float> Smoothed(float BoundPoint::*value) const {
    std::vector<float> next;
    next.reserve(points_.size());
    for (std::uint32_t p = 0; p < points_.size(); ++p) {
      float sum = 0, count = 0;
      for (const std::uint32_t q : Ring(p)) {
        const BoundPoint& beside = points_[points_of_.number[q]];
        if (beside.owner == kNoOwner) continue;
        sum += beside.*value;
        ++count;
      }
      const float own = points_[p].*value;
      next.push_back(count > 0 ? 0.5f * (own + sum / count) : own);
    }
    return next;
  }

  // Whether vertex v is governed by one limb, and by two joints of it: 0 to 1.
  double WeightOfLimb(std::uint32_t v) const {
    const auto bindings = rig_.influences().bindings(v);
    const auto weights = rig_.influences().weights(v);
    std::map<std::uint16_t, double> joints;
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      joints[rig_.bindings()[bindings[k]].joint] += double{weights[k]};
    }
    const auto strongest =
        std::ranges::max_element(joints, {}, [](const auto& of) { return of.second; });
    double second = 0, chain = strongest->second;
    for (const auto& [joint, weight] : joints) {
      if (joint == strongest->first || !order_.AreInLine(joint, strongest->first)) continue;
      second = std::max(second, weight);
      chain += weight;
    }
    return SmoothStep(std::min((strongest->second + second - kMinOfTwo) / (1 - kMinOfTwo),
                               (chain - kMinOfChain) / (1 - kMinOfChain)));
  }

  // Skin that follows two limbs side by side, such as fingers or thighs, bridges them. Where one
  // limb hangs on the other, the skin between them folds.
  float ContactOf(const BoundPoint& point, std::uint32_t part, double weight) const {
    if (HangsOn(point.owner, part) || HangsOn(part, point.owner)) return 1;
    return static_cast<float>(1 - SmoothStep(2 * std::min(weight, double{point.own_weight})));
  }

  bool HangsOn(std::uint32_t part, std::uint32_t above) const {
    for (auto p = static_cast<std::int32_t>(part); p >= 0;
         p = parents_[static_cast<std::size_t>(p)]) {
      if (p == static_cast<std::int32_t>(above)) return true;
    }
    return false;
  }

  static void KeepNearest(std::vector<LevelSkin::Neighbour>& neighbours) {
    if (neighbours.size() > kMostNeighbours) {
      std::ranges::stable_sort(neighbours, {}, &LevelSkin::Neighbour::lead);
      neighbours.resize(kMostNeighbours);
      std::ranges::sort(neighbours, {}, &LevelSkin::Neighbour::part);
    }
    neighbours.shrink_to_fit();
  }

  bool IsNear(const PartBlock& part, std::size_t i) const {
    return part.value[i] < bind_pose_.Reach(part.part);
  }

  float TrustAt(const PartBlocks& parts, std::uint32_t wanted, std::size_t i, float size) const {
    float own = kInfinite, others = kInfinite;
    for (const PartBlock& part : parts) {
      float& of = part.part == wanted ? own : others;
      of = std::min(of, Beside(part.value[i] / size, bare_.Reach(part.part) / size));
    }
    return own < kInfinite ? Trust(own, others) : 0;
  }

  // Turns each neighbour's direction from the difference of the gradients, where its field takes
  // over, to the one in which its weights rise on the skin around the point.
  void SetDirections(std::uint32_t p) {
    for (LevelSkin::Neighbour& of : points_[p].neighbours) {
      const auto lead_of_weights = [&](std::uint32_t at) {
        return WeightOf(at, of.part) - WeightOf(at, points_[p].owner);
      };
      const double here = lead_of_weights(p);
      Vec3d rise;
      double count = 0;
      for (const std::uint32_t beside : Ring(p)) {
        const std::uint32_t q = points_of_.number[beside];
        const Vec3d edge = rest_[q] - rest_[p];
        const double squared = Dot(edge, edge);
        if (!(squared > 0)) continue;
        rise = rise + ((lead_of_weights(q) - here) / squared) * edge;
        ++count;
      }
      const double size = double{bind_pose_.Size(points_[p].owner) * bind_pose_.unit()};
      if (count > 0) rise = (2 * size / count) * rise;
      of.towards = ToFloat(Unit(rise + kFieldShare * ToDouble(of.towards)));
    }
  }

  LevelSkin Tables() const {
    LevelSkin level;
    level.neighbours.push_back(0);
    for (const BoundPoint& point : points_) {
      level.owner.push_back(point.owner);
      level.level.push_back(point.level);
      level.room.push_back(point.room);
      level.own_weight.push_back(point.own_weight);
      level.hold.push_back(point.hold);
      level.outward.push_back(point.outward);
      level.inward.push_back(point.inward);
      for (const LevelSkin::Neighbour& of : point.neighbours) {
        level.part.push_back(of.part);
        level.lead.push_back(of.lead);
        level.weight.push_back(of.weight);
        level.contact.push_back(of.contact);
        level.towards.push_back(of.towards);
      }
      level.neighbours.push_back(static_cast<std::uint32_t>(level.part.size()));
    }
    return level;
  }

  const Rig& rig_;
  const BlockLayout& layout_;
  const Adjacency& ring_;
  const PointOrder& points_of_;  // of welded points
  const std::span<const std::int32_t> part_of_binding_, parents_;
  const PosedField &bind_pose_, &bare_;
  const SkinSurface& skin_;
  const JointOrder order_;
  std::vector<Vec3d> rest_;  // [P] bind pose
  std::vector<BoundPoint> points_;
};

}  // namespace

float Beside(float f, float reach) {
  if (!(f < reach)) return std::numeric_limits<float>::infinity();
  return f + 1 - static_cast<float>(SmoothStep(double{(reach - f) / (kEnding * reach)}));
}

float Trust(float own, float others) {
  return static_cast<float>(SmoothStep(double{(others - own) / kTrustWidth}));
}

absl::StatusOr<LevelSkin> BindLevelSkin(const BindInput& input,
                                        std::span<const std::int32_t> part_of_binding,
                                        std::span<const std::int32_t> parents,
                                        const PosedField& bind_pose, const PosedField& bare,
                                        const SkinSurface& skin, const Task& task) {
  return Binder(input, part_of_binding, parents, bind_pose, bare, skin).Run(task);
}

}  // namespace sinew
