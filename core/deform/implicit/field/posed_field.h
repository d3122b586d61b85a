// posed_field.h - the scalar field of a posed character, as projection and tracking see it.
//
// Compact fields (algorithm: Vaillant et al. 2013): F is 1 deep inside, 0.5 on the surface and 0
// beyond the reach of every part; its gradient points INWARD. Points are in model space. A lane's
// bits depend on its own point alone, never on its neighbours in the block.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/types.h"
#include "core/rig/layout.h"

namespace sinew {

// F and its gradient at 16 points.
struct alignas(64) FieldBlock {
  float value[kLanes], x[kLanes], y[kLanes], z[kLanes];
};

// That of one part.
struct PartBlock : FieldBlock {
  std::uint32_t part = 0;
};
using PartBlocks = absl::InlinedVector<PartBlock, 8>;

// How parts that collide are composed.
enum class Contact : std::uint8_t {
  kCrease,   // the larger field wins; its gradient jumps where two parts meet
  kSurface,  // the surface where both are equal becomes part of the surface F = 0.5
};

class PosedField {
 public:
  virtual ~PosedField() = default;
  // Thread-safe; finite for finite points.
  virtual void Evaluate(const PointBlock& points, Contact contact, FieldBlock& out) const = 0;

  // The parts the field is composed of; each moves rigidly with its joint.
  virtual std::size_t parts() const = 0;
  // The single parts, by rising part; a part that is left out is 0 at all points.
  virtual PartBlocks EvaluateParts(const PointBlock& points) const = 0;
  // The same, of `wanted` and of whatever is the largest at a point; others may be left out.
  virtual PartBlocks EvaluateStrongest(
      const PointBlock& points, [[maybe_unused]] std::span<const std::uint32_t> wanted) const {
    return EvaluateParts(points);
  }
  // [parts] part space to model space of this pose; part space is the same in every pose.
  virtual std::span<const Affine> PartFrames() const = 0;

  // How much longer the pose makes a length of part space, over all parts; 1 if they say nothing.
  float Scale() const;
};

}  // namespace sinew
