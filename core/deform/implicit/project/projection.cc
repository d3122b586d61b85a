#include "core/deform/implicit/project/projection.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/smooth_step.h"
#include "core/base/vectors.h"
#include "core/deform/implicit/project/level_ray.h"
#include "core/deform/method/scratch.h"
#include "core/deform/method/vertex_status.h"
#include "core/rig/bones.h"
#include "core/rig/signed_rotation.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256;  // points
// Cosines of 11 and 32 degrees: by less skin that two limbs share does not fold, from the second on
// it may touch itself. Other angles from 18 and 45 degrees change no figure.
constexpr double kNoFold = 0.98, kFold = 0.85;
// Weight from which on skin counts as shared with a limb: some steps of 8-bit weights.
constexpr double kTrace = 0.02;

Mat3d Times(double factor, Mat3d m) {
  for (double& entry : m.m) entry *= factor;
  return m;
}

class Projection {
 public:
  Projection(const ProjectionInput& input, const Task& task, std::span<float> at,
             std::span<std::uint8_t> status)
      : level_(input.level),
        skin_(input.skin),
        posed_(input.posed),
        contact_(input.contact),
        task_(task),
        at_(at),
        status_(status),
        turns_(input.turns) {
    for (const Mat3d& turn : turns_) flat_.push_back(Determinant(turn) == 0);
    for (const Affine& frame : input.bind_frames) {
      const auto part = static_cast<std::uint32_t>(centres_.size());
      centres_.push_back(Translation(ToDouble(frame)));
      size_.push_back(posed_.Size(part));
      reach_.push_back(posed_.Reach(part));
    }
  }

  void Run(ProjectionCounts* counts) {
    task_.For(skin_.points(), kGrain, [&](std::size_t begin, std::size_t end) {
      Solve(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
    });
    if (counts != nullptr) *counts = {moved_, touching_, evaluations_};
  }

 private:
  // The points of a chunk: a first evaluation of all, then rounds for those off their level.
  void Solve(std::uint32_t begin, std::uint32_t end) {
    std::vector<LevelRay> moving;
    moving.reserve(end - begin);
    std::array<std::uint32_t, kLanes> list;
    std::size_t count = 0;
    const auto flush = [&] {
      if (count > 0) Start(std::span(list).first(count), moving);
      count = 0;
    };
    for (std::uint32_t p = begin; p < end; ++p) {
      if (!skin_.IsSkin(p) || level_.owner[p] == kNoOwner || flat_[level_.owner[p]]) continue;
      list[count++] = p;
      if (count == kLanes) flush();
    }
    flush();
    std::vector<LevelRay*> active;
    for (LevelRay& ray : moving) {
      if (!ray.done) active.push_back(&ray);
    }
    for (int round = 1; round < kRounds && !active.empty(); ++round) {
      for (std::size_t first = 0; first < active.size(); first += kLanes) {
        Advance(std::span(active).subspan(first, std::min(kLanes, active.size() - first)));
      }
      std::erase_if(active, [](const LevelRay* ray) { return ray->done; });
    }
    std::size_t moved = 0, touching = 0;
    for (const LevelRay& ray : moving) {
      Finish(ray);
      moved += ray.t != 0 ? 1 : 0;
      touching += ray.t != 0 && ray.touches ? 1 : 0;
    }
    moved_ += moved;
    touching_ += touching;
  }

  // Adds the points of `list` that are off their level.
  void Start(std::span<const std::uint32_t> list, std::vector<LevelRay>& moving) {
    std::array<LevelRay, kLanes> rays;
    std::array<LevelRay*, kLanes> all;
    for (std::size_t i = 0; i < list.size(); ++i) {
      rays[i].point = list[i];
      rays[i].owner = level_.owner[list[i]];
      rays[i].level = level_.level[list[i]];
      rays[i].room = level_.room[list[i]];
      rays[i].size = size_[rays[i].owner];
      rays[i].unit = double{rays[i].size * posed_.unit()};
      rays[i].start = SkinnedOf(list[i]);
      all[i] = &rays[i];
    }
    const std::span<LevelRay* const> started = std::span(all).first(list.size());
    const PartBlocks parts = Evaluate(started);
    for (std::size_t i = 0; i < started.size(); ++i) {
      const Near near = NearOf(rays[i], parts, i);
      if (IsStill(rays[i], near, i)) {
        SetStatus(rays[i].point, VertexStatus::kUnmoved);
        continue;
      }
      AddNeighbours(rays[i]);
      AddTouched(rays[i], near);
      SetDirection(rays[i]);
      SetLimits(rays[i], near, i);
      rays[i].Step(LevelAt(rays[i], near, i));
      moving.push_back(std::move(rays[i]));
    }
  }

  Vec3d SkinnedOf(std::uint32_t p) const {
    const float* const at = at_.data() + std::size_t{4} * p;
    return {at[0], at[1], at[2]};
  }

  // One more step of up to 16 rays.
  void Advance(std::span<LevelRay* const> rays) {
    const PartBlocks parts = Evaluate(rays);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const Near near = NearOf(*rays[i], parts, i);
      AddTouched(*rays[i], near);
      rays[i]->Step(LevelAt(*rays[i], near, i));
    }
  }

