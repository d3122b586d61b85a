// extra_field.h - a primitive added to the fitted parts of a posed field, e.g. a muscle.
#pragma once

#include <limits>

#include "core/base/types.h"
#include "core/deform/implicit/field/posed_field.h"

namespace sinew {

// Valid for one frame. F = max(part, primitive) replaces the part, so contact acts between limbs
// including their muscles (after Vaillant et al. 2013).
struct ExtraField {
  virtual ~ExtraField() = default;
  // Raw f (about a distance in model space, < 0 inside) and its outward gradient at 16 points in
  // model space. Thread-safe; finite for finite points; a lane depends on its own point alone.
  virtual void Evaluate(const PointBlock& points, FieldBlock& out) const = 0;

  // Value of f where the compact field reaches 0, as LimbField::radius of its part.
  double radius = 1;
  int part = 0;  // the part it is combined with
  // Bounds in model space. Outside, the primitive counts as 0, so f >= radius must hold on the
  // border.
  Vec3f minimum{-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                -std::numeric_limits<float>::infinity()};
  Vec3f maximum{std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity(),
                std::numeric_limits<float>::infinity()};
};

}  // namespace sinew
