#include "core/weights/geodesic.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include "core/base/status.h"

namespace sinew::weights {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNearest = 1e-4;     // of the diagonal
constexpr double kSampleStep = 0.25;  // voxels, along a bone
constexpr int kExactRings = 3;
constexpr double kOutward = 0.25;  // voxels a middle may lie beyond the skin's tangent plane
constexpr std::size_t kMostDoors = 8;
constexpr std::size_t kMostAtOnce = 16;  // joints marched at a time
constexpr std::size_t kGrain = 256;
constexpr std::size_t kCheckEvery = 1 << 16;  // points, or distances to bones

// The part of a segment within the grid, as parameters; first > second: none.
std::pair<double, double> Clip(const Voxels& voxels, const Segment& segment) {
  double from = 0, to = 1;
  const Vec3d axis = segment.tip - segment.root, start = segment.root - voxels.origin;
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

void AddCrossed(const Voxels& voxels, const Segment& segment, std::vector<std::uint32_t>& crossed) {
  const auto [from, to] = Clip(voxels, segment);
  if (from > to) return;
  const Vec3d axis = segment.tip - segment.root;
  const double steps = std::ceil((to - from) * Length(axis) / (kSampleStep * voxels.size)) + 1;
  for (double k = 0; k <= steps; ++k) {
    const double t = from + (to - from) * k / steps;
    const std::int32_t voxel = voxels.At(voxels.CellOf(segment.root + t * axis));
    if (voxel != kNoVoxel) crossed.push_back(static_cast<std::uint32_t>(voxel));
  }
}

void SortOnce(std::vector<std::uint32_t>& voxels) {
  std::ranges::sort(voxels);
  voxels.erase(std::unique(voxels.begin(), voxels.end()), voxels.end());
}

// Whether neighbours lie all around it: one of them is nearer to anything outside.
bool IsEnclosed(const Voxels& voxels, std::size_t voxel) {
  return std::ranges::find(voxels.neighbour[voxel], kNoVoxel) == voxels.neighbour[voxel].end();
}

// Asks now and then, by the work done, whether to stop.
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

double DistanceTo(std::span<const Segment> bones, const Vec3d& p) {
  double least = kInfinite;
  for (const Segment& bone : bones) least = std::min(least, ClosestOn(bone, p).distance);
  return least;
}

// Voxels on the inner side of the skin around a point, and how far their middles are.
struct Doors {
  struct Door {
    float distance;
    std::uint32_t voxel;
    bool operator<(const Door& o) const {
      return std::tie(distance, voxel) < std::tie(o.distance, o.voxel);
    }
  };
  std::array<Door, kMostDoors> door;
  std::size_t count = 0;
};

Doors FindDoors(const Skin& skin, const Voxels& voxels, std::size_t p,
                std::vector<Doors::Door>& found) {
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
  Doors doors;
  doors.count = std::min(kMostDoors, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(doors.count),
                    found.end());
  std::copy_n(found.begin(), doors.count, doors.door.begin());
  return doors;
}

// Carries rows of distances from reached points to others along edges. Whatever is left takes
// straight lines and is returned. Incomplete when cancelled.
std::vector<std::uint32_t> ReachOthers(const Skin& skin, const Task& task, Columns& columns) {
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  std::vector<bool> reached(points, false);
  for (std::size_t j = 0; j < joints && !task.cancelled(); ++j) {
    const auto column = columns.of(j);
    for (std::size_t p = 0; p < points; ++p) reached[p] = reached[p] || column[p] < kInfinite;
  }
  struct Step {
    double distance;
    std::uint32_t point, origin;
    bool operator>(const Step& o) const {
      return std::tie(distance, point, origin) > std::tie(o.distance, o.point, o.origin);
    }
  };
  std::priority_queue<Step, std::vector<Step>, std::greater<>> steps;
  std::vector<bool> done = reached;
  const auto leave = [&](const Step& from) {
    for (const std::uint32_t next : skin.neighbours.row(from.point)) {
      if (done[next]) continue;
      const double edge = Length(skin.points[next] - skin.points[from.point]);
      steps.push({from.distance + edge, next, from.origin});
    }
  };
  Poll poll(task);
  for (std::uint32_t p = 0; p < points && !poll.Stops(1); ++p) {
    if (reached[p]) leave({0, p, p});
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
        columns.of(j)[left[k]] = DistanceTo(skin.bones(j), skin.points[left[k]]);
      }
    }
  });
  return left;
}

// Joints marched at a time, so that their fronts fit.
std::size_t AtOnce(std::size_t voxels, std::size_t held, const Task& task) {
  std::size_t joints = kMostAtOnce;
  while (joints > 1 && held + joints * voxels * kMarchBytes > task.memory_limit()) joints /= 2;
  return joints;
}

}  // namespace

