// rotation_centre.h - relative motion of joints and the point where they agree best; in double,
// once per frame.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/types.h"
#include "core/rig/posed_rig.h"

namespace sinew {

// Relative angle (rad) of joints below which the centre fades to the expected one.
inline constexpr double kCentreFade = 1e-2;

// p -> rotation p + translation.
struct RigidPart {
  Mat3d rotation;  // mirrored with its joint
  Vec3d translation;
};

// Rigid part of a binding's motion, with scale and shear taken about `origin`, its joint's bind
// origin: [s R | M c - s R c], equal to M if M is rigid or its mirror image. Rest points and origin
// are relative to the layout's centre.
RigidPart RigidPartOf(const PosedRig& posed, std::size_t binding, const Vec3d& origin);

// argmin over r of sum_{a<b} |m_a r - m_b r|^2 + kCentreFade^2 |r - expected|^2. Never singular;
// `expected` itself if all m agree there, or for a single motion. Source: Kavan and Zara 2005, with
// a regulariser.
Vec3d CentreOf(std::span<const RigidPart> motions, const Vec3d& expected);

// Fills a row of relations. With R the pivot's rotation, s its sign and m the RigidPartOf: E = R^T
// R_joint - I (9, row-major), d = s R^T (m_joint - m_pivot) 0 (3), quaternion w x y z of I + E with
// w >= 0 (4), E^T d (3), 0. All derived from one quaternion in double, because differences of
// nearly equal rotations cancel.
void FillRelation(const PosedRig& posed, std::size_t pivot, const Vec3d& pivot_origin,
                  std::size_t joint, const Vec3d& joint_origin, std::span<float> relation);

}  // namespace sinew
