// geodesic.h - weights from distances through the body, on voxels.
//
// Source: Dionne and de Lasa 2013. With d the distance from a joint's bones to a point through the
// inside of the skin, in parts of the diagonal of its box, and s the smoothness option:
//   w = 1 / ((1 - s) d + s d^2)^2, divided by the sum over joints.
// Limbs that come near each other stay apart however thin the gap is: no way leads across skin, gap
// and skin (voxels.h). Bones outside start from the voxel nearest to them, with their distance to
// it. What has no voxels (thinner than one, open sheets) continues the distances of the skin it is
// joined to, along edges; what is joined to nothing takes straight-line distances and is reported
// unseen, as is a whole mesh that encloses nothing.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "core/weights/march.h"
#include "core/weights/skin.h"
#include "core/weights/voxels.h"

namespace sinew::weights {

// Where joint j's bones start from: the voxels they cross and three rings around them with exact
// distances, or, if they cross none (`outside`), the voxel nearest to them. Empty without voxels
// or when cancelled.
std::vector<MarchSource> SourcesOf(const Skin& skin, const Voxels& voxels, std::size_t j,
                                   const Task& task, bool& outside);

// w of a distance in parts of the diagonal, from 1e-4 up; 0 for an infinite one.
double DistanceLaw(double distance, double smoothness);

// [J][P] distances in unit space; infinite = no way. `unseen` as in Computed.
absl::StatusOr<Computed> BodyDistances(const Skin& skin, const Voxels& voxels, std::size_t held,
                                       const Progress& progress);

// kInvalidArgument: no triangle. kResourceExhausted: as MakeVoxels.
absl::StatusOr<Computed> GeodesicWeights(const Skin& skin, const WeightOptions& options,
                                         const Progress& progress);

// Bytes without voxels, which are checked when they are counted.
std::size_t GeodesicBytes(std::size_t points, std::size_t triangles, std::size_t joints);

}  // namespace sinew::weights
