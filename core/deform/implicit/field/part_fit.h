// part_fit.h - one part's field: samples of its skin, caps where it goes on into other parts, the
// fit, and the box its support lies in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/deform/implicit/field/hrbf.h"
#include "core/deform/implicit/field/limb_bones.h"
#include "core/deform/implicit/field/limb_surface.h"
#include "core/deform/implicit/field/part_dome.h"
#include "core/deform/implicit/field/part_sides.h"
#include "core/parallel/task.h"

namespace sinew {

// Points in part space divided by the bone's radius, so that f = 1 is where the compact field ends.
struct PartFit {
  Hrbf hrbf;                                 // no centres = no field
  Vec3d centre;                              // of part space, bind pose model space
  std::array<double, 3> least{}, largest{};  // box of the support: f >= 1 on its faces
  std::vector<std::uint8_t> reach;           // see part_reach.h
  std::size_t samples = 0;                   // taken from the skin
  std::size_t closing = 0;                   // added where the field stayed open
  double folded = 0;  // share of the skin whose normal points to the bone: left out
  bool open = false;  // given up: no box was found
};

// Most centres beside the samples: the domes of both ends, the sides, and what closes the field.
inline constexpr std::size_t kMaxCaps = 2 * kMaxDome + kMaxSides, kMaxClosing = 12;
inline constexpr int kMaxFits = 4;  // before a part is closed

// Deterministic. Uses about 8 * (4 * centres)^2 bytes while fitting. Returns early, without a
// field, once the task is cancelled.
PartFit FitPart(const LimbSurface& surface, const LimbBone& bone, std::size_t samples,
                const Task& task);

}  // namespace sinew
