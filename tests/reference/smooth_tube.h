// smooth_tube.h - the reference tube as a smooth surface in double: posed positions, exact normals,
// and normals by simpler rules.
//
// Points are given by x along the tube (joints at -2 and 0, smoothstep weights over length 1 about
// 0) and the angle around it. Exact normals are central differences of the smooth map.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"

namespace sinew::reference {

enum class SmoothMethod { kLbs, kDqs };

class SmoothTube {
 public:
  // skin  [2] rest to posed; rigid
  SmoothTube(SmoothMethod method, std::span<const AffineD> skin, double radius = 0.5);

  Vec3d Point(double x, double angle) const;
  // Unit normal of the deformed surface.
  Vec3d Normal(double x, double angle) const;
  // The blended linear part applied to the rest normal.
  Vec3d Rotated(double x, double angle) const;
  // Its cofactor matrix instead: exact where weights are constant.
  Vec3d Cofactor(double x, double angle) const;
  // Cross product of the rest tangents transformed by the blended linear part plus the gradient of
  // the weights. kLbs only.
  Vec3d GradientCorrected(double x, double angle) const;

 private:
  Mat3d BlendedLinear(double x) const;
  SmoothMethod method_;
  AffineD skin_[2];
  double radius_;
};

// Unit normals of the smooth surface through a deformed grid of rings * around points, ring by
// ring, by differences of order eight (lower at the tube's ends).
std::vector<Vec3d> GridNormals(std::span<const Vec3d> points, std::size_t rings,
                               std::size_t around);

// Angle between two directions.
double Degrees(const Vec3d& a, const Vec3d& b);

}  // namespace sinew::reference
