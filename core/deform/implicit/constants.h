// constants.h - every tuned number of the fields and of the skin: what it is relative to, and what
// half and double of it do. Those of the projection are in project/constants.h.
//
// Size: the median distance of a part's skin from its bone. Reach: where the support of its field
// ends, the unit of part space (LimbBone). Tolerances of rounding are not tuned and stay where they
// are used; kGridSide is in hrbf_kernel.h, as kernels include nothing else.
//
// Figures, of `dqs | bulge_free | implicit`: overlap .0293 % of the volume, bulge .72 points beyond
// `dqs | bulge_free`, roughness .82 and pop 2.5, means over model:hand, model:cylinder to 150
// degrees, CesiumMan, Horse and RiggedFigure of the worst of every third frame. A number without a
// note changes none of them by a tenth, at half and at double. `tests/bench/constants.py
// build/release NAME` prints the rows of a number. What whole rules are worth: the tables "rule
// removed" of tests/bench/README.md.
#pragma once

#include <cstddef>
#include <numbers>

namespace sinew {

// ---- Bones

// Limits of the reach, of the size.
inline constexpr double kLeastReach = 0.75, kMostReach = 2;

// ---- Samples of the skin

// Fewest vertices and samples of a part. Half: pop 2.8.
inline constexpr std::size_t kFewestSamples = 4;
// Random points that are drawn, for each sample. Half: bulge .83.
inline constexpr std::size_t kDrawnPerSample = 40;
// Least weight of a joint on skin that its part contains: between the ends of its bone, and beyond
// them (rule "stricter weights beyond a joint"). Half of the first: overlap .039, double: .10,
// bulge .11; half of the second: overlap .051.
inline constexpr double kCarriedAlong = 0.5, kCarriedBeyond = 0.9;
// Least area of the skin of a part, of the size squared. A limb around its bone has 6 and more;
// below this it is a patch that does not determine the limb.
inline constexpr double kLeastArea = 1;
// Share of the skin that may face its bone and is then left out (rule "skin that faces its bone
// left out"). A bone outside its part (a jaw's, clothes') has more and cannot decide.
// Half: bulge 1.3.
inline constexpr double kMostFacing = 0.5;
// Distance of samples that are duplicates, of the largest distance that may be needed.
inline constexpr double kDuplicate = 0.01;
// Share of the samples that is spread evenly; the others go where the fit is farthest off (rule
// "samples where the fit is farthest off"). Half: bulge .84.
inline constexpr double kEvenShare = 0.6;
// Solutions for each part: all but the last one find where the fit is off.
inline constexpr std::size_t kFits = 4;
// Error of a fit up to which skin needs no further samples, of the size.
inline constexpr double kFittedError = 0.005;
// Distance of such samples from all others, of the mean distance of samples.
inline constexpr double kRefineSpacing = 0.35;

// ---- End caps (rule "end caps")

// Directions of a ring, and of a section. Not measured.
inline constexpr std::size_t kCapRing = 8;
// Elevation of the ring between section and top. If higher, the fit leaves the ball between ring
// and section; if lower, between ring and top. Half: pop 3.0.
inline constexpr double kCapTilt = std::numbers::pi / 9;
// Radius of a cap, of the size, at least (rule "end caps no thicker than fits into the skin").
// Double: overlap .025.
inline constexpr double kLeastCap = 0.3;
// Rays that search the skin around a cap: levels, directions in each, and the sine of the steepest.
// Half of the levels: overlap .024, bulge .85; double: overlap .033, pop 2.8.
inline constexpr std::size_t kCapLevels = 5, kCapDirections = 12;
inline constexpr double kSteepestCapRay = 0.9;
// Distance of the triangles that they search, of the size.
inline constexpr double kCapSearch = 2;
// Limits within which a section follows the skin, of the radius of the cap, and the cosine between
// the skin's normal and the ray (rule "sections of end caps follow the skin"). Half of the upper
// limit: pop 2.8; double: overlap .025.
inline constexpr double kLeastSection = 0.5, kMostSection = 2, kSectionCosine = 0.5;
// Distance before the end where the part's own skin makes a section unnecessary, and of points of
// a cap from other constraints, both of the radius of the cap. Double of the latter: pop 2.9.
inline constexpr double kBeforeCap = 0.25, kCapSpacing = 0.25;

// ---- Sides (rule "sides closed beside a bone")

// Directions of a ring, and rings along a bone, one for each size of its length. On hand and
// cylinder alone: half of the rings and double of the directions: bulge .12 for .11.
inline constexpr std::size_t kSideRing = 8, kMaxSideRings = 3;
// Half the length of the slice of skin that a ring regards, of the size.
inline constexpr double kSideSlice = 0.6;
// Least cosine between a direction of the ring and skin in it.
inline constexpr double kSideCosine = 0.9;
// Limits of the distance of a side, of the least distance of skin around the bone.
inline constexpr double kLeastSide = 0.5, kMostSide = 4;
// Distance of a side from which on rings halfway between two are added, of the same.
inline constexpr double kFlatSide = 2;
// Distance from other constraints, of the same.
inline constexpr double kSideSpacing = 0.3;

// ---- Box and grid

// Sides of the box: their first distance from the constraints, its growth, and where it ends
// without a field, of the reach; points along an edge that are tested. Half of the largest: overlap
// .052.
inline constexpr double kFirstMargin = 0.75, kMarginStep = 0.25, kMostMargin = 4;
inline constexpr std::size_t kFaceTests = 12;
// Margin of the box, and of its bounds in a pose, of their size.
inline constexpr double kBoxMargin = 0.02;
// Margin of a cell's bound, of how far f falls below its tangent there by the slopes of the cells
// beside it. At 1.5 no vertex of twelve characters ends elsewhere than without bounds; at .75
// vertices of nine do, by .001 of the size of MakeHuman. Grid.CellsBoundTheFieldOfEveryPart.
inline constexpr double kCurvedInCell = 2;
// Gaps beyond this are stored as this, of the size; 127 steps.
inline constexpr float kMostGap = 0.64f;
// Gap from which on a part is trusted fully, of the size.
inline constexpr float kTrustWidth = 0.05f;

// ---- Distances

// r of the form in float, of the largest distance between centres: errors of l are scaled by the
// slope at the far end.
inline constexpr double kFactoredDistance = 0.9;
// Share of the reach over which a part ends for others. Measured on hand and cylinder alone.
inline constexpr float kEnding = 0.25f;
// Distance of the centre of a muscle's belly outside all limbs, of the size: beyond, fat up to the
// skin would fill the gap. Not measured: the characters have no muscles.
inline constexpr float kMuscleOutside = 0.25f;

// ---- Skin

// Least weight that an attached component shares with the skin it follows. Not measured.
inline constexpr double kLeastShared = 0.5;

}  // namespace sinew
