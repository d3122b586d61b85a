// posed_field.h - interface of a posed character's limbs as signed distances, used by projection.
//
// Each part of the skin has a field f: about the signed distance from its surface, negative inside.
// Lengths are in units of the pose (PosedField::unit), so a gradient is about 1 at the surface.
// Points are in model space. The bits of a lane depend on its own point alone.
#pragma once

#include <absl/container/inlined_vector.h>

#include <array>
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

// f and its gradient at 16 points, of one part.
struct PartBlock : FieldBlock {
  std::uint32_t part = 0;
  std::array<float, kLanes> swell{};  // by how much muscles of the part lower f, >= 0
};
using PartBlocks = absl::InlinedVector<PartBlock, 8>;

// The distances a caller needs at 16 points: at point i those of the part own[i], and of every part
// whose f is below  max(f of own[i], level[i]) + margin[i].
struct DistanceNeed {
  std::array<std::uint16_t, kLanes> own{};
  std::array<float, kLanes> level{}, margin{};
};

// f of a part as other parts see it: it rises before the part's support ends, so that a part stops
// mattering gradually; infinite beyond. Both lengths may be relative to the same size.
float Beside(float f, float reach);

// Width of trust, relative to the size of the part, see PosedField::Trust. At half of it skin
// beside folds moves twice as abruptly; at double a tenth more overlaps.
inline constexpr float kTrustWidth = 0.05f;
// gap: least f of all others minus f of the part, relative to its size; > 0 where the part is the
// nearest.
float TrustOfGap(float gap);

class PosedField {
 public:
  virtual ~PosedField() = default;
  // f of single parts and its gradient, ascending by part. Beyond the support of a part f is
  // Reach(part). Parts that `need` does not name may be omitted; the bits of the others do not
  // depend on that. Thread-safe; finite for finite points.
  virtual PartBlocks Distances(const PointBlock& points, const DistanceNeed& need) const = 0;
  virtual float Reach(std::uint32_t part) const = 0;
  // Typical radius of a part's limb, in units, > 0.
  virtual float Size(std::uint32_t part) const = 0;
  // Typical limb radius in model space, > 0.
  virtual float unit() const = 0;
  // How far the field of a part at a point is skin of that part, 0 to 1, and not the cap by which
  // the field is closed inside its neighbours: whether the part, without muscles, has the least f
  // there in the bind pose. The point is carried back to it with the part.
  virtual float Trust(std::uint32_t part, const Vec3f& point) const = 0;
  // Vector from the nearest point of a part's bone to a point, in units and in the axes of the bind
  // pose, to which the point is carried back likewise.
  virtual Vec3f FromBone(std::uint32_t part, const Vec3f& point) const = 0;
  // [parts] part space to this pose's model space. Part space does not depend on the pose; each
  // part moves rigidly with its joint. Its origin is in the middle of the part's skin.
  virtual std::span<const Affine> PartFrames() const = 0;

  // Mean scale from part space to model space over all parts; 1 if undefined.
  float Scale() const;
};

}  // namespace sinew
