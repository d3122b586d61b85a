#include "core/weights/geodesic.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::weights {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNearest = 1e-4;  // times the diagonal
constexpr double kLawPower = 6;
constexpr double kSampleStep = 0.25;  // voxels, along a bone
constexpr int kOutsideRings = 3;
constexpr double kStraight = 2;  // voxel steps above the straight line, for rounding
// Voxels: how far a voxel centre may be above the skin's tangent plane.
constexpr double kOutward = 0.25;
constexpr std::size_t kMaxLinks = 8;
constexpr std::size_t kGrain = 256;
// Points, or distances to bones, between cancellation checks.
constexpr std::size_t kCheckEvery = 1 << 16;
constexpr std::size_t kCrossed = 1 << 10;  // as many of these as it takes to cross the body

// The parameter range of a bone within the grid; first > second: empty.
std::pair<double, double> Clip(const Voxels& voxels, const Bone& bone) {
  double from = 0, to = 1;
  const Vec3d axis = bone.tip - bone.root, start = bone.root - voxels.origin;
  const std::array<double, 3> a = {axis.x, axis.y, axis.z}, s = {start.x, start.y, start.z};
  for (std::size_t k = 0; k < 3; ++k) {
    const double high = voxels.size * voxels.cells[k];
    if (a[k] == 0) {
      if (s[k] < 0 || s[k] > high) return {1, 0};
      continue;
    }
    const double t = -s[k] / a[k], u = (high - s[k]) / a[k];
    from = std::max(from, std::min(t, u));
    to = std::min(to, std::max(t, u));
  }
  return {from, to};
}

// Visits the voxels that a bone crosses, some of them repeatedly.
template <class Visit>
void VisitCrossed(const Voxels& voxels, const Bone& bone, Visit visit) {
  const auto [from, to] = Clip(voxels, bone);
  if (from > to) return;
  const Vec3d axis = bone.tip - bone.root;
  const double steps = std::ceil((to - from) * Length(axis) / (kSampleStep * voxels.size)) + 1;
  for (double k = 0; k <= steps; ++k) {
    const double t = from + (to - from) * k / steps;
    visit(voxels.At(voxels.CellOf(bone.root + t * axis)));
  }
}

// Checks for cancellation once per fixed amount of work.
class Poll {
 public:
  explicit Poll(const Task& task) : task_(task) {}
  bool Stops(std::size_t work) {
    work_ += work;
    if (work_ < kCheckEvery) return false;
    work_ = 0;
    return task_.cancelled();
  }

 private:
  const Task& task_;
  std::size_t work_ = 0;
};

Closest ClosestOnAny(std::span<const Bone> bones, const Vec3d& p) {
  Closest least = {kInfinite, 0, {}};
  for (const Bone& bone : bones) {
    const Closest closest = ClosestOn(bone, p);
    if (closest.distance < least.distance) least = closest;
  }
  return least;
}

double DistanceTo(std::span<const Bone> bones, const Vec3d& p) {
  return ClosestOnAny(bones, p).distance;
}

// The voxels on the inner side of the skin around a point, with the distances of their centres.
struct VoxelLinks {
  struct Link {
    float distance;
    std::uint32_t voxel;
    bool operator<(const Link& o) const {
      return std::tie(distance, voxel) < std::tie(o.distance, o.voxel);
    }
  };
  std::array<Link, kMaxLinks> link;
  std::size_t count = 0;
};

VoxelLinks FindLinks(const Skin& skin, const Voxels& voxels, std::size_t p,
                     std::vector<VoxelLinks::Link>& found) {
  const std::array<std::int32_t, 3> at = voxels.CellOf(skin.points[p]);
  for (std::int32_t reach = 1; reach <= 2; ++reach) {
    found.clear();
    for (std::int32_t z = -reach; z <= reach; ++z) {
      for (std::int32_t y = -reach; y <= reach; ++y) {
        for (std::int32_t x = -reach; x <= reach; ++x) {
          const std::int32_t voxel = voxels.At({at[0] + x, at[1] + y, at[2] + z});
          if (voxel == kNoVoxel) continue;
          const Vec3d way = voxels.Middle(static_cast<std::size_t>(voxel)) - skin.points[p];
          if (Dot(way, skin.normals[p]) > kOutward * voxels.size) continue;
          found.push_back({static_cast<float>(Length(way)), static_cast<std::uint32_t>(voxel)});
        }
      }
    }
    if (!found.empty()) break;
  }
  VoxelLinks links;
  links.count = std::min(kMaxLinks, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(links.count),
                    found.end());
  std::copy_n(found.begin(), links.count, links.link.begin());
  return links;
}

