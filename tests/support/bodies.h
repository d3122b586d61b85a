// bodies.h - simple bodies with bones, and dense weights, for tests of computed weights.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "core/weights/skin.h"
#include "core/weights/weights.h"
#include "tests/support/run_method.h"

namespace sinew::testing {

struct Body {
  std::vector<Vec3d> points;
  std::vector<std::vector<std::uint32_t>> faces;
  std::vector<Bone> bones;
  std::vector<std::uint32_t> weld{};
};

inline Mesh MeshOf(const Body& body) {
  MeshSource source;
  for (const Vec3d& p : body.points) source.positions.push_back(ToFloat(p));
  source.face_offsets = {0};
  for (const auto& face : body.faces) {
    source.face_vertices.insert(source.face_vertices.end(), face.begin(), face.end());
    source.face_offsets.push_back(static_cast<std::uint32_t>(source.face_vertices.size()));
  }
  source.weld = body.weld;
  source.parts = {{"body", 0, static_cast<std::uint32_t>(body.points.size()), 0,
                   static_cast<std::uint32_t>(body.faces.size())}};
  return ValueOrDie(Mesh::Create(std::move(source)));
}

// A closed cylinder along x: rings of `around` points, then the centres of both caps. Diagonals of
// the sides alternate. No bones.
inline Body Cylinder(double from, double to, double radius, std::uint32_t rings,
                     std::uint32_t around, const Vec3d& shift = {}) {
  Body body;
  for (std::uint32_t i = 0; i < rings; ++i) {
    const double x = from + (to - from) * i / (rings - 1);
    for (std::uint32_t k = 0; k < around; ++k) {
      const double angle = 2 * std::numbers::pi * k / around;
      body.points.push_back(shift + Vec3d{x, radius * std::cos(angle), radius * std::sin(angle)});
    }
  }
  const std::uint32_t first = rings * around;
  body.points.push_back(shift + Vec3d{from, 0, 0});
  body.points.push_back(shift + Vec3d{to, 0, 0});
  for (std::uint32_t k = 0; k < around; ++k) {
    const std::uint32_t next = (k + 1) % around, last = (rings - 1) * around;
    for (std::uint32_t i = 0; i + 1 < rings; ++i) {
      const std::uint32_t a = i * around + k, b = i * around + next, c = b + around, d = a + around;
      if ((i + k) % 2 == 0) {
        body.faces.push_back({a, b, c});
        body.faces.push_back({a, c, d});
      } else {
        body.faces.push_back({a, b, d});
        body.faces.push_back({b, c, d});
      }
    }
    body.faces.push_back({first, next, k});
    body.faces.push_back({first + 1, last + k, last + next});
  }
  return body;
}

// The canonical cylinder: radius 1, x -5 .. 5, 81 rings of 32, two bones that meet at the origin.
inline Body Canonical() {
  Body body = Cylinder(-5, 5, 1, 81, 32);
  body.bones = {{0, {-5, 0, 0}, {0, 0, 0}}, {1, {0, 0, 0}, {5, 0, 0}}};
  return body;
}

// Adds the points, faces and bones of another body; its joint indices are raised by `joints`.
inline void Append(Body& body, const Body& other, std::uint32_t joints = 0) {
  const auto first = static_cast<std::uint32_t>(body.points.size());
  body.points.insert(body.points.end(), other.points.begin(), other.points.end());
  for (auto face : other.faces) {
    for (std::uint32_t& corner : face) corner += first;
    body.faces.push_back(std::move(face));
  }
  for (Bone bone : other.bones) {
    bone.joint += joints;
    body.bones.push_back(bone);
  }
}

// Every point and bone transformed by `map`.
inline Body Mapped(Body body, const std::function<Vec3d(const Vec3d&)>& map) {
  for (Vec3d& p : body.points) p = map(p);
  for (Bone& bone : body.bones) {
    bone.root = map(bone.root);
    bone.tip = map(bone.tip);
  }
  return body;
}

// Two parallel legs with a gap of 0.2 between their skins and one hip: joint 0 the hip, 1 and 2 the
// legs. Points of leg 1 come first.
inline Body Legs() {
  Body body = Cylinder(0, 6, 1, 49, 24, {0, 1.1, 0});
  body.bones = {{0, {-1, 0, 0}, {0, 1.1, 0}}, {1, {0, 1.1, 0}, {6, 1.1, 0}}};
  Body other = Cylinder(0, 6, 1, 49, 24, {0, -1.1, 0});
  other.bones = {{0, {-1, 0, 0}, {0, -1.1, 0}}, {2, {0, -1.1, 0}, {6, -1.1, 0}}};
  Append(body, other);
  return body;
}

// Rows of weights as a dense table [vertex][joint].
inline std::vector<std::vector<double>> Dense(const InfluenceSource& source, std::size_t joints) {
  std::vector<std::vector<double>> rows;
  for (std::size_t v = 0; v + 1 < source.offsets.size(); ++v) {
    auto& row = rows.emplace_back(joints, 0.0);
    for (std::uint64_t k = source.offsets[v]; k < source.offsets[v + 1]; ++k) {
      row[source.bindings[k]] += static_cast<double>(source.weights[k]);
    }
  }
  return rows;
}

inline std::size_t JointsOf(const Body& body) {
  std::size_t joints = 0;
  for (const Bone& bone : body.bones) joints = std::max<std::size_t>(joints, bone.joint + 1);
  return joints;
}

inline std::vector<std::vector<double>> WeightsOf(const Body& body, const WeightOptions& options) {
  Task task;
  const auto computed = ComputeWeights(MeshOf(body), body.bones, options, task);
  EXPECT_TRUE(computed.ok()) << computed.status();
  return Dense(computed->influences, JointsOf(body));
}

inline weights::Skin SkinOf(const Body& body) {
  return ValueOrDie(weights::MakeSkin(MeshOf(body), body.bones));
}

// Largest difference of two tables; infinite if shapes differ or a value is NaN.
inline double MaxDifference(const std::vector<std::vector<double>>& a,
                            const std::vector<std::vector<double>>& b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double most = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    if (a[v].size() != b[v].size()) return HUGE_VAL;
    for (std::size_t j = 0; j < a[v].size(); ++j) {
      const double d = std::abs(a[v][j] - b[v][j]);
      if (!(d <= most)) most = std::isnan(d) ? HUGE_VAL : d;
    }
  }
  return most;
}

inline std::string NameOf(WeightMethod method) {
  switch (method) {
    case WeightMethod::kCapsule:
      return "capsule";
    case WeightMethod::kHeat:
      return "heat";
    case WeightMethod::kGeodesic:
      break;
  }
  return "geodesic";
}

}  // namespace sinew::testing
