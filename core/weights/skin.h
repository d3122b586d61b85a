// skin.h - the welded surface and the bones of its joints, in the space weights are computed in.
//
// Unit space: relative to the middle of the mesh's box and divided by a power of two so that the
// mesh lies within 1 of the origin. Absolute constants of the methods refer to it, and millimetres
// or kilometres give the same bits.
#pragma once

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/problem.h"
#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/surface/adjacency.h"
#include "core/weights/weights.h"

namespace sinew::weights {

// A bone in unit space. `owner` is a place in Skin::joints.
struct Segment {
  Vec3d root, tip;
  std::uint32_t owner = 0;
};

struct Closest {
  double distance = 0;
  double along = 0;  // 0 = root .. 1 = tip
  Vec3d point;
};
// Of a segment to p; a segment without length is its root.
Closest ClosestOn(const Segment& segment, const Vec3d& p);

struct Skin {
  WeldedPoints welded;
  std::vector<Vec3d> points;  // [P]
  // [P] outward unit normals, corners weighted by their angles; 0 0 0 = none. A mesh wound inside
  // out (negative volume) is turned.
  std::vector<Vec3d> normals;
  // Fans of the polygons with distinct corners; each set of corners once.
  std::vector<std::array<std::uint32_t, 3>> triangles;
  Adjacency neighbours;  // along the edges of all fans
  double side = 1;       // -1: turned
  double diagonal = 0;   // of the mesh's box

  std::vector<std::uint32_t> joints;         // [J] owners of bones, rising
  std::vector<Segment> segments;             // by owner
  std::vector<std::uint32_t> first_segment;  // [J + 1]
  std::vector<Problem> notes;

  std::span<const Segment> bones(std::size_t owner) const { return OfOwner(segments, owner); }
  // Of anything in the order of `segments`.
  std::span<const Segment> OfOwner(std::span<const Segment> all, std::size_t owner) const {
    return all.subspan(first_segment[owner], first_segment[owner + 1] - first_segment[owner]);
  }
  // Index of the joint whose bones are nearest to p; ties go to the lower one.
  std::size_t Nearest(const Vec3d& p) const;
};

// Most bones that are taken.
inline constexpr std::size_t kMaxBones = 16384;

// kInvalidArgument: no bones or too many, a joint above 65,534, a coordinate that is not finite or
// beyond 1e30.
absl::StatusOr<Skin> MakeSkin(const Mesh& mesh, std::span<const Bone> bones);

// kInvalidArgument: no triangle with corners in three places. `why` says what needs one.
absl::Status CheckFaces(const Skin& skin, std::string_view why);

// Bytes MakeSkin may hold, and its results.
std::size_t SkinBytes(const Mesh& mesh, std::size_t bones);

// Weights as dense columns, a joint after the other.
struct Columns {
  std::size_t points = 0;
  std::vector<double> values;  // [J][P]

  Columns(std::size_t joints, std::size_t count) : points(count), values(joints * count, 0.0) {}
  std::span<double> of(std::size_t joint) { return {values.data() + joint * points, points}; }
  std::span<const double> of(std::size_t joint) const {
    return {values.data() + joint * points, points};
  }
};

// What a method returns.
struct Computed {
  Columns columns;                    // not negative but for rounding; rows need not sum to 1
  std::vector<std::uint32_t> unseen;  // points, rising
  std::vector<Problem> notes;
};

// A method's share of the progress bar, as parts of the whole, and of the memory limit.
struct Progress {
  Task& task;
  double whole;          // of the task's total
  std::size_t held = 0;  // bytes, beside those of the method
  void Advance(double part) const { task.Advance(whole * part); }
};

}  // namespace sinew::weights
