#include "core/weights/skin.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/disjoint_sets.h"
#include "core/base/segment.h"
#include "core/base/status.h"
#include "core/surface/open_sheets.h"

namespace sinew::weights {
namespace {

constexpr double kFarthest = 1e30;  // its square and cube are finite
// Signed volume over the sum of absolute volumes: below, the mesh is inside out.
constexpr double kTurned = -0.1;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFarBones = 0.5;       // times the diagonal, from the mesh's bounding box
constexpr std::size_t kMaxAtOnce = 16;  // joints in parallel

absl::Status CheckBones(std::span<const Bone> bones) {
  if (bones.empty()) return absl::InvalidArgumentError("bones: none, need at least 1");
  if (bones.size() > kMaxBones) {
    return absl::InvalidArgumentError(
        absl::StrCat("bones: got ", bones.size(), ", need ", kMaxBones, " or fewer"));
  }
  for (std::size_t b = 0; b < bones.size(); ++b) {
    if (bones[b].joint >= std::numeric_limits<std::uint16_t>::max()) {
      return absl::InvalidArgumentError(
          absl::StrCat("bones: bone ", b, " has joint ", bones[b].joint, ", need less than 65535"));
    }
    for (const Vec3d& p : {bones[b].root, bones[b].tip}) {
      for (const double x : {p.x, p.y, p.z}) {
        if (std::abs(x) <= kFarthest) continue;
        return absl::InvalidArgumentError(absl::StrCat("bones: bone ", b, " of joint ",
                                                       bones[b].joint, " has the coordinate ", x,
                                                       ", need finite numbers within 1e30"));
      }
    }
  }
  return absl::OkStatus();
}

std::vector<Triangle> Triangles(const Mesh& mesh, const WeldedPoints& welded) {
  std::vector<Triangle> triangles;
  ForEachTriangle(mesh, welded, [&](const Triangle& t, std::uint32_t) { triangles.push_back(t); });
  // Each set of corners once: the first occurrence.
  std::vector<std::pair<Triangle, std::uint32_t>> sets;
  sets.reserve(triangles.size());
  for (std::uint32_t t = 0; t < triangles.size(); ++t) {
    auto set = triangles[t];
    std::ranges::sort(set);
    sets.emplace_back(set, t);
  }
  std::ranges::sort(sets);
  std::vector<bool> again(triangles.size(), false);
  for (std::size_t i = 1; i < sets.size(); ++i) {
    again[sets[i].second] = sets[i].first == sets[i - 1].first;
  }
  std::size_t kept = 0;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    if (!again[t]) triangles[kept++] = triangles[t];
  }
  triangles.resize(kept);
  return triangles;
}

// A connected part of the surface.
struct Component {
  Vec3d low{kInfinity, kInfinity, kInfinity}, high{-kInfinity, -kInfinity, -kInfinity};
  double six_volumes = 0, size = 0;  // about the centre of its box

  Vec3d Centre() const { return 0.5 * (low + high); }
  void AddVolume(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const double volume = Dot(a - Centre(), Cross(b - a, c - a));
    six_volumes += volume;
    size += std::abs(volume);
  }
};

// A directed edge that no triangle has the other way round.
struct OpenEdge {
  std::uint32_t from = 0, to = 0;
};

std::vector<OpenEdge> OpenEdges(std::span<const Triangle> triangles) {
  struct Edge {
    std::uint32_t low, high;
    bool rises;
  };
  std::vector<Edge> edges;
  edges.reserve(3 * triangles.size());
  for (const Triangle& t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      edges.push_back({std::min(a, b), std::max(a, b), a < b});
    }
  }
  const auto key = [](const Edge& edge) { return std::pair(edge.low, edge.high); };
  std::ranges::sort(edges, {}, key);
  std::vector<OpenEdge> open;
  for (std::size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
    int rising = 0;
    for (; end < edges.size() && key(edges[end]) == key(edges[begin]); ++end) {
      rising += edges[end].rises ? 1 : -1;
    }
    const auto [low, high, rises] = edges[begin];
    for (; rising > 0; --rising) open.push_back({low, high});
    for (; rising < 0; ++rising) open.push_back({high, low});
  }
  return open;
}

