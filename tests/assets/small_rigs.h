// small_rigs.h - tiny and awkward characters, each with the name of what it is for.
#pragma once

#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

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
Rig HardCube();               // unit cube, 24 vertices, authored normals along the axes
Rig TubeFarOrigin();          // the table's tube, 100 diagonals away

// All of the above and the table's tubes.
std::vector<NamedRig> AllRigs();

}  // namespace sinew::testing
