// tube.h - the reference tube of all methods: along x, rings in the yz plane, equidistant joints.
//
// The default is the tube of the reference tables: length 4, radius 0.5, 61 rings of 32, two joints
// at x = -2 and 0.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew::testing {

enum class TubeWeights {
  kSmooth,  // smoothstep over length 1 about each joint
  kRigid,   // 0 or 1; 1/2 each on a ring at a joint
  kFour,    // the four nearest joints, decreasing with distance
};

struct TubeOptions {
  std::size_t rings = 61;
  std::size_t around = 32;
  std::size_t joints = 2;  // at -length / 2 + j * length / joints, a chain
  double length = 4;
  double radius = 0.5;
  TubeWeights weights = TubeWeights::kSmooth;
  Vec3d origin{};      // centre of the tube
  bool quads = false;  // otherwise each quad (i, k) is split along (i, k + 1), (i + 1, k)
};

// Vertex (i, k) has index i * around + k and angle 2 pi k / around; faces point outward; open ends.
RigSource TubeSource(const TubeOptions& options = {});
// Aborts with the message on an error.
Rig TubeRig(const TubeOptions& options = {});
Rig MakeRig(RigSource source);

// Joint-to-model matrices, rounded to float as callers send them.
std::vector<Affine> RestPose(const Rig& rig);
// Every joint except the roots rotated by `degrees` about an axis through its origin, relative to
// its parent.
std::vector<Affine> TurnPose(const Rig& rig, const Vec3d& axis, double degrees);
// About z and about x (the tube's axis).
std::vector<Affine> BendPose(const Rig& rig, double degrees);
std::vector<Affine> TwistPose(const Rig& rig, double degrees);
// motion * joint for every joint.
std::vector<Affine> Moved(const AffineD& motion, std::span<const Affine> pose);
// Rotation about an axis through the origin followed by a translation.
AffineD RigidMotion(const Vec3d& axis, double degrees, const Vec3d& translation = {});
AffineD ScaleMotion(const Vec3d& scale);

// joint * inverse_bind of every binding: rest to posed position.
std::vector<AffineD> SkinMatrices(const Rig& rig, std::span<const Affine> pose);

// Signed volume of a tube's points; the ends are closed by fans around the ring means.
double TubeVolume(const TubeOptions& options, std::span<const Vec3d> points);
// Smallest distance of a point from the mean of its ring, divided by the radius.
double TubeMinRadius(const TubeOptions& options, std::span<const Vec3d> points);

}  // namespace sinew::testing
