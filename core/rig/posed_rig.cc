#include "core/rig/posed_rig.h"

#include <algorithm>
#include <cmath>

#include "core/base/status.h"
#include "core/base/trs.h"
#include "core/rig/bind_pose.h"
#include "core/rig/bones.h"

namespace sinew {
namespace {

constexpr double kRigid = 1e-6;  // limit of |A^T A - I| for using a matrix as a rotation unchanged

bool IsRotation(const Mat3d& a) {
  const Mat3d g = Multiply(Transpose(a), a);
  for (std::size_t i = 0; i < 9; ++i) {
    if (std::abs(g.m[i] - (i % 4 == 0 ? 1.0 : 0.0)) > kRigid) return false;
  }
  return Determinant(a) > 0;
}

DualQuat ToDualQuat(const Mat3d& rotation, const Vec3d& t) {
  const auto [x, y, z, w] = QuaternionOf(rotation);
  const double q[4] = {w, x, y, z};
  const double dual[4] = {
      -0.5 * (t.x * q[1] + t.y * q[2] + t.z * q[3]), 0.5 * (t.x * q[0] + t.y * q[3] - t.z * q[2]),
      0.5 * (t.y * q[0] + t.z * q[1] - t.x * q[3]), 0.5 * (t.z * q[0] + t.x * q[2] - t.y * q[1])};
  DualQuat dq;
  for (std::size_t i = 0; i < 4; ++i) {
    dq.real[i] = static_cast<float>(q[i]);
    dq.dual[i] = static_cast<float>(dual[i]);
  }
  return dq;
}

bool IsFinite(std::span<const double> values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

// Inverse of the rest pose's linear part, or of the bind pose's where only one of them is mirrored;
// the identity if it is singular or not finite.
Mat3d RestInverse(AffineD rest, const AffineD& bind) {
  if (SignOf(Linear(rest)) != SignOf(Linear(bind))) rest = bind;
  if (Flattens(Linear(rest))) return {};
  const Mat3d inverse = Linear(Inverse(rest));
  return IsFinite(inverse.m) ? inverse : Mat3d{};
}

}  // namespace

PosedRigTables PosedRigTables::Create(const Rig& rig, const Vec3d& centre) {
  PosedRigTables tables;
  const AffineD to_centre = {{1, 0, 0, centre.x, 0, 1, 0, centre.y, 0, 0, 1, centre.z}};
  for (const Binding& binding : rig.bindings()) {
    tables.joint.push_back(binding.joint);
    tables.inverse_bind.push_back(Compose(binding.inverse_bind, to_centre));
  }
  const std::vector<AffineD> bind_pose = BindPose(rig);
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    tables.parent.push_back(rig.skeleton().joint(j).parent);
    tables.rest_inverse.push_back(RestInverse(rig.skeleton().rest_model()[j], bind_pose[j]));
  }
  tables.controls = static_cast<std::uint32_t>(rig.controls().size());
  for (const Control& control : rig.controls()) {
    tables.control_defaults.push_back(control.default_value);
  }
  return tables;
}

absl::Status PosedRigTables::Check() const {
  SINEW_RETURN_IF_ERROR(CheckFields("rig", *this, {}));
  for (std::size_t j = 0; j < parent.size(); ++j) {
    if (parent[j] == kNoParent || parent[j] < j) continue;
    return DataLoss("bound data: rig: parent[", j, "]: got ", parent[j], ", need less than ", j);
  }
  return absl::OkStatus();
}

// Sign and rotation of `joint` relative to rest, each from the nearest ancestor that has one: 1 and
// the identity above the root. Results are cached for all joints on the way up, so a frame computes
// each at most once however deep the chains are.
SignedRotation PosedRigBuffer::TurnOf(const PosedRigTables& tables, const Pose& pose,
                                      std::uint32_t joint) {
  if (turns_.empty()) turns_.resize(tables.parent.size());
  const auto motion = [&](std::uint32_t at) {
    return Multiply(Linear(ToDouble(pose.joints[at])), tables.rest_inverse[at]);
  };
  path_.clear();
  SignedRotation above;
  for (; joint != kNoParent; joint = tables.parent[joint]) {
    if (turns_[joint].has_value()) {
      above = *turns_[joint];
      break;
    }
    path_.push_back(joint);
    if (!IsThin(motion(joint))) break;
  }
  for (; !path_.empty(); path_.pop_back()) {
    const Mat3d m = motion(path_.back());
    const bool follows = IsThin(m) && tables.parent[path_.back()] != kNoParent;
    SignedRotation own = Factor(m, follows ? above.sign : SignOf(m));
    if (!own.unique) own.rotation = above.rotation;
    turns_[path_.back()] = above = own;
  }
  return above;
}

PosedRig PosedRigBuffer::Compute(const PosedRigTables& tables, const Pose& pose, bool rotations) {
  const std::size_t entries = tables.joint.size();
  skin_.resize(entries);
  signs_.resize(entries);
  turns_.clear();
  controls_.assign(tables.control_defaults.begin(), tables.control_defaults.end());
  if (!pose.controls.empty()) controls_.assign(pose.controls.begin(), pose.controls.end());
  if (rotations) {
    rotations_.resize(entries);
    dual_quats_.resize(entries);
  }
  for (std::size_t e = 0; e < entries; ++e) {
    const AffineD joint = ToDouble(pose.joints[tables.joint[e]]);
    const AffineD skin = Compose(joint, tables.inverse_bind[e]);
    skin_[e] = ToFloat(skin);
    const std::uint32_t parent = tables.parent[tables.joint[e]];
    Mat3d rotation = Linear(skin);
    const bool follows = IsThin(rotation) && parent != kNoParent;
    signs_[e] = static_cast<float>(follows ? TurnOf(tables, pose, parent).sign : SignOf(rotation));
    if (!rotations) continue;
    if (!IsRotation(rotation)) {
      // A joint scaled to zero has no rotation and uses that of its nearest ancestor. A joint
      // flattened in one direction still has one.
      const SignedRotation own = Factor(rotation, double{signs_[e]});
      rotation = own.unique ? own.rotation : TurnOf(tables, pose, parent).rotation;
    }
    for (std::size_t i = 0; i < 9; ++i) rotations_[e].m[i] = static_cast<float>(rotation.m[i]);
    dual_quats_[e] = ToDualQuat(rotation, Translation(skin));
  }
  return {.joints = pose.joints,
          .skin = skin_,
          .signs = signs_,
          .rotations = rotations ? std::span<const Mat3>(rotations_) : std::span<const Mat3>(),
          .dual_quats =
              rotations ? std::span<const DualQuat>(dual_quats_) : std::span<const DualQuat>(),
          .controls = controls_};
}

}  // namespace sinew
