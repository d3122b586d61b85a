// muscle_footprint.h - the rest skin above each muscle of a rig.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/muscle/muscle_shape.h"
#include "core/muscle/posed_muscle.h"
#include "core/rig/rig.h"

namespace sinew {

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
