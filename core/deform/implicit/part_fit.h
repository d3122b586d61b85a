// part_fit.h - fits one part's field: surface samples, end caps, the fit, and its support grid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/deform/implicit/grid.h"
#include "core/deform/implicit/hrbf.h"
#include "core/deform/implicit/limb_bones.h"
#include "core/deform/implicit/limb_surface.h"
#include "core/deform/implicit/part_dome.h"
#include "core/deform/implicit/part_sides.h"
#include "core/parallel/task.h"

namespace sinew {

// Points are in part space divided by the bone's radius: the support ends at f = 1.
struct PartFit {
  Hrbf hrbf;     // no centres: no field
  Vec3d centre;  // of part space, bind pose model space
  GridBox box;
  std::vector<std::uint8_t> cell_bound;  // see BoundCells
  std::size_t samples = 0;               // samples on the skin
  double folded = 0;  // share of the skin whose normal points to the bone; ignored in the fit
  bool open = false;  // failed: no box closes the field
};

// Maximum centres besides the samples: both end caps and side constraints.
inline constexpr std::size_t kMaxCaps = 2 * kMaxDome + kMaxSides;
inline constexpr int kFits = 4;  // solutions for each part

// Deterministic. Needs about 8 * (4 * centres)^2 bytes. Returns early, without a field, once the
// task is cancelled.
PartFit FitPart(const LimbSurface& surface, const LimbBone& bone, std::size_t samples,
                const Task& task);

}  // namespace sinew
