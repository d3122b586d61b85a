// geodesic.h - weights from distances through the body, on voxels.
//
// Source: Dionne and de Lasa 2013. With d the distance from a joint's bones to a point through the
// inside of the skin, r = d over that of the nearest joint, and s the smoothness option:
//   w = 1 / ((1 - s) r + s r^2)^6, divided by the sum over joints.
// The paper's power is 2, of distances in parts of the box's diagonal. They are small beside 1, so
// that its square hardly counts, and w falls off as 1 / d^2: over several radii of a limb, where
// authors' weights end within one (tests/README.md).
// Limbs that come near each other stay apart however thin the gap is: no way leads across skin, gap
// and skin (voxels.h). Bones outside start from the voxel nearest to them, with their distance to
// it. What has no voxels (thinner than one, open sheets) continues the distances of the skin it is
// joined to, along edges; what is joined to nothing takes straight-line distances and is reported
// unseen, as is a whole mesh that encloses nothing.
#pragma once

#include <absl/status/statusor.h>

#include <span>
#include <vector>

#include "core/weights/march.h"
#include "core/weights/skin.h"
#include "core/weights/voxels.h"

namespace sinew::weights {

// Skin::segments as they are measured from: a bone at whose tip no other begins goes on, half the
// way to where it leaves the body and by at most four times its length. Skeletons end short of the
// body, and the skin of a head is else hardly farther from the neck's bones than from its own.
// Some stay short when the task is cancelled.
std::vector<Segment> ExtendLeafBones(const Skin& skin, const Task& task);

// Where a joint's bones start from: the voxels they cross, and with exact distances all those to
// which a way leads that is as short as if nothing stood between. If they cross none (`outside`),
// the voxel nearest to them and three rings around it. Empty without voxels or
// when cancelled.
std::vector<MarchSource> SourcesOf(std::span<const Segment> bones, const Voxels& voxels,
                                   const Task& task, bool& outside);

// w of a distance beside the nearest one, both in parts of the diagonal; what is nearer than 1e-4
// counts as that far. 0 for an infinite distance.
double DistanceLaw(double distance, double nearest, double smoothness);

// [J][P] distances from `bones`, in the order of Skin::segments, in unit space; infinite = no way.
// `unseen` as in Computed.
absl::StatusOr<Computed> BodyDistances(const Skin& skin, std::span<const Segment> bones,
                                       const Voxels& voxels, std::size_t held,
                                       const Progress& progress);

// kInvalidArgument: no triangle. kResourceExhausted: as MakeVoxels.
absl::StatusOr<Computed> GeodesicWeights(const Skin& skin, const WeightOptions& options,
                                         const Progress& progress);

// Bytes without voxels, which are checked when they are counted.
std::size_t GeodesicBytes(std::size_t points, std::size_t triangles, std::size_t joints);

}  // namespace sinew::weights