// -1 if the mesh is wound inside out, else 1: by its volume, with each hole closed by a fan about
// the middle of its rim. Open sheets do not count.
double Side(const Skin& skin) {
  const std::vector<Vec3d>& points = skin.points;
  const std::vector<bool> in_sheet = InOpenSheets(skin.triangles, points);
  std::vector<Triangle> triangles;
  for (std::size_t t = 0; t < skin.triangles.size(); ++t) {
    if (!in_sheet[t]) triangles.push_back(skin.triangles[t]);
  }
  DisjointSets joined(points.size());
  for (const auto& [a, b, c] : triangles) {
    joined.Join(a, b);
    joined.Join(a, c);
  }
  std::vector<std::uint32_t> number(points.size(), 0);  // of a lowest point's part, from 1
  std::vector<Component> components;
  const auto of = [&](std::uint32_t p) -> Component& {
    std::uint32_t& k = number[joined.Lowest(p)];
    if (k == 0) {
      components.emplace_back();
      k = static_cast<std::uint32_t>(components.size());
    }
    return components[k - 1];
  };
  for (const Triangle& t : triangles) {
    Component& part = of(t[0]);
    for (const std::uint32_t p : t) {
      const Vec3d& q = points[p];
      part.low = {std::min(part.low.x, q.x), std::min(part.low.y, q.y), std::min(part.low.z, q.z)};
      part.high = {std::max(part.high.x, q.x), std::max(part.high.y, q.y),
                   std::max(part.high.z, q.z)};
    }
  }
  for (const auto& [a, b, c] : triangles) of(a).AddVolume(points[a], points[b], points[c]);
  const std::vector<OpenEdge> open = OpenEdges(triangles);
  DisjointSets rims(points.size());
  for (const auto& [from, to] : open) rims.Join(from, to);
  std::vector<Vec3d> sums(points.size());  // [lowest points of rims] of the ends of their edges
  std::vector<double> counts(points.size(), 0);
  for (const auto& [from, to] : open) {
    const std::uint32_t rim = rims.Lowest(from);
    sums[rim] = sums[rim] + points[from] + points[to];
    counts[rim] += 2;
  }
  for (const auto& [from, to] : open) {
    const std::uint32_t rim = rims.Lowest(from);
    of(from).AddVolume(points[to], points[from], (1 / counts[rim]) * sums[rim]);
  }
  double sum = 0, size = 0;
  for (const Component& part : components) {
    sum += part.six_volumes;
    size += part.size;
  }
  return sum < kTurned * size ? -1 : 1;
}

void NoteFarBones(const Mesh& mesh, std::span<const Bone> bones, Skin& skin) {
  const double far = kFarBones * mesh.diagonal();
  const auto outside = [far](double low, double high, double a, double b) {
    return std::max(a, b) < low - far || std::min(a, b) > high + far;
  };
  std::size_t count = 0;
  std::uint32_t first = 0;
  for (const Bone& bone : bones) {
    const Vec3d low = mesh.minimum(), high = mesh.maximum();
    if (!outside(low.x, high.x, bone.root.x, bone.tip.x) &&
        !outside(low.y, high.y, bone.root.y, bone.tip.y) &&
        !outside(low.z, high.z, bone.root.z, bone.tip.z)) {
      continue;
    }
    if (count++ == 0) first = bone.joint;
  }
  if (count == 0) return;
  skin.notes.push_back({Severity::kWarning, "joints",
                        absl::StrCat(count, count == 1 ? " bone lies" : " bones lie",
                                     " far outside the mesh, the first of joint ", first,
                                     ": wrong units, or a control that should be left out?")});
}

}  // namespace

