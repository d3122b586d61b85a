#include "core/weights/weights.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/weights/capsule.h"
#include "core/weights/finish.h"
#include "core/weights/geodesic.h"
#include "core/weights/heat.h"
#include "core/weights/skin.h"

namespace sinew {
namespace {

absl::Status CheckRange(const char* option, double value, double low, double high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": got ", value, ", need ", low, " to ", high));
}

absl::Status CheckOptions(const WeightOptions& options) {
  switch (options.method) {
    case WeightMethod::kCapsule:
    case WeightMethod::kHeat:
    case WeightMethod::kGeodesic:
      break;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "method: got ", static_cast<int>(options.method), ", need capsule, heat or geodesic"));
  }
  SINEW_RETURN_IF_ERROR(CheckRange("max_influences", options.max_influences, 1, kMaxInfluences));
  SINEW_RETURN_IF_ERROR(CheckRange("prune", options.prune, 0, 0.5));
  SINEW_RETURN_IF_ERROR(CheckRange("smooth", options.smooth, 0, 100));
  SINEW_RETURN_IF_ERROR(CheckRange("inner", options.inner, 0.1, 10));
  SINEW_RETURN_IF_ERROR(CheckRange("outer", options.outer, 0.1, 20));
  if (!(options.outer > options.inner)) {
    return absl::InvalidArgumentError(
        absl::StrCat("outer: got ", options.outer, ", need more than inner, ", options.inner));
  }
  SINEW_RETURN_IF_ERROR(CheckRange("falloff", options.falloff, 0.25, 8));
  SINEW_RETURN_IF_ERROR(CheckRange("heat", options.heat, 0.01, 100));
  SINEW_RETURN_IF_ERROR(CheckRange("resolution", options.resolution, 16, 512));
  return CheckRange("smoothness", options.smoothness, 0, 1);
}

std::size_t MethodBytes(WeightMethod method, std::size_t points, std::size_t triangles,
                        std::size_t joints, std::size_t bones) {
  switch (method) {
    case WeightMethod::kCapsule:
      return weights::CapsuleBytes(points, triangles, joints, bones);
    case WeightMethod::kHeat:
      return weights::HeatBytes(points, triangles, joints);
    case WeightMethod::kGeodesic:
      break;
  }
  return weights::GeodesicBytes(points, triangles, joints);
}

absl::StatusOr<weights::Computed> Compute(const weights::Skin& skin, const WeightOptions& options,
                                          const weights::Progress& progress) {
  switch (options.method) {
    case WeightMethod::kCapsule:
      return weights::CapsuleWeights(skin, options, progress);
    case WeightMethod::kHeat:
      return weights::HeatWeights(skin, options, progress);
    case WeightMethod::kGeodesic:
      break;
  }
  return weights::GeodesicWeights(skin, options, progress);
}

WeightReport Report(const weights::Skin& skin, weights::Computed computed,
                    const InfluenceSource& influences) {
  WeightReport report;
  std::vector<bool> unseen(skin.points.size(), false), carries(skin.joints.back() + 1, false);
  for (const std::uint32_t p : computed.unseen) unseen[p] = true;
  for (std::uint32_t v = 0; v < skin.welded.point.size(); ++v) {
    if (unseen[skin.welded.point[v]]) report.unseen.push_back(v);
  }
  for (const std::uint32_t joint : influences.bindings) carries[joint] = true;
  for (const std::uint32_t joint : skin.joints) {
    if (!carries[joint]) report.idle_joints.push_back(joint);
  }
  report.notes = skin.notes;
  report.notes.insert(report.notes.end(), std::make_move_iterator(computed.notes.begin()),
                      std::make_move_iterator(computed.notes.end()));
  return report;
}

}  // namespace

absl::StatusOr<ComputedWeights> ComputeWeights(const Mesh& mesh, std::span<const Bone> bones,
                                               const WeightOptions& options, Task& task,
                                               std::size_t held) {
  SINEW_RETURN_IF_ERROR(CheckOptions(options));
  const DenormalGuard guard;  // as in the loops: the same bits on every thread
  task.SetTotal(1);
  held += weights::SkinBytes(mesh, bones.size());
  SINEW_RETURN_IF_ERROR(task.CheckMemory(held));
  SINEW_ASSIGN_OR_RETURN(const weights::Skin skin, weights::MakeSkin(mesh, bones));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(0.05);
  const std::size_t points = skin.points.size(), triangles = skin.triangles.size(),
                    joints = skin.joints.size();
  SINEW_RETURN_IF_ERROR(task.CheckMemory(
      held + std::max(MethodBytes(options.method, points, triangles, joints, bones.size()),
                      points * joints * sizeof(double) +
                          weights::FinishBytes(mesh.vertices(), points, joints, options))));
  SINEW_ASSIGN_OR_RETURN(weights::Computed computed, Compute(skin, options, {task, 0.85, held}));
  SINEW_ASSIGN_OR_RETURN(InfluenceSource influences,
                         weights::Finish(skin, options, std::move(computed.columns), {task, 0.1}));
  WeightReport report = Report(skin, std::move(computed), influences);
  return ComputedWeights{std::move(influences), std::move(report)};
}

}  // namespace sinew