std::vector<MarchSource> SourcesOf(const Skin& skin, const Voxels& voxels, std::size_t j,
                                   const Task& task, bool& outside) {
  const std::span<const Segment> bones = skin.bones(j);
  Poll poll(task);
  std::vector<std::uint32_t> ring;
  for (const Segment& bone : bones) {
    const std::size_t before = ring.size();
    AddCrossed(voxels, bone, ring);
    if (poll.Stops(ring.size() - before + 1)) return {};
    // Thousands of bones in a small body would hold more than its voxels do.
    if (ring.size() > 2 * voxels.count()) SortOnce(ring);
  }
  SortOnce(ring);
  outside = ring.empty();
  if (outside) {
    double least = kInfinite;
    for (std::uint32_t v = 0; v < voxels.count(); ++v) {
      if (IsEnclosed(voxels, v)) continue;
      if (poll.Stops(bones.size())) return {};
      const double distance = DistanceTo(bones, voxels.Middle(v));
      if (!(distance < least)) continue;
      least = distance;
      ring = {v};
    }
  }
  std::vector<std::uint32_t> all = ring;
  for (int rings = 0; rings < kExactRings && !task.cancelled(); ++rings) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t v : ring) {
      for (const std::int32_t n : voxels.neighbour[v]) {
        if (n != kNoVoxel) next.push_back(static_cast<std::uint32_t>(n));
      }
    }
    SortOnce(next);
    ring.clear();
    std::ranges::set_difference(next, all, std::back_inserter(ring));
    all.insert(all.end(), ring.begin(), ring.end());
    std::ranges::sort(all);
  }
  std::vector<MarchSource> sources;
  for (const std::uint32_t v : all) {
    if (poll.Stops(bones.size())) return {};
    sources.push_back({v, DistanceTo(bones, voxels.Middle(v)) / voxels.size});
  }
  return sources;
}

double DistanceLaw(double distance, double smoothness) {
  if (distance == kInfinite) return 0;
  const double d = std::max(distance, kNearest);
  const double blend = (1 - smoothness) * d + smoothness * d * d;
  return 1 / (blend * blend);
}

absl::StatusOr<Computed> BodyDistances(const Skin& skin, const Voxels& voxels, std::size_t held,
                                       const Progress& progress) {
  const Task& task = progress.task;
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  const std::size_t at_once = AtOnce(voxels.count(), held, task);
  SINEW_RETURN_IF_ERROR(task.CheckMemory(held + at_once * voxels.count() * kMarchBytes));
  std::vector<Doors> doors(points);
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Doors::Door> found;
    for (std::size_t p = begin; p < end; ++p) doors[p] = FindDoors(skin, voxels, p, found);
  });
  Computed computed = {Columns(joints, points), {}, {}};
  std::atomic<std::size_t> outside = 0;
  for (std::size_t first = 0; first < joints; first += at_once) {
    task.For(std::min(at_once, joints - first), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = first + begin; j < first + end; ++j) {
        bool is_outside = false;
        const auto distance = March(voxels, SourcesOf(skin, voxels, j, task, is_outside), task);
        outside += is_outside ? 1 : 0;
        const auto column = computed.columns.of(j);
        Poll poll(task);
        for (std::size_t p = 0; p < points && !poll.Stops(1); ++p) {
          column[p] = kInfinite;
          for (std::size_t k = 0; k < doors[p].count; ++k) {
            const Doors::Door& door = doors[p].door[k];
            column[p] =
                std::min(column[p], voxels.size * distance[door.voxel] + double{door.distance});
          }
        }
        progress.Advance(1 / static_cast<double>(joints));
      }
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  if (outside > 0 && voxels.count() > 0) {
    computed.notes.push_back(absl::StrCat(outside.load(),
                                          outside == 1 ? " joint has" : " joints have",
                                          " no bone inside the mesh: distances start from the "
                                          "inside nearest to them"));
  }
  computed.unseen = ReachOthers(skin, task, computed.columns);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return computed;
}

absl::StatusOr<Computed> GeodesicWeights(const Skin& skin, const WeightOptions& options,
                                         const Progress& progress) {
  const Task& task = progress.task;
  SINEW_RETURN_IF_ERROR(CheckFaces(skin, "geodesic measures the inside of faces"));
  const std::size_t points = skin.points.size(), joints = skin.joints.size();
  std::size_t held = progress.held + GeodesicBytes(points, skin.triangles.size(), joints);
  SINEW_ASSIGN_OR_RETURN(const Voxels voxels, MakeVoxels(skin, options.resolution, held, task));
  progress.Advance(0.2);
  held += voxels.number.size() * sizeof voxels.number[0] +
          voxels.count() * (sizeof voxels.cell[0] + sizeof voxels.neighbour[0]);
  SINEW_ASSIGN_OR_RETURN(Computed computed,
                         BodyDistances(skin, voxels, held, {progress.task, 0.8 * progress.whole}));
  task.For(joints, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      for (double& w : computed.columns.of(j)) {
        w = DistanceLaw(w / skin.diagonal, options.smoothness);
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (voxels.count() == 0) {
    computed.notes.push_back(
        "the mesh encloses nothing, or is thinner than a voxel: straight-line distances");
  } else if (!computed.unseen.empty()) {
    computed.notes.push_back(absl::StrCat(computed.unseen.size(),
                                          " points are not reached through the body or along the "
                                          "skin: straight-line distances"));
  }
  return computed;
}

std::size_t GeodesicBytes(std::size_t points, std::size_t triangles, std::size_t joints) {
  return points * (joints * sizeof(double) + sizeof(Doors) + 64) + triangles * 6 * 24;
}

}  // namespace sinew::weights
