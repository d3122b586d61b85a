// part_skin.h - points of the skin that a joint carries, from which its field's samples are taken.
#pragma once

#include <cstddef>
#include <vector>

#include "core/deform/implicit/field/limb_bones.h"
#include "core/deform/implicit/field/limb_surface.h"
#include "core/deform/implicit/field/poisson_disk.h"

namespace sinew {

struct PartSkin {
  std::vector<SurfaceSample> drawn;     // evenly over the skin
  std::vector<SurfaceSample> vertices;  // its own, not all of dense ones; none where it has no area
  double area = 0;                      // of all triangles that the joint has a corner of
  double folded = 0;  // share of the drawn whose normal points to the bone; up to a half left out
};

// Some 40 points for each of `samples`, and up to 160 vertices. Deterministic.
PartSkin DrawSkin(const LimbSurface& surface, const LimbBone& bone, std::size_t samples);

}  // namespace sinew
