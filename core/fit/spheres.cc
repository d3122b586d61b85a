#include "core/fit/spheres.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "core/base/disjoint_sets.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/fit/links.h"

namespace sinew::fit {
namespace {

constexpr int kProbes = 100;         // pieces of a line that is checked for depth
constexpr double kDeepEnough = 0.5;  // of the smaller sphere's radius

// Memory for each pair of spheres: the graph, and penalties and order of the bones of a large
// template.
constexpr std::size_t kPairBytes = 10 + 64 * 6;

void Pack(const Body& body, SphereGraph& graph) {
  for (const MedialPoint& point : body.medial()) {
    if (graph.count() == kMaxSpheres) return;
    const auto covered = [&](std::size_t k) {
      return Length(point.place - graph.centre[k]) < graph.radius[k];
    };
    bool free = true;
    for (std::size_t k = 0; free && k < graph.count(); ++k) free = !covered(k);
    if (!free) continue;
    graph.centre.push_back(point.place);
    graph.radius.push_back(point.radius);
  }
}

// Whether no other centre lies in the ball over the segment from i to j (a Gabriel edge).
bool IsAlone(const SphereGraph& graph, std::size_t i, std::size_t j) {
  const Vec3d middle = 0.5 * (graph.centre[i] + graph.centre[j]);
  const Vec3d half = graph.centre[i] - middle;
  for (std::size_t k = 0; k < graph.count(); ++k) {
    if (k == i || k == j) continue;
    const Vec3d apart = graph.centre[k] - middle;
    if (Dot(apart, apart) < Dot(half, half)) return false;
  }
  return true;
}

bool StaysDeep(const Body& body, const Vec3d& a, const Vec3d& b, double depth) {
  for (int k = 0; k <= kProbes; ++k) {
    if (!(body.Depth(a + (static_cast<double>(k) / kProbes) * (b - a)) > depth)) return false;
  }
  return true;
}

void Join(const Body& body, SphereGraph& graph) {
  graph.neighbours.resize(graph.count());
  for (std::uint32_t i = 0; i < graph.count(); ++i) {
    for (std::uint32_t j = i + 1; j < graph.count(); ++j) {
      const double apart = Length(graph.centre[i] - graph.centre[j]);
      const double smaller = std::min(graph.radius[i], graph.radius[j]);
      if (apart >= graph.radius[i] + graph.radius[j] &&
          !(IsAlone(graph, i, j) &&
            StaysDeep(body, graph.centre[i], graph.centre[j], kDeepEnough * smaller))) {
        continue;
      }
      graph.neighbours[i].push_back(j);
      graph.neighbours[j].push_back(i);
    }
  }
}

// Joins parts of the graph that are connected through narrow places of the body, such as the gaps
// between the pieces of a robot, by the shortest links.
void JoinParts(const Body& body, SphereGraph& graph) {
  DisjointSets parts(graph.count());
  for (std::uint32_t k = 0; k < graph.count(); ++k) {
    for (const std::uint32_t other : graph.neighbours[k]) parts.Join(k, other);
  }
  bool connected = true;
  for (std::uint32_t k = 0; connected && k < graph.count(); ++k) connected = parts.Lowest(k) == 0;
  if (connected) return;
  for (const Link& link : FindLinks(body, graph.centre)) {
    if (parts.Lowest(link.first) == parts.Lowest(link.second)) continue;
    parts.Join(link.first, link.second);
    graph.neighbours[link.first].push_back(link.second);
    graph.neighbours[link.second].push_back(link.first);
  }
}

// Dijkstra from one sphere.
void FindPaths(SphereGraph& graph, std::size_t from) {
  const std::size_t n = graph.count();
  double* distance = &graph.distance[from * n];
  std::uint16_t* before = &graph.before[from * n];
  using Entry = std::pair<double, std::uint32_t>;  // equal distances: the lower sphere first
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  std::vector<bool> done(n, false);
  distance[from] = 0;
  open.emplace(0, static_cast<std::uint32_t>(from));
  while (!open.empty()) {
    const std::uint32_t at = open.top().second;
    open.pop();
    if (done[at]) continue;
    done[at] = true;
    for (const std::uint32_t next : graph.neighbours[at]) {
      const double length = distance[at] + Length(graph.centre[at] - graph.centre[next]);
      if (length >= distance[next]) continue;
      distance[next] = length;
      before[next] = static_cast<std::uint16_t>(at);
      open.emplace(length, next);
    }
  }
}

}  // namespace

std::vector<std::uint16_t> SphereGraph::Path(std::size_t a, std::size_t b) const {
  std::vector<std::uint16_t> path;
  for (std::size_t at = b; at != a; at = Before(a, at)) {
    path.push_back(static_cast<std::uint16_t>(at));
  }
  path.push_back(static_cast<std::uint16_t>(a));
  std::ranges::reverse(path);
  return path;
}

absl::StatusOr<SphereGraph> PackSpheres(const Body& body, const Task& task) {
  SphereGraph graph;
  Pack(body, graph);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  Join(body, graph);
  JoinParts(body, graph);
  const std::size_t n = graph.count();
  SINEW_RETURN_IF_ERROR(task.CheckMemory(n * n * kPairBytes));
  graph.distance.assign(n * n, std::numeric_limits<double>::infinity());
  graph.before.assign(n * n, 0);
  task.For(n, 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) FindPaths(graph, k);
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return graph;
}

}  // namespace sinew::fit
