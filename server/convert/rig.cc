#include "server/convert/rig.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "server/base/parsing_memory.h"
#include "server/base/status.h"
#include "server/convert/array.h"
#include "server/convert/field_count.h"
#include "server/convert/mesh.h"
#include "server/convert/muscle.h"
#include "server/convert/unknown_fields.h"

namespace sinew::server {
namespace {

template <class List>
std::uint64_t Size(const List& list) {
  return static_cast<std::uint64_t>(list.size());
}

absl::Status CheckLimits(const v1::Rig& rig, const RigConfig& limits) {
  SINEW_RETURN_IF_ERROR(
      CheckLimit("rig.joints", Size(rig.joints()), limits.joints, "joints", "max-rig-joints"));
  SINEW_RETURN_IF_ERROR(
      CheckLimit("rig.meshes", Size(rig.meshes()), limits.meshes, "meshes", "max-rig-meshes"));
  SINEW_RETURN_IF_ERROR(CheckLimit("rig.controls", Size(rig.controls()), limits.controls,
                                   "controls", "max-rig-controls"));
  std::uint64_t vertices = 0;
  for (const v1::Mesh& mesh : rig.meshes()) {
    // Rows are compared with the bytes later; here they only must not wrap around.
    vertices += std::min(mesh.positions().rows(), limits.vertices + 1);
    SINEW_RETURN_IF_ERROR(CheckLimit("rig.meshes.positions", vertices, limits.vertices, "vertices",
                                     "max-rig-vertices"));
  }
  std::uint64_t targets = 0;
  for (const v1::Mesh& mesh : rig.meshes()) {
    for (const v1::Shape& shape : mesh.shapes()) targets += Size(shape.targets());
  }
  SINEW_RETURN_IF_ERROR(CheckLimit("rig.meshes.shapes.targets", targets, limits.targets, "targets",
                                   "max-rig-targets"));
  // A map of one mesh gets a value for each vertex of the rig.
  std::unordered_set<std::string_view> maps;
  for (const v1::Mesh& mesh : rig.meshes()) {
    for (const v1::VertexMap& map : mesh.maps()) {
      maps.insert(map.name());
      SINEW_RETURN_IF_ERROR(
          CheckLimit("rig.meshes.maps", maps.size(), limits.maps, "maps", "max-rig-maps"));
    }
  }
  return CheckLimit("rig.meshes.maps", maps.size() * vertices, limits.map_values,
                    "values (maps x vertices)", "max-rig-map-values");
}

absl::Status CheckHeader(const v1::Rig& rig) {
  if (!std::isfinite(rig.meters_per_unit()) || rig.meters_per_unit() < 0) {
    return InvalidField("rig.meters_per_unit",
                        absl::StrCat("got ", rig.meters_per_unit(), ", need 0 or more"));
  }
  if (!v1::UpAxis_IsValid(rig.up_axis())) {
    return InvalidField("rig.up_axis", absl::StrCat("got ", static_cast<int>(rig.up_axis()),
                                                    ", need UP_AXIS_Y or UP_AXIS_Z"));
  }
  if (rig.joints_size() == 0) return InvalidField("rig.joints", "got none, need one or more");
  if (rig.meshes_size() == 0) return InvalidField("rig.meshes", "got none, need one or more");
  return absl::OkStatus();
}

absl::Status ConvertJoints(const v1::Rig& rig, const RigConfig& limits, RigSource& source) {
  std::vector<std::uint64_t> depth;
  for (int j = 0; j < rig.joints_size(); ++j) {
    const v1::Joint& joint = rig.joints(j);
    const std::string path = absl::StrCat("rig.joints[", j, "]");
    if (!v1::ScaleInheritance_IsValid(joint.scale_inheritance())) {
      return InvalidField(path + ".scale_inheritance",
                          absl::StrCat("got ", static_cast<int>(joint.scale_inheritance()),
                                       ", need FULL or COMPENSATE"));
    }
    // Before Skeleton::Create: an explicit parent must not be read as kNoParent.
    if (joint.has_parent() && joint.parent() >= depth.size()) {
      return InvalidField(path + ".parent", absl::StrCat("got ", joint.parent(),
                                                         ", need an earlier joint (parents come "
                                                         "before children)"));
    }
    depth.push_back(joint.has_parent() ? depth[joint.parent()] + 1 : 1);
    SINEW_RETURN_IF_ERROR(CheckLimit(path + ".parent", depth.back(), limits.joint_depth,
                                     "joints from its root", "max-joint-depth"));
    source.joints.push_back(
        {.name = joint.name(),
         .parent = joint.has_parent() ? joint.parent() : kNoParent,
         .compensates_scale = joint.scale_inheritance() == v1::SCALE_INHERITANCE_COMPENSATE});
  }
  SINEW_ASSIGN_OR_RETURN(source.rest_local,
                         ReadAffines(rig.rest_local(), "rig.rest_local", Size(rig.joints())));
  return absl::OkStatus();
}

void ConvertControls(const v1::Rig& rig, RigSource& source) {
  constexpr float kMax = std::numeric_limits<float>::max();
  for (const v1::Control& control : rig.controls()) {
    source.controls.push_back({.name = control.name(),
                               .minimum = control.has_minimum() ? control.minimum() : -kMax,
                               .maximum = control.has_maximum() ? control.maximum() : kMax,
                               .default_value = control.default_value()});
  }
}

// Bytes of the names, joints and controls in the summary: a little less than the summary has.
std::uint64_t SummaryBytes(const v1::Rig& rig) {
  std::uint64_t bytes = 0;
  for (const v1::Joint& joint : rig.joints()) bytes += joint.ByteSizeLong();
  for (const v1::Control& control : rig.controls()) bytes += control.ByteSizeLong();
  for (const v1::Mesh& mesh : rig.meshes()) bytes += mesh.name().size();
  return bytes;
}

absl::Status CheckSummary(std::uint64_t bytes, const RigConfig& limits) {
  return CheckLimit("rig.joints", bytes, limits.summary_bytes, "bytes of names",
                    "max-summary-bytes");
}

absl::Status NotARig() {
  return InvalidField("rig", "the bytes are not a serialised sinew.v1.Rig");
}

absl::StatusOr<std::uint64_t> FieldsOf(std::string_view bytes, const RigConfig& limits) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return NotARig();
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  const std::uint64_t fields = CountFields(*v1::Rig::descriptor(), stream, limits.fields);
  SINEW_RETURN_IF_ERROR(
      CheckLimit("rig", fields, limits.fields, "fields or more", "max-rig-fields"));
  return fields;
}

v1::RigSummary Summarise(const v1::Rig& rig, const Rig& converted) {
  v1::RigSummary summary;
  summary.set_vertices(converted.vertices());
  summary.set_faces(converted.mesh().faces());
  *summary.mutable_joints() = rig.joints();
  *summary.mutable_controls() = rig.controls();
  for (const MeshPart& part : converted.mesh().parts()) {
    v1::MeshRange& range = *summary.add_meshes();
    range.set_name(part.name);
    range.set_vertex_offset(part.vertex_offset);
    range.set_vertex_count(part.vertex_count);
    range.set_face_count(part.face_count);
  }
  const auto add = [](const Vec3d& point, auto* values) {
    for (const double value : {point.x, point.y, point.z}) {
      values->Add(static_cast<float>(value));
    }
  };
  add(converted.mesh().minimum(), summary.mutable_bounds()->mutable_minimum());
  add(converted.mesh().maximum(), summary.mutable_bounds()->mutable_maximum());
  return summary;
}

}  // namespace

