#include "core/metrics/self_intersection.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <atomic>
#include <numeric>
#include <unsupported/Eigen/BVH>

#include "core/base/status.h"

namespace sinew::metrics {
namespace {

using Box = Eigen::AlignedBox3d;
using Tree = Eigen::KdBVH<double, 3, int>;

constexpr double kTouching = 1e-6;  // times the rest diagonal

// A triangle with non-zero area, prepared for intersection tests.
struct Facet {
  Vec3d corner[3];
  Vec3d normal;  // unit length
  std::uint32_t triangle = 0;
};

// Whether edge pq, whose ends have signed distances dp and dq from the facet's plane, passes
// through the facet.
bool Pierces(const Vec3d& p, const Vec3d& q, double dp, double dq, const Facet& facet,
             double touching) {
  if (!((dp > touching && dq < -touching) || (dp < -touching && dq > touching))) return false;
  const Vec3d at = p + dp / (dp - dq) * (q - p);
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3d& a = facet.corner[k];
    if (Dot(Cross(facet.corner[(k + 1) % 3] - a, at - a), facet.normal) < 0) return false;
  }
  return true;
}

// Whether an edge of `cutting` passes through `cut`.
bool Cuts(const Facet& cutting, const Facet& cut, double touching) {
  double d[3];
  for (std::size_t k = 0; k < 3; ++k) d[k] = Dot(cutting.corner[k] - cut.corner[0], cut.normal);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t n = (k + 1) % 3;
    if (Pierces(cutting.corner[k], cutting.corner[n], d[k], d[n], cut, touching)) return true;
  }
  return false;
}

bool ShareAPoint(const Triangle& a, const Triangle& b) {
  for (const std::uint32_t p : a) {
    if (p == b[0] || p == b[1] || p == b[2]) return true;
  }
  return false;
}

// The work done by all threads. Its total does not depend on the order of the threads, so neither
// does whether the budget is exceeded.
class Spent {
 public:
  Spent(const Budget& budget, const Task& task) : budget_(budget), task_(task) {}

  // Returns false to stop.
  bool Visit(std::size_t steps) { return (steps_ += steps) <= budget_.steps && GoOn(); }
  bool Find() { return ++pairs_ <= budget_.pairs && GoOn(); }
  bool GoOn() const { return !Passed() && !task_.cancelled(); }
  bool Passed() const { return steps_ > budget_.steps || pairs_ > budget_.pairs; }

 private:
  const Budget budget_;
  const Task& task_;
  std::atomic<std::size_t> steps_ = 0, pairs_ = 0;
};

std::vector<Facet> MakeFacets(const Surface& surface, std::span<const Vec3d> points) {
  std::vector<Facet> facets;
  facets.reserve(surface.triangles.size());
  const double nothing = kTouching * kTouching * surface.diagonal * surface.diagonal;
  for (std::uint32_t i = 0; i < surface.triangles.size(); ++i) {
    const Triangle& t = surface.triangles[i];
    const Vec3d area = AreaVector(points, t);
    if (!(Length(area) > nothing)) continue;
    facets.push_back({{points[t[0]], points[t[1]], points[t[2]]}, Unit(area), i});
  }
  return facets;
}

Box BoxOf(const Facet& facet) {
  Box box;
  for (const Vec3d& p : facet.corner) box.extend(Eigen::Vector3d(p.x, p.y, p.z));
  return box;
}

// Finds the facets after number `index` that cross it.
struct Query {
  const Surface& surface;
  std::span<const Facet> facets;
  std::span<const Box> boxes;
  std::size_t index;
  Spent& spent;
  std::vector<FacePair>& found;
  const std::size_t first = found.size();  // pair of this facet
  std::size_t steps = 0;

