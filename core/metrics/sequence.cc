#include "core/metrics/sequence.h"

#include <algorithm>
#include <cmath>

#include "core/metrics/joint_turn.h"
#include "core/metrics/largest.h"
#include "core/metrics/surface.h"

namespace sinew::metrics {
namespace {

constexpr std::size_t kFrames = 3;
constexpr double kLeastTurn = 0.01;  // degrees: slower joints say nothing about pops

double DegreesBetween(const Rig& rig, std::span<const Affine> from, std::span<const Affine> to) {
  std::vector<std::uint32_t> parents;
  for (std::size_t j = 0; j < rig.joints(); ++j) parents.push_back(rig.skeleton().joint(j).parent);
  return LargestTurn(parents, from, to);
}

}  // namespace

std::size_t SequenceMeter::Cost(const Rig& rig) {
  constexpr std::size_t kJoint = 1024;  // parents and matrices
  const std::size_t vertex = (kFrames + 1) * (sizeof(Vec3f) + sizeof(Vec3d)) + sizeof(double);
  const std::size_t joint = (kFrames + 1) * sizeof(Affine) + kJoint;
  return rig.vertices() * vertex + rig.joints() * joint + rig.bindings().size() * kJoint;
}

SequenceMetrics SequenceMeter::Add(std::span<const Vec3f> positions, std::span<const Affine> joints,
                                   const Task& task) {
  Frame now = {.positions = {positions.begin(), positions.end()},
               .carried = meter_->Carried(positions, joints, task),
               .joints = {joints.begin(), joints.end()}};
  SequenceMetrics metrics;
  if (frames_.size() == kFrames) metrics.jerk = Jerk(now, task);
  if (frames_.size() >= 2) AddPops(now, task, metrics);
  if (frames_.size() == kFrames) frames_.pop_front();
  frames_.push_back(std::move(now));
  return metrics;
}

std::optional<double> SequenceMeter::Jerk(const Frame& now, const Task& task) const {
  const double diagonal = meter_->rig().mesh().diagonal();
  if (!(diagonal > 0)) return std::nullopt;
  const double squares = SumOver<double>(
      task, now.positions.size(),
      [&](std::size_t v, double& part) {
        const Vec3d d =
            (ToDouble(now.positions[v]) - ToDouble(frames_[0].positions[v])) +
            3.0 * (ToDouble(frames_[1].positions[v]) - ToDouble(frames_[2].positions[v]));
        part += Dot(d, d);
      },
      [](double& sum, double part) { sum += part; });
  return std::sqrt(squares / static_cast<double>(now.positions.size())) *
         std::pow(frames_per_second_, 3) / diagonal;
}

void SequenceMeter::AddPops(const Frame& now, const Task& task, SequenceMetrics& metrics) const {
  const Frame &before = frames_[frames_.size() - 1], &first = frames_[frames_.size() - 2];
  const double degrees = std::max(DegreesBetween(meter_->rig(), first.joints, before.joints),
                                  DegreesBetween(meter_->rig(), before.joints, now.joints));
  const auto points = meter_->limb_points();
  if (!(degrees > kLeastTurn) || points.empty()) return;
  std::vector<double> pops(points.size());
  task.For(points.size(), 4096, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3d change =
          (now.carried[i] - before.carried[i]) - (before.carried[i] - first.carried[i]);
      const double pop = Length(change) / (points[i].radius * degrees);
      pops[i] = std::isfinite(pop) ? pop : 0;  // the joint is flat, or coordinates overflow
    }
  });
  const Largest largest = LargestOf(pops);
  metrics.pop = largest.value;
  metrics.pop_999 = largest.percentile_999;
}

}  // namespace sinew::metrics
