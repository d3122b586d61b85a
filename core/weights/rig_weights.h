// rig_weights.h - weights for all meshes of a rig at once, each in the pose it was made in.
//
// A skin's inverse bind matrices say where its joints stood when the mesh was bound, which need not
// be the rest pose. Meshes whose joints stood alike are weighed together, others apart.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/rig/influences.h"
#include "core/rig/skeleton.h"
#include "core/weights/weights.h"

namespace sinew {

struct RigWeightsInput {
  MeshSource mesh;                             // bind space of each part
  Skeleton skeleton;                           // at rest
  std::vector<std::vector<Binding>> bindings;  // [parts] as bound, geometry bind folded in; a part
                                               // without stands in the rest pose
  std::vector<std::uint8_t> carriers;          // [J] 1 = may carry skin
};

struct RigWeights {
  InfluenceSource influences;        // [V] by joint
  WeightReport report;               // vertices of the rig, joints of the skeleton
  std::vector<std::uint32_t> group;  // [parts] parts weighed together have one number
  std::vector<std::vector<std::optional<AffineD>>>
      inverse_bind;  // [groups][J] bind space to joint space; none = the joint's frame is singular
};

// Of a bind matrix or a frame; none if it is singular or its inverse is not finite.
std::optional<AffineD> TryInverse(const AffineD& a);

// Where the joints stood, joint to bind space [J]: as bound, else as the rest pose continues the
// nearest bound joint above, else the first bound one; without any binding the rest pose itself.
// Singular inverse binds count as none.
std::vector<AffineD> BindFrames(const Skeleton& skeleton, std::span<const Binding> bindings);

// The bones of the joints that carry: those of other joints go to the nearest carrier above, and
// are dropped where there is none, as is the continuation of a leaf that carries nothing.
std::vector<Bone> CarryingBones(const Skeleton& skeleton, std::span<const std::uint8_t> carriers);

// Errors of ComputeWeights and Mesh::Create; kInvalidArgument: no joint may carry skin.
absl::StatusOr<RigWeights> ComputeRigWeights(const RigWeightsInput& input,
                                             const WeightOptions& options,
                                             const Task::Options& task);

}  // namespace sinew
