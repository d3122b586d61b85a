// fixture_files.h - reads raw arrays of other programs' results as points, poses and rigs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"
#include "tests/support/tube.h"

namespace sinew::testing {

template <class T>
std::vector<T> ReadArray(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<T> values(std::filesystem::exists(path) ? std::filesystem::file_size(path) / sizeof(T)
                                                      : 0);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  EXPECT_TRUE(file.good()) << path;
  return values;
}

inline std::vector<Vec3d> ReadPoints(const std::filesystem::path& path) {
  const auto values = ReadArray<double>(path);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i + 2 < values.size(); i += 3) {
    points.push_back({values[i], values[i + 1], values[i + 2]});
  }
  return points;
}

// 4x4 row-major matrices for rest positions: joints with identity bind matrices.
inline std::vector<Affine> ReadPose(const std::filesystem::path& path) {
  const auto values = ReadArray<double>(path);
  std::vector<Affine> pose(values.size() / 16);
  for (std::size_t j = 0; j < pose.size(); ++j) {
    for (std::size_t i = 0; i < 12; ++i) pose[j].m[i] = static_cast<float>(values[j * 16 + i]);
  }
  return pose;
}

// Rows of dense weights, normalised as the other programs do when blending.
inline InfluenceSource ReadWeights(const std::filesystem::path& path, std::size_t vertices) {
  const auto values = ReadArray<double>(path);
  const std::size_t joints = values.size() / vertices;
  InfluenceSource source;
  source.offsets = {0};
  for (std::size_t v = 0; v < vertices; ++v) {
    double sum = 0;
    for (std::size_t j = 0; j < joints; ++j) sum += values[v * joints + j];
    for (std::size_t j = 0; j < joints; ++j) {
      if (values[v * joints + j] <= 0) continue;
      source.bindings.push_back(static_cast<std::uint32_t>(j));
      source.weights.push_back(static_cast<float>(values[v * joints + j] / sum));
    }
    source.offsets.push_back(source.bindings.size());
  }
  return source;
}

// Corners of each face, from int32 files.
inline std::vector<std::vector<std::size_t>> ReadFaces(const std::filesystem::path& sizes,
                                                       const std::filesystem::path& indices) {
  const auto corners = ReadArray<std::int32_t>(indices);
  std::vector<std::vector<std::size_t>> faces;
  auto next = corners.begin();
  for (const std::int32_t size : ReadArray<std::int32_t>(sizes)) {
    faces.emplace_back(next, next + size);
    next += size;
  }
  return faces;
}

// One mesh whose joints are all at the origin at rest.
inline Rig ReadRig(const std::filesystem::path& rest, const std::filesystem::path& weights,
                   std::size_t joints, const std::vector<std::vector<std::size_t>>& faces = {}) {
  RigSource source;
  for (const Vec3d& p : ReadPoints(rest)) source.mesh.positions.push_back(ToFloat(p));
  const auto vertices = static_cast<std::uint32_t>(source.mesh.positions.size());
  source.mesh.parts = {{"mesh", 0, vertices, 0, static_cast<std::uint32_t>(faces.size())}};
  source.mesh.face_offsets = {0};
  for (const auto& face : faces) {
    for (const std::size_t v : face) {
      source.mesh.face_vertices.push_back(static_cast<std::uint32_t>(v));
    }
    source.mesh.face_offsets.push_back(
        static_cast<std::uint32_t>(source.mesh.face_vertices.size()));
  }
  source.influences = ReadWeights(weights, vertices);
  for (std::size_t j = 0; j < joints; ++j) {
    source.joints.push_back({.name = "joint" + std::to_string(j)});
    source.rest_local.emplace_back();
    source.bindings.push_back({static_cast<std::uint16_t>(j), AffineD{}});
  }
  return MakeRig(std::move(source));
}

}  // namespace sinew::testing
