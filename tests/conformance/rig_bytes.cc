#include "tests/conformance/rig_bytes.h"

#include <absl/strings/str_cat.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "client/python/src/matrices.h"
#include "core/base/status.h"
#include "sinew/client.h"

namespace sinew::conformance {
namespace {

constexpr float kLengthUnit = 0x1p-16F, kWeightUnit = 0x1p-12F;

float Rounded(float value, float unit) {
  return std::round(value / unit) * unit;
}

void AppendRounded(const Vec3f& p, std::vector<float>& out) {
  for (const float x : {p.x, p.y, p.z}) out.push_back(Rounded(x, kLengthUnit) + 0.0F);  // no -0
}

// Rows of the rest pose, and the inverse bind matrices of a mesh in model space, as the Python
// package computes them.
std::vector<float> AddJoints(const RigSource& source, client::RigData& data) {
  std::vector<std::vector<float>> model;
  std::vector<float> inverse_bind;
  for (std::size_t j = 0; j < source.joints.size(); ++j) {
    const SkeletonJoint& joint = source.joints[j];
    const auto parent = joint.parent == kNoParent ? -1 : static_cast<std::int32_t>(joint.parent);
    data.joints.push_back({.name = joint.name, .parent = parent});
    const Affine local = ToFloat(source.rest_local[j]);
    Eigen::Affine3d in_model = python::ToAffine(local.m.data());
    if (parent >= 0) in_model = python::ToAffine(model[joint.parent].data()) * in_model;
    python::Append(in_model, model.emplace_back());
    const Eigen::Affine3d rounded = python::ToAffine(model.back().data());
    python::Append(
        parent < 0 ? rounded : python::ToAffine(model[joint.parent].data()).inverse() * rounded,
        data.rest_local);
    python::Append(rounded.inverse(), inverse_bind);
  }
  return inverse_bind;
}

// The row of a vertex, by joint. What rounding takes from the sum is added to the largest weight.
void AddWeights(const RigSource& source, std::size_t vertex, client::Skin& skin) {
  const auto first = source.influences.offsets[vertex], end = source.influences.offsets[vertex + 1];
  std::vector<std::pair<std::uint32_t, float>> row;
  float sum = 0;
  for (auto k = first; k < end; ++k) {
    const float weight = Rounded(source.influences.weights[k], kWeightUnit);
    row.emplace_back(source.bindings[source.influences.bindings[k]].joint, weight);
    sum += weight;
  }
  std::ranges::max_element(row, {}, [](const auto& entry) { return entry.second; })->second +=
      1 - sum;
  std::ranges::sort(row);
  std::erase_if(row, [](const auto& entry) { return entry.second == 0; });
  skin.influence_counts.push_back(static_cast<std::uint32_t>(row.size()));
  for (const auto& [joint, weight] : row) {
    skin.influence_joints.push_back(joint);
    skin.influence_weights.push_back(weight);
  }
}

// The targets of a shape that move vertices of the mesh.
client::Shape ShapeOf(const RigSource& source, const Shape& shape, const MeshRange& range) {
  client::Shape result{.control = source.controls[shape.control].name, .targets = {}};
  const bool whole = shape.targets.size() == 1 && shape.targets[0].weight == 1;
  for (const ShapeTarget& target : shape.targets) {
    client::ShapeTarget out{.weight = target.weight, .offsets = {}};
    if (whole) out.offsets.resize(range.vertices * 3);
    for (std::size_t k = 0; k < target.vertices.size(); ++k) {
      const std::size_t v = target.vertices[k] - range.first_vertex;
      if (target.vertices[k] < range.first_vertex || v >= range.vertices) continue;
      std::vector<float> offset;
      AppendRounded(target.offsets[k], offset);
      if (whole) {
        std::ranges::copy(offset, out.offsets.begin() + static_cast<std::ptrdiff_t>(3 * v));
      } else {
        out.vertices.push_back(static_cast<std::uint32_t>(v));
        out.offsets.insert(out.offsets.end(), offset.begin(), offset.end());
      }
    }
    result.targets.push_back(std::move(out));
  }
  return result;
}

bool Moves(const client::Shape& shape) {
  return std::ranges::any_of(shape.targets, [](const client::ShapeTarget& target) {
    return std::ranges::any_of(target.offsets, [](float x) { return x != 0; });
  });
}

client::Mesh MeshOf(const RigSource& source, const MeshRange& range,
                    const std::vector<float>& inverse_bind) {
  client::Mesh mesh;
  mesh.name = range.name;
  for (std::uint32_t j = 0; j < source.joints.size(); ++j) mesh.skin.joints.push_back(j);
  mesh.skin.inverse_bind = inverse_bind;
  for (std::size_t v = range.first_vertex; v < range.first_vertex + range.vertices; ++v) {
    AppendRounded(source.mesh.positions[v], mesh.positions);
    AddWeights(source, v, mesh.skin);
  }
  for (std::size_t f = range.first_face; f < range.first_face + range.faces; ++f) {
    const std::uint32_t first = source.mesh.face_offsets[f], end = source.mesh.face_offsets[f + 1];
    mesh.face_sizes.push_back(end - first);
    for (std::uint32_t c = first; c < end; ++c) {
      mesh.face_vertices.push_back(source.mesh.face_vertices[c] -
                                   static_cast<std::uint32_t>(range.first_vertex));
    }
  }
  for (const Shape& shape : source.shapes) {
    client::Shape converted = ShapeOf(source, shape, range);
    if (Moves(converted)) mesh.shapes.push_back(std::move(converted));
  }
  return mesh;
}

std::array<float, 3> Floats(const Vec3d& v) {
  const Vec3f f = ToFloat(v);
  return {f.x, f.y, f.z};
}

client::MusclePoint PointOf(const MusclePoint& point) {
  return {.joint = point.joint, .at = Floats(point.at)};
}

client::Muscle MuscleOf(const RigSource& source, const Muscle& muscle) {
  client::Muscle out;
  out.name = muscle.name;
  out.origin = PointOf(muscle.origin);
  out.insertion = PointOf(muscle.insertion);
  for (const MusclePoint& point : muscle.via) out.via.push_back(PointOf(point));
  if (muscle.wrap.shape != WrapShape::kNone) {
    out.wrap = client::MuscleWrap{.shape = muscle.wrap.shape == WrapShape::kSphere
                                               ? client::MuscleWrap::Shape::kSphere
                                               : client::MuscleWrap::Shape::kCylinder,
                                  .joint = muscle.wrap.joint,
                                  .centre = Floats(muscle.wrap.centre),
                                  .axis = Floats(muscle.wrap.axis),
                                  .radius = static_cast<float>(muscle.wrap.radius)};
  }
  out.origin_tendon = static_cast<float>(muscle.origin_tendon);
  out.insertion_tendon = static_cast<float>(muscle.insertion_tendon);
  out.width = static_cast<float>(muscle.width);
  out.depth = static_cast<float>(muscle.depth);
  out.profile = static_cast<client::MuscleProfile>(static_cast<int>(muscle.profile) + 1);
  out.warp = static_cast<float>(muscle.warp);
  out.tension = static_cast<float>(muscle.tension);
  if (muscle.activation) out.activation = source.controls[*muscle.activation].name;
  return out;
}

}  // namespace

absl::StatusOr<std::string> RigBytes(const std::string& label, const RigSource& source,
                                     std::span<const MeshRange> meshes) {
  if (!source.mesh.normals.empty() || !source.mesh.weld.empty() || !source.maps.empty()) {
    return absl::InternalError(absl::StrCat(label, ": has normals, welds or maps"));
  }
  client::RigData data;
  data.label = label;
  data.up_axis = client::UpAxis::kZ;
  const std::vector<float> inverse_bind = AddJoints(source, data);
  for (const Control& control : source.controls) {
    client::Control& out = data.controls.emplace_back();
    out.name = control.name;
    out.default_value = control.default_value;
  }
  for (const MeshRange& range : meshes) data.meshes.push_back(MeshOf(source, range, inverse_bind));
  for (const Muscle& muscle : source.muscles) data.muscles.push_back(MuscleOf(source, muscle));
  return client::EncodeRig(data);
}

}  // namespace sinew::conformance
