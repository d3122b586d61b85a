#include "core/rig/bones.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/disjoint_sets.h"
#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr double kNoLength = 1e-6;   // of the mesh's diagonal
constexpr double kFlat = 1e-9;       // |det| / |A|_F^3 of a matrix that flattens space
constexpr double kSamePlace = 1e-6;  // in a space where the mesh lies within 1 of the origin
constexpr double kLeafPart = 0.5;    // of the bone that leads to it
constexpr double kLongest = 4;       // times the bone's length: longest extension of a leaf bone
// Part of a limb's points along the nearer half of its bone: .18 to .9 for the last bones of five
// characters, at most .02 for their eyelids, breasts and crowns.
constexpr double kLimb = 0.1;

// The multiple of `step` at which a ray from an inside point leaves the surface; 0 if it first hits
// the surface from outside, or not at all.
double ExitDistance(std::span<const Vec3d> points,
                    std::span<const std::array<std::uint32_t, 3>> triangles, double side,
                    const Vec3d& from, const Vec3d& step) {
  double least = std::numeric_limits<double>::infinity(), facing = 0;
  for (const auto& t : triangles) {
    const Vec3d a = points[t[0]] - from, b = points[t[1]] - from, c = points[t[2]] - from;
    const Vec3d normal = Cross(b - a, c - a);
    const double along = Dot(normal, step);
    // Signed volumes of the edges with the step. A hit on an edge counts for both triangles.
    const double u = Dot(Cross(b, c), step), v = Dot(Cross(c, a), step), w = Dot(Cross(a, b), step);
    if (along == 0 || std::min({u, v, w}) * std::max({u, v, w}) < 0) continue;
    const double at = Dot(normal, a) / along;
    if (at > 0 && at < least) {
      least = at;
      facing = along * side;
    }
  }
  return facing > 0 ? least : 0;
}

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

std::optional<AffineD> TryInverse(const AffineD& a) {
  if (Flattens(Linear(a))) return std::nullopt;
  const AffineD inverse = Inverse(a);
  if (!std::ranges::all_of(inverse.m, [](double v) { return std::isfinite(v); })) {
    return std::nullopt;
  }
  return inverse;
}

Bones::Bones(const Skeleton& skeleton, double diagonal, std::span<const AffineD> pose,
             std::span<const std::uint8_t> carriers)
    : skeleton_(skeleton), no_length_(kNoLength * diagonal) {
  const std::size_t joints = skeleton.joints();
  for (const AffineD& joint : pose) origins_.push_back(Translation(joint));
  // Bones to children, and to the next carriers below.
  struct Ends {
    Vec3d sum;
    std::size_t count = 0;
  };
  std::vector<Ends> children(joints), next(joints);
  std::vector<std::uint32_t> carrier(joints, kNoParent);  // of the joint or above it
  bone_above_.reserve(joints);
  const auto add = [&](Ends& ends, std::uint32_t joint) {
    ends.sum = ends.sum + origin(joint);
    ++ends.count;
  };
  for (std::uint32_t j = 0; j < joints; ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    bone_above_.push_back(parent == kNoParent || Moves(j) ? parent : bone_above_[parent]);
    const std::uint32_t above = parent == kNoParent ? kNoParent : carrier[parent];
    const bool carries = carriers.empty() || carriers[j] != 0;
    carrier[j] = carries ? j : above;
    if (parent != kNoParent) add(children[parent], j);
    if (carries && above != kNoParent) add(next[above], j);
  }
  tips_.reserve(joints);
  for (std::uint32_t j = 0; j < joints; ++j) {
    const Ends& ends = next[j].count > 0 ? next[j] : children[j];
    leaf_.push_back(next[j].count == 0);
    tips_.push_back(ends.count == 0 ? origin(j)
                                    : (1.0 / static_cast<double>(ends.count)) * ends.sum);
  }
}

bool Bones::Moves(std::uint32_t joint) const {
  const std::uint32_t parent = skeleton_.joint(joint).parent;
  return parent != kNoParent && Length(origin(joint) - origin(parent)) > no_length_;
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

std::vector<Bone> Bones::ToEachChild(std::span<const std::uint8_t> carriers) const {
  const std::size_t joints = origins_.size();
  const auto parent = [&](std::size_t j) { return skeleton_.joint(j).parent; };
  // Whether something below a joint lies elsewhere; parents come first.
  std::vector<bool> leads(joints, false), leaf(joints, true);
  for (auto j = static_cast<std::uint32_t>(joints); j-- > 0;) {
    if (parent(j) == kNoParent) continue;
    leaf[parent(j)] = false;
    if (leads[j] || Moves(j)) leads[parent(j)] = true;
  }
  std::vector<std::uint32_t> carrier(joints, kNoParent);  // of the joint or above it
  std::vector<Bone> bones;
  for (std::uint32_t j = 0; j < joints; ++j) {
    if (parent(j) != kNoParent) carrier[j] = carrier[parent(j)];
    if (carriers[j] != 0) carrier[j] = j;
    if (Moves(j)) bones.push_back({parent(j), origin(parent(j)), origin(j)});
    if (!leads[j] && (parent(j) == kNoParent || Moves(j))) {
      bones.push_back({j, origin(j), origin(j) + kLeafPart * Direction(j)});
    }
  }
  std::ranges::stable_sort(bones, {}, &Bone::joint);
  std::erase_if(bones, [&](const Bone& bone) {
    return carrier[bone.joint] == kNoParent || (leaf[bone.joint] && carriers[bone.joint] == 0);
  });
  for (Bone& bone : bones) bone.joint = carrier[bone.joint];
  return bones;
}

std::vector<std::uint32_t> JoinedEnds(std::span<const Bone> bones) {
  std::vector<std::pair<Vec3d, std::uint32_t>> ends;
  for (std::uint32_t b = 0; b < bones.size(); ++b) {
    ends.emplace_back(bones[b].root, 2 * b);
    ends.emplace_back(bones[b].tip, 2 * b + 1);
  }
  std::ranges::sort(ends, {}, [](const auto& end) { return end.first.x; });
  DisjointSets places(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (std::size_t k = i + 1; k < ends.size(); ++k) {
      if (ends[k].first.x - ends[i].first.x > kSamePlace) break;
      if (Length(ends[k].first - ends[i].first) > kSamePlace) continue;
      places.Join(ends[i].second, ends[k].second);
      if (ends[k].first == ends[i].first) break;  // it finds the others
    }
  }
  std::vector<std::uint32_t> joined;
  for (std::uint32_t end = 0; end < ends.size(); ++end) joined.push_back(places.Lowest(end));
  return joined;
}

void ExtendLeafBones(std::span<const Vec3d> points,
                     std::span<const std::array<std::uint32_t, 3>> triangles, double side,
                     const Task& task, std::span<Bone> bones) {
  const std::vector<std::uint32_t> ends = JoinedEnds(bones);
  std::vector<bool> leads_on(ends.size(), false);
  for (std::size_t b = 0; b < bones.size(); ++b) leads_on[ends[2 * b]] = true;
  for (std::size_t b = 0; b < bones.size() && !task.cancelled(); ++b) {
    Bone& bone = bones[b];
    const Vec3d axis = bone.tip - bone.root;
    if (Length(axis) <= kSamePlace || leads_on[ends[2 * b + 1]]) continue;
    const double exit = ExitDistance(points, triangles, side, bone.tip, axis);
    bone.tip = bone.tip + std::min(kLongest, 0.5 * exit) * axis;
  }
}

}  // namespace sinew
