// scene.h - what holds for every character file that is read.
#pragma once

#include <algorithm>
#include <cmath>

#include "sinew/import.h"
#include "tests/fuzz/fuzz.h"

namespace sinew::fuzz {

inline void CheckMesh(const client::Mesh& mesh, const client::RigData& rig) {
  const std::size_t vertices = mesh.vertices();
  Require(AllFinite(mesh.positions), "finite positions");
  for (const std::uint32_t vertex : mesh.face_vertices) {
    Require(vertex < vertices, "corners at vertices of the mesh");
  }
  Require(mesh.normals.empty() || mesh.normals.size() == 3 * vertices, "as many normals");
  Require(mesh.tangents.empty() || mesh.tangents.size() == 4 * vertices, "as many tangents");
  const client::Skin& skin = mesh.skin;
  if (skin.empty()) return;
  Require(skin.inverse_bind.size() == 12 * skin.joints.size(), "a bind for each joint");
  for (const std::uint32_t joint : skin.joints) {
    Require(joint < rig.joints.size(), "joints of the rig");
  }
  Require(skin.influence_counts.size() == vertices, "influences of each vertex");
  std::size_t at = 0;
  for (const std::uint32_t count : skin.influence_counts) {
    double sum = 0;
    for (const std::size_t end = at + count; at < end; ++at) {
      Require(skin.influence_joints.at(at) < skin.joints.size(), "joints of the skin");
      Require(skin.influence_weights.at(at) >= 0, "no negative weight");
      sum += static_cast<double>(skin.influence_weights[at]);
    }
    Require(std::abs(sum - 1) < 2e-3 || (count == 0 && skin.fallback_joint.has_value()),
            "weights that sum to 1");
  }
}

inline void CheckScene(const client::ImportedScene& scene) {
  const client::RigData& rig = scene.rig;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    Require(rig.joints[j].parent < static_cast<std::int64_t>(j), "parents first");
  }
  Require(rig.rest_local.size() == 12 * rig.joints.size() && AllFinite(rig.rest_local),
          "a finite rest pose");
  for (const client::Mesh& mesh : rig.meshes) CheckMesh(mesh, rig);
  const client::ClipData rest = RestPose(scene);
  Require(rest.joint_transforms.size() == 12 * rig.joints.size(), "a pose of all joints");
  Require(AllFinite(rest.controls), "finite controls");
  for (std::size_t c = 0; c < scene.clips.size(); ++c) {
    Require(FindClip(scene, scene.clips[c].name).value() == c, "names that are unique");
    // Also clips that last for years: of those the first frames.
    const client::SampleOptions first{.fps = 24, .first_frame = 0, .last_frame = 2};
    const absl::StatusOr<client::ClipData> clip = SampleClip(scene, c, first);
    if (clip.ok()) {
      Require(clip->joint_transforms.size() == 3 * 12 * rig.joints.size() &&
                  clip->controls.size() == 3 * rig.controls.size(),
              "three frames");
    }
    const absl::StatusOr<client::ClipData> last = SampleClip(
        scene, c,
        {.fps = 1, .first_frame = std::max<std::int64_t>(0, ClipFrames(scene.clips[c], 1) - 1)});
    if (last.ok()) Require(last->frames == 1, "the last frame");
  }
}

// Reads the file at `path` with and without a skin, and checks what comes of it.
inline void ImportAndCheck(const std::string& path) {
  for (const bool allow_no_skin : {false, true}) {
    const absl::StatusOr<client::ImportedScene> scene =
        client::ImportFile(path, {.allow_no_skin = allow_no_skin});
    if (scene.ok()) {
      CheckScene(*scene);
      return;
    }
    RequireRefusal(scene.status());
  }
}

}  // namespace sinew::fuzz
