// test_character.h - a tube along x with a chain of joints, and poses that bend and twist it.
// Small, smooth, made here.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

inline constexpr std::size_t kTubeJoints = 4;

// rings * segments vertices, quads, radius 0.3, one unit per joint; two influences per vertex.
inline RigData MakeTube(std::uint32_t rings, std::uint32_t segments) {
  RigData rig;
  rig.label = "tube";
  Mesh mesh;
  mesh.name = "tube";
  const float length = static_cast<float>(kTubeJoints);
  for (std::size_t j = 0; j < kTubeJoints; ++j) {
    rig.joints.push_back({.name = "joint" + std::to_string(j), .parent = static_cast<int>(j) - 1});
    const float x = j == 0 ? 0.f : 1.f, origin = static_cast<float>(j);
    rig.rest_local.insert(rig.rest_local.end(), {1, 0, 0, x, 0, 1, 0, 0, 0, 0, 1, 0});
    mesh.skin.joints.push_back(static_cast<std::uint32_t>(j));
    mesh.skin.inverse_bind.insert(mesh.skin.inverse_bind.end(),
                                  {1, 0, 0, -origin, 0, 1, 0, 0, 0, 0, 1, 0});
  }
  for (std::uint32_t r = 0; r < rings; ++r) {
    const float x = length * static_cast<float>(r) / static_cast<float>(rings - 1);
    const float along = std::fmin(std::fmax(x - 0.5f, 0.f), length - 1.001f);
    const auto joint = static_cast<std::uint32_t>(along);
    for (std::uint32_t s = 0; s < segments; ++s) {
      const float angle = 6.2831853f * static_cast<float>(s) / static_cast<float>(segments);
      mesh.positions.insert(mesh.positions.end(),
                            {x, 0.3f * std::cos(angle), 0.3f * std::sin(angle)});
      const float weight = along - static_cast<float>(joint);
      mesh.skin.influence_counts.push_back(2);
      mesh.skin.influence_joints.insert(mesh.skin.influence_joints.end(), {joint, joint + 1});
      mesh.skin.influence_weights.insert(mesh.skin.influence_weights.end(), {1 - weight, weight});
      if (r + 1 == rings) continue;
      const std::uint32_t next = (s + 1) % segments, here = r * segments;
      mesh.face_sizes.push_back(4);
      mesh.face_vertices.insert(mesh.face_vertices.end(), {here + s, here + segments + s,
                                                           here + segments + next, here + next});
    }
  }
  rig.meshes.push_back(std::move(mesh));
  return rig;
}

// [joints * 12] joint to model space: each joint bends a little more than the one before, with the
// frame.
// bend: largest angle of a joint, radians.
inline std::vector<float> TubePose(std::uint64_t frame, float bend = 0.5f) {
  std::vector<float> pose;
  float x = 0, y = 0, angle = 0;
  for (std::size_t j = 0; j < kTubeJoints; ++j) {
    const float c = std::cos(angle), s = std::sin(angle);
    pose.insert(pose.end(), {c, -s, 0, x, s, c, 0, y, 0, 0, 1, 0});
    x += c;
    y += s;
    angle += bend * std::sin(0.1f * static_cast<float>(frame) + static_cast<float>(j));
  }
  return pose;
}

}  // namespace sinew::client
