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

// Bounds as the option's type holds them: a float 0.01 is one of its own.
template <class Number>
absl::Status CheckRange(const char* option, Number value, double low, double high) {
  if (value >= static_cast<Number>(low) && value <= static_cast<Number>(high)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": got ", value, ", need ", low, " to ", high));
}

struct Method {
  absl::StatusOr<weights::Computed> (*compute)(const weights::Skin&, const WeightOptions&,
                                               const weights::Progress&);
  std::size_t (*bytes)(const weights::Skin&);
};
constexpr Method kMethods[] = {{weights::CapsuleWeights, weights::CapsuleBytes},
                               {weights::HeatWeights, weights::HeatBytes},
                               {weights::GeodesicWeights, weights::GeodesicBytes}};

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

absl::Status CheckWeightOptions(const WeightOptions& options) {
  if (static_cast<std::size_t>(options.method) >= std::size(kMethods)) {
    return absl::InvalidArgumentError(absl::StrCat("method: got ", static_cast<int>(options.method),
                                                   ", need capsule, heat or geodesic"));
  }
  for (const absl::Status& checked :
       {CheckRange("max_influences", options.max_influences, 1, kMaxInfluences),
        CheckRange("prune", options.prune, 0, 0.5), CheckRange("smooth", options.smooth, 0, 100),
        CheckRange("inner", options.inner, 0.1, 10), CheckRange("outer", options.outer, 0.1, 20),
        CheckRange("falloff", options.falloff, 0.25, 8),
        CheckRange("heat", options.heat, 0.01, 100),
        CheckRange("resolution", options.resolution, 16, 512),
        CheckRange("smoothness", options.smoothness, 0, 1)}) {
    SINEW_RETURN_IF_ERROR(checked);
  }
  if (options.outer > options.inner) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("outer: got ", options.outer, ", need more than inner, ", options.inner));
}

absl::StatusOr<ComputedWeights> ComputeWeights(const Mesh& mesh, std::span<const Bone> bones,
                                               const WeightOptions& options, Task& task,
                                               std::size_t held) {
  SINEW_RETURN_IF_ERROR(CheckWeightOptions(options));
  const DenormalGuard guard;  // as in the loops: the same bits on every thread
  task.SetTotal(1);
  held += weights::SkinBytes(mesh, bones.size());
  SINEW_RETURN_IF_ERROR(task.CheckMemory(held));
  SINEW_ASSIGN_OR_RETURN(const weights::Skin skin, weights::MakeSkin(mesh, bones));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(0.05);
  const Method& method = kMethods[static_cast<std::size_t>(options.method)];
  SINEW_RETURN_IF_ERROR(
      task.CheckMemory(held + std::max(method.bytes(skin), weights::FinishBytes(skin, options))));
  SINEW_ASSIGN_OR_RETURN(weights::Computed computed,
                         method.compute(skin, options, {task, 0.85, held}));
  SINEW_ASSIGN_OR_RETURN(InfluenceSource influences,
                         weights::Finish(skin, options, std::move(computed.columns), {task, 0.1}));
  WeightReport report = Report(skin, std::move(computed), influences);
  return ComputedWeights{std::move(influences), std::move(report)};
}

}  // namespace sinew
