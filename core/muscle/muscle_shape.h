// muscle_shape.h - a posed muscle as a field to evaluate, and the rest skin it lies under.
//
// f is about a distance in model space: 0 on the belly, < 0 inside. Ellipsoid: f = k0 (k0 - 1) / k1
// with k0 = |p / r|, k1 = |p / r^2|. Generalised cylinder: the same in the section at the nearest
// point of the belly's line, over sqrt(1 + slope^2). Off the surface f is less than the distance.
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
  double least = 1;                  // semi-axis
  double largest = 1, steepest = 1;  // of a cylinder: semi-axis across, sqrt(1 + slope^2)
  Vec3d low, high;                   // of the belly's line (a cylinder) or centre (an ellipsoid)
  Vec3d half;                        // of an ellipsoid's box
};

MuscleShape MakeMuscleShape(const MuscleRow& row, const MuscleState& state);

// f - fat and its outward gradient.
void EvaluateMuscle(const MuscleShape& shape, double fat, const PointBlock& points,
                    FieldBlock& out);

struct MuscleBox {
  Vec3d low, high;
};
// Beyond it f >= value everywhere.
MuscleBox BoxBelow(const MuscleShape& shape, double value);

// What muscles see of a rig's skin.
struct BindPoseSkin {
  std::vector<AffineD> pose;         // [J] the bind pose
  std::vector<Vec3d> points;         // [V] in the bind pose's model space
  std::vector<std::uint32_t> joint;  // [V] of the strongest influence
};
BindPoseSkin MakeBindPoseSkin(const Rig& rig);

// The skin over one muscle: vertices that mostly follow a joint it is fixed to, or one between its
// ends, by rising number; and f of the bind pose there.
struct MuscleFootprint {
  MuscleState bound;  // in the bind pose
  MuscleShape shape;
  std::vector<std::uint32_t> vertices;
  std::vector<float> values;
  // What is taken off f: the muscle then touches the skin as bound from inside; at least the
  // muscle's own fat where it names one. 0 without vertices.
  double fat = 0;
};
MuscleFootprint MakeFootprint(const Rig& rig, const BindPoseSkin& skin, std::size_t muscle);
// How many vertices all footprints have together; counted without making them.
std::size_t MostUnderMuscles(const Rig& rig);

}  // namespace sinew