// Extends the distances along edges from reached points to the others. Points that remain use
// straight-line distances and are returned. Incomplete when cancelled.
std::vector<std::uint32_t> ExtendAlongEdges(const Skin& skin, const Task& task, Columns& columns) {
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  std::vector<bool> done(points, false);
  for (std::size_t j = 0; j < joints && !task.cancelled(); ++j) {
    const auto column = columns.of(j);
    for (std::size_t p = 0; p < points; ++p) done[p] = done[p] || column[p] < kInfinite;
  }
  struct Step {
    double distance;
    std::uint32_t point, origin;
    bool operator>(const Step& o) const {
      return std::tie(distance, point, origin) > std::tie(o.distance, o.point, o.origin);
    }
  };
  std::priority_queue<Step, std::vector<Step>, std::greater<>> steps;
  const auto leave = [&](const Step& from) {
    for (const std::uint32_t next : skin.neighbours.row(from.point)) {
      if (done[next]) continue;
      const double edge = Length(skin.points[next] - skin.points[from.point]);
      steps.push({from.distance + edge, next, from.origin});
    }
  };
  Poll poll(task);
  for (std::uint32_t p = 0; p < points && !poll.Stops(1); ++p) {
    if (done[p]) leave({0, p, p});
  }
  while (!steps.empty() && !poll.Stops(joints)) {
    const Step step = steps.top();
    steps.pop();
    if (done[step.point]) continue;
    done[step.point] = true;
    for (std::size_t j = 0; j < joints; ++j) {
      columns.of(j)[step.point] = columns.of(j)[step.origin] + step.distance;
    }
    leave(step);
  }
  std::vector<std::uint32_t> left;
  for (std::uint32_t p = 0; p < points; ++p) {
    if (!done[p]) left.push_back(p);
  }
  task.For(left.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      for (std::size_t j = 0; j < joints; ++j) {
        columns.of(j)[left[k]] = DistanceTo(skin.BonesOf(j), skin.points[left[k]]);
      }
    }
  });
  return left;
}

// The distance column of one joint, incomplete when cancelled. True if its bones cross no voxel.
bool MeasureFrom(const Skin& skin, std::span<const Bone> bones, const Voxels& voxels,
                 std::span<const VoxelLinks> links, const Task& task, std::span<double> column) {
  bool outside = false;
  const std::vector<MarchSource> sources = SourcesOf(bones, voxels, task, outside);
  // Points next to such voxels also use the straight line, so that results depend less on the
  // alignment of the voxels with the skin.
  std::vector<std::uint8_t> straight(voxels.count(), 0);
  if (!outside) {
    for (const MarchSource& source : sources) straight[source.voxel] = 1;
  }
  const std::vector<double> distance = March(voxels, sources, task);
  Poll poll(task);
  for (std::size_t p = 0; p < column.size(); ++p) {
    if (poll.Stops(bones.size())) break;
    column[p] = kInfinite;
    for (std::size_t k = 0; k < links[p].count; ++k) {
      const VoxelLinks::Link& link = links[p].link[k];
      const double way = straight[link.voxel] != 0
                             ? DistanceTo(bones, skin.points[p])
                             : voxels.size * distance[link.voxel] + double{link.distance};
      column[p] = std::min(column[p], way);
      if (straight[link.voxel] != 0) break;  // nothing can be shorter
    }
  }
  return outside;
}

// The voxel nearest to bones outside of the body, or kNoVoxel. Stopped: any.
std::int32_t NearestTo(std::span<const Bone> bones, const Voxels& voxels, Poll& poll) {
  std::int32_t nearest = kNoVoxel;
  double least = kInfinite;
  for (std::uint32_t v = 0; v < voxels.count() && !poll.Stops(bones.size()); ++v) {
    const double distance = DistanceTo(bones, voxels.Middle(v));
    if (!(distance < least)) continue;
    least = distance;
    nearest = static_cast<std::int32_t>(v);
  }
  return nearest;
}

}  // namespace

