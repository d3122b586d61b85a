// muscle_path.h - the line a muscle takes: straight from point to point, bent around a cylinder or
// a sphere where it would pass through it.
//
// Model space, double. Stateless: the side on which a cylinder is passed is that of the rest pose,
// stored as the angle swept around its axis at rest, so a path keeps its side while that angle
// stays within half a turn of the rest pose's. There the length jumps: no pose alone can tell a
// whole turn. Around a sphere the path takes the shorter way. Lift-off is smooth: length and its
// derivative are continuous where the straight line becomes a tangent. Ends inside the shape are
// moved to its surface.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/muscle/muscle.h"

namespace sinew {

// A point of a path and its distance from the origin along the path, which around a wrap is that of
// the arc, not of the chords between nodes.
struct PathNode {
  double at = 0;
  Vec3d point;
};

struct WrapSolid {
  WrapShape shape = WrapShape::kNone;
  Vec3d centre;
  Vec3d axis;  // unit, of a cylinder; of a sphere the normal of the plane at rest
  double radius = 0;
  double rest_angle = 0;  // about the axis, of a cylinder
  bool mirrored = false;  // by the pose: angles turn the other way
};

// Appends the way from the last node of `path` to `to`, around `wrap`. path must not be empty.
void AppendStraight(const Vec3d& to, std::vector<PathNode>& path);
void AppendWrapped(const Vec3d& to, const WrapSolid& wrap, std::vector<PathNode>& path);

// Angle about `axis` from a to b as seen from `centre`, in (-pi, pi].
double AngleAbout(const Vec3d& centre, const Vec3d& axis, const Vec3d& a, const Vec3d& b);

// Where the path is at that distance; beyond its ends straight on.
Vec3d PointAt(std::span<const PathNode> path, double at);

// v turned by the smallest rotation that takes unit `from` to unit `to`; half a turn leaves it.
Vec3d Transported(const Vec3d& v, const Vec3d& from, const Vec3d& to);

// A unit vector perpendicular to unit `direction`, the same for the same direction.
Vec3d AnyPerpendicular(const Vec3d& direction);

}  // namespace sinew
