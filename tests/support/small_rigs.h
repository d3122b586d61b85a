// small_rigs.h - tiny and awkward characters, each with the name of what it is for.
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
Rig SeamDuplicateVertices();  // a quad cut along a seam: the seam's vertices exist twice, weights
                              // equal
Rig TouchingLips();           // two quads that meet at rest but follow different joints
Rig IsolatedVertex();         // a triangle and a vertex of no face
Rig HardCube();  // unit cube, 24 vertices, authored normals and tangents along the axes
// A tube with its true normals, and tangents (5 long) that wind around it; left-handed.
Rig TexturedTube(const TubeOptions& options = {});
// A tube with controls and shapes, every coordinate and offset a multiple of 1 / 1024 and the
// centre where the plain tube has it, so that sums with simple weights are exact:
//   "pinch"   both ends, far from the joint: one target at 1, sparse
//   "bulge"   around the joint: targets at -1, 0.5 and 1
//   "sway"    one target at 1 that moves nearly every vertex, and a second shape with one at -2
RigSource TubeWithShapesSource();
Rig TubeWithShapes();
// A tube with two muscles across its joint at x = 0, bent by turning about z: "flexor" at +y, an
// ellipsoid with a via point 0.5 radii before the joint, tensed by the control "tense"; "extensor"
// at -y, a warped spindle around a cylinder of radius 0.2.
RigSource TubeWithMusclesSource();
// A tube whose joints all hang from the first, two of them in one place; its vertices have 1 to 32
// influences, and every third face occurs twice.
Rig CrowdedTube();
// A tube pressed flat, y +-2 and z +-0.5, on two bones side by side at y = -1 and 1 that hang from
// one joint: "left" and "right", which share the skin at y +-0.6.
RigSource PalmSource(std::size_t around = 64);
Rig TubeFarOrigin();  // the table's tube, 100 diagonals away

// All of the above and the table's tubes.
std::vector<NamedRig> AllRigs();

}  // namespace sinew::testing
