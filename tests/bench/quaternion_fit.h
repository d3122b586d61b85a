// quaternion_fit.h - the nearest rotation by its quaternion, for comparison: what the core does not
// use.
#pragma once

namespace sinew::bench {

// Davenport's 4x4 matrix, its largest eigenvalue by twelve Newton steps, its eigenvector from the
// adjugate (QUEST: Shuster and Oh 1981); `polish` adds a Newton step on the rotations.
//   h [9][16] in, r [9][16] out; 64-byte aligned
void QuaternionFit(const float* h, float* r, bool polish);

}  // namespace sinew::bench
