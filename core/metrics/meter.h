// meter.h - quality metrics of deformed frames: volume, thickness, edges, areas, inverted faces,
// self-intersections and their volume, and jerk over a sequence.
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
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/metrics/summary.h"
#include "core/parallel/task.h"
#include "core/rig/rig.h"

namespace sinew::metrics {

// Ratios are relative to the rest mesh without shapes, for all methods alike: what a shape
// stretches counts as stretched. Absent: meaningless for this mesh, not requested, over budget
// (self-intersections, overlap), or too few earlier frames (jerk).
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
  std::optional<double> overlap;  // added volume enclosed twice or more, over the rest volume
  std::optional<double> jerk;     // bounding-box diagonals / s^3
};

class Meter {
 public:
  struct Options {
    bool self_intersections = false;  // the slow metrics: self-intersections and overlap
  };
  // The rig must outlive it. kCancelled.
  static absl::StatusOr<Meter> Create(const Rig& rig, const Options& options, const Task& task);
  // Upper estimate of the bytes a Meter needs while measuring.
  static std::size_t Cost(const Rig& rig, const Options& options);
  Meter(Meter&&) noexcept;
  Meter& operator=(Meter&&) noexcept;
  ~Meter();

  // All metrics of one frame except jerk. positions: [V] in file order, finite; joints: [J] the
  // pose of the frame, joint to model. Thread-safe. kCancelled.
  absl::StatusOr<FrameMetrics> Measure(std::span<const Vec3f> positions,
                                       std::span<const Affine> joints, const Task& task) const;

 private:
  struct Tables;
  explicit Meter(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

// RMS third time derivative of a sequence of frames, a measure of trembling. Keeps three frames.
class JerkMeter {
 public:
  // diagonal: of the rest bounding box; 0: Add always returns nothing.
  JerkMeter(double frames_per_second, double diagonal)
      : frames_per_second_(frames_per_second), diagonal_(diagonal) {}

  // Root mean square over the vertices of (p(k) - 3 p(k-1) + 3 p(k-2) - p(k-3)) * fps^3 / diagonal.
  // Absent for the first three frames.
  std::optional<double> Add(std::span<const Vec3f> positions, const Task& task);
  // Starts a new sequence, for example after a missing frame.
  void Reset() { frames_.clear(); }

 private:
  double frames_per_second_, diagonal_;
  std::deque<std::vector<Vec3f>> frames_;  // newest last
};

using MetricsSummary = Summary<FrameMetrics>;

}  // namespace sinew::metrics
