// ddm_storage.h - post-processing of packed Direct Delta Mush tables: affine fits and float16.
#pragma once

#include <absl/status/statusor.h>

#include "core/deform/ddm/ddm.h"

namespace sinew {

// Computes `fit` of variant 1 from the moments, in either storage, so that the rest pose is exact.
void FitShapes(DdmTables& tables, const Task& task);

// Converts tables to float16 and sets storage_error. Moment sums are computed after rounding, so
// that rest pose and rigid motions stay as exact as in float. kCancelled.
absl::StatusOr<DdmTables> Halve(const BindInput& input, const DdmTables& full, bool enhanced,
                                const Task& task);

// Largest distance between the results of two tables over a few poses of the rig, with every joint
// rotated by 30 to 60 degrees relative to its parent; in bounding-box diagonals.
double LargestDifference(const BindInput& input, const DdmTables& a, const DdmTables& b,
                         bool enhanced, const Task& task);
// Upper limit of what Halve allocates beyond the tables.
std::size_t ProbeBytes(const BindInput& input, std::size_t block_pairs);

}  // namespace sinew
