// meter.h - quality metrics of single deformed frames: volume, thickness, bulge, edges, areas,
// inverted faces, roughness, self-intersections and their volume. For sequences see sequence.h.
//
// A Meter is created once per rig and measures frames of any deformer of it. All computations are
// in double; the results do not depend on the number of threads.
//
//    auto meter = Meter::Create(rig, {.self_intersections = true}, task);
//    auto figures = meter->Measure(positions, joints, task);
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/metrics/limb_radii.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"

namespace sinew::metrics {

// Ratios are relative to the rest mesh without shapes, for all methods alike: what a shape
// stretches counts as stretched. Absent: meaningless for this mesh, not requested, over budget
// (self-intersections, overlap), or too few earlier frames (those of sequence.h).
struct FrameMetrics {
  std::optional<double> volume_ratio;       // see volume.h
  std::optional<double> minimum_thickness;  // see thickness.h
  std::optional<double> bulge;              // see bulge.h
  std::optional<double> edge_distortion;    // see distortion.h
  std::optional<double> worst_edge;
  std::optional<double> area_distortion;
  std::optional<double> flipped_fraction;
  std::optional<double> flipped_beyond_linear;  // part of flipped_fraction; 0 for linear blending
  std::optional<std::uint64_t> self_intersections;  // pairs of faces, see self_intersection.h
  std::optional<double> overlap;        // added volume enclosed twice or more, over the rest volume
  std::optional<double> roughness;      // of an edge: the largest, see roughness.h
  std::optional<double> roughness_999;  // its 99.9th percentile
  std::optional<double> rough_fraction;  // share of the edges whose roughness is above 1
  std::optional<double> jerk;            // bounding-box diagonals / s^3, see sequence.h
  std::optional<double> pop, pop_999;    // limb radii / degree, see sequence.h
};

class Meter {
 public:
  struct Options {
    bool self_intersections = false;  // the slow metrics: self-intersections and overlap
  };
  // The rig must outlive it. kCancelled.
  static absl::StatusOr<Meter> Create(const Rig& rig, const Options& options, Task& task);
  // Upper estimate of the bytes a Meter needs while measuring.
  static std::size_t Cost(const Rig& rig, const Options& options);
  Meter(Meter&&) noexcept;
  Meter& operator=(Meter&&) noexcept;
  ~Meter();

  // All metrics of one frame alone. positions: [V] in file order, finite; joints: [J] the
  // pose of the frame, joint to model. Thread-safe. kCancelled.
  absl::StatusOr<FrameMetrics> Measure(std::span<const Vec3f> positions,
                                       std::span<const Affine> joints, const Task& task) const;

  const Rig& rig() const;
  // The points that have a limb, and where they are in the bind space of the joint that carries
  // them; NaN where that joint is scaled to zero. Arguments as of Measure.
  std::span<const LimbRadii::Point> limb_points() const;
  std::vector<Vec3d> Carried(std::span<const Vec3f> positions, std::span<const Affine> joints,
                             const Task& task) const;

 private:
  struct Tables;
  explicit Meter(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

}  // namespace sinew::metrics
