#include "core/deform/implicit/project/projection.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/smooth_step.h"
#include "core/base/vectors.h"
#include "core/deform/implicit/project/constants.h"
#include "core/deform/implicit/project/level_ray.h"
#include "core/deform/implicit/project/move_smoothing.h"
#include "core/deform/method/scratch.h"
#include "core/deform/method/vertex_status.h"
#include "core/rig/bones.h"
#include "core/rig/signed_rotation.h"
#include "core/simd/vec4.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256, kCopied = 4096;  // points

// In the first pass all points move. In the others those near another limb move from where they are
// up to the contact, and no farther from their own level; the others stay. In kReturn points also
// return from where smoothing has left them, so that folds are not hollow. kLast moves inward what
// this and its smoothing have left within the other limb.
enum class PassOrder : std::uint8_t { kFirst, kReturn, kLast };

// What a pass reads and writes.
struct PassPoints {
  std::span<const float> skinned;    // [P][4]
  std::span<float> at;               // [P][4] moved
  std::span<float> base;             // [P][4] without what contact adds in the pass
  std::span<float> certainty;        // [P] see MoveSmoothing
  std::span<float> smoothed;         // [P] how far smoothing has moved it, over the owner's size
  std::span<float> nearness;         // [P] how near another limb is at the skinned point, 0 to 1
  std::span<std::uint8_t> status{};  // [P] VertexStatus, or empty
};

struct Part {
  // s R (signed_rotation.h) of its motion from the bind pose; 0 where it is flat.
  Mat3d turn;
  bool flat = false;  // scaled to zero: its points stay
  Vec3d centre;       // at bind
  float size = 0, reach = 0;
};

class Projection {
 public:
  Projection(const ProjectionInput& input, const Task& task, const PassPoints& points)
      : level_(input.level),
        skin_(input.skin),
        posed_(input.posed),
        contact_(input.contact),
        task_(task),
        points_(points) {
    for (const Affine& frame : input.bind_frames) {
      const auto part = static_cast<std::uint32_t>(parts_.size());
      const AffineD bind = ToDouble(frame);
      const Mat3d motion = Linear(Compose(ToDouble(posed_.PartFrames()[part]), Inverse(bind)));
      const SignedRotation factor = Factor(motion, SignOf(motion));
      Part& made = parts_.emplace_back();
      made.flat = Flattens(motion);
      for (std::size_t i = 0; i < 9; ++i) {
        made.turn.m[i] = made.flat ? 0 : factor.sign * factor.rotation.m[i];
      }
      made.centre = Translation(bind);
      made.size = posed_.Size(part);
      made.reach = posed_.Reach(part);
    }
  }

