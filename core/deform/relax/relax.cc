#include "core/deform/relax/relax.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/deform/method/scratch.h"
#include "core/deform/relax/relax_kernel.h"
#include "core/simd/vec4.h"
#include "core/surface/mean_value.h"
#include "core/surface/part_triangles.h"
#include "core/surface/surface_faces.h"

namespace sinew {
namespace {

constexpr std::size_t kPointGrain = 2048, kBlockGrain = 256, kGroupGrain = 64;
// Length of the angle-weighted mean of the unit face normals around a point: at or below kRidge it
// is a corner or on a ridge and does not slide, at kSmooth it is on smooth skin. A right-angled
// ridge has 0.71, a limb of twelve sides 0.97.
constexpr double kRidge = 0.6, kSmooth = 0.95;
// Relative to the squared edge lengths of a face: with a smaller area its normal is undefined.
constexpr double kSliver = 1e-5;
// Poles with more neighbours stay: the points of a group take as long as the one with most.
constexpr std::size_t kMostRing = kMostSteps - 1;
// Points sorted by the number of their neighbours, so that most groups of 16 share it.
constexpr std::size_t kWindow = 512;
// Nanoseconds per vertex, for progress and for the estimated frame time.
constexpr double kBindWork = 1500, kGatherTime = 3, kPassTime = 8;

// The previous and next corner of a face.
struct FaceEdges {
  std::uint32_t previous, next;
};
FaceEdges EdgesAt(std::span<const std::uint32_t> corners, std::size_t at) {
  return {corners[at == 0 ? corners.size() - 1 : at - 1],
          corners[at + 1 == corners.size() ? 0 : at + 1]};
}

// Twice the vector area; 0 for a sliver.
Vec3d AreaOf(std::span<const std::uint32_t> corners, std::span<const Vec3d> rest) {
  Vec3d area;
  double edges = 0;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    const Vec3d a = rest[corners[k]] - rest[corners[0]];
    const Vec3d edge = rest[EdgesAt(corners, k).next] - rest[corners[k]];
    area = area + Cross(a, edge);
    edges += Dot(edge, edge);
  }
  return Length(area) > kSliver * edges ? area : Vec3d{};
}

// Angle from a to b about the unit normal n, 0 to 2 pi: polygon corners may be reflex.
double AngleAbout(const Vec3d& n, const Vec3d& a, const Vec3d& b) {
  constexpr double kNoTurn = 1e-9;  // angles up to here are spikes, up to rounding
  const double across = Dot(Cross(a, b), n), along = Dot(a, b) - Dot(a, n) * Dot(b, n);
  const double angle = std::atan2(across, along);
  return angle < -kNoTurn ? angle + 2 * std::numbers::pi : std::max(angle, 0.0);
}

// [P] share of its shift by which a point slides, from the curvature at rest.
std::vector<double> Smoothness(const SurfaceFaces& surface, std::span<const Vec3d> rest) {
  struct Normals {
    Vec3d sum;
    double size = 0;
  };
  std::vector<Normals> around(rest.size());
  for (std::size_t face = 0; face < surface.face_count(); ++face) {
    const auto corners = surface.Corners(face);
    const Vec3d normal = Unit(AreaOf(corners, rest));
    if (normal == Vec3d{}) continue;
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const FaceEdges edges = EdgesAt(corners, k);
      const Vec3d& at = rest[corners[k]];
      const double angle = AngleAbout(normal, rest[edges.next] - at, rest[edges.previous] - at);
      Normals& normals = around[corners[k]];
      normals.sum = normals.sum + angle * normal;
      normals.size += angle;
    }
  }
  std::vector<double> smoothness;
  for (const Normals& normals : around) {
    const double agree = normals.size > 0 ? Length(normals.sum) / normals.size : 0;
    smoothness.push_back(SmoothStep(kRidge, kSmooth, agree));
  }
  return smoothness;
}

// Numbers, in windows ascending by the size of their ring.
std::vector<std::uint32_t> SortedByRing(std::span<const std::uint8_t> ring_size) {
  std::vector<std::uint32_t> sorted(ring_size.size());
  std::iota(sorted.begin(), sorted.end(), 0u);
  for (std::size_t first = 0; first < sorted.size(); first += kWindow) {
    const auto window = std::span(sorted).subspan(first, std::min(kWindow, sorted.size() - first));
    std::ranges::stable_sort(window, {}, [&](std::uint32_t i) { return ring_size[i]; });
  }
  return sorted;
}

