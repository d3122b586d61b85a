// implicit_reference.h - the projection of implicit skinning in double, directly from the rules,
// one point at a time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/deform/method/vertex_status.h"
#include "core/rig/rig.h"
#include "tests/reference/delta_mush_reference.h"

namespace sinew::reference {

struct FieldValue {
  double value = 0;
  Vec3d gradient;
};
using Field = std::function<FieldValue(const Vec3d&)>;

// Neighbours of a point with their weights.
using WeightRow = std::vector<std::pair<std::size_t, double>>;

// Mean-value weights of the welded points of a triangle mesh; an empty row if undefined.
std::vector<WeightRow> MeanValueRows(const MushMesh& mesh);

struct ProjectionRules {
  double unit = 1, sigma = 0.7;
  bool contact = true, relax = true;
  int iterations = 60, smoothing = 5, fit_iterations = 20;
};

struct ProjectionResult {
  std::vector<Vec3d> points;                // [V]
  std::vector<VertexStatus> vertex_status;  // [V]
  std::array<int, 7> first{};               // points by status at their first stop
  std::size_t evaluations = 0;
};

// The whole schedule, for closed triangle meshes. Moves every vertex that has a part and a usable
// rest level.
//
//    posed  [V] result of the previous stages
ProjectionResult Project(const Rig& rig, const Field& rest, const Field& field,
                         std::span<const Vec3d> posed, const ProjectionRules& rules);

}  // namespace sinew::reference
