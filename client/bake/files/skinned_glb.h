// skinned_glb.h - a rig with its clips as binary glTF 2.0, as engines play it by themselves.
#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "client/import/gltf_paint.h"
#include "sinew/import.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct SkinnedScene {
  // Shapes become sparse morph targets, with the normals that they have; only the last target of
  // each is used.
  const client::RigData* rig = nullptr;
  std::span<const client::ClipData> clips;          // with the rig's controls
  std::span<const client::MeshExtras> extras = {};  // [meshes] for texture coordinates, or empty
  const client::GltfPaint* paint = nullptr;         // base colours and images, or null
  nlohmann::ordered_json skin_extras = {};          // `extras` of the skins, or null
};

// The file: a node for each joint, its keys linear at the rate of the clip, and a `weights` channel
// for the shapes. Keys that all equal the node's own value are left out, of places but for
// rounding. Strongest influences first, in one set of four or two, their sum exactly 1. With
// coefficients of animation space, attribute _SINEW_AS_k is the offset and weight of influence k.
// Vertices keep their order; where the corners of one have several texture coordinates, copies
// follow behind the mesh's vertices. Units and up axis are those of glTF, by a node above the
// joints. Normals are those of UnitNormals:
// of the rig, else computed from the faces.
//
// kInvalidArgument: a vertex with no weights or more than 8, coefficients that are not of 4
// values for joints with weight, a joint that shears (glTF has
// translation, rotation and scale alone), a number that is not finite, or a file of 4 GiB.
absl::StatusOr<std::string> EncodeSkinnedGlb(const SkinnedScene& scene);

// [V * 3] the normals that a mesh gets there, of length 1. kInvalidArgument: not a mesh.
absl::StatusOr<std::vector<float>> UnitNormals(const client::Mesh& mesh);

// The errors that joints and clips alone cause there, known before there are weights.
absl::Status CheckGlbMotion(const client::RigData& rig, std::span<const client::ClipData> clips);

// The weights as multiples of 2^-23 whose sum is exactly 1: what files hold. `weights`: at least 0,
// with a sum near 1.
void MakeSumExact(std::span<float> weights);

}  // namespace sinew::bake
