#include "tests/reference/bulge_free_reference.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "core/surface/adjacency.h"
#include "tests/support/compare.h"

namespace sinew::reference {
namespace {

using testing::Distance;
using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Eigen::Vector3d ToEigen(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

double Smoothstep(double x) {
  const double t = std::clamp(x, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// Distinct positions of the points whose largest weight is the joint's. Weights within 4/255 of the
// largest tie: the first joint has them.
std::vector<Vec3d> SkinOf(const Rig& rig, std::uint32_t joint) {
  std::vector<Vec3d> skin;
  for (const std::uint32_t v : Weld(rig).first) {
    const auto bindings = rig.influences().bindings(v);
    const auto weights = rig.influences().weights(v);
    const double largest = *std::max_element(weights.begin(), weights.end());
    std::uint32_t owner = kNoParent;
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      if (weights[k] >= largest - 4.5 / 255)
        owner = std::min<std::uint32_t>(owner, rig.bindings()[bindings[k]].joint);
    }
    if (owner == joint) skin.push_back(ToDouble(rig.mesh().positions()[v]));
  }
  return skin;
}

// Tip of a zero-length bone: through the centre of its skin as far as that extends, if a tenth of
// the skin is no farther than half of that.
Vec3d TipInSkin(const Rig& rig, std::uint32_t joint) {
  const auto at = [&](std::uint32_t j) { return Translation(rig.skeleton().rest_model()[j]); };
  const double no_length = 1e-6 * rig.mesh().diagonal();
  const std::vector<Vec3d> skin = SkinOf(rig, joint);
  if (skin.empty()) return at(joint);
  Vec3d along;
  for (const Vec3d& p : skin)
    along = along + (1.0 / static_cast<double>(skin.size())) * (p - at(joint));
  for (std::uint32_t above = joint; Distance(along, {}) <= no_length;) {
    above = rig.skeleton().joint(above).parent;
    if (above == kNoParent) return at(joint);
    along = at(joint) - at(above);
  }
  const Vec3d direction = (1 / Distance(along, {})) * along;
  double farthest = 0;
  for (const Vec3d& p : skin) farthest = std::max(farthest, Dot(p - at(joint), direction));
  double near = 0;
  for (const Vec3d& p : skin) near += Dot(p - at(joint), direction) < farthest / 2 ? 1 : 0;
  return near < 0.1 * static_cast<double>(skin.size()) ? at(joint)
                                                       : at(joint) + farthest * direction;
}

}  // namespace

std::vector<Bone> RestBones(const Rig& rig) {
  const Skeleton& skeleton = rig.skeleton();
  std::vector<Bone> bones;
  for (const Binding& binding : rig.bindings()) {
    const Vec3d root = Translation(skeleton.rest_model()[binding.joint]);
    Vec3d sum;
    double children = 0;
    for (std::size_t j = 0; j < rig.joints(); ++j) {
      if (skeleton.joint(j).parent != binding.joint) continue;
      sum = sum + Translation(skeleton.rest_model()[j]);
      ++children;
    }
    const Vec3d tip = children > 0 ? (1 / children) * sum : root;
    const bool is_point = Distance(tip, root) <= 1e-6 * rig.mesh().diagonal();
    bones.push_back({root, is_point ? TipInSkin(rig, binding.joint) : tip});
  }
  return bones;
}

Vec3d Nearest(const Bone& bone, const Vec3d& p) {
  const Vec3d e = bone.tip - bone.root;
  const double length2 = Dot(e, e);
  if (length2 == 0) return bone.root;
  return bone.root + std::clamp(Dot(p - bone.root, e) / length2, 0.0, 1.0) * e;
}

std::vector<Vec3d> BulgeFree(std::span<const Vec3d> rest, std::span<const Vec3d> posed,
                             const Influences& influences, std::span<const AffineD> skin,
                             std::span<const Bone> bones, const BulgeFreeParams& params) {
  std::vector<Vec3d> corrected(posed.begin(), posed.end());
  for (std::size_t v = 0; v < posed.size(); ++v) {
    const std::size_t count = params.strongest ? 1 : influences.bindings(v).size();
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) {
      sum += std::pow(influences.weights(v)[k], params.sharpness);
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t j = influences.bindings(v)[k];
      const Bone bone = {Apply(skin[j], bones[j].root), Apply(skin[j], bones[j].tip)};
      const Vec3d own = Apply(skin[j], rest[v]), c = Nearest(bone, posed[v]);
      const double rho = Distance(own, Nearest(bone, own)), d = Distance(posed[v], c);
      if (d <= rho || d == 0) continue;
      const double width = 0.02 * params.softness * rho;
      const double eased = width > 0 ? Smoothstep((d - rho) / width) : 1;
      const double f = (rho / d - 1) * eased;
      const double beta = std::pow(influences.weights(v)[k], params.sharpness) / sum;
      corrected[v] = corrected[v] + params.strength * beta * f * (posed[v] - c);
    }
  }
  return corrected;
}

std::vector<Vec3d> Bisector(const Rig& rig, std::span<const Vec3d> posed,
                            std::span<const AffineD> skin, double strength) {
  const std::vector<Bone> bones = RestBones(rig);
  std::vector<Vec3d> corrected(posed.begin(), posed.end());
  for (std::size_t v = 0; v < posed.size(); ++v) {
    const auto bindings = rig.influences().bindings(v);
    const auto w = rig.influences().weights(v);
    if (bindings.size() < 2) continue;
    const auto parent_of = [&](std::size_t e) {
      return rig.skeleton().joint(rig.bindings()[e].joint).parent;
    };
    const std::size_t first = bindings[0], second = bindings[1];
    const bool towards = parent_of(second) == rig.bindings()[first].joint;
    if (!towards && parent_of(first) != rig.bindings()[second].joint) continue;
    const auto rotation = [&](std::size_t e) {
      return Eigen::Matrix3d(Eigen::Map<const Matrix>(Linear(skin[e]).m.data()));
    };
    const auto direction = [&](std::size_t e) {
      return ToEigen(bones[e].tip - bones[e].root).normalized();
    };
    const Eigen::Vector3d bisector =
        (rotation(first) * direction(first) + rotation(second) * direction(second)).normalized();
    const Eigen::AngleAxisd turn(Eigen::Matrix3d(rotation(first) * rotation(second).transpose()));
    const double angle = std::min(1.0, 2 * std::sqrt(1 - std::cos(turn.angle() / 2)));
    const Eigen::Vector3d across = bisector - turn.axis() * turn.axis().dot(bisector);
    const double x = w[1] / (w[0] + w[1]);
    const double curve = 2.2 * x - 9.6 * x * x + 10.4 * x * x * x;
    const double third = w.size() > 2 ? w[2] : 0;
    const Eigen::Vector3d rest = ToEigen(ToDouble(rig.mesh().positions()[v]) - bones[first].root);
    const double distance = rest.cross(direction(first)).norm();
    const Eigen::Vector3d push = (towards ? 1 : -1) * strength * distance * angle * curve *
                                 (1 - third / w[1]) * (w[0] + w[1]) * across;
    corrected[v] = corrected[v] + Vec3d{push.x(), push.y(), push.z()};
  }
  return corrected;
}

}  // namespace sinew::reference
