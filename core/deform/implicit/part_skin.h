// part_skin.h - surface samples of the skin that a joint carries.
#pragma once

#include <cstddef>
#include <vector>

#include "core/deform/implicit/limb_bones.h"
#include "core/deform/implicit/limb_surface.h"
#include "core/deform/implicit/spread_samples.h"

namespace sinew {

struct PartSkin {
  std::vector<SurfaceSample> drawn;  // uniform over the skin
  double area = 0;                   // of all triangles with a corner of the joint
  // Share of `drawn` whose normal points to the bone; those are left out if at most half.
  double folded = 0;
};

// About 40 points per sample. Deterministic.
PartSkin DrawSkin(const LimbSurface& surface, const LimbBone& bone, std::size_t samples);

}  // namespace sinew
