// constants.h - every tuned number of the projection: what it is relative to, and what half and
// double of it do.
//
// Figures and the command that prints them: core/deform/implicit/constants.h. The numbers here were
// measured later than those there, when they were overlap .0485, bulge 1.05, roughness .854 and pop
// 3.19. A number without a note changes none of them by a tenth, at half and at double.
#pragma once

#include <cstddef>

namespace sinew {

// ---- Points of the projection (level_skin.h)

// Levels up to which, and from which on, the field fits the skin or does not: an ear in the field
// of the head, a tip without samples.
inline constexpr double kFieldFits = 0.15, kFieldMisses = 0.5;
// Skin shared by many parts follows their blend: shares of moves rise from 0 to 1 while the weights
// of the owner and of the strongest other part near it rise from the first to the second together.
// Double of the second: overlap .43. With double of the first or half of the second hardly any skin
// moves.
inline constexpr double kMixedSkin = 0.5, kOwnSkin = 0.8;
// Passes over these shares. Without them MakeHuman has .30 % inverted faces instead of .26.
inline constexpr int kShareSmoothing = 2;
// Distance between the places of two bones that are nearest to a point, of the size. Up to the
// first the bones belong to one joint, from the second on they do not. Double of the second:
// roughness .95.
inline constexpr double kOneJoint = 1, kApart = 2;
// Places at which the axis inward of a point is looked for, and the longest way to it that is
// distinguished, of the size.
inline constexpr int kAxisSteps = 12;
inline constexpr float kMostToAxis = 1.5f;
inline constexpr std::size_t kMostNeighbours = 6;  // of a point: those with the smallest gap
// Gap between the owner and another limb up to which rays lean towards it, of the size.
inline constexpr float kLeanWidth = 1;

// ---- Rays (level_ray.h)

// Evaluations of T per point, in the first pass and in the two others. Half: overlap .054 and bulge
// 1.2; .066.
inline constexpr int kRounds = 3, kRoundsAgain = 2;
// Longest move, of the size: a ray without a zero within it ends there. Half: overlap .14.
inline constexpr double kLongestMove = 1;
// The least slope of T in a Newton step, so that points move little where T is small.
inline constexpr double kLeastSlope = 0.2;
// Softness of a contact, of the size: T bends over this difference of its terms. Two terms further
// apart do not change the smooth minimum; it can lower one of them by a quarter before.
// Half: overlap .062. Double: overlap .035, and contacts have a groove of a twentieth of the
// radius.
inline constexpr float kSoftness = 0.1f, kLeastSoftness = 0.01f, kWidestContact = 1.25f * kSoftness;
// Slope added to gaps outside the skin: a point whose ray lies in the surface between two limbs
// returns to its start instead of leaving along it.
inline constexpr double kOutwardSlope = 0.3;
// Cosines of 11 and 32 degrees: turned apart by less, skin that two limbs share does not fold, from
// the second on it may touch itself. Half of the second: overlap .057. Half of the first or double
// of the second puts them in the wrong order: overlap .10 and .13, roughness 2.4.
inline constexpr double kNoFold = 0.98, kFold = 0.85;
// Weight from which on skin counts as shared with a limb: some steps of 8-bit weights.
inline constexpr double kTrace = 0.02;
inline constexpr double kUncertain = 0.5;  // share of T that is left where a move is not certain
// Way back in the second pass, relative to how far smoothing has moved a point: neighbours hold it
// back, and earlier passes have moved it, too. At 3 the fold of a cylinder at 120 degrees is open
// by .5 % of its volume instead of .37, and seen through; at 30 by .31 %, but points near it move
// more than .004 radii from one degree to the next.
inline constexpr double kMostReturn = 12;

// ---- Smoothing of moves (move_smoothing.h)

// Before moves were eased, 4 let the largest roughness of MakeHuman rise by a fifth, and 10 changed
// no figure by a tenth.
inline constexpr std::size_t kSmoothingPasses = 6;
// Share of each pass. Without it, rings of an even number of points would oscillate. Half: overlap
// .043. Above 1 the passes diverge.
inline constexpr float kDamping = 0.8f;
// Distance over which moves spread, of the size. Half: overlap .037, pop 3.7. Double: overlap .063.
inline constexpr float kSpreadReach = 0.25f;
// Gradient of the moves from which on they spread farther. Half: overlap .058. Double:
// overlap .043, pop 3.6.
inline constexpr float kSteepMove = 0.2f;
inline constexpr float kLeastCertainty = 0.02f;  // of a move
// Differences from the mean beside a point, over the spacing: up to the first a restoring move fits
// those around it; from about the second on it follows them, by kMostMended of the size at most.
// These matter on other characters: before moves were eased, MakeHuman and hand-3 of judge.py were
// two to four times as rough without mending. Without the limit twists behind lbs collapse.
inline constexpr float kFittingMove = 0.15f, kTornMove = 0.35f, kMostMended = 0.1f;
// Gradients of the whole move: up to the first it stays, from about the second on it follows those
// around it. Half of the second: overlap .055.
// Without easing the 99.9th percentile of roughness is .61 on the hand and .54 on CesiumMan instead
// of .50 and .47.
inline constexpr float kGentleMove = 0.15f, kRoughMove = 0.2f;
// Moves from this length on, of the size, are eased only by lengthening those around them, or
// twists would lose their radius.
inline constexpr float kHeldMove = 0.1f;
// Share of what shortens a move that is let through at a contact. At .2 the 99.9th percentile of
// roughness of MakeHuman is .60 instead of .56; at .5 the cylinder at 150 degrees overlaps by
// .006 % instead of .0003. At .3 its fold at 120 degrees is open by more than .4 % of its volume.
inline constexpr float kEasedInContact = 0.35f;

}  // namespace sinew
