#include "client/bake/distil/rig_skin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "client/rig/rest_pose.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

// Rows of one place that differ by at most this are one point, as for the server
// (core/rig/point_weights.h).
constexpr double kSameWeight = 1e-3 + 1e-6;

absl::StatusOr<Skeleton> ReadSkeleton(const client::RigData& rig) {
  std::vector<SkeletonJoint> joints;
  std::vector<AffineD> local;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    const client::Joint& joint = rig.joints[j];
    joints.push_back({.name = joint.name,
                      .parent = joint.parent < 0 ? kNoParent : std::uint32_t(joint.parent),
                      .compensates_scale = joint.compensates_scale});
    local.push_back(client::MatrixAt(rig.rest_local, j));
  }
  return Skeleton::Create(std::move(joints), std::move(local));
}

// A joint whose parent is bound in the same mesh gets the place that both have there.
absl::StatusOr<Skeleton> BindSkeleton(const client::RigData& rig, const Skeleton& skeleton) {
  std::vector<SkeletonJoint> joints;
  std::vector<AffineD> local(skeleton.rest_local().begin(), skeleton.rest_local().end());
  for (std::size_t j = 0; j < skeleton.joints(); ++j) joints.push_back(skeleton.joint(j));
  std::vector<bool> placed(joints.size());
  for (const client::Mesh& mesh : rig.meshes) {
    std::map<std::uint32_t, AffineD> inverse;  // of joints
    for (std::size_t s = 0; s < mesh.skin.joints.size(); ++s) {
      inverse.emplace(mesh.skin.joints[s], client::MatrixAt(mesh.skin.inverse_bind, s));
    }
    for (const auto& [joint, matrix] : inverse) {
      const auto parent = inverse.find(joints[joint].parent);
      if (placed[joint] || parent == inverse.end() || Determinant(Linear(matrix)) == 0) continue;
      placed[joint] = true;
      local[joint] = Compose(parent->second, Inverse(matrix));
      if (!joints[joint].compensates_scale) continue;
      const AffineD& above = local[joints[joint].parent];
      for (std::size_t k = 0; k < 12; ++k) {  // what Skeleton::ToModel divides by
        const std::size_t row = k / 4;
        if (k % 4 < 3)
          local[joint].m[k] *= std::hypot(above.m[row], above.m[4 + row], above.m[8 + row]);
      }
    }
  }
  return Skeleton::Create(std::move(joints), std::move(local));
}

// The influences of a vertex: one entry for each binding, sum 1.
absl::StatusOr<std::vector<JointWeight>> ReadRow(const client::Mesh& mesh, std::size_t vertex,
                                                 std::span<const std::uint32_t> slots,
                                                 std::size_t begin) {
  const client::Skin& skin = mesh.skin;
  std::map<std::uint32_t, double> sums;
  double total = 0;
  for (std::size_t k = begin; k < begin + skin.influence_counts[vertex]; ++k) {
    const double weight = skin.influence_weights[k];
    if (weight == 0) continue;
    sums[slots[skin.influence_joints[k]]] += weight;
    total += weight;
  }
  if (total == 0 && skin.fallback_joint) total = sums[slots[*skin.fallback_joint]] = 1;
  if (!(total > 0)) {
    return InvalidArgument("mesh \"", mesh.name, "\": vertex ", vertex,
                           " has no weights, need some for every vertex");
  }
  std::vector<JointWeight> row;
  for (const auto& [binding, weight] : sums) row.push_back({binding, weight / total});
  return row;
}

bool SameRow(std::span<const JointWeight> a, std::span<const JointWeight> b) {
  std::size_t i = 0, k = 0;
  while (i < a.size() || k < b.size()) {
    const bool in_a = i < a.size() && (k == b.size() || a[i].joint <= b[k].joint);
    const bool in_b = k < b.size() && (i == a.size() || b[k].joint <= a[i].joint);
    const double difference = (in_a ? a[i++].weight : 0) - (in_b ? b[k++].weight : 0);
    if (std::abs(difference) > kSameWeight) return false;
  }
  return true;
}

double DiagonalOf(std::span<const float> points) {
  std::array<double, 3> size{};
  for (std::size_t k = 0; k < 3 && points.size() >= 3; ++k) {
    double low = points[k], high = points[k];
    for (std::size_t i = k; i < points.size(); i += 3) {
      low = std::min<double>(low, points[i]);
      high = std::max<double>(high, points[i]);
    }
    size[k] = high - low;
  }
  return std::hypot(size[0], size[1], size[2]);
}

}  // namespace

std::vector<AffineD> RigSkin::Matrices(std::span<const AffineD> joints) const {
  std::vector<AffineD> matrices;
  for (const Binding& binding : bindings) {
    matrices.push_back(Compose(joints[binding.joint], binding.to_joint));
  }
  return matrices;
}

