// level_ray.h - the search for the zero of T along one point's ray; T is defined in projection.h.
//
// Lengths are relative to the size of the point's owner.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>

#include "core/base/types.h"
#include "core/deform/implicit/project/constants.h"

namespace sinew {

inline constexpr double kAtLevel = 1e-4;  // |T| of points that stay, and that make their last step
inline constexpr double kOnLevel = 0.01;  // |T| up to which a point counts as on its level

// A limb that a point may touch.
struct LevelContact {
  std::uint16_t part = 0;
  float trust = 0;     // PosedField::Trust at the skinned point
  float strength = 0;  // trust, less where both limbs share the skin and it is not folded; 0 if the
                       // recipe turns contact off
  float softness = kSoftness;  // difference of the depth and the gap over which T bends
  float slack = 0;             // added to the gap, so that T is exactly 0 at rest

  // gap: f of the part - f of the owner at bind.
  void SoftenBy(float gap);
};

// T or one of its terms, and its slope along the ray.
struct LevelValue {
  double value = 0, slope = 0;
  double depth = 0;     // a alone, with the ray's shift
  bool of_gap = false;  // a gap decides, not the depth

  // The smooth minimum with a gap, as strong as the contact.
  void Meet(const LevelValue& gap, const LevelContact& with);
};

struct LevelRay {
  // Without it, making a ray would first fill all its bytes with zeros.
  LevelRay() {}

  std::uint32_t point = 0;
  std::uint16_t owner = 0;
  float level = 0;         // f of the owner at bind
  double most_inward = 0;  // longest move inward: up to the axis of the owner at rest
  // Longest restoring moves, both >= 0: by what the pose has changed the distance from the bone, as
  // skin that several joints share slides off its level, though it is as thick as at rest. In
  // passes after the first: the way back, and 0.
  float outward = 0, inward = 0;
  // Longest move inward in contact: kWidestContact less the gap at the start, by the strength and
  // by the size of the other part over that of the owner, at most 1. 0 without a contact.
  float contact = 0;
  // Added to the level in passes after the first: how far the start is off it, less the way back.
  double shift = 0;
  float size = 1;                   // of the owner, PosedField::Size
  double unit = 1;                  // and in model space
  Vec3d skinned, start, direction;  // start: the skinned point in the first pass
  double t = 0;                     // along the direction, > 0 inward
  double first = 0, last = 0;       // T at the start and at the last evaluation
  bool done = false;
  // At the last evaluation: whether a gap decides T, and whether the point is then below its level.
  bool touches = false, sunk = false;
  absl::InlinedVector<LevelContact, 4> contacts;

  // Takes T at t and moves t: a Newton step, or the chord of the bracket if that leaves it.
  void Step(const LevelValue& at);
  // The distance to move from the start.
  double Move() const;
  // The part of it that restores the level. What lies beyond is the move in contact.
  double RestoringMove() const;

 private:
  struct End {
    double t = 0, value = 0;
    bool known = false;
  };
  double MostInward(float limit) const { return std::min(most_inward, double{limit}); }
  End below_, above_;  // the bracket: T < 0 and T >= 0
};

}  // namespace sinew
