#include "core/weights/skin.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/status.h"

namespace sinew::weights {
namespace {

constexpr double kFarthest = 1e30;  // its square and cube are finite
// Signed volume over the sum of absolute volumes: below, the mesh is inside out.
constexpr double kTurned = -0.1;
constexpr double kFarBones = 0.5;    // times the diagonal, from the mesh's bounding box
constexpr double kNoLength = 1e-12;  // unit space

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

std::vector<std::array<std::uint32_t, 3>> Triangles(const Mesh& mesh, const WeldedPoints& welded) {
  std::vector<std::array<std::uint32_t, 3>> triangles;
  for (std::size_t f = 0; f < mesh.faces(); ++f) {
    const auto corners = mesh.face_vertices().subspan(
        mesh.face_offsets()[f], mesh.face_offsets()[f + 1] - mesh.face_offsets()[f]);
    for (std::size_t k = 2; k < corners.size(); ++k) {
      const std::uint32_t a = welded.point[corners[0]], b = welded.point[corners[k - 1]],
                          c = welded.point[corners[k]];
      if (a != b && b != c && c != a) triangles.push_back({a, b, c});
    }
  }
  // Each set of corners once: the first occurrence.
  std::vector<std::pair<std::array<std::uint32_t, 3>, std::uint32_t>> sets;
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

// -1 if the mesh is wound inside out, else 1; also 1 for open sheets.
double Side(const Skin& skin) {
  double sum = 0, size = 0;
  for (const auto& [a, b, c] : skin.triangles) {
    const double volume = Dot(skin.points[a], Cross(skin.points[b], skin.points[c]));
    sum += volume;
    size += std::abs(volume);
  }
  return sum < kTurned * size ? -1 : 1;
}

void FillNormals(Skin& skin) {
  skin.normals.assign(skin.points.size(), {});
  for (const auto& triangle : skin.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d& at = skin.points[triangle[k]];
      const Vec3d u = skin.points[triangle[(k + 1) % 3]] - at;
      const Vec3d v = skin.points[triangle[(k + 2) % 3]] - at;
      const Vec3d cross = Cross(u, v);
      const double area = Length(cross);
      if (!(area > 0)) continue;
      const double angle = std::atan2(area, Dot(u, v));
      skin.normals[triangle[k]] = skin.normals[triangle[k]] + (skin.side * angle / area) * cross;
    }
  }
  for (Vec3d& n : skin.normals) {
    const double length = Length(n);
    n = length > kNoLength ? (1 / length) * n : Vec3d{};
  }
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

Closest ClosestOn(const Segment& segment, const Vec3d& p) {
  const Vec3d axis = segment.tip - segment.root, d = p - segment.root;
  const double squared = Dot(axis, axis);
  Closest closest;
  closest.along = squared > 0 ? std::clamp(Dot(d, axis) / squared, 0.0, 1.0) : 0.0;
  closest.point = segment.root + closest.along * axis;
  closest.distance = Length(p - closest.point);
  return closest;
}

std::size_t Skin::Nearest(const Vec3d& p) const {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Segment& segment : segments) {
    const double distance = ClosestOn(segment, p).distance;
    if (distance < least) {
      least = distance;
      nearest = segment.owner;
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
  skin.welded = Weld(mesh);
  skin.points.reserve(skin.welded.points());
  for (const std::uint32_t v : skin.welded.first) {
    skin.points.push_back(unit(ToDouble(mesh.positions()[v])));
  }
  skin.triangles = Triangles(mesh, skin.welded);
  skin.neighbours = TriangleNeighbours(mesh, skin.welded);
  skin.side = Side(skin);
  if (skin.side < 0) {
    skin.notes.push_back(
        {Severity::kWarning, "mesh", "the faces are wound inside out; their normals are reversed"});
  }
  FillNormals(skin);

  std::vector<std::uint32_t> order(bones.size());
  for (std::uint32_t b = 0; b < order.size(); ++b) order[b] = b;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t b) { return bones[b].joint; });
  for (const std::uint32_t b : order) {
    if (skin.joints.empty() || skin.joints.back() != bones[b].joint) {
      skin.joints.push_back(bones[b].joint);
      skin.first_segment.push_back(static_cast<std::uint32_t>(skin.segments.size()));
    }
    skin.segments.push_back({unit(bones[b].root), unit(bones[b].tip),
                             static_cast<std::uint32_t>(skin.joints.size() - 1)});
  }
  skin.first_segment.push_back(static_cast<std::uint32_t>(skin.segments.size()));
  NoteFarBones(mesh, bones, skin);
  return skin;
}

absl::Status CheckFaces(const Skin& skin, std::string_view why) {
  if (!skin.triangles.empty() && skin.diagonal > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("mesh: no face with three distinct corners, but ",
                                                 AbslView(why), "; capsule works without"));
}

std::size_t SkinBytes(const Mesh& mesh, std::size_t bones) {
  const std::size_t triangles = mesh.face_vertices().size();  // upper limit
  // Points, normals and the temporaries of welding; triangles with their sorted copies; neighbours.
  return mesh.vertices() * (2 * sizeof(Vec3d) + 150) + triangles * 80 + bones * 128;
}

}  // namespace sinew::weights
