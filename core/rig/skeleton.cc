#include "core/rig/skeleton.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>

#include "core/base/status.h"

namespace sinew {
namespace {

// Length of a column of the linear part: the scale along that axis.
double ColumnLength(const AffineD& a, std::size_t column) {
  return std::sqrt(a.m[column] * a.m[column] + a.m[4 + column] * a.m[4 + column] +
                   a.m[8 + column] * a.m[8 + column]);
}

absl::Status Wrong(std::size_t j, std::string_view field, absl::string_view what) {
  return InvalidArgument("rig.joints[", j, "].", field, ": ", what);
}

}  // namespace

absl::StatusOr<Skeleton> Skeleton::Create(std::vector<SkeletonJoint> joints,
                                          std::vector<AffineD> rest_local) {
  if (joints.empty() || joints.size() > kMaxJoints) {
    return InvalidArgument("rig.joints: got ", joints.size(), " joints, need 1 to ", kMaxJoints);
  }
  if (rest_local.size() != joints.size()) {
    return InvalidArgument("rig.rest_local: got ", rest_local.size(), " rows, need one per joint (",
                           joints.size(), ")");
  }
  std::set<std::string_view> names;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    if (joints[j].name.empty()) return Wrong(j, "name", "is empty, need a unique name");
    if (!names.insert(joints[j].name).second) {
      return Wrong(j, "name", absl::StrCat("duplicate '", joints[j].name, "'"));
    }
    if (joints[j].parent != kNoParent && joints[j].parent >= j) {
      return Wrong(j, "parent",
                   absl::StrCat("got ", joints[j].parent,
                                ", need an earlier joint (parents come before children)"));
    }
    for (const double value : rest_local[j].m) {
      if (!std::isfinite(value)) {
        return InvalidArgument("rig.rest_local: row ", j, " is not finite");
      }
    }
  }
  Skeleton skeleton;
  skeleton.joints_ = std::move(joints);
  skeleton.rest_local_ = std::move(rest_local);
  for (std::size_t j = 0; j < skeleton.joints_.size(); ++j) {
    skeleton.by_name_.emplace(skeleton.joints_[j].name, static_cast<std::uint32_t>(j));
    const std::uint32_t p = skeleton.joints_[j].parent;
    skeleton.rest_model_.push_back(p == kNoParent ? skeleton.rest_local_[j]
                                                  : skeleton.ToModel(j, skeleton.rest_model_[p],
                                                                     skeleton.rest_local_[p],
                                                                     skeleton.rest_local_[j]));
  }
  return skeleton;
}

std::uint32_t Skeleton::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? kNoParent : it->second;
}

AffineD Skeleton::ToModel(std::size_t j, const AffineD& parent_model, const AffineD& parent_local,
                          const AffineD& local) const {
  if (!joints_[j].compensates_scale) return Compose(parent_model, local);
  // The parent's scale moves the joint's origin but does not reach its axes.
  AffineD unscaled = local;
  for (std::size_t row = 0; row < 3; ++row) {
    const double scale = ColumnLength(parent_local, row);
    if (scale > 0) {
      for (std::size_t column = 0; column < 3; ++column) unscaled.m[row * 4 + column] /= scale;
    }
  }
  return Compose(parent_model, unscaled);
}

std::vector<std::uint32_t> JointsByPlace(const Skeleton& skeleton, std::span<const AffineD> pose) {
  std::vector<std::uint32_t> ancestors(skeleton.joints()), joints(skeleton.joints());
  for (std::uint32_t j = 0; j < skeleton.joints(); ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    ancestors[j] = parent == kNoParent ? 0 : ancestors[parent] + 1;
    joints[j] = j;
  }
  const auto place = [&](std::uint32_t j) {
    const auto number = [&](std::size_t i) {
      return std::isfinite(pose[j].m[i]) ? pose[j].m[i] : 0;
    };
    return std::tuple(ancestors[j], number(3), number(7), number(11), number(0), number(1),
                      number(2), number(4), number(5), number(6), number(8), number(9), number(10));
  };
  std::ranges::stable_sort(joints, {}, place);
  return joints;
}

}  // namespace sinew
