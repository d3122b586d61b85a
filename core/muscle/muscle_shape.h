// muscle_shape.h - a posed muscle as a field, and the rest skin above it.
//
// f approximates a distance in model space: 0 on the belly, < 0 inside, below the distance
// elsewhere. Ellipsoid: f = k0 (k0 - 1) / k1 with k0 = |p / r|, k1 = |p / r^2|. Generalised
// cylinder: the same in the section at the nearest point of the belly's line, over sqrt(1 +
// slope^2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/deform/implicit/field/posed_field.h"
#include "core/muscle/posed_muscle.h"
#include "core/rig/layout.h"
#include "core/rig/rig.h"

namespace sinew {

struct MuscleShape {
  bool ellipsoid = true;
  std::vector<float> values;         // see muscle_kernel.h
  double least = 1;                  // smallest semi-axis
  double largest = 1, steepest = 1;  // of a cylinder: largest semi-axis across, sqrt(1 + slope^2)
  Vec3d low, high;                   // bounds of the belly's line (cylinder) or centre (ellipsoid)
  Vec3d half;                        // of an ellipsoid's bounding box
};

MuscleShape MakeMuscleShape(const MuscleRow& row, const MuscleState& state);

// f - fat and its outward gradient.
void EvaluateMuscle(const MuscleShape& shape, double fat, const PointBlock& points,
                    FieldBlock& out);

struct MuscleBox {
  Vec3d low, high;
};
// Outside this box f >= value.
MuscleBox BoxBelow(const MuscleShape& shape, double value);

struct BindPoseSkin {
  std::vector<AffineD> pose;         // [J] the bind pose
  std::vector<Vec3d> points;         // [V] bind pose positions, model space
  std::vector<std::uint32_t> joint;  // [V] of the strongest influence
};
BindPoseSkin MakeBindPoseSkin(const Rig& rig);

// The skin above one muscle: vertices whose strongest joint is one it is fixed to or between its
// ends, ascending; and f of the bind pose there.
struct MuscleFootprint {
  MuscleState bound;  // in the bind pose
  MuscleShape shape;
  std::vector<std::uint32_t> vertices;
  std::vector<float> values;
  // Subtracted from f so that the muscle touches the bind-pose skin from inside; at least the
  // muscle's own fat if given. 0 without vertices.
  double fat = 0;
};
MuscleFootprint MakeFootprint(const Rig& rig, const BindPoseSkin& skin, std::size_t muscle);
// Total number of vertices of all footprints, without creating them.
std::size_t MostUnderMuscles(const Rig& rig);

}  // namespace sinew
