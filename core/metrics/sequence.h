// sequence.h - metrics of frames that follow one another: trembling and pops.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/metrics/meter.h"
#include "core/parallel/task.h"

namespace sinew::metrics {

// Absent: too few frames before, and pop where no joint turns.
struct SequenceMetrics {
  // Root mean square over the vertices of the third difference (p(k) - 3 p(k-1) + 3 p(k-2) -
  // p(k-3)) * fps^3, in bounding-box diagonals.
  std::optional<double> jerk;
  // |q(k) - 2 q(k-1) + q(k-2)| per degree of the largest turn of a joint relative to its parent,
  // joint 0 excluded, in either step, over the limb's radius (limb_radii.h). q is a skin point
  // relative to the joint that carries it, so skin that moves rigidly has none. A vertex that jumps
  // has its jump; a smooth motion has little, and the less the smaller its steps, but where the
  // motion itself turns back at once, all skin does. The largest, and the 99.9th percentile. Points
  // whose joint is flat (binding_bones.h) have none.
  std::optional<double> pop, pop_999;
};

// Keeps three frames. The meter must outlive it.
class SequenceMeter {
 public:
  SequenceMeter(const Meter& meter, double frames_per_second)
      : meter_(&meter), frames_per_second_(frames_per_second) {}
  // Bytes it keeps.
  static std::size_t Cost(const Rig& rig);

  // The next frame; arguments as of Meter::Measure.
  SequenceMetrics Add(std::span<const Vec3f> positions, std::span<const Affine> joints,
                      const Task& task);
  // Starts a new sequence, for example after a missing frame.
  void Reset() { frames_.clear(); }

 private:
  struct Frame {
    std::vector<Vec3f> positions;
    std::vector<Vec3d> carried;  // of Meter::limb_points, in bind space
    std::vector<Affine> joints;
  };
  std::optional<double> Jerk(const Frame& now, const Task& task) const;
  void AddPops(const Frame& now, const Task& task, SequenceMetrics& metrics) const;

  const Meter* meter_;
  double frames_per_second_;
  std::deque<Frame> frames_;  // newest last
};

}  // namespace sinew::metrics
