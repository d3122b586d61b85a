#include <absl/strings/str_cat.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "client/lib/base/array_type.h"
#include "client/lib/codec/rig_codec.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::client {
namespace {

// The number of values, if type, rows, columns and bytes agree.
absl::StatusOr<std::size_t> CheckArray(const std::string& path, const v1::Array& array,
                                       std::uint32_t columns, bool floats) {
  const std::size_t size = BytesOf(array.type());
  if (size == 0 || floats != (array.type() == v1::ARRAY_TYPE_FLOAT32)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ".type: got ", array.type(), ", need ",
                                                   floats ? "FLOAT32" : "an unsigned type"));
  }
  if (array.columns() != columns) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".columns: got ", array.columns(), ", need ", columns));
  }
  const std::size_t values = array.data().size() / size;
  if (array.data().size() % (size * columns) != 0 || values / columns != array.rows()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ".data: got ", array.data().size(),
                                                   " bytes, need ", array.rows(), " rows of ",
                                                   size * columns));
  }
  return values;
}

absl::Status ReadFloats(const std::string& path, const v1::Array& array, std::uint32_t columns,
                        std::vector<float>& out) {
  SINEW_ASSIGN_OR_RETURN(const std::size_t values, CheckArray(path, array, columns, true));
  out.resize(values);
  if (values > 0) std::memcpy(out.data(), array.data().data(), array.data().size());
  return absl::OkStatus();
}

template <class T>
void Widen(const std::string& bytes, std::vector<std::uint32_t>& out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = value;
  }
}

absl::Status ReadIndices(const std::string& path, const v1::Array& array,
                         std::vector<std::uint32_t>& out) {
  SINEW_ASSIGN_OR_RETURN(const std::size_t values, CheckArray(path, array, 1, false));
  out.resize(values);
  switch (BytesOf(array.type())) {
    case 1:
      Widen<std::uint8_t>(array.data(), out);
      break;
    case 2:
      Widen<std::uint16_t>(array.data(), out);
      break;
    default:
      Widen<std::uint32_t>(array.data(), out);
  }
  return absl::OkStatus();
}

// Path of the first unknown field, or empty.
std::string UnknownField(const google::protobuf::Message& message, const std::string& path) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (const auto& unknown = reflection.GetUnknownFields(message); !unknown.empty()) {
    return absl::StrCat(path, ".", unknown.field(0).number());
  }
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const std::string child = absl::StrCat(path, ".", field->name());
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 0;
    for (int i = 0; i < count; ++i) {
      std::string found = UnknownField(reflection.GetRepeatedMessage(message, field, i),
                                       absl::StrCat(child, "[", i, "]"));
      if (!found.empty()) return found;
    }
    if (field->is_repeated()) continue;
    std::string found = UnknownField(reflection.GetMessage(message, field), child);
    if (!found.empty()) return found;
  }
  return {};
}

absl::Status ReadCoefficients(const std::string& path, const v1::Coefficients& from,
                              Coefficients& to) {
  to.columns = from.values().columns();
  if (to.columns != 4 && to.columns != 12) {
    return InvalidArgument(path, ".values.columns: got ", to.columns, ", need 4 or 12");
  }
  SINEW_RETURN_IF_ERROR(ReadIndices(path + ".counts", from.counts(), to.counts));
  SINEW_RETURN_IF_ERROR(ReadIndices(path + ".joints", from.joints(), to.joints));
  return ReadFloats(path + ".values", from.values(), to.columns, to.values);
}

absl::Status ReadSkin(const std::string& path, const v1::Skin& from, Skin& to) {
  if (from.has_geometry_bind()) {
    std::vector<float> matrix;
    SINEW_RETURN_IF_ERROR(ReadFloats(path + ".geometry_bind", from.geometry_bind(), 12, matrix));
    if (matrix.size() != to.geometry_bind.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ".geometry_bind.rows: got ", matrix.size() / 12, ", need 1"));
    }
    std::copy(matrix.begin(), matrix.end(), to.geometry_bind.begin());
  }
  to.joints = {from.joints().begin(), from.joints().end()};
  SINEW_RETURN_IF_ERROR(
      ReadFloats(path + ".inverse_bind", from.inverse_bind(), 12, to.inverse_bind));
  SINEW_RETURN_IF_ERROR(
      ReadIndices(path + ".influence_counts", from.influence_counts(), to.influence_counts));
  SINEW_RETURN_IF_ERROR(
      ReadIndices(path + ".influence_joints", from.influence_joints(), to.influence_joints));
  SINEW_RETURN_IF_ERROR(
      ReadFloats(path + ".influence_weights", from.influence_weights(), 1, to.influence_weights));
  if (from.has_fallback_joint()) to.fallback_joint = from.fallback_joint();
  return from.has_coefficients()
             ? ReadCoefficients(path + ".coefficients", from.coefficients(), to.coefficients)
             : absl::OkStatus();
}

