// capsule.h - weights from two nested capsules around each bone, in closed form.
//
// A bone has an inner and an outer radius at its root and its tip, interpolated linearly. With d
// the distance to the bone and r, R the radii at the nearest point of the bone:
//
//    fall-off  phi = 1 within r, 0 beyond R, 1 - s^2 (3 - 2 s) between, s = (d - r) / (R - r)
//    strength  a = phi / max(d, r / 20)^p
//
// A joint's weight is the largest strength of its bones, divided by the sum over all joints.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "core/weights/skin.h"

namespace sinew::weights {

struct Capsule {
  double inner_root = 1, inner_tip = 1;
  double outer_root = 2, outer_tip = 2;  // above the inner radii
};

// phi at `distance` from the bone; along: 0 = root, 1 = tip.
double FallOff(const Capsule& capsule, double distance, double along);
double Strength(const Capsule& capsule, double distance, double along, double power);

// [bones] radii fitted to the skin, times the options' factors: the median distance of the
// points nearest to the bone, tapered to the medians of its halves if both have at least 8 points
// beside the bone (within 0.5 to 1.5 times the bone's median). A bone without points gets the
// median of the others, at most its distance from the skin.
std::vector<Capsule> FitCapsules(const Skin& skin, const WeightOptions& options, const Task& task);

// Separates limbs as follows. A point's own bone is the visible one with the smallest d - r (see
// Visibility). It also gets weights of bones within two steps of its own: always of those connected
// end to end in a line, of siblings only if they are visible, never of bones on the outer side of
// the skin. If no capsule covers the point it follows its own bone alone. Such points, and points
// that see none of their eight nearest bones, are reported as unseen.
absl::StatusOr<Computed> CapsuleWeights(const Skin& skin, const WeightOptions& options,
                                        const Progress& progress);

std::size_t CapsuleBytes(const Skin& skin);

}  // namespace sinew::weights
