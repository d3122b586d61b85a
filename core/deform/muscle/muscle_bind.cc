#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/segment.h"
#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/deform/muscle/muscle.h"
#include "core/muscle/muscle_kernel.h"
#include "core/surface/muscle_footprint.h"
#include "core/surface/part_triangles.h"

namespace sinew {
namespace {

constexpr double kPairWork = 60;                // nanoseconds per vertex under a muscle
constexpr double kVertexWork = 400;             // nanoseconds per vertex: welding, faces
constexpr double kFaceNs = 8;                   // nanoseconds per corner of a frame
constexpr std::size_t kAnchorsAtATime = 65536;  // between cancellation checks

struct BellyPlace {
  double u;
  Vec3d offset;  // from the belly's line
};

BellyPlace PlaceOf(const MuscleRow& row, const MuscleState& rest, const Vec3d& p) {
  const auto point = [&](double u) {
    return PointAt(rest.path, rest.belly_from + u * rest.belly_length);
  };
  // The belly's line with the segments of its field; an ellipsoid has one.
  const bool straight = static_cast<MuscleProfile>(row.profile) == MuscleProfile::kEllipsoid;
  const int pieces = straight ? 1 : static_cast<int>(kMuscleSegments);
  BellyPlace best = {};
  double nearest = HUGE_VAL;
  for (int k = 0; k < pieces; ++k) {
    const OnSegment at = NearestOnSegment(point(static_cast<double>(k) / pieces),
                                          point(static_cast<double>(k + 1) / pieces), p);
    const Vec3d offset = p - at.point;
    if (!(Dot(offset, offset) < nearest)) continue;
    nearest = Dot(offset, offset);
    best = {(k + at.place) / pieces, offset};
  }
  return best;
}

struct PointAnchor {
  std::uint32_t place;  // of the point, in lane order
  MuscleAnchor anchor;
};

// Appends the anchors of one muscle; none if most of the skin beside its belly faces it from
// outside.
//
//    normals  [P] outward, of welded points
void AnchorTo(const MuscleFootprint& footprint, const MuscleRow& row, std::uint32_t muscle,
              const BindPoseSkin& skin, const WeldedPoints& welded, std::span<const Vec3d> normals,
              const PointOrder& order, float strength, std::vector<PointAnchor>& out) {
  const std::size_t before = out.size();
  double covered = 0;
  const double reach = std::max(row.width, row.depth);
  const auto& m = footprint.bound.frame.m;
  const Vec3d width = {m[1], m[5], m[9]}, depth = {m[2], m[6], m[10]};
  for (std::size_t i = 0; i < footprint.vertices.size(); ++i) {
    const std::uint32_t v = footprint.vertices[i], point = welded.point[v];
    const double beyond = (double{footprint.values[i]} - footprint.fat) / reach;
    if (welded.first[point] != v || !(beyond < 1)) continue;
    const BellyPlace place = PlaceOf(row, footprint.bound, skin.points[v]);
    const double radius = ProfileRadius(static_cast<MuscleProfile>(row.profile), row.warp, place.u);
    const double across = Dot(place.offset, width), down = Dot(place.offset, depth);
    const double side = std::sqrt(across * across + down * down);
    const auto share = static_cast<float>(strength * radius * (1 - SmoothStep(beyond)));
    if (!(share > 0) || !(side > 0)) continue;
    covered += double{share} * Dot(Unit(place.offset), normals[point]);
    out.push_back(
        {order.number[point],
         {muscle, share, static_cast<float>(across / side), static_cast<float>(down / side)}});
  }
  if (covered < 0) out.resize(before);
}

// Scales the shares of a point down if they sum to more than the strength.
void LimitShares(std::span<PointAnchor> row, float strength) {
  double sum = 0;
  for (const PointAnchor& each : row) sum += each.anchor.share;
  if (!(sum > strength)) return;
  for (PointAnchor& each : row) {
    each.anchor.share = static_cast<float>(each.anchor.share * (strength / sum));
  }
}

}  // namespace

absl::StatusOr<BindCost> MuscleStage::Cost(const BindInput& input, const MuscleParams&) {
  const Rig& rig = input.rig;
  if (rig.muscles().empty()) {
    return BindCost{.peak_bytes = 1024, .bound_bytes = 1024, .work = 1, .frame_ns = 1};
  }
  const std::size_t pairs = MostUnderMuscles(rig), lanes = input.layout.order.size();
  const std::size_t corners = rig.mesh().face_vertices().size(), faces = rig.mesh().faces();
  const std::size_t anchored = std::min(pairs, rig.vertices());
  const std::size_t tables =
      rig.muscle_tables().rows.size() * (sizeof(MuscleRow) + sizeof(BellyAxes)) +
      rig.muscle_tables().points.size() * sizeof(MusclePointRow);
  const std::size_t bound = tables + pairs * sizeof(MuscleAnchor) + anchored * 12 + lanes * 4 +
                            (corners * 2 + faces * 2 + anchored + 8) * sizeof(std::uint32_t);
  const std::size_t binding = rig.vertices() * 189 + ShapeWeldBytes(rig) +
                              rig.influences().size() * 24 + corners * 48 + faces * 48 +
                              pairs * 3 * sizeof(PointAnchor);
  return BindCost{
      .peak_bytes = 2 * bound + binding + (1 << 16),
      .bound_bytes = bound,
      .work = kPairWork * static_cast<double>(pairs) +
              kVertexWork * static_cast<double>(rig.vertices()),
      .frame_ns = kFaceNs * static_cast<double>(corners) + 20 * static_cast<double>(pairs),
      .surface = RigSurface::kWelded | RigSurface::kOrder};
}

absl::StatusOr<MuscleStage> MuscleStage::Bind(const BindInput& input, const MuscleParams& params,
                                              Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  MuscleStage bound;
  const Rig& rig = input.rig;
  if (rig.muscles().empty() || params.strength == 0) return bound;
  const WeldedPoints& welded = input.surface.welded();
  const PointOrder& order = input.surface.order();
  const BindPoseSkin skin = MakeBindPoseSkin(rig);
  const std::vector<Vec3d> normals = OutwardNormals(rig.mesh(), welded, skin.points);
  const std::vector<std::uint8_t> inside_out = InsideOut(rig.mesh(), skin.points);
  task.Advance(0.5 * kVertexWork * static_cast<double>(rig.vertices()));
  std::vector<PointAnchor> all;
  for (std::size_t m = 0; m < rig.muscles().size(); ++m) {
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    const MuscleFootprint footprint = MakeFootprint(rig, skin, m);
    const MuscleRow& row = rig.muscle_tables().rows[m];
    bound.rest_axes.push_back(
        PumpedAxes({row.width, row.depth}, 1, 1, row.tension, footprint.bound.activation));
    AnchorTo(footprint, row, static_cast<std::uint32_t>(m), skin, welded, normals, order,
             params.strength, all);
    task.Advance(kPairWork * static_cast<double>(footprint.vertices.size()));
  }
  if (all.empty()) return MuscleStage();
  std::ranges::stable_sort(all, {}, &PointAnchor::place);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());

