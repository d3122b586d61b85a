// bones.h - rigid motions of bones: the best ones for given weights.
//
// After Le and Deng 2012, "Smooth skinning decomposition with rigid bones", section 4.2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/rows.h"
#include "core/base/types.h"
#include "core/decompose/sequence.h"
#include "core/examples/pose_examples.h"
#include "core/parallel/task.h"

namespace sinew::decompose {

// [bones][frames] from the rest pose, relative to the sequence's centre.
struct Bones {
  std::size_t frames = 0;
  std::vector<AffineD> motions;

  std::size_t count() const { return frames == 0 ? 0 : motions.size() / frames; }
  std::span<AffineD> row(std::size_t j) { return std::span(motions).subspan(j * frames, frames); }
  std::span<const AffineD> row(std::size_t j) const {
    return std::span(motions).subspan(j * frames, frames);
  }
};

// Drops the bones that are not kept. The new number of each, kNone of those that are dropped.
std::vector<std::uint32_t> KeepBones(const std::vector<bool>& kept, Bones& bones);

using WeightRows = Rows<JointWeight>;  // [P]

// Each point follows one bone alone.
WeightRows LabelRows(std::span<const std::uint32_t> bone_of_point);

// The sum over all frames of the squared error of point p if it follows one bone, [frames].
double BoneError(const Sequence& sequence, std::span<const AffineD> bone, std::size_t p);

// [P] the same for weighted bones.
std::vector<double> PointErrors(const Sequence& sequence, const Bones& bones,
                                const WeightRows& weights, const Task& task);

// A place that two bones should take to the same point.
struct Pin {
  std::uint32_t a = 0, b = 0;
  Vec3d place;        // at rest
  double weight = 0;  // of the squared distance, against that of a point
};

// The motions, one after the other in several rounds, that minimise the sum of PointErrors and of
// the squared distances of pins, with the others fixed. It never rises. Where a rotation is not
// determined it stays as it was, and so do bones that have small weights only.
void FitBones(const Sequence& sequence, const WeightRows& weights, std::size_t rounds,
              const Task& task, Bones& bones, std::span<const Pin> pins = {});

// Sums of products over weighted points: v v' and, for one frame, y v', with v extended by 1.
using Moments = std::array<double, 16>;
using Cross = std::array<double, 12>;

void AddMoments(double weight, const Vec3d& v, Moments& sum);
void AddCross(double weight, const Vec3d& y, const Vec3d& v, Cross& sum);

// The bone that moves everything best: the one with the least error without the others. None if
// there are no bones.
std::uint32_t BestSingleBone(const Sequence& sequence, const Bones& bones);

}  // namespace sinew::decompose