absl::StatusOr<RigSkin> ReadRigSkin(const client::RigData& rig) {
  SINEW_ASSIGN_OR_RETURN(Skeleton skeleton, ReadSkeleton(rig));
  SINEW_ASSIGN_OR_RETURN(Skeleton bind, BindSkeleton(rig, skeleton));
  RigSkin skin(std::move(skeleton), std::move(bind));
  std::map<std::pair<std::uint32_t, std::array<double, 12>>, std::uint32_t> known;
  skin.own.offsets = {0};
  for (std::size_t m = 0; m < rig.meshes.size(); ++m) {
    const client::Mesh& mesh = rig.meshes[m];
    if (mesh.skin.influence_counts.size() != mesh.vertices()) {
      return InvalidArgument("mesh \"", mesh.name, "\" has no skin, need one");
    }
    const AffineD geometry = client::MatrixAt(mesh.skin.geometry_bind, 0);
    std::vector<std::uint32_t>& slots = skin.mesh_bindings.emplace_back();
    for (std::size_t s = 0; s < mesh.skin.joints.size(); ++s) {
      const AffineD to_joint = Compose(client::MatrixAt(mesh.skin.inverse_bind, s), geometry);
      const auto next = static_cast<std::uint32_t>(skin.bindings.size());
      const auto [at, is_new] = known.try_emplace({mesh.skin.joints[s], to_joint.m}, next);
      if (is_new) skin.bindings.push_back({mesh.skin.joints[s], to_joint});
      slots.push_back(at->second);
    }
    std::size_t begin = 0;
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      SINEW_ASSIGN_OR_RETURN(const std::vector<JointWeight> row, ReadRow(mesh, v, slots, begin));
      begin += mesh.skin.influence_counts[v];
      skin.own.values.insert(skin.own.values.end(), row.begin(), row.end());
      skin.own.offsets.push_back(skin.own.values.size());
      skin.mesh_of.push_back(static_cast<std::uint32_t>(m));
      const float* const p = &mesh.positions[3 * v];
      skin.rest.push_back({p[0], p[1], p[2]});
    }
  }
  skin.diagonal = DiagonalOf(client::RestPositions(rig));
  return skin;
}

std::vector<AffineD> ToMatrices(std::span<const float> joints) {
  std::vector<AffineD> matrices;
  for (std::size_t j = 0; j < joints.size() / 12; ++j) {
    matrices.push_back(client::MatrixAt(joints, j));
  }
  return matrices;
}

void AppendMatrices(std::span<const AffineD> joints, std::vector<float>& out) {
  for (const AffineD& joint : joints) {
    const Affine rounded = ToFloat(joint);
    out.insert(out.end(), rounded.m.begin(), rounded.m.end());
  }
}

AffineD Blend(std::span<const JointWeight> row, std::span<const AffineD> matrices) {
  AffineD blend;
  blend.m.fill(0);
  for (const JointWeight& entry : row) {
    const AffineD& matrix = matrices[entry.joint];
    for (std::size_t k = 0; k < 12; ++k) blend.m[k] += entry.weight * matrix.m[k];
  }
  return blend;
}

SkinPoints WeldSkin(const RigSkin& skin, const std::vector<bool>& apart) {
  SkinPoints points;
  std::map<std::array<float, 3>, std::vector<std::uint32_t>> at;  // points of each place
  for (std::uint32_t v = 0; v < skin.vertices(); ++v) {
    const Vec3f& p = skin.rest[v];
    std::vector<std::uint32_t>& here = at[{p.x + 0.0f, p.y + 0.0f, p.z + 0.0f}];
    const auto same = std::ranges::find_if(here, [&](std::uint32_t point) {
      return SameRow(skin.own.row(points.first[point]), skin.own.row(v));
    });
    const bool alone = !apart.empty() && apart[v];
    if (alone || same == here.end()) {
      const auto next = static_cast<std::uint32_t>(points.first.size());
      if (!alone) here.push_back(next);
      points.first.push_back(v);
      points.point.push_back(next);
    } else {
      points.point.push_back(*same);
    }
  }
  return points;
}

Rows<std::uint32_t> NeighboursOf(const client::RigData& rig, const SkinPoints& points) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::uint32_t first = 0;
  for (const client::Mesh& mesh : rig.meshes) {
    const std::size_t faces =
        mesh.face_sizes.empty() ? mesh.face_vertices.size() / 3 : mesh.face_sizes.size();
    std::size_t corner = 0;
    for (std::size_t f = 0; f < faces; ++f) {
      const std::size_t size = mesh.face_sizes.empty() ? 3 : mesh.face_sizes[f];
      for (std::size_t k = 0; k < size; ++k) {
        const std::uint32_t a = points.point[first + mesh.face_vertices[corner + k]];
        const std::uint32_t b = points.point[first + mesh.face_vertices[corner + (k + 1) % size]];
        if (a == b) continue;
        edges.emplace_back(a, b);
        edges.emplace_back(b, a);
      }
      corner += size;
    }
    first += static_cast<std::uint32_t>(mesh.vertices());
  }
  std::ranges::sort(edges);
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  return CollectRows<std::uint32_t>(points.first.size(), [&](const auto& add) {
    for (const auto& [a, b] : edges) add(a, b);
  });
}

}  // namespace sinew::bake