// The sizes of all tables of groups. A group is closed unless all its rings are equally long.
void SetGroups(std::span<const std::uint32_t> sorted, std::span<const std::uint8_t> ring_size,
               Relax& relax) {
  relax.group_closed.reserve(relax.groups());
  relax.group_steps.reserve(relax.groups() + 1);
  relax.group_steps.push_back(0);
  for (std::size_t first = 0; first < sorted.size(); first += kLanes) {
    const std::size_t count = std::min(kLanes, sorted.size() - first);
    const auto [least, most] = std::ranges::minmax(sorted.subspan(first, count), {},
                                                   [&](std::uint32_t i) { return ring_size[i]; });
    const std::uint32_t shortest = ring_size[least], longest = ring_size[most];
    const bool closed = longest > 0 && (count < kLanes || shortest < longest);
    relax.group_closed.push_back(closed ? 1 : 0);
    relax.group_steps.push_back(relax.group_steps.back() + longest + (closed ? 1 : 0));
  }
  relax.ring.resize(std::size_t{relax.group_steps.back()} * kLanes);
  relax.weights.resize(relax.ring.size());
}

// Points begin ... end - 1 relative to the origin; those behind the last one repeat it.
void GatherPoints(const Relax& relax, std::span<const PointBlock> in, const Vec4 origin,
                  std::size_t begin, std::size_t end, float* points) {
  const std::uint32_t* const lanes = relax.point_lane.data();
  const PointBlock* const blocks = in.data();
  const std::size_t last = relax.points() - 1;
  for (std::size_t p = begin; p < end; ++p) {
    const std::size_t lane = lanes[std::min(p, last)];
    Store4(ToVec4(blocks[lane / kLanes].At(lane % kLanes)) - origin, points, p);
  }
}

}  // namespace

absl::StatusOr<BindCost> Relax::Cost(const BindInput& input, const RelaxParams& params) {
  const Mesh& mesh = input.rig.mesh();
  const std::size_t vertices = input.rig.vertices(), lanes = input.layout.order.size();
  const std::size_t corners = mesh.face_vertices().size(), faces = mesh.faces();
  // Directed edges; triangulation adds fewer edges than corners.
  const std::size_t edges = 4 * corners;
  // Every group is as long as its longest ring, and may end with its first neighbours again.
  const std::size_t groups = (vertices + kLanes - 1) / kLanes, steps = groups * kMostSteps;
  const std::size_t bound = vertices * 5 + lanes * 4 + groups * 5 + steps * kLanes * 8 + 64;
  const std::size_t passing =
      vertices * 500 + ShapeWeldBytes(input.rig) + edges * 24 + corners * 136 + faces * 24 +
      (input.rig.joints() + input.rig.bindings().size()) * kComponentJointBytes;
  return BindCost{
      .peak_bytes = bound + passing,
      .bound_bytes = bound,
      .work = kBindWork * static_cast<double>(vertices),
      .frame_ns = static_cast<double>(vertices) * (kGatherTime + kPassTime * params.iterations),
      .surface = RigSurface::kWelded | RigSurface::kOrder | RigSurface::kTriangles |
                 RigSurface::kBorder | RigSurface::kComponents | RigSurface::kMeanValue};
}

