// muscle_path.h - the path of a muscle: straight from point to point, and around a cylinder or
// sphere that it would pass through.
//
// Model space, double. Stateless: the side on which a cylinder is passed is that of the rest pose,
// stored as the rest angle around its axis, so the path keeps its side while the angle stays within
// 180 degrees of it; there the length jumps, because a pose cannot represent full turns. Around a
// sphere the path takes the shorter side. Length and derivative are continuous at lift-off. Ends
// inside the obstacle are moved to its surface.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/muscle/muscle.h"

namespace sinew {

// A point of a path with its distance from the origin along the path (around an obstacle the arc,
// not the chords).
struct PathNode {
  double at = 0;
  Vec3d point;
};

struct WrapSolid {
  WrapShape shape = WrapShape::kNone;
  Vec3d centre;
  Vec3d axis;  // unit axis of a cylinder; for a sphere the normal of the rest plane
  double radius = 0;
  double rest_angle = 0;  // about the axis, of a cylinder
  bool mirrored = false;  // by the pose: angles have the opposite sense
};

// Appends the path from the last node of the non-empty `path` to `to`, around `wrap`.
void AppendStraight(const Vec3d& to, std::vector<PathNode>& path);
void AppendWrapped(const Vec3d& to, const WrapSolid& wrap, std::vector<PathNode>& path);

// Angle about `axis` from a to b as seen from `centre`, in (-pi, pi].
double AngleAbout(const Vec3d& centre, const Vec3d& axis, const Vec3d& a, const Vec3d& b);

// The point at that distance along the path; extrapolated straight at its ends.
Vec3d PointAt(std::span<const PathNode> path, double at);

// v rotated by the smallest rotation from unit `from` to unit `to`; unchanged for 180 degrees.
Vec3d Transported(const Vec3d& v, const Vec3d& from, const Vec3d& to);

// A unit vector perpendicular to unit `direction`; deterministic.
Vec3d AnyPerpendicular(const Vec3d& direction);

}  // namespace sinew
