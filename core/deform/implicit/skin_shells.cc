#include "core/deform/implicit/skin_shells.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sinew {
namespace {

constexpr double kCarried = 0.95;  // share of a rigid shell's weight on one joint

// The points of one component after the other, and where each ends.
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

// [P] a third of the triangles around each point.
std::vector<double> Areas(const Mesh& mesh, const WeldedPoints& welded,
                          std::span<const Vec3f> places) {
  std::vector<double> areas(welded.points(), 0.0);
  for (std::size_t f = 0; f < mesh.faces(); ++f) {
    const auto corners = mesh.face_vertices().subspan(
        mesh.face_offsets()[f], mesh.face_offsets()[f + 1] - mesh.face_offsets()[f]);
    for (std::size_t k = 2; k < corners.size(); ++k) {
      const std::array<std::uint32_t, 3> t = {
          welded.point[corners[0]], welded.point[corners[k - 1]], welded.point[corners[k]]};
      const Vec3d a = ToDouble(places[t[0]]);
      const Vec3d across = Cross(ToDouble(places[t[1]]) - a, ToDouble(places[t[2]]) - a);
      for (const std::uint32_t p : t) areas[p] += std::sqrt(Dot(across, across)) / 6;
    }
  }
  return areas;
}

// Sums by numbers below a size, cleared in the time of those that were used.
class Tally {
 public:
  explicit Tally(std::size_t size) : sums_(size, 0.0), used_(size, 0) {}
  void Add(std::size_t i, double value) {
    if (used_[i] == 0) {
      used_[i] = 1;
      list_.push_back(i);
    }
    sums_[i] += value;
  }
  const std::vector<std::size_t>& used() const { return list_; }
  double operator[](std::size_t i) const { return sums_[i]; }
  void Clear() {
    for (const std::size_t i : list_) {
      sums_[i] = 0;
      used_[i] = 0;
    }
    list_.clear();
  }

 private:
  std::vector<double> sums_;
  std::vector<std::uint8_t> used_;
  std::vector<std::size_t> list_;
};

}  // namespace

std::vector<Shell> FindShells(const Rig& rig, const WeldedPoints& welded, const Adjacency& ring,
                              std::span<const std::uint8_t> border, std::span<const Vec3f> places,
                              std::span<const std::int32_t> part_of_vertex, std::size_t parts) {
  const std::vector<double> areas = Areas(rig.mesh(), welded, places);
  const Components components = FindComponents(ring);
  std::vector<double> part_area(parts, 0.0);
  const auto part_of = [&](std::uint32_t p) { return part_of_vertex[welded.first[p]]; };
  for (const std::uint32_t p : components.points) {
    if (part_of(p) >= 0) part_area[static_cast<std::size_t>(part_of(p))] += areas[p];
  }
  std::vector<Shell> shells(welded.points());
  Tally by_part(parts), by_joint(rig.joints());
  std::size_t begin = 0;
  for (const std::size_t end : components.ends) {
    const auto points = std::span(components.points).subspan(begin, end - begin);
    begin = end;
    double total = 0, most = 0;
    for (const std::uint32_t p : points) {
      if (part_of(p) >= 0) by_part.Add(static_cast<std::size_t>(part_of(p)), areas[p]);
      total += areas[p];
      const auto bindings = rig.influences().bindings(welded.first[p]);
      const auto weights = rig.influences().weights(welded.first[p]);
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        by_joint.Add(rig.bindings()[bindings[k]].joint, weights[k] * areas[p]);
      }
    }
    const auto owned = std::ranges::count_if(
        by_part.used(), [&](std::size_t part) { return 2 * by_part[part] >= part_area[part]; });
    for (const std::size_t joint : by_joint.used()) most = std::max(most, by_joint[joint]);
    const bool rigid = total > 0 && most >= kCarried * total;
    const bool open = std::ranges::any_of(points, [&](std::uint32_t p) { return border[p] != 0; });
    Shell shell = owned > 0 ? Shell::kSkin : Shell::kIsland;
    if (owned > 0 ? owned == 1 && rigid : total > 0 && !rigid && !open) shell = Shell::kPuppet;
    for (const std::uint32_t p : points) shells[p] = shell;
    by_part.Clear();
    by_joint.Clear();
  }
  return shells;
}

}  // namespace sinew
