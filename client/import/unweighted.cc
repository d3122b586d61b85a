#include "client/import/unweighted.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <nanoflann.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/import/influences.h"
#include "client/import/scene_graph.h"
#include "client/rig/rest_pose.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr char kStillJoint[] = "still";

std::vector<std::uint32_t> VerticesWithoutWeights(const Skin& skin) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t v = 0; v < skin.influence_counts.size(); ++v) {
    if (skin.influence_counts[v] == 0) found.push_back(v);
  }
  return found;
}

// Index into `skin.joints` of the topmost joint: parents precede children.
std::uint32_t TopJoint(const Skin& skin) {
  return static_cast<std::uint32_t>(std::ranges::min_element(skin.joints) - skin.joints.begin());
}

// The weighted vertices of a mesh, as nanoflann wants them.
struct WeightedPoints {
  const std::vector<float>& positions;
  std::vector<std::uint32_t> vertices;

  std::size_t kdtree_get_point_count() const { return vertices.size(); }
  float kdtree_get_pt(std::size_t index, std::size_t axis) const {
    return positions[std::size_t{vertices[index]} * 3 + axis];
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;  // nanoflann computes it
  }
};

// Gives each of `missing` the influences of the nearest of the other vertices, not empty.
void CopyFromNearest(Mesh& mesh, const std::vector<std::uint32_t>& missing) {
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, WeightedPoints>,
                                          WeightedPoints, 3, std::uint32_t>;
  WeightedPoints points{.positions = mesh.positions, .vertices = {}};
  for (std::uint32_t v = 0; v < mesh.vertices(); ++v) {
    if (mesh.skin.influence_counts[v] > 0) points.vertices.push_back(v);
  }
  Tree tree(3, points);
  tree.buildIndex();
  std::vector<std::uint32_t> sources(mesh.vertices());
  std::iota(sources.begin(), sources.end(), 0u);
  for (const std::uint32_t v : missing) {
    std::uint32_t nearest = 0;
    float squared = 0;
    tree.knnSearch(&mesh.positions[std::size_t{v} * 3], 1, &nearest, &squared);
    sources[v] = points.vertices[nearest];
  }
  SelectInfluences(sources, mesh.skin);
}

// Appends a joint that no pose moves; returns its index.
std::uint32_t AddStillJoint(ImportedScene& scene) {
  std::string name = kStillJoint;
  for (int n = 2; std::ranges::count(scene.rig.joints, name, &Joint::name) > 0; ++n) {
    name = absl::StrCat(kStillJoint, ".", n);
  }
  const auto index = static_cast<std::uint32_t>(scene.rig.joints.size());
  scene.rig.joints.push_back({.name = name, .source_path = kStillPath});
  const Affine identity;
  scene.rig.rest_local.insert(scene.rig.rest_local.end(), identity.m.begin(), identity.m.end());
  auto animation = std::make_shared<AnimatedScene>(*scene.animation);
  animation->order.push_back(static_cast<std::uint32_t>(animation->nodes.size()));
  animation->joint_nodes.push_back(animation->order.back());
  SceneNode& node = animation->nodes.emplace_back();
  node.name = name;
  node.path = scene.rig.joints.back().source_path;
  scene.animation = std::move(animation);
  return index;
}

// They stay where the topmost joint of the skin has them at rest.
void KeepStill(const RigData& rig, std::uint32_t joint, Skin& skin) {
  const std::uint32_t top = TopJoint(skin);
  const AffineD bind = Compose(client::MatrixAt(client::RestJoints(rig), skin.joints[top]),
                               client::MatrixAt(skin.inverse_bind, top));
  skin.fallback_joint = static_cast<std::uint32_t>(skin.joints.size());
  skin.joints.push_back(joint);
  for (const double x : bind.m) skin.inverse_bind.push_back(static_cast<float>(x));
}

// "; weights of 2 vertices are NaN, ..." of the mesh, if so.
std::string NanWeights(const ImportedScene& scene, const Mesh& mesh) {
  for (const Problem& problem : scene.problems) {
    if (problem.reason == kNanWeightsReason && problem.field == mesh.source_path) {
      return absl::StrCat("; ", problem.message);
    }
  }
  return {};
}

}  // namespace

absl::Status BindUnweighted(Unweighted choice, ImportedScene& scene) {
  std::optional<std::uint32_t> still;
  for (Mesh& mesh : scene.rig.meshes) {
    const std::vector<std::uint32_t> missing = VerticesWithoutWeights(mesh.skin);
    if (missing.empty() || mesh.skin.joints.empty()) continue;
    std::string what;
    switch (choice) {
      case Unweighted::kRefuse:
        return InvalidArgument(
            mesh.source_path, ": ", CountedText(missing.size(), "vertex has", "vertices have"),
            " no weight, the first is ", missing.front(), NanWeights(scene, mesh),
            "; need every vertex bound to a joint, or --unweighted root, nearest "
            "or still (in Python unweighted=)");
      case Unweighted::kRoot:
        mesh.skin.fallback_joint = TopJoint(mesh.skin);
        what =
            absl::StrCat("moved by the joint '",
                         scene.rig.joints[mesh.skin.joints[*mesh.skin.fallback_joint]].name, "'");
        break;
      case Unweighted::kNearest:
        if (missing.size() == mesh.vertices()) {
          return InvalidArgument(mesh.source_path,
                                 ": no vertex has a weight that others could take; need some, or "
                                 "unweighted: root or still");
        }
        CopyFromNearest(mesh, missing);
        what = "given the weights of the nearest vertex";
        break;
      case Unweighted::kStill:
        if (!still) still = AddStillJoint(scene);
        KeepStill(scene.rig, *still, mesh.skin);
        what = "kept at rest";
        break;
    }
    scene.problems.push_back({Severity::kWarning,
                              absl::StrCat(CountedText(missing.size(), "vertex", "vertices"),
                                           " without weights, ", what),
                              mesh.source_path});
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
