#include "client/import/problems.h"

#include <absl/strings/str_cat.h>

#include "client/rig/rig_traits.h"

namespace sinew::client {

Problem Lost(const std::string& message, const std::string& field) {
  return {
      .severity = Severity::kWarning, .message = message, .field = field, .reason = kLostReason};
}

void AddRigProblems(ImportedScene& scene) {
  const cli::RigTraits traits = cli::CountRig(scene.rig);
  for (const cli::MeshTraits& mesh : traits.meshes) {
    if (mesh.over_four == 0) continue;
    scene.problems.push_back(
        {Severity::kInfo,
         absl::StrCat(mesh.over_four, " vertices have more than 4 influences, up to ",
                      mesh.max_influences),
         mesh.name});
  }
  if (!traits.joints_without_weights.empty()) {
    scene.problems.push_back({Severity::kInfo,
                              absl::StrCat(traits.joints_without_weights.size(), " of ",
                                           scene.rig.joints.size(), " joints carry no weight"),
                              "skins"});
  }
  if (!scene.keeps_file_order) {
    scene.problems.push_back(
        {Severity::kInfo, "the file's vertex order is not kept; use the rest mesh in cache order",
         "meshes"});
  }
}

}  // namespace sinew::client
