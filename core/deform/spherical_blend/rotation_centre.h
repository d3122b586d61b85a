// rotation_centre.h - how joints move relative to each other, and the point they agree about best;
// in double, once per frame.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/types.h"
#include "core/rig/posed_rig.h"

namespace sinew {

// Relative angle (rad) of joints below which their centre fades to the one expected at bind.
inline constexpr double kCentreFade = 1e-2;

// p -> rotation p + translation.
struct RigidPart {
  Mat3d rotation;
  Vec3d translation;
};

// What a binding does, its scale and shear taken as happening about `origin`, its joint's bind
// origin: [R | M c - R c], equal to M if M is rigid. Rest points and origin relative to the
// layout's centre.
RigidPart RigidPartOf(const PosedRig& posed, std::size_t binding, const Vec3d& origin);

// argmin over r of sum_{a<b} |m_a r - m_b r|^2 + kCentreFade^2 |r - expected|^2. Never singular;
// `expected` itself where all m agree about it, and for a single motion. Source: Kavan and Zara
// 2005, regularised.
Vec3d CentreOf(std::span<const RigidPart> motions, const Vec3d& expected);

// A row of `relations`: how a binding turns and moves as seen from a pivot binding.
inline constexpr std::size_t kRelationFloats = 16;

// With R the pivot's rotation and m as RigidPartOf gives it: E = R^T R_joint - I (9, row-major),
// R^T (m_joint - m_pivot) 0 (3), quaternion w x y z of I + E, w >= 0 (4). All from one quaternion,
// in double: differences of rotations that are nearly equal keep their digits.
void FillRelation(const PosedRig& posed, std::size_t pivot, const Vec3d& pivot_origin,
                  std::size_t joint, const Vec3d& joint_origin, std::span<float> relation);

}  // namespace sinew
