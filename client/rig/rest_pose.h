// rest_pose.h - where a rig's mesh and joints are at rest, from the rig data alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// One of the 3x4 matrices of an array.
AffineD MatrixAt(std::span<const float> matrices, std::size_t index);

// [V * 3] the mesh in model space in the rest pose, by linear blending. Differs from bind space if
// the rest pose differs from the bind pose. Vertices without influences stay in bind space.
std::vector<float> RestPositions(const client::RigData& rig);

// [V * 3] the mesh with these joints, [J * 12] joint to model, as RestPositions.
std::vector<float> PosedPositions(const client::RigData& rig, std::span<const float> joints);

// All meshes as one in the rest pose, with face sizes; without skin, normals and shapes.
Mesh MergedMesh(const RigData& rig);

// [J * 12] joint to model at rest; empty if the joints are not valid.
std::vector<float> RestJoints(const client::RigData& rig);

// Length of the diagonal of the box of points, x, y, z of each; 0 without any.
double BoxDiagonal(std::span<const float> points);

}  // namespace sinew::client
