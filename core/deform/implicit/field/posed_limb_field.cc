#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/smooth_step.h"
#include "core/deform/implicit/field/hrbf_kernel.h"
#include "core/deform/implicit/field/limb_field.h"
#include "core/rig/bones.h"

namespace sinew {
namespace {

// Limit of a placed matrix's entries; larger entries mean a joint scaled to zero.
constexpr double kSteepest = 1e15;
constexpr double kNoGradient = 1e-9;  // relative to 1 / unit
constexpr double kPad = 0.02;         // margin of a support's bounds

// Cosines between which colliding parts change from contact to plain union. Adjacent parts bend
// around each other; others share a surface only if they overlap at rest.
constexpr double kNeighbours[2] = {0.1, 0.3}, kOthers[2] = {0.7, 0.95};

// Bounds that intersect nothing.
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr Vec3d kNowhere{kInfinite, kInfinite, kInfinite};
constexpr Vec3d kHere{-kInfinite, -kInfinite, -kInfinite};

struct Lane {
  double f = 0;
  Vec3d gradient;
};

Lane At(const FieldBlock& block, std::size_t i) {
  return {double{block.value[i]}, {double{block.x[i]}, double{block.y[i]}, double{block.z[i]}}};
}

void Put(const Lane& lane, std::size_t i, FieldBlock& block) {
  block.value[i] = static_cast<float>(lane.f);
  block.x[i] = static_cast<float>(lane.gradient.x);
  block.y[i] = static_cast<float>(lane.gradient.y);
  block.z[i] = static_cast<float>(lane.gradient.z);
}

// Converts a raw block in place to the compact field of f / r, see hrbf_kernel.cc.
void Compact(const MusclePrimitive& muscle, const PointBlock& points, FieldBlock& block) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const float p[3] = {points.x[i], points.y[i], points.z[i]};
    const bool inside = p[0] >= muscle.minimum.x && p[0] <= muscle.maximum.x &&
                        p[1] >= muscle.minimum.y && p[1] <= muscle.maximum.y &&
                        p[2] >= muscle.minimum.z && p[2] <= muscle.maximum.z;
    const double x = inside ? std::clamp(double{block.value[i]} / muscle.radius, -1.0, 1.0) : 1.0;
    const double rest = 1 - x, flat = rest * (1 + x);
    Lane lane;
    if (rest > 0) {
      lane.f = rest * rest * rest * (0.1875 * x * x + 0.5625 * x + 0.5);
      const double slope = -0.9375 * flat * flat / muscle.radius;
      lane.gradient = slope * At(block, i).gradient;
    }
    Put(lane, i, block);
  }
}

}  // namespace

// The parts that reach a block of points, with their fields there.
class PosedLimbField::Query {
 public:
  // Which parts will be queried.
  enum class Need : std::uint8_t {
    kLargest,  // those with the largest field at some point
    kInside,   // also all with a field above 1/2
    kAll,
  };
  // `wanted`: parts that are evaluated in any case.
  Query(const PosedLimbField& posed, const PointBlock& points, Need need,
        std::span<const std::uint32_t> wanted = {})
      : posed_(posed), points_(points) {
    Evaluate(need, wanted, FindParts());
    FieldBlock raw;
    for (const MusclePrimitive& muscle : posed.muscles_) {
      if (!Meets(muscle)) continue;
      FieldBlock& own = Own(muscle.part);
      EvaluateMuscle(muscle.shape, muscle.fat, points, raw);
      Compact(muscle, points, raw);
      MaxFieldKernel(raw.value, own.value);
    }
  }

  void Compose(Contact contact, FieldBlock& out) const {
    out = {};
    for (std::size_t k = 0; k < size(); ++k) MaxFieldKernel(block(k).value, out.value);
    if (contact == Contact::kSurface) ApplyContact(out);
  }

  PartBlocks Parts() const {
    PartBlocks parts;
    for (const Entry& entry : entries_) parts.push_back({blocks_[entry.block], entry.part});
    return parts;
  }

  std::size_t size() const { return entries_.size(); }
  std::uint32_t part(std::size_t slot) const { return entries_[slot].part; }
  const FieldBlock& block(std::size_t slot) const { return blocks_[entries_[slot].block]; }

 private:
  struct Entry {
    std::uint32_t part, block;
  };
  struct alignas(64) Candidate {
    float reach[kLanes];  // upper bounds of its field
    float largest;
    std::uint32_t part;
  };
  using Candidates = absl::InlinedVector<Candidate, 12>;

