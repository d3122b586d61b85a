#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "client/lib/codec/rig_codec.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are sent as they are in memory");

constexpr std::array<float, 12> kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

absl::Status CheckSize(const std::string& field, std::size_t got, std::size_t need,
                       const char* why) {
  if (got == need) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": got ", CountedText(got, "value"), ", need ", need, " (", why, ")"));
}

absl::Status CheckOptional(const std::string& field, std::size_t got, std::size_t need,
                           const char* why) {
  return got == 0 ? absl::OkStatus() : CheckSize(field, got, need, why);
}

std::size_t Sum(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

absl::Status CheckJoints(const RigData& rig) {
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    const std::int32_t parent = rig.joints[j].parent;
    if (parent < -1 || parent >= static_cast<std::int64_t>(j)) {
      return absl::InvalidArgumentError(absl::StrCat("rig.joints[", j, "].parent: got ", parent,
                                                     ", need -1 or a joint before this one"));
    }
  }
  return CheckSize("rig.rest_local", rig.rest_local.size(), rig.joints.size() * 12, "12 per joint");
}

absl::Status CheckSkin(const std::string& path, const Skin& skin, std::size_t vertices) {
  SINEW_RETURN_IF_ERROR(CheckSize(path + ".inverse_bind", skin.inverse_bind.size(),
                                  skin.joints.size() * 12, "12 per joint of the skin"));
  SINEW_RETURN_IF_ERROR(CheckSize(path + ".influence_counts", skin.influence_counts.size(),
                                  vertices, "one per vertex"));
  const std::size_t influences = Sum(skin.influence_counts);
  SINEW_RETURN_IF_ERROR(CheckSize(path + ".influence_joints", skin.influence_joints.size(),
                                  influences, "the sum of influence_counts"));
  SINEW_RETURN_IF_ERROR(CheckSize(path + ".influence_weights", skin.influence_weights.size(),
                                  influences, "the sum of influence_counts"));
  const Coefficients& extra = skin.coefficients;
  if (extra.empty()) return absl::OkStatus();
  const std::string field = path + ".coefficients";
  if (extra.columns != 4 && extra.columns != 12) {
    return InvalidArgument(field, ".columns: got ", extra.columns, ", need 4 or 12");
  }
  SINEW_RETURN_IF_ERROR(
      CheckSize(field + ".counts", extra.counts.size(), vertices, "one per vertex"));
  const std::size_t entries = Sum(extra.counts);
  SINEW_RETURN_IF_ERROR(
      CheckSize(field + ".joints", extra.joints.size(), entries, "the sum of counts"));
  return CheckSize(field + ".values", extra.values.size(), entries * extra.columns,
                   "columns for each of joints");
}

absl::Status CheckTarget(const std::string& path, const ShapeTarget& target, std::size_t vertices) {
  const std::size_t count = target.vertices.empty() ? vertices : target.vertices.size();
  SINEW_RETURN_IF_ERROR(
      CheckSize(path + ".offsets", target.offsets.size(), count * 3, "3 per vertex of the target"));
  return CheckOptional(path + ".normal_offsets", target.normal_offsets.size(), count * 3,
                       "3 per vertex of the target");
}

absl::Status CheckMesh(const std::string& path, const Mesh& mesh) {
  const std::size_t vertices = mesh.vertices();
  SINEW_RETURN_IF_ERROR(
      CheckSize(path + ".positions", mesh.positions.size(), vertices * 3, "3 per vertex"));
  const std::size_t corners = mesh.face_vertices.size();
  const std::size_t need = mesh.face_sizes.empty() ? corners / 3 * 3 : Sum(mesh.face_sizes);
  SINEW_RETURN_IF_ERROR(
      CheckSize(path + ".face_vertices", corners, need,
                mesh.face_sizes.empty() ? "3 per triangle" : "the sum of face_sizes"));
  SINEW_RETURN_IF_ERROR(
      CheckOptional(path + ".weld", mesh.weld.size(), vertices, "one per vertex"));
  SINEW_RETURN_IF_ERROR(
      CheckOptional(path + ".normals", mesh.normals.size(), vertices * 3, "3 per vertex"));
  SINEW_RETURN_IF_ERROR(
      CheckOptional(path + ".tangents", mesh.tangents.size(), vertices * 4, "4 per vertex"));
  if (!mesh.skin.empty()) {
    SINEW_RETURN_IF_ERROR(CheckSkin(path + ".skin", mesh.skin, vertices));
  }
  for (std::size_t s = 0; s < mesh.shapes.size(); ++s) {
    for (std::size_t t = 0; t < mesh.shapes[s].targets.size(); ++t) {
      SINEW_RETURN_IF_ERROR(CheckTarget(absl::StrCat(path, ".shapes[", s, "].targets[", t, "]"),
                                        mesh.shapes[s].targets[t], vertices));
    }
  }
  for (std::size_t m = 0; m < mesh.maps.size(); ++m) {
    SINEW_RETURN_IF_ERROR(CheckSize(absl::StrCat(path, ".maps[", m, "].values"),
                                    mesh.maps[m].values.size(), vertices, "one per vertex"));
  }
  return absl::OkStatus();
}

