// carried_normals.h - vertex normals and tangents carried through the stages of a recipe as the
// differential of the posed surface; exact where normals.h measures the faces.
//
// Every stage maps the two rest tangents of a vertex along with its point (see surface_slopes.h).
// The normal is the cross product of the results, the tangent the first of them. Authored normals
// and hard edges stay: each vertex has tangents perpendicular to its own normal, and the vertices
// of a welded point share the gradients of their weights. A mirroring pose flips normals as the
// winding of the faces, like cof(M) n.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/table_schema.h"
#include "core/parallel/task.h"
#include "core/rig/layout.h"
#include "core/rig/posed_rig.h"
#include "core/surface/normals.h"
#include "core/surface/surface_slopes.h"

namespace sinew {

// Immutable; empty if a stage of the recipe cannot carry.
class CarriedNormals {
 public:
  static CarriedNormals Bind(const Rig& rig, const BlockLayout& layout,
                             const SurfaceSlopes& slopes);

  bool empty() const { return tangents_.empty(); }
  bool has_tangents() const { return !handedness_.empty(); }
  // The input of the first stage.
  std::span<const PointBlock> tangents() const { return tangents_; }
  // Finite unit normals for any slopes. Where these span no plane, or float does not hold them, the
  // rest normal is transformed by the pivot binding. Of blocks [begin, end); the same bits for any
  // ranges and instruction set.
  //
  //    slopes  [2 B] posed tangents, as the last stage wrote them
  void Run(const BlockLayout& layout, const PosedRig& rig, std::span<const PointBlock> slopes,
           const SurfaceOut& out, std::size_t begin, std::size_t end) const;
  // Validates loaded tables. kDataLoss.
  absl::Status Check(const BlockLayout& layout) const {
    return CheckFields("carried", *this, layout.Sizes(0));
  }
  static std::size_t CostBytes(const Rig& rig);

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    const bool none = self.tangents_.empty();
    visit("tangents", self.tangents_, rule::SizeOrEmpty{2 * rig.blocks},
          rule::Each("unit vectors", [](const PointBlock& block) {
            for (std::size_t i = 0; i < kLanes; ++i) {
              if (!rule::IsUnit(block.At(i))) return false;
            }
            return true;
          }));
    visit("handedness", self.handedness_, rule::SizeOrEmpty{none ? 0 : rig.lanes},
          rule::Each("-1, 0 or 1", [](float w) { return w == 0 || w == 1 || w == -1; }));
  }

 private:
  AlignedVector<PointBlock> tangents_;  // [2 B]
  AlignedVector<float> handedness_;     // [lanes] of the authored tangents, 0 = none; or empty
};

}  // namespace sinew
