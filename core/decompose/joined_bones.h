// joined_bones.h - motions of bones that stay together at joints, and the best places of these.
//
// A point is at  t + sum_j R_j u_j  then, where u_j is its weighted place from joint j and the ways
// to the joints that hang on j, as far as it follows these. With the others fixed, the best R_j is
// a nearest rotation, and the best places of joints solve linear least squares.
#pragma once

#include <cstddef>

#include "core/decompose/bones.h"
#include "core/decompose/inside.h"
#include "core/decompose/joint_tree.h"
#include "core/decompose/sequence.h"
#include "core/parallel/task.h"

namespace sinew::decompose {

// Moves bones, parents first, so that each takes the place of its joint to where its parent does.
void JoinBones(const JointTree& tree, Bones& bones);

// The rotations, one after the other in several rounds, and the places of the root that minimise
// the sum of PointErrors. Bones must be joined and stay so. The sum never rises but for rounding.
void FitJoinedBones(const Sequence& sequence, const WeightRows& weights, const JointTree& tree,
                    std::size_t rounds, const Task& task, Bones& bones);

// Moves the places of joints, but not the root's, so that the sum of PointErrors falls: about to
// its minimum, as far as tree.Allows it, and where little is to be gained towards `tree.middles`,
// from one place that files hold to another.
// Bones must be joined and stay so. No better if cancelled.
void FitPlaces(const Sequence& sequence, const WeightRows& weights, const Inside& inside,
               const Task& task, JointTree& tree, Bones& bones);

}  // namespace sinew::decompose
