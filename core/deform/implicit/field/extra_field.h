// extra_field.h - a primitive beside the fitted parts, e.g. a muscle: how a posed field asks it.
#pragma once

#include <limits>

#include "core/base/types.h"
#include "core/deform/implicit/field/posed_field.h"

namespace sinew {

// Of one frame. F = max(part, primitive) takes the place of the part it belongs to, so that the
// operators of joints act between limbs with their muscles (algorithms: Vaillant et al. 2013).
struct ExtraField {
  virtual ~ExtraField() = default;
  // Raw f (about a distance in model space, < 0 inside) and its outward gradient at 16 points in
  // model space. Thread-safe; finite for finite points; a lane depends on its own point alone.
  virtual void Evaluate(const PointBlock& points, FieldBlock& out) const = 0;

  double radius = 1;  // f at which the compact field has fallen to 0; that of its part: see
                      // LimbField::radius
  int part = 0;       // whose place in the tree it takes
  // Model space; beyond it the primitive counts as 0, so f >= radius must hold on its border.
  Vec3f minimum{-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                -std::numeric_limits<float>::infinity()};
  Vec3f maximum{std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity(),
                std::numeric_limits<float>::infinity()};
};

}  // namespace sinew