Closest ClosestOn(const Bone& bone, const Vec3d& p) {
  const OnSegment nearest = NearestOnSegment(bone.root, bone.tip, p);
  return {Length(p - nearest.point), nearest.place, nearest.point};
}

std::size_t Skin::Nearest(const Vec3d& p) const {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Bone& bone : bones) {
    const double distance = ClosestOn(bone, p).distance;
    if (distance < least) {
      least = distance;
      nearest = bone.joint;
    }
  }
  return nearest;
}

absl::StatusOr<Skin> MakeSkin(const Mesh& mesh, std::span<const Bone> bones) {
  SINEW_RETURN_IF_ERROR(CheckBones(bones));
  Skin skin;
  const double scale =
      mesh.diagonal() > 0 ? std::exp2(-std::ceil(std::log2(0.5 * mesh.diagonal()))) : 1;
  const auto unit = [&](const Vec3d& p) { return scale * (p - mesh.centre()); };
  skin.diagonal = scale * mesh.diagonal();
  skin.welded = Weld(mesh, Task({.parallel = false}));
  skin.points.reserve(skin.welded.points());
  for (const std::uint32_t v : skin.welded.first) {
    skin.points.push_back(unit(ToDouble(mesh.positions()[v])));
  }
  skin.triangles = Triangles(mesh, skin.welded);
  skin.neighbours = TriangleNeighbours(mesh, skin.welded);
  skin.side = Side(skin);
  if (skin.side < 0) {
    skin.notes.push_back(
        {Severity::kWarning, "mesh",
         "the faces are wound inside out; the weights are right, and the mesh is kept as it is: "
         "turn its faces where others draw only one side"});
  }
  skin.normals = AngleWeightedNormals(skin.triangles, skin.points);
  for (Vec3d& normal : skin.normals) normal = skin.side * normal;

  std::vector<std::uint32_t> order(bones.size());
  for (std::uint32_t b = 0; b < order.size(); ++b) order[b] = b;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t b) { return bones[b].joint; });
  for (const std::uint32_t b : order) {
    if (skin.joints.empty() || skin.joints.back() != bones[b].joint) {
      skin.joints.push_back(bones[b].joint);
      skin.first_bone.push_back(static_cast<std::uint32_t>(skin.bones.size()));
    }
    skin.bones.push_back({static_cast<std::uint32_t>(skin.joints.size() - 1), unit(bones[b].root),
                          unit(bones[b].tip)});
  }
  skin.first_bone.push_back(static_cast<std::uint32_t>(skin.bones.size()));
  NoteFarBones(mesh, bones, skin);
  return skin;
}

absl::Status CheckFaces(const Skin& skin, std::string_view why) {
  if (!skin.triangles.empty() && skin.diagonal > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("mesh: no face with three distinct corners, but ",
                                                 AbslView(why), "; capsule works without"));
}

absl::Status ForJoints(std::size_t joints, std::size_t each, std::size_t held, const Task& task,
                       absl::FunctionRef<void(std::size_t)> body) {
  std::size_t at_once = kMaxAtOnce;
  while (at_once > 1 && held + at_once * each > task.memory_limit()) at_once /= 2;
  SINEW_RETURN_IF_ERROR(task.CheckMemory(held + at_once * each));
  for (std::size_t first = 0; first < joints; first += at_once) {
    task.For(std::min(at_once, joints - first), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = first + begin; j < first + end; ++j) body(j);
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  return absl::OkStatus();
}

std::size_t SkinBytes(const Mesh& mesh, std::size_t bones) {
  const std::size_t triangles = mesh.face_vertices().size();  // upper limit
  // Points, normals and the temporaries of welding; triangles with their sorted copies; neighbours.
  return mesh.vertices() * (2 * sizeof(Vec3d) + 150) + triangles * 80 + bones * 128;
}

}  // namespace sinew::weights
