// rounded_limb.h - the canonical cylinder of contact tests, and its field in closed form.
//
// Radius 1, from x = -5 to 5, 81 rings of 32 and a fan at each end (2,594 vertices, 5,184
// triangles, diagonals alternating); two joints, at -5 and at 0, smoothstep weights over -1 to 1.
// Its field: each part is the cylinder around its half axis, closed by a ball at the joint,
// f = distance from the half axis - 1, up to 1. The exact union of both at a bend of
// theta is V / V0 = 1 + (2 theta - 4 tan(theta / 2)) / 30 pi.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/deform/implicit/field.h"
#include "core/rig/rig.h"

namespace sinew::testing {

RigSource CanonicalCylinderSource();
Rig CanonicalCylinder();
// Rest volume of the mesh, the reference of ratios.
double CanonicalVolume();
// Union of the posed parts over the cylinder's volume.
double ExactUnion(double degrees);

struct FieldSample {
  double value = 0;
  Vec3d gradient{};
};

class RoundedLimb : public PosedField {
 public:
  // skin [2]: motion of each part since rest.
  explicit RoundedLimb(std::span<const AffineD> skin);
  explicit RoundedLimb(std::span<const Affine> skin);

  // f in units and its gradient, in double.
  FieldSample DistanceOf(std::size_t part, const Vec3d& point) const;

  PartBlocks Distances(const PointBlock& points, const DistanceNeed& need) const override;
  float Reach(std::uint32_t) const override { return 1; }
  float Size(std::uint32_t) const override { return 1; }
  float unit() const override { return Scale(); }
  float Trust(std::uint32_t part, const Vec3f& point) const override;
  Vec3f FromBone(std::uint32_t part, const Vec3f& point) const override;
  std::span<const Affine> PartFrames() const override { return frames_; }

 private:
  // From the nearest point of the half axis, in bind space.
  Vec3d FromAxis(std::size_t part, const Vec3d& point) const;
  std::array<AffineD, 2> skin_, inverse_;
  std::array<Affine, 2> frames_;
};

}  // namespace sinew::testing
