#include "core/rig/bones.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr double kNoLength = 1e-6;   // of the mesh's diagonal
constexpr double kFlat = 1e-9;       // |det| / |A|_F^3 of a matrix that flattens space
constexpr double kSamePlace = 1e-6;  // of the skeleton's extent
constexpr double kLeafPart = 0.5;    // of the bone that leads to it
// Part of a limb's points along the nearer half of its bone: .18 to .9 for the last bones of five
// characters, at most .02 for their eyelids, breasts and crowns.
constexpr double kLimb = 0.1;

}  // namespace

double Reach(const Vec3d& root, const Vec3d& direction, std::span<const Vec3d> points) {
  double reach = 0;
  for (const Vec3d& p : points) reach = std::max(reach, Dot(p - root, direction));
  return reach;
}

bool Flattens(const Mat3d& a) {
  double sum = 0;
  for (const double v : a.m) sum += v * v;
  return !(std::abs(Determinant(a)) > kFlat * sum * std::sqrt(sum));
}

Bones::Bones(const Rig& rig, std::span<const AffineD> pose, std::span<const std::uint8_t> carriers)
    : no_length_(kNoLength * rig.mesh().diagonal()) {
  for (const AffineD& joint : pose) origins_.push_back(Translation(joint));
  // Bones to children, and to the next carriers below.
  struct Ends {
    Vec3d sum;
    std::size_t count = 0;
  };
  std::vector<Ends> children(rig.joints()), next(rig.joints());
  std::vector<std::uint32_t> carrier(rig.joints(), kNoParent);  // of the joint or above it
  bone_above_.reserve(rig.joints());
  const auto add = [&](Ends& ends, std::uint32_t joint) {
    ends.sum = ends.sum + origin(joint);
    ++ends.count;
  };
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    const bool moves = parent != kNoParent && Length(origin(j) - origin(parent)) > no_length_;
    bone_above_.push_back(parent == kNoParent || moves ? parent : bone_above_[parent]);
    const std::uint32_t above = parent == kNoParent ? kNoParent : carrier[parent];
    const bool carries = carriers.empty() || carriers[j] != 0;
    carrier[j] = carries ? j : above;
    if (parent != kNoParent) add(children[parent], j);
    if (carries && above != kNoParent) add(next[above], j);
  }
  tips_.reserve(rig.joints());
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    const Ends& ends = next[j].count > 0 ? next[j] : children[j];
    leaf_.push_back(next[j].count == 0);
    tips_.push_back(ends.count == 0 ? origin(j)
                                    : (1.0 / static_cast<double>(ends.count)) * ends.sum);
  }
}

bool Bones::IsPoint(std::uint32_t joint) const {
  return Length(tip(joint) - origin(joint)) <= no_length_;
}

Vec3d Bones::Direction(std::uint32_t joint) const {
  const Vec3d from = origin(joint);
  Vec3d along = tips_[joint] - from;
  const std::uint32_t above = bone_above_[joint];
  if (Length(along) <= no_length_ && above != kNoParent) along = from - origin(above);
  return Length(along) <= no_length_ ? Vec3d{} : along;
}

Vec3d Bones::DirectionInto(std::uint32_t joint, std::span<const Vec3d> skin) const {
  Vec3d sum;
  for (const Vec3d& p : skin) sum = sum + p;
  Vec3d along =
      skin.empty() ? Vec3d{} : (1.0 / static_cast<double>(skin.size())) * sum - origin(joint);
  if (!(Length(along) > no_length_)) along = Direction(joint);
  return Unit(along);
}

Vec3d Bones::LimbTip(std::uint32_t joint, std::span<const Vec3d> skin) const {
  const Vec3d& root = origin(joint);
  const Vec3d direction = DirectionInto(joint, skin);
  const double reach = Reach(root, direction, skin);
  const auto near = std::ranges::count_if(
      skin, [&](const Vec3d& p) { return Dot(p - root, direction) < 0.5 * reach; });
  const bool limb = static_cast<double>(near) >= kLimb * static_cast<double>(skin.size());
  return limb ? root + reach * direction : tip(joint);
}

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
