// limb_bones.h - the bone inside each part of the skin: how thick the flesh around it is, and which
// part hangs from which.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/deform/implicit/field/limb_surface.h"
#include "core/rig/rig.h"

namespace sinew {

// Of a joint that owns at least kFewestSamples vertices; bind pose, model space.
struct LimbBone {
  std::uint32_t joint = 0;
  std::int32_t parent = -1;  // index of the nearest ancestor's bone in the list
  Vec3d root, tip;
  bool last = true;  // no part hangs from it
  Vec3d direction;   // unit, also where root = tip
  // Unit normals, outward, of the planes at its ends that halve the angles to the bones it meets.
  Vec3d out_root, out_tip;
  double flesh = 0;                  // median distance of the part's vertices to the bone, > 0
  double radius = 0;                 // of the compact field
  double rho_root = 0, rho_tip = 0;  // of the limb at its ends, 0.25 to 1.5 flesh

  // Nearest point of the bone; place is 0 at the root, 1 at the tip.
  Vec3d Nearest(const Vec3d& p, double* place = nullptr) const;
};

inline constexpr std::size_t kFewestSamples = 4;

// By rising joint. A bone ends where the parts that hang from it begin, on average; a last one
// reaches on to the end of its part. Joints without room (all vertices on the bone) or flat in the
// bind pose have none.
//   Radii: parts that meet at a joint share one where their flesh differs by less than 1.6, so that
//   neither indents the other (2.5 of the project's notes on Vaillant et al. 2013).
std::vector<LimbBone> MakeLimbBones(const Rig& rig, const LimbSurface& surface);

}  // namespace sinew
