#include "core/deform/implicit/field.h"

#include <absl/container/inlined_vector.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/segment.h"
#include "core/base/smooth_step.h"
#include "core/base/vectors.h"
#include "core/deform/implicit/constants.h"
#include "core/deform/implicit/hrbf_kernel.h"
#include "core/rig/bones.h"

namespace sinew {
namespace {

// Limit of a placed matrix's entries; larger entries mean a joint scaled to zero.
constexpr double kSteepest = 1e15;

// Bounds that intersect nothing.
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr Vec3d kEmptyLeast{kInfinite, kInfinite, kInfinite};
constexpr Vec3d kEmptyLargest{-kInfinite, -kInfinite, -kInfinite};

bool IsInside(const MusclePrimitive& muscle, const Vec3f& p) {
  return p.x >= muscle.minimum.x && p.x <= muscle.maximum.x && p.y >= muscle.minimum.y &&
         p.y <= muscle.maximum.y && p.z >= muscle.minimum.z && p.z <= muscle.maximum.z;
}

}  // namespace

float FadingDistance(float f, float reach) {
  if (!(f < reach)) return std::numeric_limits<float>::infinity();
  const float left = (reach - f) / (kEnding * reach);
  return left < 1 ? f + 1 - static_cast<float>(SmoothStep(double{left})) : f;
}

float PosedField::Scale() const {
  double sum = 0;
  for (const Affine& frame : PartFrames()) {
    sum += std::cbrt(std::abs(Determinant(Linear(ToDouble(frame)))));
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(1, PartFrames().size()));
  return mean > 1e-30 && mean < 1e30 ? static_cast<float>(mean) : 1.0f;
}

// The parts that reach a block of points, with their distances there. A part's values do not depend
// on which others are evaluated.
class PosedLimbField::Query {
 public:
  Query(const PosedLimbField& posed, const PointBlock& points, PartBlocks& parts)
      : posed_(posed), points_(points), parts_(parts) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float* const v = points_.x + axis * kLanes;
      box_[axis] = box_[3 + axis] = v[0];
      for (std::size_t i = 1; i < kLanes; ++i) {
        box_[axis] = std::min(box_[axis], v[i]);
        box_[3 + axis] = std::max(box_[3 + axis], v[i]);
      }
    }
    const std::size_t packs = posed_.bounds_.size() / (6 * kLanes);
    absl::InlinedVector<std::uint32_t, 16> hits(packs);
    CullKernel(posed_.bounds_.data(), packs, box_.data(), hits.data());
    for (std::uint32_t k = 0; k < packs; ++k) {
      for (std::uint32_t bits = hits[k]; bits != 0; bits &= bits - 1) {
        Candidate& candidate = candidates_.emplace_back();
        candidate.part = k * 16 + static_cast<std::uint32_t>(std::countr_zero(bits));
        if (!LeastKernel(posed_.PartAt(candidate.part), points_.x, candidate.least)) {
          candidates_.pop_back();
        }
      }
    }
  }

  void Evaluate(const DistanceNeed& need) {
    alignas(64) float limit[kLanes];
    const PartBlock* own = nullptr;
    for (std::size_t i = 0; i < kLanes; ++i) {
      if (i == 0 || need.own[i] != need.own[i - 1]) own = &Evaluated(need.own[i]);
      limit[i] = std::max(own->value[i], need.level[i]) + need.margin[i];
    }
    for (const MusclePrimitive& muscle : posed_.muscles_) {
      if (Meets(muscle)) Evaluated(muscle.part);
    }
    for (const Candidate& candidate : candidates_) {
      const float reach = posed_.Reach(candidate.part);
      bool needed = false;
      for (std::size_t i = 0; i < kLanes; ++i) needed |= reach * candidate.least[i] < limit[i];
      if (needed) Evaluated(candidate.part);
    }
  }

 private:
  struct alignas(64) Candidate {
    // Uninitialised: the kernel fills it.
    Candidate() {}
    float least[kLanes];  // lower bounds of f / r
    std::uint32_t part;
  };

  // A part's distances with its muscles; without a candidate those outside its reach.
  PartBlock& Evaluated(std::uint32_t part) {
    auto at = std::ranges::lower_bound(parts_, part, {}, &PartBlock::part);
    if (at != parts_.end() && at->part == part) return *at;
    at = parts_.emplace(at);
    PartBlock& own = *at;
    own.part = part;
    const float reach = posed_.Reach(part);
    const auto found = std::ranges::lower_bound(candidates_, part, {}, &Candidate::part);
    if (found == candidates_.end() || found->part != part) {
      std::ranges::fill(own.value, reach);
    } else {
      DistanceKernel(posed_.PartAt(part), points_.x, found->least, own.value);
      const float length = reach * posed_.unit_;
      for (std::size_t i = 0; i < kLanes; ++i) {
        own.value[i] *= reach;
        own.x[i] *= length;
        own.y[i] *= length;
        own.z[i] *= length;
      }
    }
    for (const MusclePrimitive& muscle : posed_.muscles_) {
      if (muscle.part == part && Meets(muscle)) AddMuscle(muscle, own);
    }
    return own;
  }

  // The smaller distance of part and muscle.
  void AddMuscle(const MusclePrimitive& muscle, PartBlock& own) const {
    FieldBlock raw;
    EvaluateMuscle(muscle.shape, muscle.fat, points_, raw);
    for (std::size_t i = 0; i < kLanes; ++i) {
      const float value = raw.value[i] / posed_.unit_;
      if (!IsInside(muscle, points_.At(i)) || !(value < own.value[i])) continue;
      own.swell[i] += own.value[i] - value;
      own.value[i] = value;
      own.x[i] = raw.x[i];
      own.y[i] = raw.y[i];
      own.z[i] = raw.z[i];
    }
  }

  bool Meets(const MusclePrimitive& muscle) const {
    return muscle.minimum.x <= box_[3] && muscle.maximum.x >= box_[0] &&
           muscle.minimum.y <= box_[4] && muscle.maximum.y >= box_[1] &&
           muscle.minimum.z <= box_[5] && muscle.maximum.z >= box_[2];
  }

  const PosedLimbField& posed_;
  const PointBlock& points_;
  PartBlocks& parts_;                              // ascending
  std::array<float, 6> box_;                       // of the points: least, largest
  absl::InlinedVector<Candidate, 12> candidates_;  // ascending
};