template <class T>
void SetArray(v1::Array& array, v1::ArrayType type, std::uint32_t columns,
              std::span<const T> values) {
  array.set_type(type);
  array.set_columns(columns);
  array.set_rows(values.size() / columns);
  array.set_data(values.data(), values.size_bytes());
}

void SetFloats(v1::Array& array, std::uint32_t columns, std::span<const float> values) {
  SetArray(array, v1::ARRAY_TYPE_FLOAT32, columns, values);
}

template <class T>
void SetNarrowed(v1::Array& array, v1::ArrayType type, std::span<const std::uint32_t> values) {
  std::vector<T> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(),
                 [](std::uint32_t value) { return static_cast<T>(value); });
  SetArray<T>(array, type, 1, narrow);
}

// Uses the smallest type that holds all values and that the field allows.
void SetIndices(v1::Array& array, std::span<const std::uint32_t> values, bool allow8,
                bool allow16) {
  const std::uint32_t most = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (allow8 && most <= std::numeric_limits<std::uint8_t>::max()) {
    SetNarrowed<std::uint8_t>(array, v1::ARRAY_TYPE_UINT8, values);
  } else if (allow16 && most <= std::numeric_limits<std::uint16_t>::max()) {
    SetNarrowed<std::uint16_t>(array, v1::ARRAY_TYPE_UINT16, values);
  } else {
    SetArray(array, v1::ARRAY_TYPE_UINT32, 1, values);
  }
}

void SetSkin(const Skin& from, v1::Skin& to) {
  if (from.geometry_bind != kIdentity) {
    SetFloats(*to.mutable_geometry_bind(), 12, from.geometry_bind);
  }
  to.mutable_joints()->Add(from.joints.begin(), from.joints.end());
  SetFloats(*to.mutable_inverse_bind(), 12, from.inverse_bind);
  SetIndices(*to.mutable_influence_counts(), from.influence_counts, true, true);
  SetIndices(*to.mutable_influence_joints(), from.influence_joints, true, true);
  SetFloats(*to.mutable_influence_weights(), 1, from.influence_weights);
  if (from.fallback_joint) to.set_fallback_joint(*from.fallback_joint);
  if (from.coefficients.empty()) return;
  v1::Coefficients& extra = *to.mutable_coefficients();
  SetIndices(*extra.mutable_counts(), from.coefficients.counts, true, true);
  SetIndices(*extra.mutable_joints(), from.coefficients.joints, true, true);
  SetFloats(*extra.mutable_values(), from.coefficients.columns, from.coefficients.values);
}

void SetShape(const Shape& from, v1::Shape& to) {
  to.set_control(from.control);
  for (const ShapeTarget& source : from.targets) {
    v1::ShapeTarget& target = *to.add_targets();
    target.set_weight(source.weight);
    if (!source.vertices.empty()) {
      SetArray<std::uint32_t>(*target.mutable_vertices(), v1::ARRAY_TYPE_UINT32, 1,
                              source.vertices);
    }
    SetFloats(*target.mutable_offsets(), 3, source.offsets);
    if (!source.normal_offsets.empty()) {
      SetFloats(*target.mutable_normal_offsets(), 3, source.normal_offsets);
    }
  }
}

void SetMesh(const Mesh& from, v1::Mesh& to) {
  to.set_name(from.name);
  SetFloats(*to.mutable_positions(), 3, from.positions);
  if (!from.face_sizes.empty()) SetIndices(*to.mutable_face_sizes(), from.face_sizes, true, false);
  SetIndices(*to.mutable_face_vertices(), from.face_vertices, false, true);
  if (!from.weld.empty()) {
    SetArray<std::uint32_t>(*to.mutable_weld(), v1::ARRAY_TYPE_UINT32, 1, from.weld);
  }
  if (!from.normals.empty()) SetFloats(*to.mutable_normals(), 3, from.normals);
  if (!from.tangents.empty()) SetFloats(*to.mutable_tangents(), 4, from.tangents);
  if (!from.skin.empty()) SetSkin(from.skin, *to.mutable_skin());
  for (const Shape& shape : from.shapes) SetShape(shape, *to.add_shapes());
  for (const VertexMap& source : from.maps) {
    v1::VertexMap& map = *to.add_maps();
    map.set_name(source.name);
    SetFloats(*map.mutable_values(), 1, source.values);
  }
  to.set_source_path(from.source_path);
}

