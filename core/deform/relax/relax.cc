#include "core/deform/relax/relax.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/deform/method/scratch.h"
#include "core/simd/vec4.h"
#include "core/surface/normals_kernel.h"
#include "core/surface/part_triangles.h"
#include "core/surface/skin_sides.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kPointGrain = 2048, kBlockGrain = 256;
// A point whose area vectors sum to less than this part of their squared lengths is between folded
// faces and has no surface to slide on. Sliding fades out towards that limit.
constexpr float kNoSurface = 0.005f;
// Length of the angle-weighted mean of the unit face normals around a point: at or below kRidge it
// is a corner or on a ridge and does not slide, at kSmooth it is on smooth skin. A right-angled
// ridge has 0.71, a limb of twelve sides 0.97.
constexpr double kRidge = 0.6, kSmooth = 0.95;
// Relative to the squared edge lengths of a face: with a smaller area its normal is undefined.
constexpr double kSliver = 1e-5;
// Nanoseconds per vertex, for progress and for the estimated frame time.
constexpr double kBindWork = 1500, kGatherTime = 6, kPassTime = 60;

// Squared shift relative to the squared lengths of a point's faces: shorter shifts are rounding
// (rigid limbs) and do not lower the point.
constexpr float kStill = 1e-10f;

// Larger faces are ignored: finding a point's own corner in each is quadratic.
constexpr std::size_t kMaxCorners = 16;

// The previous and next corner of a face.
struct FaceEdges {
  std::uint32_t previous, next;
};
FaceEdges EdgesAt(std::span<const std::uint32_t> corners, std::size_t at) {
  return {corners[at == 0 ? corners.size() - 1 : at - 1],
          corners[at + 1 == corners.size() ? 0 : at + 1]};
}
std::size_t FindCorner(std::span<const std::uint32_t> corners, std::size_t point) {
  return static_cast<std::size_t>(std::ranges::find(corners, point) - corners.begin());
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

Vec4 PointOf(const Relax& relax, std::span<const PointBlock> blocks, std::size_t p) {
  const std::size_t lane = relax.point_lane[p];
  return ToVec4(blocks[lane / kLanes].At(lane % kLanes));
}

// Height along the normal, at most 0, of the face of point p below `shift`. Without it convex skin
// would grow when sliding.
//
//    outside  1 if the normal points outward, -1 if inward
float FaceBelow(const Relax& relax, const float* points, std::size_t p, const Vec4& normal,
                const Vec4& shift, float outside) {
  const Vec4 at = Load4(points, p);
  const SurfaceFaces& surface = relax.surface;
  for (std::uint32_t k = surface.face_offset[p]; k < surface.face_offset[p + 1]; ++k) {
    const auto corners = surface.Corners(surface.faces[k]);
    if (corners.size() > kMaxCorners) continue;
    const FaceEdges edges = EdgesAt(corners, FindCorner(corners, p));
    const Vec4 a = Load4(points, edges.next) - at, b = Load4(points, edges.previous) - at;
    // Twice the projected areas of the face and of its parts beside `shift`.
    const float area = Dot3(Cross3(a, b), normal);
    const float by_a = Dot3(Cross3(shift, b), normal), by_b = Dot3(Cross3(a, shift), normal);
    if (!(area > 0 && by_a >= 0 && by_b >= 0)) continue;
    const float height = outside * (by_a * Dot3(a, normal) + by_b * Dot3(b, normal)) / area;
    const float lowest = -Length3(shift);  // limit for steep faces
    return outside * (height > lowest ? std::min(height, 0.0f) : lowest);
  }
  return 0;
}

// One pass for one point; `sides` of the skin matrices.
Vec4 Relaxed(const Relax& relax, const float* points, const float* face_normals,
             const BlockLayout& layout, SkinSides& sides, std::size_t p) {
  const Vec4 at = Load4(points, p);
  const std::uint32_t begin = relax.row_offset[p], end = relax.row_offset[p + 1];
  if (begin == end) return at;
  alignas(16) float sum[4];
  PointSumsKernel(relax.surface.face_offset.data(), relax.surface.faces.data(), face_normals, sum,
                  p, p + 1);
  Vec3f n;
  if (!SurfaceNormal(relax.surface, points, face_normals, p, sum, n)) return at;
  const float area = sum[0] * n.x + sum[1] * n.y + sum[2] * n.z;
  const float open = area / sum[3] / kNoSurface - 1;
  if (!(open > 0)) return at;
  Vec4 shift = {0, 0, 0, 0};
  for (std::uint32_t k = begin; k < end; ++k) {
    shift += relax.weights[k] * (Load4(points, relax.neighbours[k]) - at);
  }
  const Vec4 normal = ToVec4(n);
  shift -= Dot3(shift, normal) * normal;
  shift *= std::min(open, 1.0f) * relax.strength;
  if (!(Dot3(shift, shift) > kStill * sum[3])) return at + shift;
  const float side = sides.Of(layout.pivot[relax.point_lane[p] / kLanes]);
  const float outside = relax.inside_out[p] != 0 ? -side : side;
  return at + shift + FaceBelow(relax, points, p, normal, shift, outside) * normal;
}

void WriteBlock(const Relax& relax, std::span<const PointBlock> in, const float* moved,
                const Vec4& origin, std::size_t b, PointBlock& out) {
  out = in[b];
  for (std::size_t i = 0; i < kLanes; ++i) {
    const std::size_t p = relax.lane_point[b * kLanes + i];
    const Vec4 from = PointOf(relax, in, p);
    const Vec4 shift = Load4(moved, p) - (from - origin);
    if (shift[0] == 0 && shift[1] == 0 && shift[2] == 0) continue;
    const Vec4 to = from + shift;
    out.Set(i, {to[0], to[1], to[2]});
  }
}

}  // namespace