PosedLimbField::PosedLimbField(const LimbField& field, const PosedRig& posed,
                               std::span<const MusclePrimitive> muscles)
    : PosedLimbField(field, muscles, [&](std::size_t p) {
        return sinew::Compose(ToDouble(posed.joints[field.joint_[p]]), field.to_joint_[p]);
      }) {}

PosedLimbField::PosedLimbField(const LimbField& field)
    : PosedLimbField(field, {}, [&](std::size_t p) {
        const Vec3d& c = field.centre_[p];
        return AffineD{{1, 0, 0, c.x, 0, 1, 0, c.y, 0, 0, 1, c.z}};
      }) {}

template <class FrameOf>
PosedLimbField::PosedLimbField(const LimbField& field, std::span<const MusclePrimitive> muscles,
                               FrameOf frame_of)
    : field_(field),
      muscles_(muscles),
      placed_(field.parts() * kPlacedFloats),
      bounds_((field.parts() + kLanes - 1) / kLanes * 6 * kLanes) {
  for (std::size_t p = 0; p < field.parts(); ++p) {
    const AffineD frame = frame_of(p);
    frames_.push_back(ToFloat(frame));
    reach_.push_back(static_cast<float>(field.reach_[p] / field.unit_));
    size_.push_back(static_cast<float>(field.size_[p] / field.unit_));
    Place(p, frame);
  }
  for (std::size_t p = field.parts(); p < bounds_.size() / 6; ++p)
    SetBounds(p, kEmptyLeast, kEmptyLargest);
  unit_ = static_cast<float>(field.unit_) * Scale();
}

void PosedLimbField::SetBounds(std::size_t part, const Vec3d& least, const Vec3d& largest) {
  const double sides[6] = {least.x, least.y, least.z, largest.x, largest.y, largest.z};
  float* const at = bounds_.data() + part / kLanes * 6 * kLanes + part % kLanes;
  for (std::size_t i = 0; i < 6; ++i) at[i * kLanes] = static_cast<float>(sides[i]);
  if (part >= field_.parts()) return;
  float* const own = placed_.data() + part * kPlacedFloats + 22;
  for (std::size_t i = 0; i < 6; ++i) own[i] = static_cast<float>(sides[i]);
}

