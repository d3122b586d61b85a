// rig_parts.h - what binds of a rig work out alike, whatever their recipes.
#pragma once

#include <cstddef>
#include <memory>

#include "core/rig/layout.h"
#include "core/rig/rig.h"
#include "core/surface/carried_normals.h"
#include "core/surface/normals.h"
#include "core/surface/rig_surface.h"

namespace sinew {

// Immutable; refers to no rig. Null or missing parts were not needed yet.
struct RigParts {
  std::shared_ptr<const BlockLayout> layout;
  RigSurface::Parts surface;
  std::shared_ptr<const NormalFinisher> normals;
  std::shared_ptr<const CarriedNormals> carried;

  // Upper limit of what they hold; a Deformer that was bound with them counts some of it, too.
  std::size_t Bytes(const Rig& rig) const;
};

}  // namespace sinew