void SetPoint(const MusclePoint& from, v1::MusclePoint& to) {
  to.set_joint(from.joint);
  to.mutable_at()->Add(from.at.begin(), from.at.end());
}

void SetWrap(const MuscleWrap& from, v1::MuscleWrap& to) {
  to.set_shape(static_cast<v1::WrapShape>(from.shape));
  to.set_joint(from.joint);
  to.mutable_centre()->Add(from.centre.begin(), from.centre.end());
  if (from.shape == MuscleWrap::Shape::kCylinder) {
    to.mutable_axis()->Add(from.axis.begin(), from.axis.end());
  }
  to.set_radius(from.radius);
}

void SetMuscle(const Muscle& from, v1::Muscle& to) {
  to.set_name(from.name);
  SetPoint(from.origin, *to.mutable_origin());
  SetPoint(from.insertion, *to.mutable_insertion());
  for (const MusclePoint& via : from.via) SetPoint(via, *to.add_via());
  if (from.wrap) SetWrap(*from.wrap, *to.mutable_wrap());
  to.set_origin_tendon(from.origin_tendon);
  to.set_insertion_tendon(from.insertion_tendon);
  to.set_width(from.width);
  to.set_depth(from.depth);
  if (from.width_direction) {
    to.mutable_width_direction()->Add(from.width_direction->begin(), from.width_direction->end());
  }
  to.set_profile(static_cast<v1::MuscleProfile>(from.profile));
  to.set_warp(from.warp);
  to.set_tension(from.tension);
  if (from.fat) to.set_fat(*from.fat);
  to.set_activation(from.activation);
}

}  // namespace

absl::Status CheckShapes(const RigData& rig) {
  SINEW_RETURN_IF_ERROR(CheckJoints(rig));
  for (std::size_t m = 0; m < rig.meshes.size(); ++m) {
    SINEW_RETURN_IF_ERROR(CheckMesh(absl::StrCat("rig.meshes[", m, "]"), rig.meshes[m]));
  }
  return absl::OkStatus();
}

v1::Rig ToMessage(const RigData& rig) {
  v1::Rig message;
  message.set_label(rig.label);
  message.set_meters_per_unit(rig.meters_per_unit);
  message.set_up_axis(static_cast<v1::UpAxis>(rig.up_axis));
  for (const Joint& from : rig.joints) {
    v1::Joint& to = *message.add_joints();
    to.set_name(from.name);
    if (from.parent >= 0) to.set_parent(static_cast<std::uint32_t>(from.parent));
    if (from.compensates_scale) to.set_scale_inheritance(v1::SCALE_INHERITANCE_COMPENSATE);
    to.set_helper(from.helper);
    to.set_source_path(from.source_path);
  }
  SetFloats(*message.mutable_rest_local(), 12, rig.rest_local);
  for (const Mesh& mesh : rig.meshes) SetMesh(mesh, *message.add_meshes());
  for (const Control& from : rig.controls) {
    v1::Control& to = *message.add_controls();
    to.set_name(from.name);
    if (from.minimum) to.set_minimum(*from.minimum);
    if (from.maximum) to.set_maximum(*from.maximum);
    to.set_default_value(from.default_value);
  }
  for (const Muscle& muscle : rig.muscles) SetMuscle(muscle, *message.add_muscles());
  return message;
}

absl::StatusOr<std::string> EncodeRig(const RigData& rig) {
  SINEW_RETURN_IF_ERROR(CheckShapes(rig));
  const v1::Rig message = ToMessage(rig);
  const std::size_t size = message.ByteSizeLong();
  if (size > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rig: got ", size, " bytes, need at most 2^31 - 1"));
  }
  std::string bytes;
  bytes.reserve(size);
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeWithCachedSizes(&coded);
  }
  return bytes;
}

std::string RigName(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  return absl::StrCat(
      "rigs/sha256-",
      absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()}));
}

}  // namespace sinew::client
