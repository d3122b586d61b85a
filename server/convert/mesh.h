// mesh.h - the meshes of a sinew.v1.Rig, one after the other, into one numbering. A part of
// convert/rig.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/rig/rig.h"
#include "server/base/config.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::server {

// The joints of a skin as bound: its inverse bind matrices, the geometry bind folded in. joints: of
// the rig. kInvalidArgument: a value that is not finite, or not one for each joint.
absl::StatusOr<std::vector<Binding>> ReadBindings(const v1::Skin& skin, const std::string& path,
                                                  std::size_t joints);

class MeshFlattener {
 public:
  // All must outlive this. Joints and controls of `source` must already be set.
  MeshFlattener(const v1::Rig& rig, const RigConfig& limits, RigSource& source);

  // Appends mesh `m`; call it once for each in order. kInvalidArgument with the field's path;
  // kResourceExhausted: a limit on a vertex or a face.
  absl::Status Add(int m);
  // Checks that need all meshes. Call it after the last Add.
  absl::Status Finish();
  // Meshes without a skin so far. They are bound to the first joint, so that
  // everything else can be checked.
  int without_skin() const { return without_skin_; }

 private:
  absl::Status AddFaces(const v1::Mesh& mesh, const std::string& path);
  absl::Status AddNormals(const v1::Mesh& mesh, const std::string& path);
  absl::Status AddTangents(const v1::Mesh& mesh, const std::string& path);
  absl::Status AddWeld(const v1::Mesh& mesh, const std::string& path);
  absl::Status AddSkin(const v1::Mesh& mesh, const std::string& path);
  void HoldByFirstJoint();
  absl::StatusOr<std::vector<std::uint32_t>> AddBindings(const v1::Skin& skin,
                                                         const std::string& path);
  absl::Status AddInfluences(const v1::Skin& skin, const std::string& path,
                             const std::vector<std::uint32_t>& bindings);
  absl::Status AddCoefficients(const v1::Skin& skin, const std::string& path,
                               const std::vector<std::uint32_t>& bindings);
  absl::Status AddShapes(const v1::Mesh& mesh, const std::string& path);
  absl::Status AddTarget(const v1::ShapeTarget& target, const std::string& path, Shape& shape);
  absl::Status AddMaps(const v1::Mesh& mesh, const std::string& path);

  using BindingKey = std::pair<std::uint32_t, std::array<double, 12>>;

  const v1::Rig& rig_;
  const RigConfig& limits_;
  RigSource& source_;
  std::uint32_t first_ = 0, vertices_ = 0;           // of the mesh at hand
  bool any_normals_ = false, any_tangents_ = false;  // of any mesh; others get zeros
  int welded_meshes_ = 0, without_skin_ = 0;
  std::map<BindingKey, std::uint32_t> bindings_;
  std::map<std::string, std::size_t> maps_;  // name to place in source_.maps
  std::map<std::string, std::uint32_t> controls_;
};

}  // namespace sinew::server
