// test_rig.h - a small character in protocol messages: a tube along y with a chain of joints, and
// poses for it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "sinew/v1/pose.pb.h"
#include "sinew/v1/rig.pb.h"

namespace sinew::testing {

inline v1::Array FloatArray(const std::vector<float>& values, std::uint32_t columns) {
  v1::Array array;
  array.set_type(v1::ARRAY_TYPE_FLOAT32);
  array.set_columns(columns);
  array.set_rows(values.size() / columns);
  array.set_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
  return array;
}

inline v1::Array IntArray(const std::vector<std::uint32_t>& values) {
  v1::Array array;
  array.set_type(v1::ARRAY_TYPE_UINT32);
  array.set_columns(1);
  array.set_rows(values.size());
  array.set_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
  return array;
}

// A 3x4 translation along y.
inline std::vector<float> Lift(float y) {
  return {1, 0, 0, 0, 0, 1, 0, y, 0, 0, 1, 0};
}

inline void Append(std::vector<float>& values, const std::vector<float>& more) {
  values.insert(values.end(), more.begin(), more.end());
}

struct TubeShape {
  std::uint32_t rings = 9, segments = 8, joints = 3;
  float height = 2;
  bool tangents = false;  // along y, left-handed

  std::uint32_t vertices() const { return rings * segments; }
};

// Every vertex is influenced by the two joints nearest in height.
inline v1::Mesh TubeMesh(const TubeShape& shape) {
  std::vector<float> positions, weights;
  std::vector<std::uint32_t> faces, sizes, counts, held;
  for (std::uint32_t r = 0; r < shape.rings; ++r) {
    const float t = static_cast<float>(r) / static_cast<float>(shape.rings - 1);
    const float place = t * static_cast<float>(shape.joints - 1);
    const std::uint32_t lower =
        std::min(static_cast<std::uint32_t>(place), shape.joints > 1 ? shape.joints - 2 : 0);
    for (std::uint32_t s = 0; s < shape.segments; ++s) {
      const float angle = 6.2831853f * static_cast<float>(s) / static_cast<float>(shape.segments);
      Append(positions, {0.25f * std::cos(angle), t * shape.height, 0.25f * std::sin(angle)});
      if (shape.joints == 1) {
        counts.push_back(1);
        held.push_back(0);
        weights.push_back(1);
      } else {
        counts.push_back(2);
        held.insert(held.end(), {lower, lower + 1});
        const float upper = place - static_cast<float>(lower);
        Append(weights, {1 - upper, upper});
      }
      if (r + 1 < shape.rings) {
        const std::uint32_t next = (s + 1) % shape.segments, a = r * shape.segments;
        faces.insert(faces.end(),
                     {a + s, a + shape.segments + s, a + shape.segments + next, a + next});
        sizes.push_back(4);
      }
    }
  }
  v1::Mesh mesh;
  mesh.set_name("tube");
  *mesh.mutable_positions() = FloatArray(positions, 3);
  *mesh.mutable_face_vertices() = IntArray(faces);
  *mesh.mutable_face_sizes() = IntArray(sizes);
  if (shape.tangents) {
    std::vector<float> tangents;
    for (std::uint32_t v = 0; v < shape.vertices(); ++v) Append(tangents, {0, 1, 0, -1});
    *mesh.mutable_tangents() = FloatArray(tangents, 4);
  }
  v1::Skin& skin = *mesh.mutable_skin();
  std::vector<float> inverse;
  for (std::uint32_t j = 0; j < shape.joints; ++j) {
    skin.add_joints(j);
    const float step = shape.joints > 1 ? shape.height / static_cast<float>(shape.joints - 1) : 0;
    Append(inverse, Lift(-step * static_cast<float>(j)));
  }
  *skin.mutable_inverse_bind() = FloatArray(inverse, 12);
  *skin.mutable_influence_counts() = IntArray(counts);
  *skin.mutable_influence_joints() = IntArray(held);
  *skin.mutable_influence_weights() = FloatArray(weights, 1);
  return mesh;
}

inline v1::Rig TubeRig(const TubeShape& shape = {}) {
  v1::Rig rig;
  rig.set_label("tube");
  rig.set_meters_per_unit(1);
  rig.set_up_axis(v1::UP_AXIS_Y);
  std::vector<float> rest;
  const float step = shape.joints > 1 ? shape.height / static_cast<float>(shape.joints - 1) : 0;
  for (std::uint32_t j = 0; j < shape.joints; ++j) {
    v1::Joint& joint = *rig.add_joints();
    joint.set_name("joint" + std::to_string(j));
    if (j > 0) joint.set_parent(j - 1);
    Append(rest, Lift(j > 0 ? step : 0));
  }
  *rig.mutable_rest_local() = FloatArray(rest, 12);
  *rig.add_meshes() = TubeMesh(shape);
  return rig;
}

inline std::string RigNameOf(const std::string& bytes) {
  return "rigs/sha256-" + Sha256Hex(bytes);
}

inline std::string FloatBytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
}

// Model-space 3x4 matrices: the rest pose, moved by `x`.
inline v1::Pose TubePose(std::uint64_t frame, float x = 0, const TubeShape& shape = {}) {
  std::vector<float> joints;
  const float step = shape.joints > 1 ? shape.height / static_cast<float>(shape.joints - 1) : 0;
  for (std::uint32_t j = 0; j < shape.joints; ++j) {
    std::vector<float> matrix = Lift(step * static_cast<float>(j));
    matrix[3] = x;
    Append(joints, matrix);
  }
  v1::Pose pose;
  pose.set_frame(frame);
  pose.set_joint_transforms(FloatBytes(joints));
  return pose;
}

inline std::vector<float> FloatsOf(const std::string& bytes) {
  std::vector<float> values(bytes.size() / 4);
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace sinew::testing
