// rig_weights.h - weights for all meshes of a rig at once, each in its own bind pose.
//
// A mesh's inverse bind matrices define where its joints were when it was bound, which need not be
// the rest pose. Meshes with the same bind pose are computed together, others separately.
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

// A frame or its inverse per joint; none: singular or unknown.
using BindFrameList = std::vector<std::optional<AffineD>>;

struct RigWeightsInput {
  MeshSource mesh;                             // bind space of each part
  Skeleton skeleton;                           // at rest
  std::vector<std::vector<Binding>> bindings;  // [parts] geometry bind included; empty: rest pose
  std::vector<std::uint8_t> carriers;          // [J] 1 = may carry skin
};

struct RigWeights {
  InfluenceSource influences;        // [V] by joint
  WeightReport report;               // indices: vertices of the rig, joints of the skeleton
  std::vector<std::uint32_t> group;  // [parts] group number; parts computed together share one
  std::vector<BindFrameList> inverse_bind;  // [groups][J] the inverse of the frames when bound
};

// Joint frames when bound, joint to bind space [J]: `known`; else the rest pose moved with the
// nearest known ancestor, else with the first known joint; else the rest pose.
std::vector<AffineD> BindFrames(const Skeleton& skeleton, const BindFrameList& known);

// Errors of ComputeWeights and Mesh::Create; kInvalidArgument: no carrier joint.
absl::StatusOr<RigWeights> ComputeRigWeights(const RigWeightsInput& input,
                                             const WeightOptions& options,
                                             const Task::Options& task);

}  // namespace sinew