  void Run(PassOrder order, ProjectionCounts* counts) {
    again_ = order != PassOrder::kFirst;
    returns_ = order == PassOrder::kReturn;
    // Blocks of the points that may move, so that all lanes are used.
    std::vector<std::uint32_t> points;
    for (std::uint32_t p = 0; p < skin_.points(); ++p) {
      if (again_ ? points_.nearness[p] > 0 : MayMove(p)) points.push_back(p);
    }
    task_.For(points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      Solve(std::span(points).subspan(begin, end - begin));
    });
    if (counts != nullptr) *counts = {moved_, touching_, evaluations_};
  }

 private:
  bool MayMove(std::uint32_t p) const {
    return skin_.IsSkin(p) && level_.owner[p] != kNoOwner && !parts_[level_.owner[p]].flat;
  }

  // The points of a chunk: a first evaluation of all, then rounds for those off their level.
  void Solve(std::span<const std::uint32_t> points) {
    std::vector<LevelRay> moving;
    moving.reserve(points.size());
    std::size_t evaluations = points.size(), moved = 0, touching = 0;
    for (std::size_t first = 0; first < points.size(); first += kLanes) {
      Start(points.subspan(first, std::min(kLanes, points.size() - first)), moving);
    }
    std::vector<LevelRay*> active;
    for (LevelRay& ray : moving) {
      if (!ray.done) active.push_back(&ray);
    }
    for (int round = 1; round < (again_ ? kRoundsAgain : kRounds) && !active.empty(); ++round) {
      evaluations += active.size();
      for (std::size_t first = 0; first < active.size(); first += kLanes) {
        Advance(std::span(active).subspan(first, std::min(kLanes, active.size() - first)));
      }
      std::erase_if(active, [](const LevelRay* ray) { return ray->done; });
    }
    for (const LevelRay& ray : moving) {
      Finish(ray);
      moved += !again_ && ray.t != 0 ? 1 : 0;
      touching += !again_ && ray.t != 0 && ray.touches ? 1 : 0;
    }
    evaluations_ += evaluations;
    moved_ += moved;
    touching_ += touching;
  }

  // What T needs of one evaluation at a point. Distances are relative to the size of the owner.
  struct Near {
    struct Other {
      const PartBlock* part;
      float f;                  // as other parts see it
      std::size_t contact = 0;  // its place among those of the ray
    };
    const PartBlock* own = nullptr;
    // Parts other than the owner count where f is below the limit.
    float own_f = 0, limit = 0;
    absl::InlinedVector<Other, 4> others = {};  // that can change T, whatever the other lanes need
  };

  // At point i of the parts that `need` asks for.
  Near NearOf(const PartBlocks& parts, const DistanceNeed& need, std::size_t i) const {
    const float size = parts_[need.own[i]].size;
    Near near = {.own = std::ranges::find(parts, need.own[i], &PartBlock::part)};
    const float value = near.own->value[i], limit = std::max(value, need.level[i]) + need.margin[i];
    near.own_f = value / size;
    near.limit = limit / size;
    for (const PartBlock& part : parts) {
      if (&part == near.own || !(part.value[i] < limit)) continue;
      const float f = FadingDistance(part.value[i] / size, parts_[part.part].reach / size);
      if (f < near.limit) near.others.push_back({.part = &part, .f = f});
    }
    return near;
  }

  // Adds the points of `list` that are off their level.
  void Start(std::span<const std::uint32_t> list, std::vector<LevelRay>& moving) {
    DistanceNeed need;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint32_t p = list[std::min(i, list.size() - 1)];
      const float size = parts_[level_.owner[p]].size;
      need.own[i] = level_.owner[p];
      need.level[i] = level_.level[p] * size;
      need.margin[i] = kWidestContact * size;
    }
    const PartBlocks parts = posed_.Distances(
        BlockOf(list.size(), [&](std::size_t i) { return ToFloat(PointAt(points_.at, list[i])); }),
        need);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::uint32_t p = list[i];
      Near near = NearOf(parts, need, i);
      if (near.others.empty() &&
          (again_ || std::abs(double{level_.level[p] - near.own_f}) < kAtLevel)) {
        if (!again_) SetStatus(p, VertexStatus::kUnmoved);
        continue;
      }
      LevelRay& ray = moving.emplace_back();
      Place(p, ray);
      SetDirection(ray);
      AddTouched(near, ray);
      SetLimits(near, i, ray);
      if (!again_) points_.nearness[p] = Nearness(ray, near);
      ray.Step(LevelAt(ray, near, i));
    }
  }

  void Place(std::uint32_t p, LevelRay& ray) const {
    ray.point = p;
    ray.owner = level_.owner[p];
    ray.level = level_.level[p];
    ray.size = parts_[ray.owner].size;
    ray.unit = double{ray.size * posed_.unit()};
    ray.skinned = PointAt(points_.skinned, p);
    ray.start = PointAt(points_.at, p);
    // All passes together move a point no farther than the first one may.
    const double most = std::min(double{level_.to_axis[p]}, kLongestMove);
    const double moved = Length(ray.start - ray.skinned) / ray.unit;
    ray.most_inward = std::max(0.0, most - moved);
  }

  static Vec3d PointAt(std::span<const float> points, std::uint32_t p) {
    const Vec4 at = Load4(points.data(), p);
    return {double{at[0]}, double{at[1]}, double{at[2]}};
  }

  // One more step of up to 16 rays.
  void Advance(std::span<LevelRay* const> rays) {
    DistanceNeed need;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const LevelRay& ray = *rays[std::min(i, rays.size() - 1)];
      need.own[i] = ray.owner;
      need.level[i] = ray.level * ray.size;
      // Parts whose gap is below this can change T, see LevelValue::Meet.
      const double margin = double{kWidestContact} + kOutwardSlope * std::max(0.0, -ray.t);
      need.margin[i] = static_cast<float>(margin) * ray.size;
    }
    const PointBlock at = BlockOf(rays.size(), [&](std::size_t i) {
      const LevelRay& ray = *rays[i];
      return ToFloat(ray.start + (ray.t * ray.unit) * ray.direction);
    });
    const PartBlocks parts = posed_.Distances(at, need);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      Near near = NearOf(parts, need, i);
      AddTouched(near, *rays[i]);
      rays[i]->Step(LevelAt(*rays[i], near, i));
    }
  }

  // 0 where another limb begins to count, so that passes after the first set in gradually.
  static float Nearness(const LevelRay& ray, const Near& near) {
    float nearness = 0;
    for (const auto& [part, f, contact] : near.others) {
      const float share = std::min(1.0f, (near.limit - f) / kWidestContact);
      nearness = std::max(nearness, ray.contacts[contact].strength * share);
    }
    return nearness;
  }

  // Finds the contacts of the ray, and adds those that it does not have yet.
  void AddTouched(Near& near, LevelRay& ray) const {
    for (Near::Other& other : near.others) {
      const auto part = static_cast<std::uint16_t>(other.part->part);
      const auto known = std::ranges::find(ray.contacts, part, &LevelContact::part);
      other.contact = static_cast<std::size_t>(known - ray.contacts.begin());
      if (known != ray.contacts.end()) continue;
      ray.contacts.push_back(NewContact(ray, part));
      for (std::size_t k = level_.neighbours[ray.point]; k < level_.neighbours[ray.point + 1];
           ++k) {
        if (level_.part[k] != part) continue;
        const Vec3d inward = ToDouble(level_.inward[ray.point]);
        Fit(k, Multiply(parts_[ray.owner].turn, inward), Multiply(parts_[part].turn, inward),
            ray.contacts.back());
      }
    }
  }

  LevelContact NewContact(const LevelRay& ray, std::uint16_t part) const {
    LevelContact made = {.part = part, .trust = posed_.Trust(part, ToFloat(ray.skinned))};
    made.strength = contact_ ? made.trust : 0;
    return made;
  }

  // Fits a contact to what neighbour k was at bind. Skin that two limbs share touches itself only
  // where it folds: contact between them begins with the angle by which they turn it apart. It
  // fades in, so that a trace of weight that rounding removes does not decide.
  //
  //    by_owner, by_part  the direction inward as both turn it
  void Fit(std::size_t k, const Vec3d& by_owner, const Vec3d& by_part, LevelContact& made) const {
    made.SoftenBy(level_.gap[k]);
    const auto shared = static_cast<float>(SmoothStep(double{level_.weight[k]} / kTrace));
    if (!(shared > 0)) return;
    const double cosine = Dot(by_owner, by_part);
    const auto folds = static_cast<float>(SmoothStep((kNoFold - cosine) / (kNoFold - kFold)));
    made.strength *= 1 + shared * (folds - 1);
  }

  // The blended inward direction, leaning towards neighbours, and contacts with these. A point
  // between two limbs would otherwise move within the surface between them, and T would never reach
  // zero.
  void SetDirection(LevelRay& ray) const {
    const Vec3d inward = ToDouble(level_.inward[ray.point]);
    const Vec3d turned = Multiply(parts_[ray.owner].turn, inward);
    Vec3d sum = double{level_.own_weight[ray.point]} * turned, lean;
    for (std::size_t k = level_.neighbours[ray.point]; k < level_.neighbours[ray.point + 1]; ++k) {
      const std::uint16_t part = level_.part[k];
      const Vec3d by_part = Multiply(parts_[part].turn, inward);
      sum = sum + double{level_.weight[k]} * by_part;
      const double near = 1 - SmoothStep(double{level_.gap[k] / kLeanWidth});
      if (!(near > 0)) continue;
      LevelContact& made = ray.contacts.emplace_back(NewContact(ray, part));
      Fit(k, turned, by_part, made);
      const double share = near * double{made.trust};
      if (share > 0) lean = lean + share * WayBetween(ray.owner, part);
    }
    ray.direction = Unit(Unit(Length(sum) > 0 ? sum : turned) - lean);
  }

  // From limb to limb, halfway between the turns of both.
  Vec3d WayBetween(std::uint32_t owner, std::uint32_t part) const {
    const Vec3d apart = parts_[part].centre - parts_[owner].centre;
    return Unit(Multiply(parts_[owner].turn, apart) + Multiply(parts_[part].turn, apart));
  }

  // How far a ray may go, from what is near its start.
  void SetLimits(const Near& near, std::size_t i, LevelRay& ray) const {
    double swell = double{near.own->swell[i]};
    for (const auto& [part, f, contact] : near.others) {
      const LevelContact& with = ray.contacts[contact];
      swell = std::max(swell, double{with.trust * part->swell[i]});
      // A finger does not push a chest aside.
      const float most = with.strength * std::min(1.0f, parts_[part->part].size / ray.size) *
                         std::max(0.0f, kWidestContact - (f - near.own_f + with.slack));
      ray.contact = std::max(ray.contact, most);
    }
    if (again_) {
      // Fades out where no other limb is near the start, as points without one stay.
      const double fade = SmoothStep(double{Nearness(ray, near)});
      const double back = returns_ ? fade * kMostReturn * double{points_.smoothed[ray.point]} : 0;
      ray.outward = static_cast<float>(back);
      ray.shift =
          double{near.own_f - ray.level} + std::clamp(double{ray.level - near.own_f}, 0.0, back);
      return;
    }
    const Vec3d from_bone = ToDouble(posed_.FromBone(ray.owner, ToFloat(ray.start)));
    const double here = Length(from_bone) / double{ray.size};
    // How much nearer to its bone than at rest the start is, and how far muscles push it out.
    const double lost = double{level_.from_bone[ray.point]} - here;
    const double pushed = swell / double{ray.size};
    const double share = double{level_.restore_share[ray.point]};
    ray.outward = static_cast<float>(
        std::max(0.0, share * std::max(lost, 0.0) + std::min(lost, 0.0) + pushed));
    ray.inward = static_cast<float>(share * std::max(0.0, -lost - pushed));
  }

  // T and its slope at the ray's point.
  static LevelValue LevelAt(const LevelRay& ray, const Near& near, std::size_t i) {
    const auto slope_of = [&](const PartBlock& part) {
      return double{part.x[i]} * ray.direction.x + double{part.y[i]} * ray.direction.y +
             double{part.z[i]} * ray.direction.z;
    };
    const double own = double{near.own_f}, own_slope = slope_of(*near.own);
    const double depth = double{ray.level} + ray.shift - own;
    LevelValue level = {.value = depth, .slope = -own_slope, .depth = depth};
    const double rise = ray.t < 0 ? kOutwardSlope : 0;
    for (const auto& [part, f, contact] : near.others) {
      const LevelContact& with = ray.contacts[contact];
      level.Meet({.value = double{f} - own + double{with.slack} + rise * ray.t,
                  .slope = slope_of(*part) - own_slope + rise},
                 with);
    }
    return level;
  }

  // How certain a move is: not where a contact has left most of T, because its ray has no zero.
  static float CertaintyOf(const LevelRay& ray) {
    if (!(ray.first < 0)) return 1;
    const double left = std::max(0.0, -ray.last) / (kOnLevel - ray.first);
    return static_cast<float>(1 - SmoothStep(left / kUncertain));
  }

  void Finish(const LevelRay& ray) {
    points_.certainty[ray.point] = CertaintyOf(ray);
    if (again_) {
      if (ray.t != 0) Store4(MovedBy(ray.Move(), ray), points_.at.data(), ray.point);
      return;
    }
    if (ray.t == 0) {
      return SetStatus(ray.point, ray.sunk ? VertexStatus::kContact : VertexStatus::kUnmoved);
    }
    Store4(MovedBy(ray.Move(), ray), points_.at.data(), ray.point);
    Store4(MovedBy(ray.RestoringMove(), ray), points_.base.data(), ray.point);
    SetStatus(ray.point, ray.touches                     ? VertexStatus::kContact
                         : std::abs(ray.last) < kOnLevel ? VertexStatus::kAtRestLevel
                                                         : VertexStatus::kMoveLimit);
  }

  Vec4 MovedBy(double way, const LevelRay& ray) const {
    const double length = double{level_.move_share[ray.point]} * way * ray.unit;
    return ToVec4(ToFloat(ray.start + length * ray.direction));
  }

  void SetStatus(std::uint32_t p, VertexStatus status) const {
    if (!points_.status.empty()) points_.status[p] = static_cast<std::uint8_t>(status);
  }

  bool again_ = false, returns_ = false;  // see PassOrder
  const LevelSkin& level_;
  const SkinSurface& skin_;
  const PosedField& posed_;
  const bool contact_;
  const Task& task_;
  const PassPoints& points_;
  std::vector<Part> parts_;
  std::atomic<std::size_t> moved_{0}, touching_{0}, evaluations_{0};
};

}  // namespace