absl::Status ReadShape(const std::string& path, const v1::Shape& from, Shape& to) {
  to.control = from.control();
  for (int t = 0; t < from.targets_size(); ++t) {
    const v1::ShapeTarget& source = from.targets(t);
    const std::string child = absl::StrCat(path, ".targets[", t, "]");
    ShapeTarget& target = to.targets.emplace_back();
    target.weight = source.weight();
    if (source.has_vertices()) {
      SINEW_RETURN_IF_ERROR(ReadIndices(child + ".vertices", source.vertices(), target.vertices));
    }
    SINEW_RETURN_IF_ERROR(ReadFloats(child + ".offsets", source.offsets(), 3, target.offsets));
    if (source.has_normal_offsets()) {
      SINEW_RETURN_IF_ERROR(
          ReadFloats(child + ".normal_offsets", source.normal_offsets(), 3, target.normal_offsets));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadMesh(const std::string& path, const v1::Mesh& from, Mesh& to) {
  to.name = from.name();
  to.source_path = from.source_path();
  SINEW_RETURN_IF_ERROR(ReadFloats(path + ".positions", from.positions(), 3, to.positions));
  if (from.has_face_sizes()) {
    SINEW_RETURN_IF_ERROR(ReadIndices(path + ".face_sizes", from.face_sizes(), to.face_sizes));
  }
  SINEW_RETURN_IF_ERROR(
      ReadIndices(path + ".face_vertices", from.face_vertices(), to.face_vertices));
  if (from.has_weld()) SINEW_RETURN_IF_ERROR(ReadIndices(path + ".weld", from.weld(), to.weld));
  if (from.has_normals()) {
    SINEW_RETURN_IF_ERROR(ReadFloats(path + ".normals", from.normals(), 3, to.normals));
  }
  if (from.has_tangents()) {
    SINEW_RETURN_IF_ERROR(ReadFloats(path + ".tangents", from.tangents(), 4, to.tangents));
  }
  if (from.has_skin()) SINEW_RETURN_IF_ERROR(ReadSkin(path + ".skin", from.skin(), to.skin));
  for (int s = 0; s < from.shapes_size(); ++s) {
    SINEW_RETURN_IF_ERROR(ReadShape(absl::StrCat(path, ".shapes[", s, "]"), from.shapes(s),
                                    to.shapes.emplace_back()));
  }
  for (int m = 0; m < from.maps_size(); ++m) {
    VertexMap& map = to.maps.emplace_back();
    map.name = from.maps(m).name();
    SINEW_RETURN_IF_ERROR(ReadFloats(absl::StrCat(path, ".maps[", m, "].values"),
                                     from.maps(m).values(), 1, map.values));
  }
  return absl::OkStatus();
}

absl::Status ReadJoints(const v1::Rig& from, RigData& to) {
  for (const v1::Joint& source : from.joints()) {
    if (source.has_parent() && source.parent() >= to.joints.size()) {
      return absl::InvalidArgumentError(absl::StrCat("rig.joints[", to.joints.size(),
                                                     "].parent: got ", source.parent(),
                                                     ", need a joint before this one"));
    }
    to.joints.push_back(ToJoint(source));
  }
  return ReadFloats("rig.rest_local", from.rest_local(), 12, to.rest_local);
}

absl::Status ReadVector(const std::string& path, const google::protobuf::RepeatedField<float>& from,
                        std::array<float, 3>& to) {
  if (from.size() != 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": got ", CountedText(static_cast<std::uint64_t>(from.size()), "value"),
                     ", need x, y, z"));
  }
  std::copy(from.begin(), from.end(), to.begin());
  return absl::OkStatus();
}

absl::Status ReadPoint(const std::string& path, const v1::MusclePoint& from, MusclePoint& to) {
  to.joint = from.joint();
  return ReadVector(path + ".at", from.at(), to.at);
}

absl::Status ReadWrap(const std::string& path, const v1::MuscleWrap& from, MuscleWrap& to) {
  if (from.shape() != v1::WRAP_SHAPE_CYLINDER && from.shape() != v1::WRAP_SHAPE_SPHERE) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ".shape: got ", static_cast<int>(from.shape()), ", need CYLINDER or SPHERE"));
  }
  to.shape = static_cast<MuscleWrap::Shape>(from.shape());
  to.joint = from.joint();
  to.radius = from.radius();
  if (to.shape == MuscleWrap::Shape::kCylinder) {
    SINEW_RETURN_IF_ERROR(ReadVector(path + ".axis", from.axis(), to.axis));
  }
  return ReadVector(path + ".centre", from.centre(), to.centre);
}

