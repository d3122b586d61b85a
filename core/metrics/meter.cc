#include "core/metrics/meter.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/status.h"
#include "core/metrics/binding_bones.h"
#include "core/metrics/bulge.h"
#include "core/metrics/distortion.h"
#include "core/metrics/overlap.h"
#include "core/metrics/self_intersection.h"
#include "core/metrics/surface.h"
#include "core/metrics/thickness.h"
#include "core/metrics/volume.h"

namespace sinew::metrics {

struct Meter::Tables {
  explicit Tables(const Rig& r)
      : rig(r),
        surface(Surface::Create(r)),
        volume(surface),
        bones(r, surface),
        thickness(bones, r, surface),
        bulge(r, bones, surface, volume),
        distortion(r, surface) {}
  const Rig& rig;
  const Surface surface;
  const EnclosedVolume volume;
  const BindingBones bones;
  const BoneDistances thickness;
  const Bulge bulge;
  const Distortion distortion;
  std::optional<std::vector<FacePair>> crossing_at_rest;  // absent: not requested or over budget
  std::optional<double> twice_at_rest;                    // same, or nothing is enclosed
};

absl::StatusOr<Meter> Meter::Create(const Rig& rig, const Options& options, const Task& task) {
  auto tables = std::make_unique<Tables>(rig);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
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
  constexpr std::size_t kVertex = 384, kCorner = 64, kSolid = 256, kTriangle = 320;
  constexpr std::size_t kBinding = 1024,
                        kJoint = 128;  // bytes per bone and per joint, incl. one frame's motions
  // Bytes per pair: rest pairs, pairs found (growing arrays), then merged, flagged and filtered.
  constexpr std::size_t kPair = 6 * sizeof(FacePair);
  const std::size_t corners = rig.mesh().face_vertices().size();
  // Faces have three or more corners.
  const std::size_t triangles = corners - 2 * rig.mesh().faces();
  std::size_t bytes = rig.vertices() * kVertex + corners * kCorner + triangles * kSolid +
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
  std::vector<AffineD> skin;
  for (const Binding& binding : tables_->rig.bindings()) {
    skin.push_back(Compose(ToDouble(joints[binding.joint]), binding.inverse_bind));
  }
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

std::optional<double> JerkMeter::Add(std::span<const Vec3f> positions, const Task& task) {
  std::optional<double> jerk;
  if (frames_.size() == 3 && diagonal_ > 0) {
    const double squares = SumOver<double>(
        task, positions.size(),
        [&](std::size_t v, double& part) {
          const Vec3d d = (ToDouble(positions[v]) - ToDouble(frames_[0][v])) +
                          3.0 * (ToDouble(frames_[1][v]) - ToDouble(frames_[2][v]));
          part += Dot(d, d);
        },
        [](double& sum, double part) { sum += part; });
    jerk = std::sqrt(squares / static_cast<double>(positions.size())) *
           std::pow(frames_per_second_, 3) / diagonal_;
  }
  if (frames_.size() == 3) frames_.pop_front();
  frames_.emplace_back(positions.begin(), positions.end());
  return jerk;
}

}  // namespace sinew::metrics
