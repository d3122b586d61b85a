#include "core/rig/bones.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr double kNoLength = 1e-6;  // of the mesh's diagonal
constexpr double kFlat = 1e-9;      // |det| / |A|_F^3 of a matrix that flattens space

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

Bones::Bones(const Rig& rig, std::span<const AffineD> pose)
    : no_length_(kNoLength * rig.mesh().diagonal()) {
  for (const AffineD& joint : pose) origins_.push_back(Translation(joint));
  std::vector<std::size_t> children(rig.joints());
  std::vector<Vec3d> sums(rig.joints());
  bone_above_.reserve(rig.joints());
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    const bool moves = parent != kNoParent && Length(origin(j) - origin(parent)) > no_length_;
    bone_above_.push_back(parent == kNoParent || moves ? parent : bone_above_[parent]);
    if (parent == kNoParent) continue;
    sums[parent] = sums[parent] + origin(j);
    ++children[parent];
  }
  tips_.reserve(rig.joints());
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    tips_.push_back(children[j] == 0 ? origin(j)
                                     : (1.0 / static_cast<double>(children[j])) * sums[j]);
  }
}

Vec3d Bones::origin(std::uint32_t joint) const {
  return origins_[joint];
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

}  // namespace sinew