absl::StatusOr<BindCost> Relax::Cost(const BindInput& input, const RelaxParams& params) {
  const Mesh& mesh = input.rig.mesh();
  const std::size_t vertices = input.rig.vertices(), lanes = input.layout.order.size();
  const std::size_t corners = mesh.face_vertices().size(), faces = mesh.faces();
  // Directed edges; triangulation adds fewer edges than corners.
  const std::size_t edges = 4 * corners;
  const std::size_t bound = vertices * 17 + lanes * 4 + edges * 8 + corners * 8 + faces * 4 + 64;
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
  for (const std::uint32_t p : order.point) relax.point_lane.push_back(order.lane[p]);
  for (std::size_t i = 0; i < input.layout.order.size(); ++i) {
    relax.lane_point.push_back(order.vertex[input.layout.Vertex(i)]);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  relax.surface = MakeSurfaceFaces(mesh, order.vertex, order.vertex, order.point.size());
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
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
    relax.inside_out.push_back(inside_out[welded.first[p]]);
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const std::vector<double> smoothness = Smoothness(relax.surface, rest);
  relax.row_offset.push_back(0);
  for (std::size_t i = 0; i < relax.points(); ++i) {
    const std::uint32_t p = order.point[i];
    const double part = roles[p] == ComponentRole::kRigidComponent ? 0 : smoothness[i];
    for (std::uint64_t k = ring.offsets[p]; k < ring.offsets[p + 1]; ++k) {
      if (!(part * weights[k] > 0)) break;  // a row is positive, or all zero
      relax.neighbours.push_back(order.number[ring.neighbours[k]]);
      relax.weights.push_back(static_cast<float>(part * weights[k]));
    }
    relax.row_offset.push_back(static_cast<std::uint32_t>(relax.neighbours.size()));
  }
  task.Advance(kBindWork * static_cast<double>(input.rig.vertices()));
  return relax;
}

StageFacts Relax::Facts() const {
  return {
      .method = Params::kName,
      .in = Space::kPosed,
      .out = Space::kPosed,
      .pointwise = false,
      .scratch_floats = points() == 0 ? 0 : 2 * WholeLines(points() * 4) + surface.normal_floats()};
}

std::vector<BindStatistic> Relax::Statistics() const {
  std::size_t free = 0;
  for (std::size_t p = 0; p < points(); ++p) free += row_offset[p + 1] > row_offset[p] ? 1 : 0;
  return {{.name = "still_points",
           .value = static_cast<double>(points() - free),
           .unit = {},
           .description = "Welded points that never slide: on borders, sharp corners and rigid "
                          "components, or where faces do not close around them once."}};
}

absl::Status Relax::Check(const BlockLayout& layout, std::size_t bindings) const {
  SINEW_RETURN_IF_ERROR(MethodOf::Check(layout, bindings));
  for (std::size_t p = 0; p < points(); ++p) {
    for (std::uint32_t k = surface.face_offset[p]; k < surface.face_offset[p + 1]; ++k) {
      const auto corners = surface.Corners(surface.faces[k]);
      if (corners.size() > kMaxCorners || FindCorner(corners, p) < corners.size()) continue;
      return DataLoss("bound data: relax: faces: face ", surface.faces[k], " of point ", p,
                      ", need one with this corner");
    }
  }
  return absl::OkStatus();
}

void Relax::Run(const StageFrame& frame) const {
  const std::size_t buffer = WholeLines(points() * 4);
  float* now = frame.scratch.data();
  float* next = now + buffer;
  const std::span<float> face_normals = frame.scratch.subspan(2 * buffer);
  // Relative to a vertex, where float is finest.
  const Vec4 origin = PointOf(*this, frame.in, 0);
  frame.task.For(points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      Store4(PointOf(*this, frame.in, p) - origin, now, p);
    }
  });
  for (std::uint32_t pass = 0; pass < iterations; ++pass) {
    FillFaceNormals(surface, {now, buffer}, face_normals, frame.task);
    frame.task.For(points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
      SkinSides sides(frame.posed.skin);
      for (std::size_t p = begin; p < end; ++p) {
        Store4(Relaxed(*this, now, face_normals.data(), frame.layout, sides, p), next, p);
      }
    });
    std::swap(now, next);
  }
  frame.task.For(frame.out.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      WriteBlock(*this, frame.in, now, origin, b, frame.out[b]);
    }
  });
}

}  // namespace sinew