std::size_t ProjectionScratch(std::size_t points) {
  return 3 * WholeLines(points * 4) + 3 * WholeLines(points) + MoveSmoothing::Scratch(points);
}

void Project(const ProjectionInput& input, const StageFrame& frame, ProjectionCounts* counts) {
  const SkinSurface& skin = input.skin;
  std::span<float> free = frame.scratch;
  const auto take = [&](std::size_t floats) {
    const std::span<float> taken = free.first(floats);
    free = free.subspan(WholeLines(floats));
    return taken;
  };
  const std::size_t count = skin.points();
  const std::span<float> skinned = take(4 * count), base = take(4 * count), at = take(4 * count);
  const std::span<float> certainty = take(count), nearness = take(count), smoothed = take(count);
  GatherPoints(skin, frame.in, skinned, frame.task);
  frame.task.For(count, kCopied, [&](std::size_t begin, std::size_t end) {
    const std::span<const float> copied = skinned.subspan(4 * begin, 4 * (end - begin));
    std::ranges::copy(copied, at.subspan(4 * begin).begin());
    std::ranges::copy(copied, base.subspan(4 * begin).begin());
    std::ranges::fill(certainty.subspan(begin, end - begin), 1.0f);
    std::ranges::fill(nearness.subspan(begin, end - begin), 0.0f);
    std::ranges::fill(smoothed.subspan(begin, end - begin), 0.0f);
  });
  std::vector<std::uint8_t> status(frame.vertex_status.empty() ? 0 : count,
                                   static_cast<std::uint8_t>(VertexStatus::kExcluded));
  const PassPoints points = {skinned, at, base, certainty, smoothed, nearness, status};
  Projection projection(input, frame.task, points);
  MoveSmoothing smoothing(input.rings, input.level, input.posed, skinned, free, frame.task);
  projection.Run(PassOrder::kFirst, counts);
  smoothing.Mend(base, at);
  smoothing.StartSpreading(nearness);
  smoothing.Spread(base, certainty, smoothed, at);
  for (const PassOrder order : {PassOrder::kReturn, PassOrder::kLast}) {
    if (!input.contact) break;
    projection.Run(order, counts);
    smoothing.Spread(base, certainty, smoothed, at);
  }
  smoothing.Ease(nearness, at);
  ScatterPoints(skin, at, status, frame);
}

}  // namespace sinew
