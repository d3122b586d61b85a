#include "core/metrics/meter.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "core/base/status.h"
#include "core/metrics/binding_bones.h"
#include "core/metrics/bulge.h"
#include "core/metrics/distortion.h"
#include "core/metrics/overlap.h"
#include "core/metrics/roughness.h"
#include "core/metrics/self_intersection.h"
#include "core/metrics/surface.h"
#include "core/metrics/thickness.h"
#include "core/metrics/volume.h"

namespace sinew::metrics {
namespace {

constexpr std::size_t kGrain = 4096;  // points

// [E] bind space to posed model space.
std::vector<AffineD> SkinMatrices(const Rig& rig, std::span<const Affine> joints) {
  std::vector<AffineD> skin;
  for (const Binding& binding : rig.bindings()) {
    skin.push_back(Compose(ToDouble(joints[binding.joint]), binding.inverse_bind));
  }
  return skin;
}

}  // namespace

struct Meter::Tables {
  explicit Tables(const Rig& r)
      : rig(r),
        surface(Surface::Create(r)),
        volume(surface),
        bones(r, surface),
        radii(bones, surface),
        thickness(bones, r, surface),
        bulge(r, bones, radii, surface),
        distortion(r, surface) {}
  const Rig& rig;
  const Surface surface;
  const EnclosedVolume volume;
  const BindingBones bones;
  const LimbRadii radii;
  const BoneDistances thickness;
  const Bulge bulge;
  const Distortion distortion;
  std::optional<Roughness> roughness;                     // always set by Create
  std::optional<std::vector<FacePair>> crossing_at_rest;  // absent: not requested or over budget
  std::optional<double> twice_at_rest;                    // same, or nothing is enclosed
};

absl::StatusOr<Meter> Meter::Create(const Rig& rig, const Options& options, Task& task) {
  auto tables = std::make_unique<Tables>(rig);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_ASSIGN_OR_RETURN(tables->roughness, Roughness::Create(rig, tables->surface, task));
  if (options.self_intersections) {
    SINEW_ASSIGN_OR_RETURN(tables->crossing_at_rest,
                           CrossingFaces(rig, tables->surface, tables->surface.rest, task,
                                         Budget::For(tables->surface)));
    if (tables->volume.rest()) {
      SINEW_ASSIGN_OR_RETURN(const std::optional<Overlap> overlap,
                             MeasureOverlap(tables->volume.triangles(),
                                            tables->volume.Closed(tables->surface.rest), task));
      if (overlap) tables->twice_at_rest = overlap->twice;
    }
  }
  return Meter(std::move(tables));
}

std::size_t Meter::Cost(const Rig& rig, const Options& options) {
  constexpr std::size_t kVertex = 512, kCorner = 64, kTriangle = 320;
  constexpr std::size_t kBinding = 1024,
                        kJoint = 128;  // bytes per bone and per joint, incl. one frame's motions
  // Bytes per pair: rest pairs, pairs found (growing arrays), then merged, flagged and filtered.
  constexpr std::size_t kPair = 6 * sizeof(FacePair);
  const std::size_t corners = rig.mesh().face_vertices().size();
  // Faces have three or more corners.
  const std::size_t triangles = corners - 2 * rig.mesh().faces();
  std::size_t bytes = Roughness::Cost(rig) + rig.vertices() * kVertex + corners * kCorner +
                      rig.bindings().size() * kBinding + rig.joints() * kJoint;
  if (options.self_intersections) {
    const std::size_t pairs = std::min(Budget::kMaxPairs, triangles * triangles / 2);
    bytes += triangles * kTriangle + pairs * kPair + Overlap::Cost(triangles);
  }
  return bytes;
}

Meter::Meter(std::unique_ptr<const Tables> tables) : tables_(std::move(tables)) {}
Meter::Meter(Meter&&) noexcept = default;
Meter& Meter::operator=(Meter&&) noexcept = default;
Meter::~Meter() = default;

absl::StatusOr<FrameMetrics> Meter::Measure(std::span<const Vec3f> positions,
                                            std::span<const Affine> joints,
                                            const Task& task) const {
  const std::vector<AffineD> skin = SkinMatrices(tables_->rig, joints);
  const std::vector<Vec3d> points = tables_->surface.Points(positions);
  FrameMetrics metrics;
  const EnclosedVolume& volume = tables_->volume;
  const std::vector<Vec3d> closed = volume.Closed(points);
  metrics.volume_ratio = volume.Ratio(closed, task);
  metrics.minimum_thickness = tables_->thickness.Least(points, skin, task);
  metrics.bulge = tables_->bulge.Measure(points, skin, task);
  if (const auto edges = tables_->distortion.MeasureEdges(points, task)) {
    metrics.edge_distortion = edges->rms;
    metrics.worst_edge = edges->worst;
  }
  if (const auto areas = tables_->distortion.MeasureAreas(points, skin, task)) {
    metrics.area_distortion = areas->rms;
    metrics.flipped_fraction = areas->flipped;
    metrics.flipped_beyond_linear = areas->flipped_beyond_linear;
  }
  SINEW_ASSIGN_OR_RETURN(const std::optional<Roughness::Figures> roughness,
                         tables_->roughness->Measure(points, joints, skin, task));
  if (roughness) {
    metrics.roughness = roughness->largest;
    metrics.roughness_999 = roughness->percentile_999;
    metrics.rough_fraction = roughness->above_one;
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (const auto& rest = tables_->twice_at_rest) {
    SINEW_ASSIGN_OR_RETURN(const std::optional<Overlap> overlap,
                           MeasureOverlap(volume.triangles(), closed, task));
    if (overlap) {
      const bool mirrored = *metrics.volume_ratio < 0;
      const double twice = mirrored ? overlap->inside_out_twice : overlap->twice;
      metrics.overlap = std::max(0.0, twice - *rest) / *volume.rest();
    }
  }
  if (const auto& rest = tables_->crossing_at_rest) {
    SINEW_ASSIGN_OR_RETURN(
        const std::optional<std::vector<FacePair>> crossing,
        CrossingFaces(tables_->rig, tables_->surface, points, task, Budget::For(tables_->surface)));
    if (!crossing) return metrics;
    std::vector<FacePair> fresh;
    std::set_difference(crossing->begin(), crossing->end(), rest->begin(), rest->end(),
                        std::back_inserter(fresh));
    metrics.self_intersections = fresh.size();
  }
  return metrics;
}

const Rig& Meter::rig() const {
  return tables_->rig;
}

std::span<const LimbRadii::Point> Meter::limb_points() const {
  return tables_->radii.points();
}

std::vector<Vec3d> Meter::Carried(std::span<const Vec3f> positions, std::span<const Affine> joints,
                                  const Task& task) const {
  std::vector<AffineD> back;
  for (const AffineD& skin : SkinMatrices(tables_->rig, joints)) {
    back.push_back(Inverse(skin));
    if (IsFlat(skin)) back.back().m.fill(std::numeric_limits<double>::quiet_NaN());
  }
  const std::span<const LimbRadii::Point> points = limb_points();
  std::vector<Vec3d> carried(points.size());
  task.For(points.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t vertex = tables_->surface.welded.first[points[i].point];
      carried[i] = Apply(back[points[i].binding], ToDouble(positions[vertex]));
    }
  });
  return carried;
}

}  // namespace sinew::metrics