  Vec3d PointOf(const LevelRay& ray) const {
    return ray.start + (ray.t * ray.unit) * ray.direction;
  }

  // Parts whose lead is below this can change T, see LevelValue::Meet.
  static float Margin(const LevelRay& ray) {
    return kWidestContact + static_cast<float>(kOutwardSlope * std::max(0.0, -ray.t));
  }

  PartBlocks Evaluate(std::span<LevelRay* const> rays) {
    const PointBlock points =
        BlockOf(rays.size(), [&](std::size_t i) { return ToFloat(PointOf(*rays[i])); });
    DistanceNeed need;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const LevelRay& ray = *rays[std::min(i, rays.size() - 1)];
      need.own[i] = ray.owner;
      need.level[i] = ray.level * ray.size;
      need.margin[i] = Margin(ray) * ray.size;
    }
    evaluations_ += rays.size();
    return posed_.Distances(points, need);
  }

  // What T needs of one evaluation at a ray's point.
  struct Near {
    const PartBlock* own = nullptr;
    struct Other {
      const PartBlock* part;
      float f;  // see Beside
    };
    absl::InlinedVector<Other, 4> others = {};  // that can change T, whatever the other lanes need
  };

  Near NearOf(const LevelRay& ray, const PartBlocks& parts, std::size_t i) const {
    Near near = {.own = std::ranges::find(parts, ray.owner, &PartBlock::part)};
    const float own = near.own->value[i] / ray.size;
    const float limit = std::max(own, ray.level) + Margin(ray);
    for (const PartBlock& part : parts) {
      const float value = part.value[i] / ray.size;
      if (&part == near.own || !(value < limit)) continue;
      const float f = FadingDistance(value, reach_[part.part] / ray.size);
      if (f < limit) near.others.push_back({&part, f});
    }
    return near;
  }

  static bool IsStill(const LevelRay& ray, const Near& near, std::size_t i) {
    return near.others.empty() &&
           std::abs(double{ray.level - near.own->value[i] / ray.size}) < kAtLevel;
  }

  void AddNeighbours(LevelRay& ray) const {
    for (std::size_t k = level_.neighbours[ray.point]; k < level_.neighbours[ray.point + 1]; ++k) {
      if (level_.lead[k] < kLeanWidth) ray.contacts.push_back(NewContact(ray, level_.part[k]));
    }
  }

  void AddTouched(LevelRay& ray, const Near& near) const {
    for (const auto& other : near.others) {
      if (ray.ContactWith(other.part->part) != nullptr) continue;
      ray.contacts.push_back(NewContact(ray, static_cast<std::uint16_t>(other.part->part)));
    }
  }

  // How far a ray may go, from what is near its start.
  void SetLimits(LevelRay& ray, const Near& near, std::size_t i) const {
    const float own = near.own->value[i] / ray.size;
    double swell = double{near.own->swell[i]};
    for (const auto& [part, f] : near.others) {
      LevelContact& with = *ray.ContactWith(part->part);
      swell = std::max(swell, double{with.trust * part->swell[i]});
      with.begun = std::max(0.0f, kWidestContact - (f - own + with.slack));
    }
    const Vec3d from_bone = ToDouble(posed_.FromBone(ray.owner, ToFloat(ray.start)));
    const double here = Length(from_bone) / double{ray.size};
    // Oblique rays need a longer way for the same change. The owner is taken as rigid; the least
    // distance keeps the cosine continuous where a start crosses the bone.
    constexpr double kLeastCosine = 2.0 / 3, kLeastDistance = 0.01;
    const Vec3d direction = Multiply(Transpose(turns_[ray.owner]), ray.direction);
    const double along = -Dot(from_bone, direction) / double{ray.size};
    const double cosine = std::clamp(along / std::max(here, kLeastDistance), kLeastCosine, 1.0);
    // How much nearer to its bone than at rest the start is, and how far muscles push it out.
    const double lost = (double{level_.from_bone[ray.point]} - here) / cosine;
    const double pushed = swell / double{ray.size} / cosine;
    const double alone = double{level_.alone[ray.point]};
    ray.outward = static_cast<float>(
        std::max(0.0, alone * std::max(lost, 0.0) + std::min(lost, 0.0) + pushed));
    ray.inward = static_cast<float>(alone * std::max(0.0, -lost - pushed));
    ray.shift = std::max(0.0, double{own - ray.level - ray.inward});
  }

  LevelContact NewContact(const LevelRay& ray, std::uint16_t part) const {
    LevelContact made = {.part = part, .trust = posed_.Trust(part, ToFloat(ray.start))};
    made.strength = contact_ ? made.trust : 0;
    made.size = std::min(1.0f, size_[part] / ray.size);
    for (std::size_t k = level_.neighbours[ray.point]; k < level_.neighbours[ray.point + 1]; ++k) {
      if (level_.part[k] != part) continue;
      made.SoftenBy(level_.lead[k]);
      const float shared = Shared(level_.weight[k]);
      if (shared > 0) made.strength *= 1 + shared * (Folds(ray, part) - 1);
    }
    return made;
  }

  // Fades in, so that a trace of weight that rounding removes does not decide.
  static float Shared(float weight) {
    return static_cast<float>(SmoothStep(double{weight} / kTrace));
  }

  // Skin that two limbs share touches itself only where it folds: contact between them begins with
  // the angle by which they turn it apart.
  float Folds(const LevelRay& ray, std::uint16_t part) const {
    const Vec3d inward = ToDouble(level_.inward[ray.point]);
    const double cosine = Dot(Multiply(turns_[ray.owner], inward), Multiply(turns_[part], inward));
    return static_cast<float>(SmoothStep((kNoFold - cosine) / (kNoFold - kFold)));
  }

  // The blended inward direction, leaning towards neighbours. A point between two limbs would
  // otherwise move within the surface between them, and T would never reach zero.
  void SetDirection(LevelRay& ray) const {
    const Mat3d& own = turns_[ray.owner];
    const Vec3d inward = ToDouble(level_.inward[ray.point]);
    Vec3d sum = double{level_.own_weight[ray.point]} * Multiply(own, inward);
    for (std::size_t k = level_.neighbours[ray.point]; k < level_.neighbours[ray.point + 1]; ++k) {
      sum = sum + double{level_.weight[k]} * Multiply(turns_[level_.part[k]], inward);
    }
    if (!(Length(sum) > 0)) sum = Multiply(own, inward);
    ray.direction = Unit(sum);
    for (std::size_t k = level_.neighbours[ray.point]; k < level_.neighbours[ray.point + 1]; ++k) {
      const double near = 1 - SmoothStep(double{level_.lead[k] / kLeanWidth});
      const LevelContact* contact = ray.ContactWith(level_.part[k]);
      if (!(near > 0) || contact == nullptr) continue;
      // From limb to limb, halfway between the turns of both.
      const Vec3d apart = centres_[level_.part[k]] - centres_[ray.owner];
      const Vec3d turned = Unit(Multiply(own, apart) + Multiply(turns_[level_.part[k]], apart));
      ray.direction = ray.direction - (near * double{contact->trust}) * turned;
    }
    ray.direction = Unit(ray.direction);
  }

  // T and its slope at the ray's point.
  LevelValue LevelAt(const LevelRay& ray, const Near& near, std::size_t i) const {
    const auto slope_of = [&](const PartBlock& part) {
      return part.x[i] * ray.direction.x + part.y[i] * ray.direction.y +
             part.z[i] * ray.direction.z;
    };
    const double own = double{near.own->value[i] / ray.size}, own_slope = slope_of(*near.own);
    const double depth = double{ray.level} + ray.shift - own;
    LevelValue level = {.value = depth, .slope = -own_slope, .depth = depth};
    const double rise = ray.t < 0 ? kOutwardSlope : 0;
    for (const auto& [part, f] : near.others) {
      const LevelContact& with = *ray.ContactWith(part->part);
      const LevelValue lead = {.value = double{f} - own + double{with.slack} + rise * ray.t,
                               .slope = slope_of(*part) - own_slope + rise};
      level.Meet(lead, with);
    }
    return level;
  }

  void Finish(const LevelRay& ray) {
    if (ray.t == 0) {
      return SetStatus(ray.point, ray.presses ? VertexStatus::kContact : VertexStatus::kUnmoved);
    }
    const double way = double{level_.hold[ray.point]} * ray.Way();
    Put(ray.start + (way * ray.unit) * ray.direction, ray.point);
    SetStatus(ray.point, ray.touches                  ? VertexStatus::kContact
                         : std::abs(ray.last) < kNear ? VertexStatus::kAtRestLevel
                                                      : VertexStatus::kMoveLimit);
  }

  void Put(const Vec3d& to, std::uint32_t p) const {
    float* const out = at_.data() + std::size_t{4} * p;
    out[0] = static_cast<float>(to.x);
    out[1] = static_cast<float>(to.y);
    out[2] = static_cast<float>(to.z);
  }

  void SetStatus(std::uint32_t p, VertexStatus status) const {
    if (!status_.empty()) status_[p] = static_cast<std::uint8_t>(status);
  }

  const LevelSkin& level_;
  const SkinSurface& skin_;
  const PosedField& posed_;
  const bool contact_;
  const Task& task_;
  const std::span<float> at_;             // [P][4]
  const std::span<std::uint8_t> status_;  // [P] VertexStatus, or empty
  const std::span<const Mat3d> turns_;    // [parts]
  std::vector<Vec3d> centres_;            // [parts] at bind
  std::vector<float> size_, reach_;       // [parts] of the field
  std::vector<bool> flat_;                // [parts] scaled to zero: its points stay
  std::atomic<std::size_t> moved_{0}, touching_{0}, evaluations_{0};
};

}  // namespace

