#include "server/convert/mesh.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_map>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "server/base/status.h"
#include "server/convert/array.h"

namespace sinew::server {
namespace {

std::string Need(std::uint64_t got, std::uint64_t below) {
  return absl::StrCat("got ", got, ", need less than ", below);
}

}  // namespace

absl::StatusOr<std::vector<Binding>> ReadBindings(const v1::Skin& skin, const std::string& path,
                                                  std::size_t joints) {
  AffineD geometry;
  if (skin.has_geometry_bind()) {
    SINEW_ASSIGN_OR_RETURN(const std::vector<AffineD> one,
                           ReadAffines(skin.geometry_bind(), path + ".geometry_bind", 1));
    geometry = one.front();
  }
  const auto count = static_cast<std::uint64_t>(skin.joints_size());
  if (count == 0) return InvalidField(path + ".joints", "got none, need one or more");
  SINEW_ASSIGN_OR_RETURN(const std::vector<AffineD> inverse,
                         ReadAffines(skin.inverse_bind(), path + ".inverse_bind", count));
  std::vector<Binding> bindings;
  for (std::size_t s = 0; s < count; ++s) {
    const std::uint32_t joint = skin.joints(static_cast<int>(s));
    if (joint >= joints) {
      return InvalidField(absl::StrCat(path, ".joints[", s, "]"), Need(joint, joints));
    }
    const AffineD folded = Compose(inverse[s], geometry);
    for (const double value : folded.m) {
      // NaN has no order, so it must not become part of a key.
      if (!std::isfinite(value)) {
        return InvalidField(path + ".inverse_bind", absl::StrCat("row ", s, " is not finite"));
      }
    }
    bindings.push_back({.joint = static_cast<std::uint16_t>(joint), .inverse_bind = folded});
  }
  return bindings;
}

MeshFlattener::MeshFlattener(const v1::Rig& rig, const RigConfig& limits, RigSource& source)
    : rig_(rig), limits_(limits), source_(source) {
  std::size_t vertices = 0;
  for (const v1::Mesh& mesh : rig.meshes()) {
    vertices += mesh.positions().data().size() / sizeof(Vec3f);
    any_normals_ = any_normals_ || mesh.has_normals();
    any_tangents_ = any_tangents_ || mesh.has_tangents();
  }
  source_.mesh.positions.reserve(vertices);
  source_.influences.offsets.reserve(vertices + 1);
  source_.influences.fallback.reserve(vertices);
  source_.mesh.face_offsets.push_back(0);
  source_.influences.offsets.push_back(0);
  for (std::size_t k = 0; k < source_.controls.size(); ++k) {
    controls_.emplace(source_.controls[k].name, static_cast<std::uint32_t>(k));
  }
}

absl::Status MeshFlattener::Add(int m) {
  const v1::Mesh& mesh = rig_.meshes(m);
  const std::string path = absl::StrCat("rig.meshes[", m, "]");
  SINEW_ASSIGN_OR_RETURN(const std::vector<Vec3f> positions,
                         ReadPoints(mesh.positions(), path + ".positions", std::nullopt));
  if (positions.empty()) return InvalidField(path + ".positions", "got 0 rows, need 1 or more");
  first_ = static_cast<std::uint32_t>(source_.mesh.positions.size());
  vertices_ = static_cast<std::uint32_t>(positions.size());
  source_.mesh.positions.insert(source_.mesh.positions.end(), positions.begin(), positions.end());
  const auto faces = static_cast<std::uint32_t>(source_.mesh.face_offsets.size() - 1);
  SINEW_RETURN_IF_ERROR(AddFaces(mesh, path));
  source_.mesh.parts.push_back(
      {.name = mesh.name(),
       .vertex_offset = first_,
       .vertex_count = vertices_,
       .face_offset = faces,
       .face_count = static_cast<std::uint32_t>(source_.mesh.face_offsets.size() - 1) - faces});
  SINEW_RETURN_IF_ERROR(AddNormals(mesh, path));
  SINEW_RETURN_IF_ERROR(AddTangents(mesh, path));
  SINEW_RETURN_IF_ERROR(AddWeld(mesh, path));
  SINEW_RETURN_IF_ERROR(AddSkin(mesh, path));
  SINEW_RETURN_IF_ERROR(AddShapes(mesh, path));
  return AddMaps(mesh, path);
}

absl::Status MeshFlattener::AddFaces(const v1::Mesh& mesh, const std::string& path) {
  if (!mesh.has_face_vertices()) {
    return mesh.has_face_sizes()
               ? InvalidField(path + ".face_vertices", "absent, but face_sizes is not")
               : absl::OkStatus();
  }
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> corners,
                         ReadIntegers(mesh.face_vertices(), path + ".face_vertices",
                                      v1::ARRAY_TYPE_UINT16, std::nullopt));
  for (std::size_t c = 0; c < corners.size(); ++c) {
    if (corners[c] >= vertices_) {
      return InvalidField(path + ".face_vertices",
                          absl::StrCat("corner ", c, " ", Need(corners[c], vertices_)));
    }
    source_.mesh.face_vertices.push_back(first_ + corners[c]);
  }
  std::vector<std::uint32_t> sizes(corners.size() / 3, 3);
  if (mesh.has_face_sizes()) {
    SINEW_ASSIGN_OR_RETURN(sizes, ReadIntegers(mesh.face_sizes(), path + ".face_sizes",
                                               v1::ARRAY_TYPE_UINT8, std::nullopt));
  }
  std::uint64_t sum = 0;
  for (std::size_t f = 0; f < sizes.size(); ++f) {
    if (sizes[f] < 3) {
      return InvalidField(path + ".face_sizes",
                          absl::StrCat("face ", f, " got ", sizes[f], ", need 3 or more"));
    }
    SINEW_RETURN_IF_ERROR(CheckLimit(path + ".face_sizes", sizes[f], limits_.face_corners,
                                     "corners", "max-face-corners"));
    sum += sizes[f];
    if (sum > corners.size()) break;
    source_.mesh.face_offsets.push_back(source_.mesh.face_offsets.back() + sizes[f]);
  }
  if (sum != corners.size()) {
    return InvalidField(path + ".face_vertices",
                        absl::StrCat("got ", CountedText(corners.size(), "row"), ", need ",
                                     mesh.has_face_sizes() ? absl::StrCat("the sum of face_sizes")
                                                           : absl::StrCat("three a face")));
  }
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddNormals(const v1::Mesh& mesh, const std::string& path) {
  if (!any_normals_) return absl::OkStatus();
  std::vector<Vec3f> normals(vertices_);
  if (mesh.has_normals()) {
    SINEW_ASSIGN_OR_RETURN(normals, ReadPoints(mesh.normals(), path + ".normals", vertices_));
  }
  source_.mesh.normals.insert(source_.mesh.normals.end(), normals.begin(), normals.end());
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddTangents(const v1::Mesh& mesh, const std::string& path) {
  if (!any_tangents_) return absl::OkStatus();
  std::vector<float> values(vertices_ * std::size_t{4});
  if (mesh.has_tangents()) {
    SINEW_ASSIGN_OR_RETURN(values, ReadFloats(mesh.tangents(), path + ".tangents", 4, vertices_));
  }
  for (std::size_t i = 0; i < values.size(); i += 4) {
    source_.mesh.tangents.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
  }
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddWeld(const v1::Mesh& mesh, const std::string& path) {
  if (!mesh.has_weld()) return absl::OkStatus();
  ++welded_meshes_;
  SINEW_ASSIGN_OR_RETURN(
      const std::vector<std::uint32_t> weld,
      ReadIntegers(mesh.weld(), path + ".weld", v1::ARRAY_TYPE_UINT32, vertices_));
  // Numbers are the mesh's own: the first vertex that has one stands for it in the rig.
  std::unordered_map<std::uint32_t, std::uint32_t> first;
  for (std::uint32_t v = 0; v < vertices_; ++v) {
    source_.mesh.weld.push_back(first.emplace(weld[v], first_ + v).first->second);
  }
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddSkin(const v1::Mesh& mesh, const std::string& path) {
  if (!mesh.has_skin()) {
    HoldByFirstJoint();
    return absl::OkStatus();
  }
  const std::string skin_path = path + ".skin";
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> bindings,
                         AddBindings(mesh.skin(), skin_path));
  SINEW_RETURN_IF_ERROR(AddInfluences(mesh.skin(), skin_path, bindings));
  if (mesh.skin().has_coefficients()) {
    SINEW_RETURN_IF_ERROR(AddCoefficients(mesh.skin(), skin_path + ".coefficients", bindings));
  }
  std::int32_t fallback = -1;
  if (mesh.skin().has_fallback_joint()) {
    const std::uint32_t place = mesh.skin().fallback_joint();
    if (place >= bindings.size()) {
      return InvalidField(skin_path + ".fallback_joint", Need(place, bindings.size()));
    }
    fallback = static_cast<std::int32_t>(bindings[place]);
  }
  source_.influences.fallback.insert(source_.influences.fallback.end(), vertices_, fallback);
  return absl::OkStatus();
}

void MeshFlattener::HoldByFirstJoint() {
  ++without_skin_;
  AffineD inverse;
  const AffineD& rest = source_.rest_local.front();
  if (const double scale = Determinant(Linear(rest)); scale != 0 && std::isfinite(scale)) {
    inverse = Inverse(rest);
  }
  const auto binding = static_cast<std::uint32_t>(source_.bindings.size());
  source_.bindings.push_back({.joint = 0, .inverse_bind = inverse});
  InfluenceSource& out = source_.influences;
  for (std::uint32_t v = 0; v < vertices_; ++v) {
    out.offsets.push_back(out.offsets.back() + 1);
    out.bindings.push_back(binding);
    out.weights.push_back(1);
    out.fallback.push_back(-1);
  }
}

absl::StatusOr<std::vector<std::uint32_t>> MeshFlattener::AddBindings(const v1::Skin& skin,
                                                                      const std::string& path) {
  SINEW_ASSIGN_OR_RETURN(const std::vector<Binding> read,
                         ReadBindings(skin, path, source_.joints.size()));
  std::vector<std::uint32_t> bindings;
  for (const Binding& binding : read) {
    const auto [found, fresh] =
        bindings_.emplace(BindingKey{binding.joint, binding.inverse_bind.m},
                          static_cast<std::uint32_t>(source_.bindings.size()));
    if (fresh) source_.bindings.push_back(binding);
    bindings.push_back(found->second);
  }
  return bindings;
}

absl::Status MeshFlattener::AddInfluences(const v1::Skin& skin, const std::string& path,
                                          const std::vector<std::uint32_t>& bindings) {
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> counts,
                         ReadIntegers(skin.influence_counts(), path + ".influence_counts",
                                      v1::ARRAY_TYPE_UINT8, vertices_));
  const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
  SINEW_RETURN_IF_ERROR(CheckLimit(path + ".influence_counts", most, limits_.influences,
                                   "influences", "max-vertex-influences"));
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> joints,
                         ReadIntegers(skin.influence_joints(), path + ".influence_joints",
                                      v1::ARRAY_TYPE_UINT8, total));
  SINEW_ASSIGN_OR_RETURN(
      const std::vector<float> weights,
      ReadFloats(skin.influence_weights(), path + ".influence_weights", 1, total));
  InfluenceSource& out = source_.influences;
  for (const std::uint32_t count : counts) out.offsets.push_back(out.offsets.back() + count);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    if (joints[i] >= bindings.size()) {
      return InvalidField(path + ".influence_joints",
                          absl::StrCat("row ", i, " ", Need(joints[i], bindings.size())));
    }
    out.bindings.push_back(bindings[joints[i]]);
  }
  out.weights.insert(out.weights.end(), weights.begin(), weights.end());
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddCoefficients(const v1::Skin& skin, const std::string& path,
                                            const std::vector<std::uint32_t>& bindings) {
  const v1::Coefficients& from = skin.coefficients();
  JointCoefficients& out = source_.coefficients;
  const std::uint32_t columns = from.values().columns();
  if (columns != JointCoefficients::kAnimationSpace && columns != JointCoefficients::kMultiWeight) {
    return InvalidField(path + ".values.columns", absl::StrCat("got ", columns, ", need 4 or 12"));
  }
  if (!out.empty() && columns != out.columns) {
    return InvalidField(
        path + ".values.columns",
        absl::StrCat("got ", columns, ", need ", out.columns, " as in the meshes before"));
  }
  out.columns = columns;
  SINEW_ASSIGN_OR_RETURN(
      const std::vector<std::uint32_t> counts,
      ReadIntegers(from.counts(), path + ".counts", v1::ARRAY_TYPE_UINT8, vertices_));
  const std::uint32_t most = *std::max_element(counts.begin(), counts.end());
  SINEW_RETURN_IF_ERROR(CheckLimit(path + ".counts", most, limits_.influences, "influences",
                                   "max-vertex-influences"));
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  SINEW_ASSIGN_OR_RETURN(
      const std::vector<std::uint32_t> joints,
      ReadIntegers(from.joints(), path + ".joints", v1::ARRAY_TYPE_UINT8, total));
  SINEW_ASSIGN_OR_RETURN(const std::vector<float> values,
                         ReadFloats(from.values(), path + ".values", columns, total));
  out.offsets.resize(first_ + std::size_t{1}, out.bindings.size());  // of meshes without any
  for (const std::uint32_t count : counts) out.offsets.push_back(out.offsets.back() + count);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    if (joints[i] >= bindings.size()) {
      return InvalidField(path + ".joints",
                          absl::StrCat("row ", i, " ", Need(joints[i], bindings.size())));
    }
    if (bindings[joints[i]] > std::numeric_limits<std::uint16_t>::max())
      break;  // Rig::Create refuses
    out.bindings.push_back(static_cast<std::uint16_t>(bindings[joints[i]]));
  }
  out.values.insert(out.values.end(), values.begin(), values.end());
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddShapes(const v1::Mesh& mesh, const std::string& path) {
  for (int s = 0; s < mesh.shapes_size(); ++s) {
    const v1::Shape& shape = mesh.shapes(s);
    const std::string shape_path = absl::StrCat(path, ".shapes[", s, "]");
    const auto control = controls_.find(shape.control());
    if (control == controls_.end()) {
      return InvalidField(shape_path + ".control",
                          absl::StrCat("got \"", shape.control(), "\", not in rig.controls"));
    }
    Shape& out = source_.shapes.emplace_back();
    out.control = control->second;
    for (int t = 0; t < shape.targets_size(); ++t) {
      SINEW_RETURN_IF_ERROR(
          AddTarget(shape.targets(t), absl::StrCat(shape_path, ".targets[", t, "]"), out));
    }
  }
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddTarget(const v1::ShapeTarget& target, const std::string& path,
                                      Shape& shape) {
  ShapeTarget out;
  out.weight = target.weight();
  if (target.has_vertices()) {
    SINEW_ASSIGN_OR_RETURN(out.vertices, ReadIntegers(target.vertices(), path + ".vertices",
                                                      v1::ARRAY_TYPE_UINT32, std::nullopt));
  } else {
    out.vertices.resize(vertices_);
    std::iota(out.vertices.begin(), out.vertices.end(), 0u);
  }
  for (std::uint32_t& vertex : out.vertices) {
    if (vertex >= vertices_) return InvalidField(path + ".vertices", Need(vertex, vertices_));
    vertex += first_;
  }
  SINEW_ASSIGN_OR_RETURN(out.offsets,
                         ReadPoints(target.offsets(), path + ".offsets", out.vertices.size()));
  if (target.has_normal_offsets()) {
    SINEW_ASSIGN_OR_RETURN(
        out.normal_offsets,
        ReadPoints(target.normal_offsets(), path + ".normal_offsets", out.vertices.size()));
  }
  shape.targets.push_back(std::move(out));
  return absl::OkStatus();
}

absl::Status MeshFlattener::AddMaps(const v1::Mesh& mesh, const std::string& path) {
  std::set<std::string> seen;
  for (int i = 0; i < mesh.maps_size(); ++i) {
    const v1::VertexMap& map = mesh.maps(i);
    const std::string map_path = absl::StrCat(path, ".maps[", i, "]");
    if (map.name().empty() || !seen.insert(map.name()).second) {
      return InvalidField(map_path + ".name",
                          absl::StrCat("got \"", map.name(), "\", need a non-empty, unique name"));
    }
    SINEW_ASSIGN_OR_RETURN(const std::vector<float> values,
                           ReadFloats(map.values(), map_path + ".values", 1, vertices_));
    const auto [found, fresh] = maps_.emplace(map.name(), source_.maps.size());
    if (fresh) source_.maps.push_back({.name = map.name(), .values = {}});
    std::vector<float>& all = source_.maps[found->second].values;
    all.resize(first_, 1.0f);  // vertices of parts without the map
    all.insert(all.end(), values.begin(), values.end());
  }
  return absl::OkStatus();
}

absl::Status MeshFlattener::Finish() {
  if (welded_meshes_ != 0 && welded_meshes_ != rig_.meshes_size()) {
    return InvalidField("rig.meshes.weld",
                        absl::StrCat("got it on ", welded_meshes_, " of ", rig_.meshes_size(),
                                     " meshes, need all or none"));
  }
  JointCoefficients& extra = source_.coefficients;
  if (!extra.empty()) {
    extra.offsets.resize(source_.mesh.positions.size() + 1, extra.bindings.size());
  }
  for (VertexMap& map : source_.maps) map.values.resize(source_.mesh.positions.size(), 1.0f);
  return absl::OkStatus();
}

}  // namespace sinew::server
