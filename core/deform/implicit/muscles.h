// muscles.h - the muscles of a rig as primitives added to the parts of its field.
//
// A muscle replaces the part of its origin's joint where its distance is smaller, so contact
// still acts between limbs; a muscle across a joint belongs to its origin's part. Each muscle is
// inflated by its fat layer until it touches the rest skin from inside, so at rest it has no
// effect.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/deform/implicit/field.h"
#include "core/muscle/posed_muscle.h"
#include "core/parallel/task.h"
#include "core/rig/posed_rig.h"
#include "core/rig/rig.h"

namespace sinew {

// Bound data, immutable.
class MuscleField {
 public:
  // Upper limits of the memory Bind holds, and of its progress units.
  static std::size_t CostBytes(const Rig& rig);
  static double Work(const Rig& rig);
  // kCancelled. `limbs`: the field the muscles belong to.
  static absl::StatusOr<MuscleField> Bind(const Rig& rig, const LimbField& limbs, Task& task);
  // Validates loaded tables that keep the rules in Fields. kDataLoss.
  absl::Status Check(std::size_t joints) const { return tables_.Check(joints); }

  std::size_t muscles() const { return tables_.rows.size(); }
  // Number of controls a pose must have.
  std::size_t controls() const { return tables_.controls(); }
  // Muscles without effect: neither their origin's joint nor an ancestor has a field, or their
  // belly is outside the skin at bind.
  std::size_t without_field() const;
  // Those with an effect, for PosedLimbField.
  std::vector<MusclePrimitive> Pose(const PosedRig& posed) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    MuscleTables::Fields(self.tables_, visit, rig);
    visit("muscle_fat", self.fat_, rule::Size(self.muscles()), rule::Finite());
    visit("muscle_reach", self.reach_, rule::Size(self.muscles()), rule::Positive());
    visit("muscle_part", self.part_, rule::Size(self.muscles()), rule::Below(rig.field_parts, -1));
  }

 private:
  MuscleTables tables_;
  std::vector<double> fat_, reach_;  // rest lengths
  std::vector<std::int32_t> part_;   // -1 = none
};

}  // namespace sinew
