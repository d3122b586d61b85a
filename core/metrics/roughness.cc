#include "core/metrics/roughness.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/metrics/largest.h"

namespace sinew::metrics {
namespace {

constexpr std::size_t kGrain = 4096;  // points or edges
constexpr double kShortest = 1e-5;    // of the diagonal, see the header
constexpr double kNotCounted = -1;

}  // namespace

absl::StatusOr<Roughness> Roughness::Create(const Rig& rig, const Surface& surface, Task& task) {
  SINEW_ASSIGN_OR_RETURN(Deformer base, Deformer::Bind(rig, {DqsParams{}}, task));
  return Roughness(rig, surface, std::move(base));
}

std::size_t Roughness::Cost(const Rig& rig) {
  // Bytes of the bind (Deformer::Estimate) and of a frame: points, scales and edges.
  constexpr std::size_t kVertex = 360, kCorner = 128, kFace = 96, kInfluence = 96, kBinding = 2048,
                        kJoint = 512, kOffset = 32;
  std::size_t offsets = 0;
  for (const Shape& shape : rig.shapes()) {
    for (const ShapeTarget& target : shape.targets) offsets += target.vertices.size();
  }
  return rig.vertices() * kVertex + rig.mesh().face_vertices().size() * kCorner +
         rig.mesh().faces() * kFace + rig.influences().size() * kInfluence +
         rig.bindings().size() * kBinding + rig.joints() * kJoint + offsets * kOffset;
}

std::vector<double> Roughness::Scales(std::span<const AffineD> skin, const Task& task) const {
  std::vector<double> of_binding;
  for (const AffineD& matrix : skin) {
    const auto& m = Linear(matrix).m;
    of_binding.push_back(std::sqrt(std::inner_product(m.begin(), m.end(), m.begin(), 0.0) / 3));
  }
  std::vector<double> scales(surface_->welded.points());
  task.For(scales.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::uint32_t v = surface_->welded.first[p];
      for (const std::uint32_t e : rig_->influences().bindings(v)) {
        scales[p] = std::max(scales[p], of_binding[e]);
      }
    }
  });
  return scales;
}

absl::StatusOr<std::optional<Roughness::Figures>> Roughness::Measure(std::span<const Vec3d> points,
                                                                     std::span<const Affine> joints,
                                                                     std::span<const AffineD> skin,
                                                                     const Task& task) const {
  std::vector<Vec3f> base(rig_->vertices());
  FrameOut out{.positions = std::as_writable_bytes(std::span(base))};
  Workspace workspace;
  const absl::Status posed =
      base_.Evaluate({.joints = joints, .controls = {}}, out, workspace, task);
  if (absl::IsCancelled(posed)) return posed;
  if (!posed.ok()) return std::nullopt;
  const std::vector<Vec3d> from = surface_->Points(base);
  const std::vector<double> scales = Scales(skin, task);
  if (scales.empty()) return std::nullopt;
  const double shortest = kShortest * surface_->diagonal * *std::ranges::max_element(scales);
  std::vector<double> values(surface_->edges.size(), kNotCounted);
  task.For(values.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto& [a, b, rest] = surface_->edges[i];
      const double length = rest * std::max(scales[a], scales[b]);
      if (!(length > shortest)) continue;
      values[i] = Length((points[a] - from[a]) - (points[b] - from[b])) / length;
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::erase(values, kNotCounted);
  if (values.empty()) return std::nullopt;
  const auto above = std::ranges::count_if(values, [](double value) { return value > 1; });
  const double share = static_cast<double>(above) / static_cast<double>(values.size());
  const Largest largest = LargestOf(values);
  return Figures{largest.value, largest.percentile_999, share};
}

}  // namespace sinew::metrics
