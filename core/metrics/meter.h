// meter.h - what a deformed frame is worth in figures: volume, thickness, edges, areas, turned
// faces, self-intersections and their volume, and jerk over a sequence.
//
// A Meter is made once for a rig and measures frames of any deformer of it. Everything is computed
// in double; the same figures for any number of threads.
//
//   auto meter = Meter::Create(rig, {.self_intersections = true}, task);
//   auto figures = meter->Measure(positions, joints, task);
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
#include "core/parallel/task.h"
#include "core/rig/rig.h"

namespace sinew::metrics {

// Every ratio is against the rest mesh, also where shapes moved it: what a shape stretches counts
// as stretched, alike for all methods behind it. Absent = it has no meaning for this mesh, was not
// asked for, is beyond measure (self-intersections, overlap), or has too few frames before it
// (jerk).
struct FrameMetrics {
  std::optional<double> volume_ratio;       // see volume.h
  std::optional<double> minimum_thickness;  // see thickness.h
  std::optional<double> bulge;              // see bulge.h
  std::optional<double> edge_distortion;    // see distortion.h
  std::optional<double> worst_edge;
  std::optional<double> area_distortion;
  std::optional<double> flipped_fraction;
  std::optional<double> flipped_beyond_linear;      // part of flipped_fraction; 0 for linear blend
  std::optional<std::uint64_t> self_intersections;  // pairs of faces, see self_intersection.h
  std::optional<double>
      overlap;                 // volume enclosed twice or more, not so at rest, over that at rest
  std::optional<double> jerk;  // bounding-box diagonals / s^3
};

class Meter {
 public:
  struct Options {
    bool self_intersections = false;  // the slow measures: these and overlap
  };
  // The rig must outlive it. kCancelled.
  static absl::StatusOr<Meter> Create(const Rig& rig, const Options& options, const Task& task);
  // Bytes a Meter holds while it measures, roughly and from above.
  static std::size_t Cost(const Rig& rig, const Options& options);
  Meter(Meter&&) noexcept;
  Meter& operator=(Meter&&) noexcept;
  ~Meter();

  // All but jerk of one frame. positions: [V] in file order, finite; joints: [J] the pose it was
  // made of, joint to model. Thread-safe. kCancelled.
  absl::StatusOr<FrameMetrics> Measure(std::span<const Vec3f> positions,
                                       std::span<const Affine> joints, const Task& task) const;

 private:
  struct Tables;
  explicit Meter(std::unique_ptr<const Tables> tables);
  std::unique_ptr<const Tables> tables_;
};

// Third difference in time of a sequence of frames: how it trembles. Holds three frames.
class JerkMeter {
 public:
  // diagonal: length of the rest bounding box's; 0 = no jerk is ever said.
  JerkMeter(double frames_per_second, double diagonal)
      : frames_per_second_(frames_per_second), diagonal_(diagonal) {}

  // Root mean square over the vertices of (p(k) - 3 p(k-1) + 3 p(k-2) - p(k-3)) * fps^3 / diagonal.
  // Absent until three frames have come before this one.
  std::optional<double> Add(std::span<const Vec3f> positions, const Task& task);
  // What came before does not count any more: a frame is missing.
  void Reset() { frames_.clear(); }

 private:
  double frames_per_second_, diagonal_;
  std::deque<std::vector<Vec3f>> frames_;  // newest last
};

// Mean and worst of many frames, each figure over the frames that have it. Worst is the smallest
// volume and thickness and the largest of the others; the mean of a count is rounded.
class MetricsSummary {
 public:
  void Add(const FrameMetrics& frame);
  std::uint64_t frames() const { return frames_; }
  FrameMetrics Mean() const;
  const FrameMetrics& worst() const { return worst_; }

 private:
  std::uint64_t frames_ = 0, counted_ = 0;  // counted_: with self-intersections
  FrameMetrics sum_, worst_;
  std::vector<std::uint64_t> counts_;
};

}  // namespace sinew::metrics