absl::StatusOr<std::uint64_t> ParsingBytes(std::string_view bytes, const RigConfig& limits) {
  SINEW_ASSIGN_OR_RETURN(const std::uint64_t fields, FieldsOf(bytes, limits));
  return kBytesPerByte * bytes.size() + kBytesPerField * fields;
}

std::uint64_t AddedMapBytes(const v1::Rig& rig) {
  std::uint64_t vertices = 0, values = 0;
  std::unordered_set<std::string_view> maps;
  for (const v1::Mesh& mesh : rig.meshes()) {
    // By their bytes: `rows` may be anything before it is checked.
    vertices += mesh.positions().data().size() / (3 * sizeof(float));
    for (const v1::VertexMap& map : mesh.maps()) {
      maps.insert(map.name());
      values += map.values().data().size() / sizeof(float);
    }
  }
  const std::uint64_t all = maps.size() * vertices;
  return values < all ? kBytesPerMapValue * (all - values) : 0;
}

absl::StatusOr<v1::Rig> ParseRig(std::string_view bytes, const RigConfig& limits) {
  v1::Rig rig;
  SINEW_RETURN_IF_ERROR(FieldsOf(bytes, limits).status());
  if (!rig.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return NotARig();
  SINEW_RETURN_IF_ERROR(RefuseUnknownFields(rig, "rig"));
  return rig;
}

absl::StatusOr<RigSource> ReadRig(const v1::Rig& rig, const RigConfig& limits, int& without_skin) {
  SINEW_RETURN_IF_ERROR(CheckHeader(rig));
  SINEW_RETURN_IF_ERROR(CheckLimits(rig, limits));
  RigSource source;
  SINEW_RETURN_IF_ERROR(ConvertJoints(rig, limits, source));
  ConvertControls(rig, source);
  SINEW_RETURN_IF_ERROR(ConvertMuscles(rig, limits, source));
  MeshFlattener flattener(rig, limits, source);
  for (int m = 0; m < rig.meshes_size(); ++m) SINEW_RETURN_IF_ERROR(flattener.Add(m));
  SINEW_RETURN_IF_ERROR(flattener.Finish());
  without_skin = flattener.without_skin();
  return source;
}

absl::StatusOr<ConvertedRig> ConvertRig(std::string_view bytes, const RigConfig& limits) {
  SINEW_ASSIGN_OR_RETURN(const v1::Rig rig, ParseRig(bytes, limits));
  return ConvertRig(rig, limits);
}

absl::StatusOr<ConvertedRig> ConvertRig(const v1::Rig& rig, const RigConfig& limits) {
  SINEW_RETURN_IF_ERROR(CheckSummary(SummaryBytes(rig), limits));
  int without_skin = 0;
  SINEW_ASSIGN_OR_RETURN(RigSource source, ReadRig(rig, limits, without_skin));
  absl::StatusOr<Rig> created = Rig::Create(std::move(source));
  if (!created.ok()) return WithDetails(created.status());
  ConvertedRig converted;
  converted.rig = std::make_shared<const Rig>(*std::move(created));
  converted.summary = Summarise(rig, *converted.rig);
  converted.summary.set_without_weights(without_skin > 0);
  SINEW_RETURN_IF_ERROR(CheckSummary(converted.summary.ByteSizeLong(), limits));
  return converted;
}

std::string SerialiseRig(const v1::Rig& rig) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  rig.SerializeToCodedStream(&coded);
  coded.Trim();
  return bytes;
}

}  // namespace sinew::server
