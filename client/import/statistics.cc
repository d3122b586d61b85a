#include "client/import/statistics.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <vector>

namespace sinew::client {

std::size_t SourceStatistics::vertices() const {
  std::size_t n = 0;
  for (const MeshStatistics& mesh : meshes) n += mesh.vertices;
  return n;
}

std::size_t SourceStatistics::faces() const {
  std::size_t n = 0;
  for (const MeshStatistics& mesh : meshes) n += mesh.faces;
  return n;
}

std::size_t SourceStatistics::max_influences() const {
  std::size_t n = 0;
  for (const MeshStatistics& mesh : meshes) n = std::max(n, mesh.max_influences);
  return n;
}

Problem Lost(const std::string& message, const std::string& field) {
  return {
      .severity = Severity::kWarning, .message = message, .field = field, .reason = kLostReason};
}

void CompleteStatistics(ImportedScene& scene) {
  const RigData& rig = scene.rig;
  std::vector<bool> weighted(rig.joints.size(), false);
  for (std::size_t m = 0; m < rig.meshes.size(); ++m) {
    const Mesh& mesh = rig.meshes[m];
    MeshStatistics& statistics = scene.statistics.meshes[m];
    statistics.name = mesh.name;
    statistics.vertices = mesh.vertices();
    statistics.faces =
        mesh.face_sizes.empty() ? mesh.face_vertices.size() / 3 : mesh.face_sizes.size();
    statistics.triangles = mesh.face_sizes.empty()
                               ? statistics.faces
                               : mesh.face_vertices.size() - 2 * statistics.faces;
    for (const std::uint32_t joint : mesh.skin.influence_joints)
      weighted[mesh.skin.joints[joint]] = true;
    if (statistics.vertices_over_four_influences > 0) {
      scene.problems.push_back(
          {Severity::kInfo,
           absl::StrCat(statistics.vertices_over_four_influences,
                        " vertices have more than 4 influences, up to ", statistics.max_influences),
           mesh.name});
    }
  }
  scene.statistics.joints_without_weights =
      static_cast<std::size_t>(std::count(weighted.begin(), weighted.end(), false));
  if (scene.statistics.joints_without_weights > 0) {
    scene.problems.push_back({Severity::kInfo,
                              absl::StrCat(scene.statistics.joints_without_weights, " of ",
                                           rig.joints.size(), " joints carry no weight"),
                              "skins"});
  }
  if (!scene.keeps_file_order) {
    scene.problems.push_back(
        {Severity::kInfo, "the file's vertex order is not kept; use the rest mesh in cache order",
         "meshes"});
  }
}

}  // namespace sinew::client
