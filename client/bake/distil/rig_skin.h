// rig_skin.h - the skins of a rig as one problem: a binding is a joint with one inverse bind
// matrix, so that meshes with bind spaces of their own can share a joint.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/rows.h"
#include "core/base/types.h"
#include "core/examples/pose_examples.h"
#include "core/mesh/weld.h"
#include "core/rig/skeleton.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct Binding {
  std::uint32_t joint = 0;
  AffineD to_joint;  // from the mesh
};

struct RigSkin {
  RigSkin(Skeleton given, Skeleton bound) : skeleton(std::move(given)), bind(std::move(bound)) {}

  Skeleton skeleton;
  // The skeleton again, with the pose of the bind matrices as its rest pose: there the skin is as
  // modelled. Roots are where they are at rest.
  Skeleton bind;
  std::vector<Binding> bindings;
  std::vector<std::vector<std::uint32_t>> mesh_bindings;  // [meshes] of the slots of each skin
  std::vector<std::uint32_t> mesh_of;                     // [V]
  std::vector<Vec3f> rest;                                // [V] in the space of the mesh
  Rows<JointWeight> own;                                  // [V] bindings rising, each once; sum 1
  double diagonal = 0;                                    // of the box of the posed rest mesh

  std::size_t vertices() const { return rest.size(); }
  // [bindings] mesh to model space, given joint to model space.
  std::vector<AffineD> Matrices(std::span<const AffineD> joints) const;
};

// kInvalidArgument: no joints, or a vertex without weights.
absl::StatusOr<RigSkin> ReadRigSkin(const client::RigData& rig);

// [J] of 3x4 matrices, and back.
std::vector<AffineD> ToMatrices(std::span<const float> joints);
void AppendMatrices(std::span<const AffineD> joints, std::vector<float>& out);

// Rows of `rows` by the indices `of`, cut to the largest `most` weights, as a file holds them:
// MakeSumExact.
Rows<JointWeight> ExactRows(const Rows<JointWeight>& rows, std::span<const std::uint32_t> of,
                            std::size_t most);

// Points of the mesh at rest, whose vertices have weights that differ by rounding. `apart`: [V]
// vertices that are points of their own; or empty. Incomplete when the task is cancelled.
WeldedPoints WeldSkin(const RigSkin& skin, const Mesh& rest, const std::vector<bool>& apart,
                      const Task& task);

}  // namespace sinew::bake
