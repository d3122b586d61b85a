// posed_rig.h - per-frame values derived from a pose: skin matrices, rotations, dual quaternions.
//
// Tables are created at bind, saved with the deformer and shared by threads; a buffer belongs to
// one thread. Model space is that of the pose. Rest points are stored relative to `centre`, so that
// float is precise far from the origin.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/table_schema.h"
#include "core/base/types.h"
#include "core/rig/pose.h"
#include "core/rig/signed_rotation.h"
#include "core/rig/skeleton.h"

namespace sinew {

// Views of one frame's values, computed in double and rounded once, so independent of thread count
// and instruction set. E bindings, J joints, K controls.
struct PosedRig {
  std::span<const Affine> joints;   // [J] joint to model
  std::span<const Affine> skin;     // [E] joint * inverse_bind * T(centre), for centred rest points
  std::span<const float> signs;     // [E] -1 where skin mirrors, else 1: s of signed_rotation.h
  std::span<const Mat3> rotations;  // [E] R of skin's linear part s R P, det = +1
  std::span<const DualQuat> dual_quats;  // [E] rotations[e] with the translation of skin[e]
  std::span<const float> controls;       // [K]
};

// The parts of skeleton and bindings needed to compute this without the rig.
struct PosedRigTables {
  std::vector<std::uint16_t> joint;     // [E]
  std::vector<AffineD> inverse_bind;    // [E] inverse_bind * T(centre)
  std::vector<std::uint32_t> parent;    // [J] kNoParent = a root
  std::vector<Mat3d> rest_inverse;      // [J] linear part of a rest pose, inverted
  std::uint32_t controls = 0;           // K
  std::vector<float> control_defaults;  // [K]

  // Cannot fail for a valid rig. O(J + E).
  static PosedRigTables Create(const Rig& rig, const Vec3d& centre);
  // Validates loaded tables. kDataLoss.
  absl::Status Check() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& = {}) {
    visit("joint", self.joint, rule::Size(1, rule::kAnySize), rule::Below(self.parent.size()));
    visit("inverse_bind", self.inverse_bind, rule::Size(self.joint.size()), rule::Finite());
    visit("parent", self.parent, rule::Size(1, rule::kAnySize),
          rule::Below(self.parent.size(), kNoParent));
    visit("rest_inverse", self.rest_inverse, rule::Size(self.parent.size()), rule::Finite());
    visit("controls", self.controls, rule::Equals{self.control_defaults.size()});
    visit("control_defaults", self.control_defaults, rule::Finite());
  }
};

// Storage of a PosedRig, reused from frame to frame without allocation.
class PosedRigBuffer {
 public:
  // pose: finite; J joints, and K controls or none (the defaults). rotations: also compute
  // rotations and dual quaternions. A joint scaled to zero uses its parent's rotation, a thin
  // one its parent's sign. Valid until the next call. O(J + E).
  PosedRig Compute(const PosedRigTables& tables, const Pose& pose, bool rotations);

 private:
  SignedRotation TurnOf(const PosedRigTables& tables, const Pose& pose, std::uint32_t joint);

  AlignedVector<Affine> skin_;
  AlignedVector<Mat3> rotations_;
  AlignedVector<DualQuat> dual_quats_;
  std::vector<float> signs_;
  std::vector<std::optional<SignedRotation>> turns_;  // [J] cache of this frame; may be empty
  std::vector<std::uint32_t> path_;                   // scratch
  std::vector<float> controls_;
};

}  // namespace sinew