  Candidates FindParts() {
    const auto bounds = [](const float* v) {
      const auto [least, largest] = std::minmax_element(v, v + kLanes);
      return std::pair(*least, *largest);
    };
    const auto x = bounds(points_.x), y = bounds(points_.y), z = bounds(points_.z);
    box_ = {x.first, y.first, z.first, x.second, y.second, z.second};
    const std::size_t packs = posed_.bounds_.size() / (6 * kLanes);
    absl::InlinedVector<std::uint32_t, 16> hits(packs);
    CullKernel(posed_.bounds_.data(), packs, box_.data(), hits.data());
    Candidates found;
    for (std::uint32_t k = 0; k < packs; ++k) {
      for (std::uint32_t bits = hits[k]; bits != 0; bits &= bits - 1) {
        Candidate& candidate = found.emplace_back();
        candidate.part = k * 16 + static_cast<std::uint32_t>(std::countr_zero(bits));
        candidate.largest = ReachKernel(posed_.PartAt(candidate.part), points_.x, candidate.reach);
        if (candidate.largest == 0) found.pop_back();
      }
    }
    return found;
  }

  // Evaluates the parts that can matter at some point, those with the largest bounds first, because
  // they rule out others. Skipped parts do not change the bits of the composition.
  void Evaluate(Need need, std::span<const std::uint32_t> wanted, const Candidates& candidates) {
    absl::InlinedVector<std::uint32_t, 16> order;
    for (std::uint32_t k = 0; k < candidates.size(); ++k) order.push_back(k);
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      const float of_a = candidates[a].largest, of_b = candidates[b].largest;
      return of_a != of_b ? of_a > of_b : a < b;
    });
    alignas(64) float largest[kLanes] = {};
    for (const std::uint32_t k : order) {
      const Candidate& candidate = candidates[k];
      if (!Matters(candidate, need, largest) &&
          std::ranges::find(wanted, candidate.part) == wanted.end()) {
        continue;
      }
      FieldBlock& own = Own(candidate.part);
      HrbfKernel(posed_.PartAt(candidate.part), points_.x, candidate.reach, own.value);
      for (std::size_t i = 0; i < kLanes; ++i) largest[i] = std::max(largest[i], own.value[i]);
    }
  }

  bool Matters(const Candidate& candidate, Need need, const float* largest) const {
    if (need == Need::kAll) return true;
    if (need == Need::kInside && candidate.largest > 0.5f) return true;
    bool matters = false;
    for (std::size_t i = 0; i < kLanes; ++i) {
      matters |= candidate.reach[i] > 0 && candidate.reach[i] >= largest[i];
    }
    return matters;
  }

  // The block of a part, zeroed when created.
  FieldBlock& Own(std::uint32_t part) {
    auto at = std::ranges::lower_bound(entries_, part, {}, &Entry::part);
    if (at == entries_.end() || at->part != part) {
      at = entries_.insert(at, {part, static_cast<std::uint32_t>(blocks_.size())});
      blocks_.emplace_back();
    }
    return blocks_[at->block];
  }

  bool Meets(const MusclePrimitive& muscle) const {
    return muscle.minimum.x <= box_[3] && muscle.maximum.x >= box_[0] &&
           muscle.minimum.y <= box_[4] && muscle.maximum.y >= box_[1] &&
           muscle.minimum.z <= box_[5] && muscle.maximum.z >= box_[2];
  }

  double Cosine(const Vec3d& a, const Vec3d& b) const {
    const double size = std::sqrt(Dot(a, a)) * std::sqrt(Dot(b, b));
    const double least = kNoGradient * posed_.gradient_unit_;
    if (!(Dot(a, a) > least * least && Dot(b, b) > least * least)) return 1;
    return std::clamp(Dot(a, b) / size, -1.0, 1.0);
  }

  // Weight of the contact between two parts: 0 = plain union.
  double ContactShare(std::size_t a, std::size_t b, double cosine) const {
    const auto part_a = static_cast<std::int32_t>(part(a));
    const auto part_b = static_cast<std::int32_t>(part(b));
    const auto& parent = posed_.field_.parent_;
    const bool adjacent = parent[part(a)] == part_b || parent[part(b)] == part_a;
    const double* between = adjacent ? kNeighbours : kOthers;
    return 1 - SmoothStep(between[0], between[1], cosine);
  }

  // 1/2 + |F1 - F2| where both points are inside: the set F1 = F2 becomes part of the surface. Uses
  // the other part with the largest effect.
  void ApplyContact(FieldBlock& out) const {
    for (std::size_t i = 0; i < kLanes; ++i) {
      std::size_t first = 0, inside = 0;
      for (std::size_t k = 0; k < size(); ++k) {
        inside += block(k).value[i] > 0.5f ? 1 : 0;
        if (block(k).value[i] > block(first).value[i]) first = k;
      }
      if (inside < 2) continue;
      const Lane winner = At(block(first), i);
      double most = 0;
      Vec3d gradient;
      for (std::size_t k = 0; k < size(); ++k) {
        if (k == first || !(block(k).value[i] > 0.5f)) continue;
        const Lane other = At(block(k), i);
        const double share = ContactShare(first, k, Cosine(winner.gradient, other.gradient));
        const double taken = share * (other.f - 0.5);
        if (!(taken > most)) continue;
        most = taken;
        gradient = share * other.gradient;
      }
      if (most == 0) continue;
      const Lane base = At(out, i);
      Put({base.f - most, base.gradient - gradient}, i, out);
    }
  }

  const PosedLimbField& posed_;
  const PointBlock& points_;
  std::array<float, 6> box_;
  absl::InlinedVector<Entry, 16> entries_;  // ascending by part
  absl::InlinedVector<FieldBlock, 8> blocks_;
};