std::vector<Mat3d> TurnsOf(std::span<const Affine> bind, std::span<const Affine> posed) {
  std::vector<Mat3d> turns;
  for (std::size_t b = 0; b < posed.size(); ++b) {
    const Mat3d motion = Linear(Compose(ToDouble(posed[b]), Inverse(ToDouble(bind[b]))));
    const SignedRotation factor = Factor(motion, SignOf(motion));
    turns.push_back(Flattens(motion) ? Mat3d{.m = {}} : Times(factor.sign, factor.rotation));
  }
  return turns;
}

std::size_t ProjectionScratch(std::size_t points) {
  return WholeLines(points * 4);
}

void Project(const ProjectionInput& input, const StageFrame& frame, ProjectionCounts* counts) {
  const SkinSurface& skin = input.skin;
  const std::span<float> at = frame.scratch.first(skin.points() * 4);
  GatherPoints(skin, frame.in, at, frame.task);
  std::vector<std::uint8_t> status(frame.vertex_status.empty() ? 0 : skin.points(),
                                   static_cast<std::uint8_t>(VertexStatus::kExcluded));
  Projection(input, frame.task, at, status).Run(counts);
  ScatterPoints(skin, frame.in, at, frame.out, frame.task);
  if (!status.empty()) ScatterVertexStatus(skin, frame.layout, status, frame.vertex_status);
}

}  // namespace sinew
