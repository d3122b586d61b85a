// geodesic.h - weights from distances through the body, on voxels.
//
// After Dionne and de Lasa 2013. With d the distance from a joint's bones to a point through the
// inside of the skin, r = d over that of the nearest joint, and s the smoothness option:
//
//    w = 1 / ((1 - s) r + s r^2)^6, divided by the sum over joints.
//
// The paper uses power 2 and absolute distances; relative distances and power 6 give fall-offs
// within one limb radius, like hand-painted weights.
//
// Skeletons end short of the body: leaf bones are extended (core/rig/bones.h), or skin of the head
// would hardly be farther from the neck's bones than from its own.
//
// Nearby limbs stay separate however thin the gap, because no path crosses skin, gap and skin
// (voxels.h). Bones outside start from their nearest voxel, with their distance to it. Skin without
// voxels (thinner than one, open sheets) continues the distances of its connected component along
// edges; a component without any uses straight-line distances and is reported as unseen, as is a
// whole mesh that encloses nothing.
#pragma once

#include <absl/status/statusor.h>

#include <span>
#include <vector>

#include "core/weights/march.h"
#include "core/weights/skin.h"
#include "core/weights/voxels.h"

namespace sinew::weights {

// The start voxels of a joint's bones: the voxels they cross, and with exact distances all voxels
// whose path is as short as the straight line. If they cross none (`outside`), the nearest voxel
// and three rings around it. Empty without voxels or when cancelled.
std::vector<MarchSource> SourcesOf(std::span<const Bone> bones, const Voxels& voxels,
                                   const Task& task, bool& outside);

// w for a distance and the nearest distance, both relative to the diagonal and at least 1e-4. 0 for
// an infinite distance.
double DistanceLaw(double distance, double nearest, double smoothness);

// [J][P] distances from `bones`, in the order of Skin::bones, in unit space; infinite =
// unreachable. `unseen` as in Computed.
absl::StatusOr<Computed> BodyDistances(const Skin& skin, std::span<const Bone> bones,
                                       const Voxels& voxels, std::size_t held,
                                       const Progress& progress);

// kInvalidArgument: no triangle. kResourceExhausted: as MakeVoxels.
absl::StatusOr<Computed> GeodesicWeights(const Skin& skin, const WeightOptions& options,
                                         const Progress& progress);

// Bytes without the voxels, which are checked when their number is known.
std::size_t GeodesicBytes(const Skin& skin);

}  // namespace sinew::weights
