// skin.h - the welded surface and the bones of its joints, in the space weights are computed in.
//
// Unit space: relative to the centre of the mesh's bounding box, divided by a power of two so that
// all points lie within 1 of the origin. Absolute constants refer to it; millimetres and kilometres
// give the same bits.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/problem.h"
#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/surface/adjacency.h"
#include "core/surface/part_triangles.h"
#include "core/weights/weights.h"

namespace sinew::weights {

struct Closest {
  double distance = 0;
  double along = 0;  // 0 = root, 1 = tip
  Vec3d point;
};
Closest ClosestOn(const Bone& bone, const Vec3d& p);

struct Skin {
  WeldedPoints welded;
  std::vector<Vec3d> points;  // [P]
  // [P] outward unit normals, angle-weighted; 0 0 0 = none. Reversed for a mesh wound inside out,
  // whose volume is negative; open sheets, such as a floor, have no volume.
  std::vector<Vec3d> normals;
  // Polygons as fans, without degenerate triangles and duplicates.
  std::vector<Triangle> triangles;
  Adjacency neighbours;  // along the edges of the fans
  double side = 1;       // -1: normals were reversed
  double diagonal = 0;   // of the mesh's bounding box

  std::vector<std::uint32_t> joints;      // [J] joints that own bones, rising
  std::vector<Bone> bones;                // unit space, rising; `joint` is an index into `joints`
  std::vector<std::uint32_t> first_bone;  // [J + 1]
  std::vector<Problem> notes;

  std::span<const Bone> BonesOf(std::size_t joint) const { return OfJoint(bones, joint); }
  // The joint's elements of an array parallel to `bones`.
  std::span<const Bone> OfJoint(std::span<const Bone> all, std::size_t joint) const {
    return all.subspan(first_bone[joint], first_bone[joint + 1] - first_bone[joint]);
  }
  // Index of the joint whose bones are nearest to p; ties: the lower index.
  std::size_t Nearest(const Vec3d& p) const;
};

inline constexpr std::size_t kMaxBones = 16384;

// kInvalidArgument: no bones or too many, a joint above 65,534, a coordinate that is not finite or
// beyond 1e30.
absl::StatusOr<Skin> MakeSkin(const Mesh& mesh, std::span<const Bone> bones);

// kInvalidArgument: no triangle with three distinct corners. `why` says what needs one.
absl::Status CheckFaces(const Skin& skin, std::string_view why);

// Bytes MakeSkin may hold, including the result.
std::size_t SkinBytes(const Mesh& mesh, std::size_t bones);

// Weights as dense columns, one per joint.
struct Columns {
  std::size_t points = 0;
  std::vector<double> values;  // [J][P]

  Columns(std::size_t joints, std::size_t count) : points(count), values(joints * count, 0.0) {}
  std::span<double> of(std::size_t joint) { return {values.data() + joint * points, points}; }
  std::span<const double> of(std::size_t joint) const {
    return {values.data() + joint * points, points};
  }
};

struct Computed {
  Columns columns;                    // non-negative except for rounding; rows need not sum to 1
  std::vector<std::uint32_t> unseen;  // points, rising
  std::vector<Problem> notes;
};

// A method's share of the progress, and the memory already in use.
struct Progress {
  Task& task;
  double whole;          // units of the task's total
  std::size_t held = 0;  // bytes held by the caller
  void Advance(double part) const { task.Advance(whole * part); }
};

// Calls body(j) for each joint, up to 16 in parallel, but no more than memory allows with `each`
// bytes per joint. kCancelled.
absl::Status ForJoints(std::size_t joints, std::size_t each, std::size_t held, const Task& task,
                       absl::FunctionRef<void(std::size_t)> body);

}  // namespace sinew::weights
