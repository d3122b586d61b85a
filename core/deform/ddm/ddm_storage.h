// ddm_storage.h - what becomes of packed Direct Delta Mush tables: affine fits, and float16.
#pragma once

#include <absl/status/statusor.h>

#include "core/deform/ddm/ddm.h"

namespace sinew {

// Fills `fit` of variant 1 from its moments, in either storage: the rest pose comes out exact.
void FitShapes(DdmTables& tables, const Task& task);

// The same tables in float16, with what that costs in storage_error. Sums of moments follow the
// rounded values, so that rest pose and rigid motions stay as exact as in float32. kCancelled.
absl::StatusOr<DdmTables> Halve(const BindInput& input, const DdmTables& full, bool enhanced,
                                const Task& task);

// Largest distance between what two tables make of a few poses of the rig, every joint turned by
// 30 to 60 degrees beside its parent; in bounding-box diagonals.
double LargestDifference(const BindInput& input, const DdmTables& a, const DdmTables& b,
                         bool enhanced, const Task& task);
// Upper bound of what Halve allocates beside the tables.
std::size_t ProbeBytes(const BindInput& input, std::size_t block_pairs);

std::uint32_t WidestBlock(const BlockJoints& joints);

}  // namespace sinew