std::vector<MarchSource> SourcesOf(std::span<const Bone> bones, const Voxels& voxels,
                                   const Task& task, bool& outside) {
  Poll poll(task);
  std::vector<std::uint8_t> seen(voxels.count(), 0);
  std::vector<std::uint32_t> ring, next;
  const auto visit = [&](std::int32_t voxel) {
    if (voxel == kNoVoxel || seen[static_cast<std::size_t>(voxel)] != 0) return;
    seen[static_cast<std::size_t>(voxel)] = 1;
    next.push_back(static_cast<std::uint32_t>(voxel));
  };
  for (const Bone& bone : bones) {
    VisitCrossed(voxels, bone, visit);
    if (poll.Stops(kCrossed)) return {};
  }
  outside = next.empty();
  if (outside) visit(NearestTo(bones, voxels, poll));
  if (task.cancelled()) return {};
  std::vector<MarchSource> sources;
  sources.reserve(voxels.count());
  for (int steps = 0; !next.empty() && !(outside && steps > kOutsideRings); ++steps) {
    ring.swap(next);
    next.clear();
    for (const std::uint32_t v : ring) {
      if (poll.Stops(bones.size())) return {};
      const Vec3d middle = voxels.Middle(v);
      const Closest closest = ClosestOnAny(bones, middle);
      const Vec3d way = closest.point - middle;
      const double across = std::abs(way.x) + std::abs(way.y) + std::abs(way.z);
      if (steps > across / voxels.size + kStraight) continue;
      sources.push_back({v, closest.distance / voxels.size});
      for (const std::int32_t neighbour : voxels.neighbour[v]) visit(neighbour);
    }
  }
  return sources;
}

double DistanceLaw(double distance, double nearest, double smoothness) {
  if (distance == kInfinite) return 0;
  const double floor = std::max(nearest, kNearest), ratio = std::max(1.0, distance / floor);
  return std::pow((1 - smoothness) * ratio + smoothness * ratio * ratio, -kLawPower);
}

absl::StatusOr<Computed> BodyDistances(const Skin& skin, std::span<const Bone> bones,
                                       const Voxels& voxels, std::size_t held,
                                       const Progress& progress) {
  const Task& task = progress.task;
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  std::vector<VoxelLinks> links(points);
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<VoxelLinks::Link> found;
    for (std::size_t p = begin; p < end; ++p) links[p] = FindLinks(skin, voxels, p, found);
  });
  Computed computed = {Columns(joints, points), {}, {}};
  std::atomic<std::size_t> outside = 0;
  SINEW_RETURN_IF_ERROR(
      ForJoints(joints, voxels.count() * kMarchBytes, held, task, [&](std::size_t j) {
        const bool is_outside =
            MeasureFrom(skin, skin.OfJoint(bones, j), voxels, links, task, computed.columns.of(j));
        outside += is_outside ? 1 : 0;
        progress.Advance(1 / static_cast<double>(joints));
      }));
  if (outside > 0 && voxels.count() > 0) {
    computed.notes.push_back(
        {Severity::kInfo, "joints",
         absl::StrCat(
             outside.load(), outside == 1 ? " joint has" : " joints have",
             " no bone inside the mesh: distances start from the voxel nearest to the bone")});
  }
  computed.unseen = ExtendAlongEdges(skin, task, computed.columns);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return computed;
}

absl::StatusOr<Computed> GeodesicWeights(const Skin& skin, const WeightOptions& options,
                                         const Progress& progress) {
  const Task& task = progress.task;
  SINEW_RETURN_IF_ERROR(CheckFaces(skin, "geodesic needs faces"));
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  std::size_t held = progress.held + GeodesicBytes(skin);
  SINEW_ASSIGN_OR_RETURN(const Voxels voxels,
                         MakeVoxels(skin.points, skin.triangles, options.resolution, held, task));
  progress.Advance(0.2);
  held += voxels.number.size() * sizeof voxels.number[0] +
          voxels.count() * (sizeof voxels.cell[0] + sizeof voxels.neighbour[0]);
  std::vector<Bone> bones = skin.bones;
  ExtendLeafBones(skin.points, skin.triangles, skin.side, task, bones);
  SINEW_ASSIGN_OR_RETURN(Computed computed, BodyDistances(skin, bones, voxels, held,
                                                          {progress.task, 0.8 * progress.whole}));
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      double nearest = kInfinite;
      for (std::size_t j = 0; j < joints; ++j) {
        double& distance = computed.columns.of(j)[p];
        distance /= skin.diagonal;
        nearest = std::min(nearest, distance);
      }
      for (std::size_t j = 0; j < joints; ++j) {
        double& w = computed.columns.of(j)[p];
        w = DistanceLaw(w, nearest, options.smoothness);
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (voxels.count() == 0) {
    computed.notes.push_back({Severity::kWarning, "mesh",
                              "the mesh encloses nothing, or is thinner than a voxel: "
                              "straight-line distances are used"});
  } else if (!computed.unseen.empty()) {
    computed.notes.push_back({Severity::kInfo, "mesh",
                              absl::StrCat(CountedText(computed.unseen.size(), "point"),
                                           " cannot be reached through the body or along the "
                                           "skin: straight-line distances are used")});
  }
  return computed;
}

std::size_t GeodesicBytes(const Skin& skin) {
  return skin.points.size() * (skin.joints.size() * sizeof(double) + sizeof(VoxelLinks) + 64) +
         skin.triangles.size() * 6 * 24;
}

}  // namespace sinew::weights
