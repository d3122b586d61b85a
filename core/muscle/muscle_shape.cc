#include "core/muscle/muscle_shape.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "core/muscle/muscle_kernel.h"

namespace sinew {
namespace {

Vec3d Column(const AffineD& a, std::size_t c) {
  return {a.m[c], a.m[4 + c], a.m[8 + c]};
}

void Push(const Vec3d& v, std::vector<float>& out) {
  for (const double value : {v.x, v.y, v.z}) out.push_back(static_cast<float>(value));
}

void PushEach(std::initializer_list<double> values, std::vector<float>& out) {
  for (const double value : values) out.push_back(static_cast<float>(value));
}

Vec3d Least(const Vec3d& a, const Vec3d& b) {
  return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
}
Vec3d Largest(const Vec3d& a, const Vec3d& b) {
  return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
}

MuscleShape Ellipsoid(const MuscleState& state) {
  MuscleShape shape;
  const auto& r = state.radii;
  shape.least = *std::min_element(r, r + 3);
  shape.low = shape.high = Translation(state.frame);
  Push(shape.low, shape.values);
  double half[3] = {};
  for (std::size_t c = 0; c < 3; ++c) {
    const Vec3d axis = Column(state.frame, c);
    Push(axis, shape.values);
    const double along[3] = {axis.x, axis.y, axis.z};
    for (std::size_t i = 0; i < 3; ++i) half[i] += r[c] * r[c] * along[i] * along[i];
  }
  shape.half = {std::sqrt(half[0]), std::sqrt(half[1]), std::sqrt(half[2])};
  PushEach({1 / r[0], 1 / r[1], 1 / r[2], shape.least / r[0], shape.least / r[1],
            shape.least / r[2], shape.least},
           shape.values);
  return shape;
}

// A cylinder along the belly's part of the path, in segments of equal length; width and depth are
// parallel-transported.
MuscleShape Cylinder(const MuscleRow& row, const MuscleState& state) {
  const auto profile = static_cast<MuscleProfile>(row.profile);
  MuscleShape shape;
  shape.ellipsoid = false;
  const double a = state.radii[1], b = state.radii[2], along = std::sqrt(a * b);
  shape.least = std::min(a, b);
  shape.largest = std::max(a, b);
  PushEach({1 / a, 1 / b, 1 / along, shape.least / a, shape.least / b, shape.least / along,
            shape.least, a * b},
           shape.values);
  const auto node = [&](std::size_t k) {
    const double u = static_cast<double>(k) / kMuscleSegments;
    return PointAt(state.path, state.belly_from + u * state.belly_length);
  };
  Vec3d tangent = Column(state.frame, 0), width = Column(state.frame, 1);
  Vec3d start = node(0);
  shape.low = shape.high = start;
  double steepest = 0;
  for (std::size_t k = 0; k < kMuscleSegments; ++k) {
    const Vec3d end = node(k + 1);
    const double length = Length(end - start);
    const bool some = length > 1e-9 * state.belly_length;
    if (some) {
      const Vec3d next = (1 / length) * (end - start);
      width = Transported(width, tangent, next);
      tangent = next;
    }
    const Vec3d across = width - Dot(width, tangent) * tangent;
    width = Length(across) > 1e-9 ? (1 / Length(across)) * across : AnyPerpendicular(tangent);
    const double u0 = static_cast<double>(k) / kMuscleSegments;
    const double u1 = static_cast<double>(k + 1) / kMuscleSegments;
    const double r0 = ProfileRadius(profile, row.warp, u0);
    const double r1 = ProfileRadius(profile, row.warp, u1);
    const double s0 = ProfileSlope(profile, row.warp, u0) / kMuscleSegments;
    const double s1 = ProfileSlope(profile, row.warp, u1) / kMuscleSegments;
    const double c2 = 3 * (r1 - r0) - 2 * s0 - s1, c3 = 2 * (r0 - r1) + s0 + s1;
    const double inverse = some ? 1 / length : 0;
    Push(start, shape.values);
    Push(tangent, shape.values);
    PushEach({inverse}, shape.values);
    Push(width, shape.values);
    Push(Cross(tangent, width), shape.values);
    PushEach({some ? length : 0, r0, s0, c2, c3}, shape.values);
    // Extrema of the quadratic slope: at its ends and at its vertex if in between.
    const double turn = c3 != 0 ? std::clamp(-c2 / (3 * c3), 0.0, 1.0) : 0;
    for (const double t : {0.0, turn, 1.0}) {
      steepest = std::max(steepest, std::abs(s0 + t * (2 * c2 + t * 3 * c3)) * inverse);
    }
    start = end;
    shape.low = Least(shape.low, end);
    shape.high = Largest(shape.high, end);
  }
  shape.steepest = std::sqrt(1 + a * b * steepest * steepest);
  return shape;
}

}  // namespace

MuscleShape MakeMuscleShape(const MuscleRow& row, const MuscleState& state) {
  const bool quadric = static_cast<MuscleProfile>(row.profile) == MuscleProfile::kEllipsoid;
  return quadric ? Ellipsoid(state) : Cylinder(row, state);
}

void EvaluateMuscle(const MuscleShape& shape, double fat, const PointBlock& points,
                    FieldBlock& out) {
  MuscleKernel({.shape = shape.values.data(),
                .ellipsoid = shape.ellipsoid,
                .fat = static_cast<float>(fat),
                .in = points.x,
                .out = out.value});
}

MuscleBox BoxBelow(const MuscleShape& shape, double value) {
  // f >= least (k0 - 1) around an ellipsoid, and >= least (k0 - 1) / steepest around a cylinder.
  const double grown = 1 + std::max(0.0, value) * shape.steepest / shape.least;
  Vec3d half = grown * shape.half;
  if (!shape.ellipsoid) half = grown * shape.largest * Vec3d{1, 1, 1};
  return {shape.low - 1.001 * half, shape.high + 1.001 * half};
}

}  // namespace sinew
