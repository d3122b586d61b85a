// joint_tree.h - a skeleton for bones: where they hinge on each other, and which is whose parent.
//
// After Le and Deng 2014, "Robust and accurate skeletal rigging from mesh sequences".
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/decompose/bones.h"
#include "core/decompose/inside.h"
#include "core/decompose/sequence.h"
#include "core/parallel/task.h"

namespace sinew::decompose {

struct JointTree {
  std::vector<std::uint32_t> bones;    // [joints] the bone of a joint
  std::vector<std::uint32_t> parents;  // [joints] an earlier joint, or kNone of the first
  // [joints] where it hinges on its parent at rest, relative to the sequence's centre: where the
  // two bones stay together, or near the middle of the points that they share if that costs little
  // or the place were outside of the mesh. The first is in the middle of its points. All are
  // Inside::Snapped: what files hold.
  std::vector<Vec3d> places;
  // [joints] of the points that both bones share, or inside of the mesh near it.
  std::vector<Vec3d> middles;
  // [joints] half of the depth of the middle below the skin, at least which joints keep; 0: free.
  std::vector<double> depths;
  // Root of the mean squared distance, over joints with a parent and frames, by which the two bones
  // take the place of the joint to different points.
  double gap = 0;

  // Whether a joint may be at a place: as deep inside of the mesh, or in its box if it is free.
  bool Allows(const Inside& inside, std::size_t joint, const Vec3d& place, const Task& task) const {
    return depths[joint] > 0 ? inside.IsDeep(place, depths[joint], task) : inside.InBox(place);
  }
};

// A tree of all bones, each of which must have weight: hinges that stay together best, among bones
// that share weight where there are such. kCancelled.
absl::StatusOr<JointTree> MakeJointTree(const Sequence& sequence, const Bones& bones,
                                        const WeightRows& weights, const Inside& inside,
                                        const Task& task);

}  // namespace sinew::decompose
