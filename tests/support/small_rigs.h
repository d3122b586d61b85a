// small_rigs.h - small and degenerate characters, named after their purpose.
#pragma once

#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"
#include "tests/support/tube.h"

namespace sinew::testing {

struct NamedRig {
  std::string name;
  Rig rig;
};

// One joint at the origin, every vertex bound to it; faces as lists of corners.
RigSource RigidSource(std::vector<Vec3f> positions,
                      const std::vector<std::vector<std::uint32_t>>& faces);

Rig OneVertex();  // no faces
Rig OneTriangle();
Rig DegenerateFan();          // a fan whose triangles have no area, repeated corners among them
Rig NonmanifoldEdge();        // three triangles on one edge
Rig SeamDuplicateVertices();  // a quad split along a seam: duplicate vertices with equal weights
Rig TouchingLips();           // two quads that touch at rest but follow different joints
Rig IsolatedVertex();         // a triangle and a vertex without faces
Rig HardCube();  // unit cube, 24 vertices, authored normals and tangents along the axes
// A left-handed tube with exact normals, and tangents of length 5 that wind around it.
Rig TexturedTube(const TubeOptions& options = {});
// A tube with controls and shapes. Coordinates and offsets are multiples of 1 / 1024 and the centre
// is that of the plain tube, so sums with simple weights are exact:
//
//    "pinch"   both ends, far from the joint: one target at 1, sparse
//    "bulge"   around the joint: targets at -1, 0.5 and 1
//    "sway"    one target at 1 that moves nearly every vertex, and a second shape with one at -2
RigSource TubeWithShapesSource();
Rig TubeWithShapes();
// A tube bent about z with two muscles across its joint at x = 0: "flexor" at +y, an ellipsoid with
// a via point 0.5 radii before the joint, tensed by the control "tense"; "extensor" at -y, a warped
// spindle around a cylinder of radius 0.2.
RigSource TubeWithMusclesSource();
// A tube whose joints are all children of the first, two of them coincident; vertices have 1 to 32
// influences, and every third face occurs twice.
Rig CrowdedTube();
// A flattened tube, y +-2 and z +-0.5, on two parallel sibling bones at y = -1 and 1: "left" and
// "right", which share the skin at |y| < 0.6.
RigSource PalmSource(std::size_t around = 64);
Rig TubeFarOrigin();  // the reference tube, 100 diagonals away

// All of the above and the reference tubes.
std::vector<NamedRig> AllRigs();

}  // namespace sinew::testing
