// posed_field.h - interface of a posed character's scalar field, used by projection and tracking.
//
// Compact fields (Vaillant et al. 2013): F is 1 deep inside, 0.5 on the surface and 0 outside the
// support of all parts; its gradient points INWARD. Points are in model space. The bits of a lane
// depend on its own point alone.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/point_block.h"
#include "core/base/types.h"

namespace sinew {

// The points at(i), i < count <= 16; further lanes repeat the last one.
template <class At>
PointBlock BlockOf(std::size_t count, At at) {
  PointBlock block;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Vec3f p = at(i < count ? i : count - 1);
    block.x[i] = p.x;
    block.y[i] = p.y;
    block.z[i] = p.z;
  }
  return block;
}

// F and its gradient at 16 points, of one part.
struct PartBlock : FieldBlock {
  std::uint32_t part = 0;
};
using PartBlocks = absl::InlinedVector<PartBlock, 8>;

// Composition of colliding parts.
enum class Contact : std::uint8_t {
  kCrease,   // maximum; the gradient is discontinuous where two parts meet
  kSurface,  // the surface of equal fields becomes part of the surface F = 0.5
};

class PosedField {
 public:
  virtual ~PosedField() = default;
  // Thread-safe; finite for finite points.
  virtual void Evaluate(const PointBlock& points, Contact contact, FieldBlock& out) const = 0;

  // The fields of single parts, ascending by part; omitted parts are 0 at all points.
  virtual PartBlocks EvaluateParts(const PointBlock& points) const = 0;
  // As above, for `wanted` and for the part with the largest field at each point; others may be
  // omitted.
  virtual PartBlocks EvaluateStrongest(
      const PointBlock& points, [[maybe_unused]] std::span<const std::uint32_t> wanted) const {
    return EvaluateParts(points);
  }
  // [parts] part space to this pose's model space. Part space does not depend on the pose; each
  // part moves rigidly with its joint.
  virtual std::span<const Affine> PartFrames() const = 0;

  // Mean scale from part space to model space over all parts; 1 if undefined.
  float Scale() const;
};

}  // namespace sinew
