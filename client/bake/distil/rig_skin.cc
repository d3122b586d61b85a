#include "client/bake/distil/rig_skin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "client/bake/files/skinned_glb.h"
#include "client/bake/fit/fit_weights.h"
#include "client/rig/core_parts.h"
#include "client/rig/rest_pose.h"
#include "core/base/status.h"
#include "core/rig/point_weights.h"

namespace sinew::bake {
namespace {

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

// One entry for each binding, rising.
std::vector<JointWeight> OfBindings(std::span<const JointWeight> row,
                                    std::span<const std::uint32_t> slots) {
  std::map<std::uint32_t, double> sums;
  for (const auto& [slot, weight] : row) sums[slots[slot]] += weight;
  std::vector<JointWeight> bindings;
  for (const auto& [binding, weight] : sums) bindings.push_back({binding, weight});
  return bindings;
}

std::vector<JointWeight> ExactRow(std::vector<JointWeight> row, std::size_t most) {
  std::ranges::stable_sort(row, std::ranges::greater{}, &JointWeight::weight);
  row.resize(std::min(row.size(), most));
  double sum = 0;
  for (const JointWeight& entry : row) sum += entry.weight;
  std::vector<float> weights;
  for (const JointWeight& entry : row) weights.push_back(static_cast<float>(entry.weight / sum));
  MakeSumExact(weights);
  for (std::size_t k = 0; k < row.size(); ++k) row[k].weight = double{weights[k]};
  std::erase_if(row, [](const JointWeight& entry) { return entry.weight == 0; });
  std::ranges::sort(row, {}, &JointWeight::joint);
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

}  // namespace

std::vector<AffineD> RigSkin::Matrices(std::span<const AffineD> joints) const {
  std::vector<AffineD> matrices;
  for (const Binding& binding : bindings) {
    matrices.push_back(Compose(joints[binding.joint], binding.to_joint));
  }
  return matrices;
}

absl::StatusOr<RigSkin> ReadRigSkin(const client::RigData& rig) {
  SINEW_ASSIGN_OR_RETURN(Skeleton skeleton, client::SkeletonOf(rig));
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
    SINEW_ASSIGN_OR_RETURN(const Rows<JointWeight> own, OwnWeights(mesh));
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      const std::vector<JointWeight> row = OfBindings(own.row(v), slots);
      skin.own.values.insert(skin.own.values.end(), row.begin(), row.end());
      skin.own.offsets.push_back(skin.own.values.size());
      skin.mesh_of.push_back(static_cast<std::uint32_t>(m));
      const float* const p = &mesh.positions[3 * v];
      skin.rest.push_back({p[0], p[1], p[2]});
    }
  }
  skin.diagonal = client::BoxDiagonal(client::RestPositions(rig));
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

Rows<JointWeight> ExactRows(const Rows<JointWeight>& rows, std::span<const std::uint32_t> of,
                            std::size_t most) {
  Rows<JointWeight> exact{.offsets = {0}, .values = {}};
  for (const std::uint32_t i : of) {
    const auto row = rows.row(i);
    const std::vector<JointWeight> kept = ExactRow({row.begin(), row.end()}, most);
    exact.values.insert(exact.values.end(), kept.begin(), kept.end());
    exact.offsets.push_back(exact.values.size());
  }
  return exact;
}

WeldedPoints WeldSkin(const RigSkin& skin, const Mesh& rest, const std::vector<bool>& apart,
                      const Task& task) {
  return SplitPoints(
      Weld(rest, task),
      [&](std::uint32_t a, std::uint32_t b) {
        const bool alone = !apart.empty() && (apart[a] || apart[b]);
        return !alone && SameRow(skin.own.row(a), skin.own.row(b));
      },
      task);
}

}  // namespace sinew::bake
