#include "core/surface/connected_components.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <span>

#include "core/base/vectors.h"
#include "core/rig/bind_pose.h"
#include "core/surface/part_triangles.h"

namespace sinew {
namespace {

constexpr double kCarried = 0.95;  // weight of one joint in a rigid component

// The points of each component, and where each ends.
struct Components {
  std::vector<std::uint32_t> points;
  std::vector<std::size_t> ends;
};

Components FindComponents(const Adjacency& ring) {
  Components found;
  std::vector<std::uint8_t> seen(ring.points(), 0);
  found.points.reserve(ring.points());
  for (std::uint32_t seed = 0; seed < ring.points(); ++seed) {
    if (seen[seed] != 0) continue;
    seen[seed] = 1;
    std::size_t next = found.points.size();
    found.points.push_back(seed);
    for (; next < found.points.size(); ++next) {
      for (const std::uint32_t q : ring.row(found.points[next])) {
        if (seen[q] != 0) continue;
        seen[q] = 1;
        found.points.push_back(q);
      }
    }
    found.ends.push_back(found.points.size());
  }
  return found;
}

// [P] a third of the triangles around each point, in the bind pose.
std::vector<double> Areas(const Rig& rig, const WeldedPoints& welded) {
  const std::vector<AffineD> to_pose = ToBindPose(rig, BindPose(rig));
  std::vector<Vec3d> places;
  places.reserve(welded.points());
  for (const std::uint32_t v : welded.first) places.push_back(InBindPose(rig, to_pose, v));
  std::vector<double> areas(welded.points(), 0.0);
  ForEachTriangle(rig.mesh(), welded, [&](const Triangle& t, std::uint32_t) {
    const double area = Length(Cross(places[t[1]] - places[t[0]], places[t[2]] - places[t[0]])) / 6;
    for (const std::uint32_t p : t) areas[p] += area;
  });
  return areas;
}

}  // namespace

std::vector<ComponentRole> FindComponentRoles(const Rig& rig, const WeldedPoints& welded,
                                              const Adjacency& ring,
                                              std::span<const std::uint8_t> border) {
  const std::vector<double> areas = Areas(rig, welded);
  const Components components = FindComponents(ring);
  const auto owner = [&](std::uint32_t p) {
    return rig.bindings()[StrongestBinding(rig, welded.first[p])].joint;
  };
  std::vector<double> skin(rig.joints(), 0.0);  // area that each joint influences most
  for (const std::uint32_t p : components.points) skin[owner(p)] += areas[p];
  std::vector<ComponentRole> roles(welded.points());
  absl::flat_hash_map<std::uint32_t, double> owned, carried;  // area by joint
  std::size_t begin = 0;
  for (const std::size_t end : components.ends) {
    const auto points = std::span(components.points).subspan(begin, end - begin);
    begin = end;
    owned.clear();
    carried.clear();
    double total = 0, most = 0;
    for (const std::uint32_t p : points) {
      owned[owner(p)] += areas[p];
      total += areas[p];
      const auto bindings = rig.influences().bindings(welded.first[p]);
      const auto weights = rig.influences().weights(welded.first[p]);
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        carried[rig.bindings()[bindings[k]].joint] += weights[k] * areas[p];
      }
    }
    const auto owners = std::ranges::count_if(owned, [&](const auto& area) {
      return skin[area.first] > 0 && 2 * area.second >= skin[area.first];
    });
    for (const auto& [joint, area] : carried) most = std::max(most, area);
    const bool rigid = total > 0 && most >= kCarried * total;
    const bool open = std::ranges::any_of(points, [&](std::uint32_t p) { return border[p] != 0; });
    ComponentRole role = owners > 0 ? ComponentRole::kSkin : ComponentRole::kAttachedComponent;
    if (owners > 0 ? owners == 1 && rigid : total > 0 && !rigid && !open)
      role = ComponentRole::kRigidComponent;
    for (const std::uint32_t p : points) roles[p] = role;
  }
  return roles;
}

}  // namespace sinew
