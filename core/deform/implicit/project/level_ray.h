// level_ray.h - the search for the zero of T along one point's ray; T is defined in projection.h.
//
// Lengths are relative to the size of the point's owner.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>

#include "core/base/types.h"
#include "core/deform/implicit/project/constants.h"

namespace sinew {

inline constexpr double kAtLevel = 1e-4;  // |T| of points that stay, and that make their last step
inline constexpr double kNear = 0.01;     // |T| up to which a point counts as fitted

// A limb that a point may touch.
struct LevelContact {
  std::uint16_t part = 0;
  float trust = 0;     // PosedField::Trust at the skinned point
  float strength = 0;  // the same, less where skin of both limbs is not folded; 0 without contact
  float past = 0;      // how far the start is past the beginning of contact
  float size = 0;      // of the part, relative to the owner, at most 1
  float softness = kSoftness, slack = 0;

  // gap: between the owner and the part at bind. The slack makes T exactly 0 at rest.
  void SoftenBy(float gap);
};

// T or one of its terms, and its slope along the ray.
struct LevelValue {
  double value = 0, slope = 0;
  double depth = 0;     // a alone
  bool of_gap = false;  // a gap decides, not the depth

  // The smooth minimum with a gap, as strong as the contact.
  void Meet(const LevelValue& gap, const LevelContact& with);
};

struct LevelRay {
  // Without it, making a ray would first fill all its bytes with zeros.
  LevelRay() {}

  std::uint32_t point = 0;
  std::uint16_t owner = 0;
  float level = 0, to_axis = 0;
  // Longest restoring moves, both >= 0.
  float outward = 0, inward = 0;
  double shift = 0;  // of the level, in passes after the first: how far the start is off it
  float size = 1;    // of the owner, in units
  double unit = 1;   // and in model space
  Vec3d skinned, start, direction;  // start: the skinned point in the first pass
  double t = 0;                     // along the direction, > 0 inward
  double first = 0, last = 0;       // T at the start and at the last evaluation
  bool done = false, touches = false;
  bool sunk = false;  // at the last evaluation: below its level where it touches
  absl::InlinedVector<LevelContact, 4> contacts;

  LevelContact* ContactWith(std::uint32_t part);
  const LevelContact* ContactWith(std::uint32_t part) const;
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
  double MostOutward() const;
  double MostInward() const;
  double MostRestoring() const;
  double MostInContact() const;
  double Longest() const;
  double LongestInward() const;
  End below_, above_;  // the bracket: T < 0 and T >= 0
};

}  // namespace sinew
