// capsule.h - weights from two nested capsules around each bone, in closed form.
//
// A bone has an inner and an outer radius at its root and its tip, linear in between. With d the
// distance to the bone and r, R the radii at its nearest point:
//   fall-off  phi = 1 within r, 0 beyond R, 1 - s^2 (3 - 2 s) between, s = (d - r) / (R - r)
//   strength  a = phi / max(d, r / 20)^p
// and a joint's weight is the largest strength of its bones, divided by the sum over joints. So a
// point in one inner capsule and no other outer one follows that joint alone; in several inner ones
// it follows each by inverse distance; between inner and outer by inverse distance times fall-off.
#pragma once

#include <absl/status/statusor.h>

#include <vector>

#include "core/weights/skin.h"

namespace sinew::weights {

struct Capsule {
  double inner_root = 1, inner_tip = 1;
  double outer_root = 2, outer_tip = 2;  // above the inner ones
};

// phi at a distance from the bone; along = 0 at the root .. 1 at the tip.
double FallOff(const Capsule& capsule, double distance, double along);
// a.
double Strength(const Capsule& capsule, double distance, double along, double power);

// [segments] radii from the skin: the median distance of the points nearest to a bone, tapered to
// the medians of its two halves where both hold 8 points or more beside the bone (within half and
// one and a half of the whole's), times the options' factors. A bone without points takes the
// median of the others, at most its distance from the skin.
std::vector<Capsule> FitCapsules(const Skin& skin, const WeightOptions& options, const Task& task);

// What keeps limbs apart: a point belongs to the bone with the least d - r that it sees (see
// Sight), and takes weights of bones within two steps of it: those in line with it, end to end,
// always; those beside it (siblings), if it sees them; none whose nearest point lies on the outer
// side of the skin. Outside all of these it follows its own bone alone, and is reported unseen, as
// is a point that sees none of the eight bones nearest to it.
absl::StatusOr<Computed> CapsuleWeights(const Skin& skin, const WeightOptions& options,
                                        const Progress& progress);

std::size_t CapsuleBytes(std::size_t points, std::size_t triangles, std::size_t joints,
                         std::size_t bones);

}  // namespace sinew::weights
