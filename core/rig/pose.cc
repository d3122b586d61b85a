#include "core/rig/pose.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <span>

#include "core/base/finite.h"
#include "core/base/status.h"
#include "core/base/trs.h"

namespace sinew {
namespace {

// Indices of `names` among `count` items, without duplicates; all items for an empty list.
absl::Status Resolve(std::span<const std::string> names, std::size_t count, std::string_view field,
                     const std::function<std::uint32_t(std::string_view)>& find,
                     std::vector<std::uint32_t>& places) {
  if (names.empty()) {
    places.resize(count);
    std::iota(places.begin(), places.end(), 0u);
    return absl::OkStatus();
  }
  std::vector<bool> seen(count);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::uint32_t place = find(names[i]);
    if (place >= count) {
      return InvalidArgument("layout.", field, "[", i, "]: got '", names[i],
                             "', which is not in the rig");
    }
    if (seen[place]) {
      return InvalidArgument("layout.", field, "[", i, "]: duplicate '", names[i], "'");
    }
    seen[place] = true;
    places.push_back(place);
  }
  return absl::OkStatus();
}

// Matrix of translation, quaternion xyzw and scale.
absl::Status FromTrs(const float* f, std::size_t place, AffineD& matrix) {
  if (!(std::hypot(double{f[3]}, std::hypot(double{f[4]}, f[5], f[6])) > 1e-12)) {
    return InvalidArgument("pose.joint_transforms: joint ", place, " has a zero quaternion");
  }
  matrix = ToAffine({{f[0], f[1], f[2]}, {f[3], f[4], f[5], f[6]}, {f[7], f[8], f[9]}});
  return absl::OkStatus();
}

absl::Status CheckFinite(std::string_view bytes, std::size_t row, std::string_view field) {
  if (AllFinite(std::as_bytes(std::span(bytes)))) return absl::OkStatus();
  for (std::size_t i = 0; i * sizeof(float) < bytes.size(); ++i) {
    float value;
    std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof value);
    if (!std::isfinite(value)) {
      return InvalidArgument("pose.", field, ": value ", i % row, " of entry ", i / row,
                             " is not finite");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PoseFormat> PoseFormat::Create(const Rig& rig, JointFormat format, PoseSpace space,
                                              std::span<const std::string> joints,
                                              std::span<const std::string> controls) {
  PoseFormat result;
  result.format_ = format;
  result.space_ = space;
  SINEW_RETURN_IF_ERROR(Resolve(
      joints, rig.joints(), "joints",
      [&](std::string_view name) { return rig.skeleton().Find(name); }, result.joints_));
  std::map<std::string_view, std::uint32_t> controls_by_name;
  for (std::size_t k = 0; k < rig.controls().size(); ++k) {
    controls_by_name.emplace(rig.controls()[k].name, static_cast<std::uint32_t>(k));
  }
  SINEW_RETURN_IF_ERROR(Resolve(
      controls, rig.controls().size(), "controls",
      [&](std::string_view name) {
        const auto it = controls_by_name.find(name);
        return it == controls_by_name.end() ? kNoParent : it->second;
      },
      result.controls_));
  result.rig_order_ = result.joints_.size() == rig.joints();
  for (std::size_t i = 0; i < result.joints_.size(); ++i) {
    result.rig_order_ = result.rig_order_ && result.joints_[i] == i;
  }
  return result;
}

absl::Status PoseFormat::Read(const Rig& rig, std::string_view joint_bytes,
                              std::string_view control_bytes, std::vector<Affine>& joints,
                              std::vector<float>& controls) const {
  if (joint_bytes.size() != this->joint_bytes()) {
    return InvalidArgument("pose.joint_transforms: got ", joint_bytes.size(), " bytes, need ",
                           this->joint_bytes(), " (", joints_.size(), " joints of ",
                           floats_per_joint(), " float32)");
  }
  if (!control_bytes.empty() && control_bytes.size() != this->control_bytes()) {
    return InvalidArgument("pose.controls: got ", control_bytes.size(), " bytes, need ",
                           this->control_bytes(), " or none");
  }
  SINEW_RETURN_IF_ERROR(CheckFinite(joint_bytes, floats_per_joint(), "joint_transforms"));
  SINEW_RETURN_IF_ERROR(CheckFinite(control_bytes, 1, "controls"));

  controls.resize(rig.controls().size());
  for (std::size_t k = 0; k < controls.size(); ++k) controls[k] = rig.controls()[k].default_value;
  for (std::size_t i = 0; i < controls_.size() && !control_bytes.empty(); ++i) {
    std::memcpy(&controls[controls_[i]], control_bytes.data() + i * sizeof(float), sizeof(float));
  }

  joints.resize(rig.joints());
  if (rig_order_ && format_ == JointFormat::kMatrix3x4 && space_ == PoseSpace::kModel) {
    std::memcpy(joints.data(), joint_bytes.data(), joint_bytes.size());
    return absl::OkStatus();
  }
  // Given transforms by joint; unnamed joints follow from their rest transform.
  std::vector<AffineD> given(rig.joints()), model(rig.joints()), local(rig.joints());
  std::vector<bool> has(rig.joints());
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    float values[12];
    std::memcpy(values, joint_bytes.data() + i * floats_per_joint() * sizeof(float),
                floats_per_joint() * sizeof(float));
    AffineD& matrix = given[joints_[i]];
    if (format_ == JointFormat::kTrs) {
      SINEW_RETURN_IF_ERROR(FromTrs(values, i, matrix));
    } else {
      for (std::size_t e = 0; e < 12; ++e) matrix.m[e] = values[e];
    }
    has[joints_[i]] = true;
  }
  const Skeleton& skeleton = rig.skeleton();
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    const bool is_model = has[j] && space_ == PoseSpace::kModel;
    local[j] = has[j] && space_ == PoseSpace::kLocal ? given[j] : skeleton.rest_local()[j];
    if (is_model) {
      model[j] = given[j];
    } else if (parent == kNoParent) {
      model[j] = local[j];
    } else {
      model[j] = skeleton.ToModel(j, model[parent], local[parent], local[j]);
    }
    joints[j] = ToFloat(model[j]);
    if (!std::ranges::all_of(joints[j].m, [](float value) { return std::isfinite(value); })) {
      return InvalidArgument("pose.joint_transforms: in model space joint ", j,
                             " leaves the range of float32");
    }
  }
  return absl::OkStatus();
}

std::vector<PosedMuscle> PoseMuscles(const Rig& rig, const Pose& pose) {
  std::vector<float> controls(pose.controls.begin(), pose.controls.end());
  if (controls.empty()) {
    for (const Control& control : rig.controls()) controls.push_back(control.default_value);
  }
  return PoseMuscles(rig.muscle_tables(), pose.joints, controls);
}

}  // namespace sinew
