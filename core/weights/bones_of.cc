// Where a skeleton carries skin; the rules are in weights.h.
#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "core/weights/weights.h"

namespace sinew {
namespace {

constexpr double kSamePlace = 1e-6;  // of the skeleton's extent
constexpr double kLeafPart = 0.5;    // of the bone that leads to it

}  // namespace

std::vector<Bone> BonesOf(const Skeleton& skeleton) {
  const std::size_t joints = skeleton.joints();
  std::vector<Vec3d> at;
  for (const AffineD& joint : skeleton.rest_model()) at.push_back(Translation(joint));
  Vec3d low = at[0], high = at[0];
  for (const Vec3d& p : at) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const double same = kSamePlace * Length(high - low);
  const auto parent = [&](std::size_t j) { return skeleton.joint(j).parent; };
  const auto moves = [&](std::size_t j) {
    return parent(j) != kNoParent && Length(at[j] - at[parent(j)]) > same;
  };

  // Whether something below a joint lies elsewhere; parents come first.
  std::vector<bool> leads(joints, false);
  for (std::size_t j = joints; j-- > 0;) {
    if (parent(j) != kNoParent && (leads[j] || moves(j))) leads[parent(j)] = true;
  }
  std::vector<Vec3d> step(joints);  // of the bone that leads to a joint's place
  std::vector<Bone> bones;
  for (std::uint32_t j = 0; j < joints; ++j) {
    if (moves(j)) {
      step[j] = at[j] - at[parent(j)];
      bones.push_back({parent(j), at[parent(j)], at[j]});
    } else if (parent(j) != kNoParent) {
      step[j] = step[parent(j)];
    }
    if (!leads[j] && (parent(j) == kNoParent || moves(j))) {
      bones.push_back({j, at[j], at[j] + kLeafPart * step[j]});
    }
  }
  std::ranges::stable_sort(bones, {}, &Bone::joint);
  return bones;
}

}  // namespace sinew