// Part space over the reach from model space without differences of large numbers: origin is the
// frame's translation rounded to float, the remainder is part of the shift.
void PosedLimbField::Place(std::size_t part, const AffineD& frame) {
  const Mat3d linear = Linear(frame);
  const Vec3d t = Translation(frame);
  const double reach = field_.reach_[part];
  const Mat3d inverse = Flattens(linear) ? Mat3d{} : Linear(Inverse(frame));
  double steepest = 0;
  for (const double v : inverse.m) steepest = std::max(steepest, std::abs(v) / reach);
  float* const to = placed_.data() + part * kPlacedFloats;
  if (Flattens(linear) || !(steepest <= kSteepest))
    return SetBounds(part, kEmptyLeast, kEmptyLargest);
  const Vec3f origin = ToFloat(t);
  const Vec3d shift = (1 / reach) * Multiply(inverse, ToDouble(origin) - t);
  for (std::size_t i = 0; i < 9; ++i) to[i] = static_cast<float>(inverse.m[i] / reach);
  const double rest[6] = {double{origin.x}, double{origin.y}, double{origin.z},
                          shift.x,          shift.y,          shift.z};
  for (std::size_t i = 0; i < 6; ++i) to[9 + i] = static_cast<float>(rest[i]);
  const float* const box = field_.box_.data() + part * 6;
  std::copy_n(box, 6, to + 16);
  for (std::size_t i = 0; i < 3; ++i) {
    const float side = box[3 + i] - box[i];
    to[28 + i] = side > 0 ? static_cast<float>(kGridSide) / side : 0;
  }

  Vec3d least = kEmptyLeast, largest = kEmptyLargest;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const Vec3d u = {double{box[corner & 1 ? 3 : 0]}, double{box[corner & 2 ? 4 : 1]},
                     double{box[corner & 4 ? 5 : 2]}};
    const Vec3d x = Apply(frame, reach * u);
    least = {std::min(least.x, x.x), std::min(least.y, x.y), std::min(least.z, x.z)};
    largest = {std::max(largest.x, x.x), std::max(largest.y, x.y), std::max(largest.z, x.z)};
  }
  const Vec3d pad = kBoxMargin * (largest - least);
  SetBounds(part, least - pad, largest + pad);
}

Vec3f PosedLimbField::InPartSpace(std::size_t part, const Vec3f& point) const {
  const float* const m = placed_.data() + part * kPlacedFloats;
  const float x = point.x - m[9], y = point.y - m[10], z = point.z - m[11];
  const auto row = [&](std::size_t r) {
    return m[3 * r] * x + m[3 * r + 1] * y + m[3 * r + 2] * z + m[12 + r];
  };
  return {row(0), row(1), row(2)};
}

float PosedLimbField::Reach(std::uint32_t part) const {
  return reach_[part];
}

float PosedLimbField::Size(std::uint32_t part) const {
  return size_[part];
}

float PosedLimbField::Trust(std::uint32_t part, const Vec3f& point) const {
  const float* const m = placed_.data() + part * kPlacedFloats;
  if (!(m[28] > 0)) return 0;  // scaled to zero
  const Vec3f u = InPartSpace(part, point);
  return TrustOfGrid(field_.corner_gap_.data() + part * kGridCorners,
                     {(u.x - m[16]) * m[28], (u.y - m[17]) * m[29], (u.z - m[18]) * m[30]});
}

Vec3f PosedLimbField::FromBone(std::uint32_t part, const Vec3f& point) const {
  const Vec3d at = field_.reach_[part] * ToDouble(InPartSpace(part, point));
  const Vec3d nearest = NearestOnSegment(field_.root_[part], field_.tip_[part], at).point;
  return ToFloat((1 / field_.unit_) * (at - nearest));
}

HrbfPart PosedLimbField::PartAt(std::size_t part) const {
  const std::uint32_t begin = field_.centre_offset_[part], end = field_.centre_offset_[part + 1];
  return {field_.centres_.data() + std::size_t{begin} * kCentreFloats,
          field_.polynomials_.data() + part * kPolynomialFloats, end - begin,
          placed_.data() + part * kPlacedFloats, field_.cell_bound_.data() + part * kGridCells};
}

PartBlocks PosedLimbField::Distances(const PointBlock& points, const DistanceNeed& need) const {
  PartBlocks parts;
  Query(*this, points, parts).Evaluate(need);
  return parts;
}

}  // namespace sinew