PosedLimbField::PosedLimbField(const LimbField& field, const PosedRig& posed,
                               std::span<const MusclePrimitive> muscles)
    : field_(field),
      muscles_(muscles),
      placed_(field.parts() * kPlacedFloats),
      bounds_((field.parts() + kLanes - 1) / kLanes * 6 * kLanes),
      gradient_unit_(1 / field.unit_) {
  for (std::size_t p = 0; p < field.parts(); ++p) {
    const AffineD frame =
        sinew::Compose(ToDouble(posed.joints[field.joint_[p]]), field.to_joint_[p]);
    frames_.push_back(ToFloat(frame));
    Place(p, frame);
  }
  for (std::size_t p = field.parts(); p < bounds_.size() / 6; ++p) SetBounds(p, kNowhere, kHere);
}

void PosedLimbField::SetBounds(std::size_t part, const Vec3d& least, const Vec3d& largest) {
  const double sides[6] = {least.x, least.y, least.z, largest.x, largest.y, largest.z};
  float* const at = bounds_.data() + part / kLanes * 6 * kLanes + part % kLanes;
  for (std::size_t i = 0; i < 6; ++i) at[i * kLanes] = static_cast<float>(sides[i]);
  if (part >= field_.parts()) return;
  float* const own = placed_.data() + part * kPlacedFloats + 22;
  for (std::size_t i = 0; i < 6; ++i) own[i] = static_cast<float>(sides[i]);
}

// Part space in radii from model space without differences of large numbers: origin is the frame's
// translation rounded to float, the remainder is part of the shift.
void PosedLimbField::Place(std::size_t part, const AffineD& frame) {
  const Mat3d linear = Linear(frame);
  const Vec3d t = Translation(frame);
  const double radius = field_.radius_[part];
  const Mat3d inverse = Flattens(linear) ? Mat3d{} : Linear(Inverse(frame));
  double steepest = 0;
  for (const double v : inverse.m) steepest = std::max(steepest, std::abs(v) / radius);
  float* const to = placed_.data() + part * kPlacedFloats;
  if (Flattens(linear) || !(steepest <= kSteepest)) return SetBounds(part, kNowhere, kHere);
  const Vec3f origin = ToFloat(t);
  const Vec3d shift = (1 / radius) * Multiply(inverse, ToDouble(origin) - t);
  for (std::size_t i = 0; i < 9; ++i) to[i] = static_cast<float>(inverse.m[i] / radius);
  const double rest[6] = {double{origin.x}, double{origin.y}, double{origin.z},
                          shift.x,          shift.y,          shift.z};
  for (std::size_t i = 0; i < 6; ++i) to[9 + i] = static_cast<float>(rest[i]);
  const float* const box = field_.box_.data() + part * 6;
  std::copy_n(box, 6, to + 16);
  for (std::size_t i = 0; i < 3; ++i) {
    const float side = box[3 + i] - box[i];
    to[28 + i] = side > 0 ? static_cast<float>(kReachSide) / side : 0;
  }

  Vec3d least = kNowhere, largest = kHere;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const Vec3d u = {double{box[corner & 1 ? 3 : 0]}, double{box[corner & 2 ? 4 : 1]},
                     double{box[corner & 4 ? 5 : 2]}};
    const Vec3d x = Apply(frame, radius * u);
    least = {std::min(least.x, x.x), std::min(least.y, x.y), std::min(least.z, x.z)};
    largest = {std::max(largest.x, x.x), std::max(largest.y, x.y), std::max(largest.z, x.z)};
  }
  const Vec3d pad = kPad * (largest - least);
  SetBounds(part, least - pad, largest + pad);
}

HrbfPart PosedLimbField::PartAt(std::size_t part) const {
  const std::uint32_t begin = field_.centre_offset_[part], end = field_.centre_offset_[part + 1];
  return {field_.centres_.data() + std::size_t{begin} * kCentreFloats,
          field_.polynomials_.data() + part * kPolynomialFloats, end - begin,
          placed_.data() + part * kPlacedFloats, field_.reach_.data() + part * kReachCells};
}

void PosedLimbField::Evaluate(const PointBlock& points, Contact contact, FieldBlock& out) const {
  const auto need = contact == Contact::kSurface ? Query::Need::kInside : Query::Need::kLargest;
  Query(*this, points, need).Compose(contact, out);
}

PartBlocks PosedLimbField::EvaluateParts(const PointBlock& points) const {
  return Query(*this, points, Query::Need::kAll).Parts();
}

PartBlocks PosedLimbField::EvaluateStrongest(const PointBlock& points,
                                             std::span<const std::uint32_t> wanted) const {
  return Query(*this, points, Query::Need::kLargest, wanted).Parts();
}

}  // namespace sinew