absl::StatusOr<Relax> Relax::Bind(const BindInput& input, const RelaxParams& params, Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const Mesh& mesh = input.rig.mesh();
  Relax relax;
  relax.iterations = params.iterations;
  relax.strength = params.strength;
  const WeldedPoints& welded = input.surface.welded();
  const PointOrder& order = input.surface.order();
  const Adjacency& ring = input.surface.triangles();
  const std::vector<double>& weights = input.surface.mean_value();
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const std::vector<ComponentRole>& roles = input.surface.components();
  std::vector<Vec3d> places, rest;
  places.reserve(mesh.vertices());
  rest.reserve(order.point.size());
  for (const Vec3f& p : mesh.positions()) places.push_back(ToDouble(p));
  const std::vector<std::uint8_t> inside_out = InsideOut(mesh, places);
  for (const std::uint32_t p : order.point) {
    rest.push_back(places[welded.first[p]]);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<double> smoothness;
  std::vector<std::uint32_t> next;
  task.For(2, 1, [&](std::size_t part, std::size_t) {
    if (part == 0) {
      smoothness =
          Smoothness(MakeSurfaceFaces(mesh, order.vertex, order.vertex, order.point.size()), rest);
    } else {
      next = NextAround(mesh, welded, ring);
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::vector<std::uint8_t> ring_size;  // by place in `order`; 0: the point stays
  for (std::size_t i = 0; i < order.point.size(); ++i) {
    const std::uint32_t p = order.point[i];
    const std::size_t size = ring.row(p).size();
    const bool slides = size > 0 && size <= kMostRing && weights[ring.offsets[p]] > 0 &&
                        smoothness[i] > 0 && roles[p] != ComponentRole::kRigidComponent;
    ring_size.push_back(slides ? static_cast<std::uint8_t>(size) : 0);
  }
  const std::vector<std::uint32_t> sorted = SortedByRing(ring_size);
  std::vector<std::uint32_t> number(sorted.size());  // of each place in `order`
  for (std::uint32_t n = 0; n < sorted.size(); ++n) number[sorted[n]] = n;
  relax.point_lane.reserve(sorted.size());
  relax.inside_out.reserve(sorted.size());
  for (const std::uint32_t i : sorted) {
    relax.point_lane.push_back(order.lane[order.point[i]]);
    relax.inside_out.push_back(inside_out[welded.first[order.point[i]]]);
  }
  relax.lane_point.reserve(input.layout.order.size());
  for (std::size_t i = 0; i < input.layout.order.size(); ++i) {
    relax.lane_point.push_back(number[order.vertex[input.layout.Vertex(i)]]);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());

  SetGroups(sorted, ring_size, relax);
  const auto set_lane = [&](std::size_t lane) {
    const auto n = static_cast<std::uint32_t>(std::min(lane, sorted.size() - 1));
    const std::uint32_t i = sorted[n], p = order.point[i];
    const std::size_t size = lane == n ? ring_size[i] : 0, begin = ring.offsets[p];
    const std::size_t group = lane / kLanes, end = relax.group_steps[group + 1];
    std::size_t step = 0, k = 0;  // k: place in the row
    for (std::size_t at = relax.group_steps[group]; at < end; ++at, ++step) {
      const std::size_t to = at * kLanes + lane % kLanes;
      const bool closes = step == size && size > 0;
      relax.ring[to] = step < size || closes ? number[order.number[ring.neighbours[begin + k]]] : n;
      if (step >= size) continue;
      relax.weights[to] = static_cast<float>(smoothness[i] * weights[begin + k]);
      k = step + 1 < size ? next[begin + k] : 0;
    }
  };
  task.For(relax.groups() * kLanes, kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t lane = begin; lane < end; ++lane) set_lane(lane);
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(kBindWork * static_cast<double>(input.rig.vertices()));
  return relax;
}

StageFacts Relax::Facts() const {
  return {.method = Params::kName,
          .in = Space::kPosed,
          .out = Space::kPosed,
          .pointwise = false,
          .scratch_floats = (iterations > 1 ? 3 : 2) * WholeLines(groups() * kLanes * 4)};
}

std::vector<BindStatistic> Relax::Statistics() const {
  std::size_t free = 0;
  for (std::size_t p = 0; p < points(); ++p) {
    const std::uint32_t group = group_steps[p / kLanes];
    free += group < group_steps[p / kLanes + 1] && weights[group * kLanes + p % kLanes] > 0 ? 1 : 0;
  }
  return {{.name = "still_points",
           .value = static_cast<double>(points() - free),
           .unit = {},
           .description =
               "Welded points that never slide: on borders, sharp corners and rigid "
               "components, where faces do not close around them once, or with more than 16 "
               "neighbours."}};
}

void Relax::Run(const StageFrame& frame) const {
  const std::size_t buffer = WholeLines(groups() * kLanes * 4);
  float* const start = frame.scratch.data();
  float *now = start, *next = start + buffer, *spare = start + (iterations > 1 ? 2 : 0) * buffer;
  // Relative to a vertex, where float is finest.
  const Vec4 origin = ToVec4(frame.in.front().At(0));
  frame.task.For(groups() * kLanes, kPointGrain, [&](std::size_t begin, std::size_t end) {
    GatherPoints(*this, frame.in, origin, begin, end, start);
  });
  const bool flipped =
      std::ranges::any_of(frame.posed.signs, [](float sign) { return sign < 0; }) ||
      std::ranges::any_of(inside_out, [](std::uint8_t flag) { return flag != 0; });
  for (std::uint32_t pass = 0; pass < iterations; ++pass) {
    frame.task.For(groups(), kGroupGrain, [&](std::size_t begin, std::size_t end) {
      alignas(64) float outside[kLanes];
      std::ranges::fill(outside, 1.0f);
      for (std::size_t g = begin; g < end; ++g) {
        for (std::size_t i = 0; flipped && i < kLanes; ++i) {
          const std::size_t p = std::min(g * kLanes + i, points() - 1);
          const float side = frame.posed.signs[frame.layout.pivot[point_lane[p] / kLanes]];
          outside[i] = inside_out[p] != 0 ? -side : side;
        }
        const std::size_t first = std::size_t{group_steps[g]} * kLanes;
        RelaxKernel(ring.data() + first, weights.data() + first,
                    group_steps[g + 1] - group_steps[g], group_closed[g] != 0, outside, strength,
                    now, pass + 1 == iterations ? start : nullptr, g * kLanes, next);
      }
    });
    now = next;
    std::swap(next, spare);
  }
  // The last pass stored how far each point slid.
  frame.task.For(frame.out.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    SlideKernel(lane_point.data() + begin * kLanes, end - begin, now, frame.in[begin].x,
                frame.out[begin].x);
  });
}

}  // namespace sinew