  bound.muscles = rig.muscle_tables();
  bound.lane_anchor.assign(input.layout.order.size(), -1);
  std::vector<std::uint32_t> row_of_point(welded.points(), 0);  // 0 = not anchored
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].place == all[begin].place) ++end;
    const std::span<PointAnchor> row = std::span(all).subspan(begin, end - begin);
    LimitShares(row, params.strength);
    if (inside_out[welded.first[order.point[row.front().place]]] != 0) {
      for (PointAnchor& each : row) each.anchor.share = -each.anchor.share;
    }
    bound.anchor_offset.push_back(static_cast<std::uint32_t>(bound.anchors.size()));
    for (; begin < end; ++begin) bound.anchors.push_back(all[begin].anchor);
    const std::uint32_t place = all[end - 1].place;
    bound.anchor_lane.push_back(order.lane[place]);
    row_of_point[order.point[place]] = static_cast<std::uint32_t>(bound.anchor_lane.size());
  }
  bound.anchor_offset.push_back(static_cast<std::uint32_t>(bound.anchors.size()));
  for (std::size_t i = 0; i < bound.lane_anchor.size(); ++i) {
    bound.lane_anchor[i] =
        static_cast<std::int32_t>(row_of_point[welded.point[input.layout.Vertex(i)]]) - 1;
  }
  // Points without anchors share one last row, which is cut off.
  const auto count = static_cast<std::uint32_t>(bound.anchored());
  std::vector<std::uint32_t> point(rig.vertices());
  for (std::size_t v = 0; v < point.size(); ++v) {
    const std::uint32_t row = row_of_point[welded.point[v]];
    point[v] = row == 0 ? count : row - 1;
  }
  bound.surface = MakeSurfaceFaces(rig.mesh(), input.layout.lane, point, std::size_t{count} + 1);
  bound.surface.faces.resize(bound.surface.face_offset[count]);
  bound.surface.face_offset.resize(std::size_t{count} + 1);
  task.Advance(0.5 * kVertexWork * static_cast<double>(rig.vertices()));
  return bound;
}

}  // namespace sinew