  bool intersectVolume(const Box& box) {
    ++steps;
    return box.intersects(boxes[index]);
  }
  // Returning true ends the search.
  bool intersectObject(int object) {
    const auto other = static_cast<std::size_t>(object);
    ++steps;
    if (other <= index || !boxes[other].intersects(boxes[index])) return false;
    const Facet &a = facets[index], &b = facets[other];
    if (ShareAPoint(surface.triangles[a.triangle], surface.triangles[b.triangle])) return false;
    const double touching = kTouching * surface.diagonal;
    if (!Cuts(a, b, touching) && !Cuts(b, a, touching)) return false;
    const std::uint32_t f = surface.face[a.triangle], g = surface.face[b.triangle];
    const FacePair pair = std::minmax(f, g);
    if (f == g || (found.size() > first && found.back() == pair)) return false;
    if (!spent.Find()) return true;
    found.push_back(pair);
    return false;
  }
};

// Crossing pairs, including faces that share a point, with duplicates.
std::vector<FacePair> Search(const Surface& surface, std::span<const Vec3d> points,
                             const Task& task, Spent& spent) {
  const std::vector<Facet> facets = MakeFacets(surface, points);
  std::vector<Box> boxes;
  std::vector<int> indices;
  boxes.reserve(facets.size());
  indices.reserve(facets.size());
  for (const Facet& facet : facets) {
    indices.push_back(static_cast<int>(boxes.size()));
    boxes.push_back(BoxOf(facet));
  }
  if (task.cancelled()) return {};
  const Tree tree(indices.begin(), indices.end(), boxes.begin(), boxes.end());

  constexpr std::size_t kGrain = 256;
  std::vector<std::vector<FacePair>> parts((facets.size() + kGrain - 1) / kGrain);
  task.For(facets.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end && spent.GoOn(); ++i) {
      Query query{surface, facets, boxes, i, spent, parts[begin / kGrain]};
      Eigen::BVIntersect(tree, query);
      spent.Visit(query.steps);
    }
  });
  if (!spent.GoOn()) return {};
  std::size_t found = 0;
  for (const auto& part : parts) found += part.size();
  std::vector<FacePair> pairs;
  pairs.reserve(found);
  for (const auto& part : parts) pairs.insert(pairs.end(), part.begin(), part.end());
  return pairs;
}

// Leaves out the pairs that share a point. Pairs are taken by their larger face, whose points are
// marked once; the smaller face is walked.
void RemoveNeighbours(const Mesh& mesh, const WeldedPoints& welded, Spent& spent,
                      std::vector<FacePair>& pairs) {
  const auto size = [&](std::uint32_t f) { return mesh.face(f).size(); };
  const auto larger = [&](const FacePair& pair) {
    return size(pair.first) >= size(pair.second) ? pair.first : pair.second;
  };
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return larger(pairs[k]); });
  std::vector<std::uint32_t> face_at(welded.points(), static_cast<std::uint32_t>(mesh.faces()));
  std::optional<std::uint32_t> marked;  // the face whose points are in face_at
  std::vector<bool> neighbours(pairs.size());
  for (const std::size_t k : order) {
    const std::uint32_t large = larger(pairs[k]);
    const std::uint32_t small = pairs[k].first == large ? pairs[k].second : pairs[k].first;
    if (!spent.Visit(size(small) + (marked == large ? 0 : size(large)))) return;
    if (marked != large) {
      for (const std::uint32_t v : mesh.face(large)) face_at[welded.point[v]] = large;
    }
    marked = large;
    neighbours[k] = std::ranges::any_of(
        mesh.face(small), [&](std::uint32_t v) { return face_at[welded.point[v]] == large; });
  }
  std::size_t k = 0;
  std::erase_if(pairs, [&](const FacePair&) { return neighbours[k++]; });
}

}  // namespace

absl::StatusOr<std::optional<std::vector<FacePair>>> CrossingFaces(const Rig& rig,
                                                                   const Surface& surface,
                                                                   std::span<const Vec3d> points,
                                                                   const Task& task,
                                                                   const Budget& budget) {
  Spent spent(budget, task);
  std::vector<FacePair> pairs = Search(surface, points, task, spent);
  if (spent.GoOn()) {
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    RemoveNeighbours(rig.mesh(), surface.welded, spent, pairs);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (spent.Passed()) return std::nullopt;
  return std::optional(std::move(pairs));
}

}  // namespace sinew::metrics