absl::Status ReadMuscle(const std::string& path, const v1::Muscle& from, Muscle& to) {
  to.name = from.name();
  SINEW_RETURN_IF_ERROR(ReadPoint(path + ".origin", from.origin(), to.origin));
  SINEW_RETURN_IF_ERROR(ReadPoint(path + ".insertion", from.insertion(), to.insertion));
  for (int k = 0; k < from.via_size(); ++k) {
    SINEW_RETURN_IF_ERROR(
        ReadPoint(absl::StrCat(path, ".via[", k, "]"), from.via(k), to.via.emplace_back()));
  }
  if (from.has_wrap()) {
    SINEW_RETURN_IF_ERROR(ReadWrap(path + ".wrap", from.wrap(), to.wrap.emplace()));
  }
  to.origin_tendon = from.origin_tendon();
  to.insertion_tendon = from.insertion_tendon();
  to.width = from.width();
  to.depth = from.depth();
  if (from.width_direction_size() > 0) {
    SINEW_RETURN_IF_ERROR(ReadVector(path + ".width_direction", from.width_direction(),
                                     to.width_direction.emplace()));
  }
  if (!v1::MuscleProfile_IsValid(from.profile())) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ".profile: got ", static_cast<int>(from.profile()), ", need a known profile"));
  }
  if (from.profile() != v1::MUSCLE_PROFILE_UNSPECIFIED) {
    to.profile = static_cast<MuscleProfile>(from.profile());
  }
  if (from.has_warp()) to.warp = from.warp();
  if (from.has_tension()) to.tension = from.tension();
  if (from.has_fat()) to.fat = from.fat();
  to.activation = from.activation();
  return absl::OkStatus();
}

}  // namespace

Joint ToJoint(const v1::Joint& joint) {
  return {.name = joint.name(),
          .parent = joint.has_parent() ? static_cast<std::int32_t>(joint.parent()) : -1,
          .compensates_scale = joint.scale_inheritance() == v1::SCALE_INHERITANCE_COMPENSATE,
          .helper = joint.helper(),
          .source_path = joint.source_path()};
}

Control ToControl(const v1::Control& control) {
  Control result{.name = control.name(),
                 .minimum = {},
                 .maximum = {},
                 .default_value = control.default_value()};
  if (control.has_minimum()) result.minimum = control.minimum();
  if (control.has_maximum()) result.maximum = control.maximum();
  return result;
}

absl::StatusOr<RigData> FromMessage(const v1::Rig& rig) {
  if (const std::string path = UnknownField(rig, "rig"); !path.empty()) {
    return absl::UnimplementedError(
        absl::StrCat(path, ": unknown field, the file was written by a newer version"));
  }
  RigData data;
  data.label = rig.label();
  data.meters_per_unit = rig.meters_per_unit();
  data.up_axis = static_cast<UpAxis>(rig.up_axis());
  SINEW_RETURN_IF_ERROR(ReadJoints(rig, data));
  for (int m = 0; m < rig.meshes_size(); ++m) {
    SINEW_RETURN_IF_ERROR(
        ReadMesh(absl::StrCat("rig.meshes[", m, "]"), rig.meshes(m), data.meshes.emplace_back()));
  }
  for (const v1::Control& control : rig.controls()) data.controls.push_back(ToControl(control));
  for (int m = 0; m < rig.muscles_size(); ++m) {
    SINEW_RETURN_IF_ERROR(ReadMuscle(absl::StrCat("rig.muscles[", m, "]"), rig.muscles(m),
                                     data.muscles.emplace_back()));
  }
  SINEW_RETURN_IF_ERROR(CheckShapes(data));
  return data;
}

absl::StatusOr<RigData> DecodeRig(std::string_view bytes) {
  if (bytes.size() > std::numeric_limits<int>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("rig: got ", bytes.size(), " bytes, need at most 2^31 - 1"));
  }
  v1::Rig rig;
  if (bytes.empty() || !rig.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError(
        absl::StrCat("rig: got ", bytes.size(), " bytes that are not a sinew.v1.Rig"));
  }
  return FromMessage(rig);
}

}  // namespace sinew::client
