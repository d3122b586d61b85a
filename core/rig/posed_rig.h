// posed_rig.h - what a pose means for the bindings: skin matrices, rotations, dual quaternions;
// once per frame.
//
// Tables are made at bind, saved with the deformer and shared by threads; a buffer is one thread's.
// Model space is that of the pose; `centre` is the point that a deformer takes off its rest points
// so that float32 serves far from the origin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/types.h"
#include "core/rig/pose.h"
#include "core/rig/skeleton.h"

namespace sinew {

// Views of one frame's values, computed in double and rounded once: no value depends on the number
// of threads or the instruction set. E bindings, J joints, K controls.
struct PosedRig {
  std::span<const Affine> joints;  // [J] joint to model
  std::span<const Affine> skin;  // [E] joint * inverse_bind * T(centre): takes centred rest points
  std::span<const Mat3> rotations;  // [E] nearest rotation of skin's linear part (mirrored joints:
                                    // of its mirror image in x), det = +1
  std::span<const std::uint8_t> mirrored;  // [E] 1 where rotations[e] is that of a mirror image
  std::span<const DualQuat> dual_quats;    // [E] rotations[e] with the translation of skin[e]
  std::span<const float> controls;         // [K]
};

// What a deformer keeps of the skeleton and bindings to do this without the rig.
struct PosedRigTables {
  std::vector<std::uint16_t> joint;   // [E]
  std::vector<AffineD> inverse_bind;  // [E] inverse_bind * T(centre)
  std::vector<std::uint32_t> parent;  // [J] kNoParent = a root
  std::vector<Mat3d> rest_inverse;    // [J] inverse of the rest pose's linear part
  std::vector<AffineD> rest;   // [J] joint to model where the skin lies at rest: the bind pose
  std::uint32_t controls = 0;  // K
  std::vector<float> control_defaults;  // [K]

  // Cannot fail on a rig, which is checked. O(J + E).
  static PosedRigTables Create(const Rig& rig, const Vec3d& centre);
  // Sizes, ranges and finite values; run after loading. kDataLoss.
  absl::Status Check() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("joint", self.joint);
    visit("inverse_bind", self.inverse_bind);
    visit("parent", self.parent);
    visit("rest_inverse", self.rest_inverse);
    visit("rest", self.rest);
    visit("controls", self.controls);
    visit("control_defaults", self.control_defaults);
  }
};

// Storage of a PosedRig, reused from frame to frame: once it has grown it allocates no more.
class PosedRigBuffer {
 public:
  // pose: finite, of J joints and K controls or none, which are the defaults then. rotations: also
  // compute rotations, mirrored and dual quaternions (some stage needs them). A joint scaled to
  // zero takes its parent's rotation. Valid until the next call. O(J + E).
  PosedRig Compute(const PosedRigTables& tables, const Pose& pose, bool rotations);

 private:
  struct JointTurn {
    std::uint32_t source = kNoParent;  // the joint whose rotation it takes; kNoParent = not known
    bool mirrored = false;             // of a source: as PosedRig::mirrored
    Mat3d rotation;
  };
  const JointTurn& TurnOf(const PosedRigTables& tables, const Pose& pose, std::uint32_t joint);

  AlignedVector<Affine> skin_;
  AlignedVector<Mat3> rotations_;
  AlignedVector<DualQuat> dual_quats_;
  std::vector<std::uint8_t> mirrored_;
  std::vector<JointTurn> turns_;  // [J] of this frame; empty until a joint needs an ancestor's
  std::vector<float> controls_;
};

}  // namespace sinew
