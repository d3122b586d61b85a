#include "core/deform/implicit/implicit.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/deform/implicit/project/projection.h"
#include "core/rig/bind_pose.h"

namespace sinew {
namespace {

// Nanoseconds per vertex, measured on three hands of 60 joints closing in 15 frames
// (character_bench).
constexpr double kBindWork = 2500, kFrameTime = 1100;
constexpr std::size_t kFixedBytes = 4096;  // the object and tables of constant size

}  // namespace

absl::StatusOr<BindCost> Implicit::Cost(const BindInput& input, const ImplicitParams& params) {
  const bool muscles = params.muscles && !input.rig.muscles().empty();
  const std::size_t field_bytes = LimbField::CostBytes(input.rig, params.samples) +
                                  (muscles ? MuscleField::CostBytes(input.rig) : 0);
  SkinSurfaceBytes surface = SkinSurfaceCost(input.rig, input.layout);
  const bool marches = params.projection == ProjectionMethod::kMarch;
  const std::size_t corners = input.rig.mesh().face_vertices().size();
  surface.bound += kFixedBytes + (marches ? March::BoundBytes(input.rig)
                                          : LevelSkin::kBytes * input.rig.vertices() +
                                                MoveRings::Cost(input.rig.vertices(), corners));
  const auto vertices = static_cast<double>(input.rig.vertices());
  surface.passing +=
      marches ? March::PassingBytes(input.rig) : LevelSkin::kPassingBytes * input.rig.vertices();
  return BindCost{.peak_bytes = field_bytes + surface.bound + surface.passing,
                  .bound_bytes = field_bytes + surface.bound,
                  .work = LimbField::Work(input.rig, params.samples) + kBindWork * vertices +
                          (muscles ? MuscleField::Work(input.rig) : 0),
                  .frame_ns = kFrameTime * vertices,
                  .surface = RigSurface::kWelded | RigSurface::kOrder | RigSurface::kTriangles |
                             RigSurface::kBorder | RigSurface::kComponents |
                             (marches ? RigSurface::kCotangents : RigSurface::kWelded)};
}

absl::StatusOr<Implicit> Implicit::Bind(const BindInput& input, const ImplicitParams& params,
                                        Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  Implicit implicit;
  implicit.contact = params.contact ? 1 : 0;
  implicit.joints = static_cast<std::uint32_t>(input.rig.joints());
  SINEW_ASSIGN_OR_RETURN(implicit.field,
                         LimbField::Bind(input.rig, input.surface.welded(), params.samples, task));
  std::vector<Affine> joints;
  for (const AffineD& joint : BindPose(input.rig)) joints.push_back(ToFloat(joint));
  std::vector<float> controls;
  for (const Control& control : input.rig.controls()) controls.push_back(control.default_value);
  PosedRig bind_pose;
  bind_pose.joints = joints;
  bind_pose.controls = controls;
  if (params.muscles) {
    SINEW_ASSIGN_OR_RETURN(implicit.muscles, MuscleField::Bind(input.rig, implicit.field, task));
  }
  // Rest levels include the muscles.
  const auto bound_muscles = implicit.muscles.Pose(bind_pose);
  const PosedLimbField bound_field(implicit.field, bind_pose, bound_muscles);
  SINEW_ASSIGN_OR_RETURN(implicit.skin,
                         BindSkinSurface(input, implicit.field.PartsOfVertices(input.rig), task));
  const std::vector<Vec3d> rest = PointsInBindPose(input, implicit.skin);
  if (params.projection == ProjectionMethod::kMarch) {
    implicit.level.neighbours = {0};  // no points
    SINEW_ASSIGN_OR_RETURN(
        implicit.march, March::Bind(input, params.march, bound_field, implicit.skin, rest, task));
  } else {
    SINEW_ASSIGN_OR_RETURN(implicit.level, BindLevelSkin(input, implicit.field.parts_of_bindings(),
                                                         bound_field, implicit.skin, rest, task));
    implicit.rings = BindMoveRings(input, implicit.level, bound_field, implicit.skin, rest);
  }
  task.Advance(kBindWork * static_cast<double>(input.rig.vertices()));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return implicit;
}

StageFacts Implicit::Facts() const {
  return {.method = Params::kName,
          .in = Space::kPosed,
          .out = Space::kPosed,
          .pointwise = false,
          .scratch_floats =
              marches() ? March::ScratchFloats(skin.points()) : ProjectionScratch(skin.points()),
          .controls = muscles.controls(),
          .joints = joints,
          .vertex_status = true};
}

absl::Status Implicit::Check(const BlockLayout& layout, std::size_t bindings) const {
  TableSizes sizes = layout.Sizes(bindings);
  sizes.joints = joints;
  sizes.field_parts = field.parts();
  SINEW_RETURN_IF_ERROR(CheckFields(Params::kName, *this, sizes));
  if (field.parts_of_bindings().size() != bindings) {
    return absl::DataLossError(absl::StrCat("bound data: implicit: field_part_of_binding: got ",
                                            field.parts_of_bindings().size(), " values, need ",
                                            bindings));
  }
  SINEW_RETURN_IF_ERROR(muscles.Check(joints));
  const std::size_t projected = marches() ? march.points() : level.points();
  if (projected != skin.points()) {
    return absl::DataLossError(absl::StrCat("bound data: implicit: projection: got ", projected,
                                            " points, need ", skin.points()));
  }
  if (rings.points() != level.points()) {
    return absl::DataLossError(absl::StrCat("bound data: implicit: ring_spacing: got ",
                                            rings.points(), " points, need ", level.points()));
  }
  SINEW_RETURN_IF_ERROR(rings.Check());
  return skin.Check();
}

void Implicit::Run(const StageFrame& frame) const {
  const auto swollen = muscles.Pose(frame.posed);
  const PosedLimbField posed(field, frame.posed, swollen);
  if (marches()) return march.Run(skin, posed, frame);
  const std::vector<Affine> bind_frames = field.BindFrames();
  Project({level, rings, skin, bind_frames, posed, contact != 0}, frame);
}

std::vector<BindStatistic> Implicit::Statistics() const {
  std::vector<BindStatistic> statistics = field.Statistics();
  const auto add = [&](std::string_view name, PointRole role, std::string_view description) {
    statistics.push_back({.name = name,
                          .value = static_cast<double>(skin.Count(role)),
                          .unit = "points",
                          .description = description});
  };
  double held = 0;
  for (std::size_t p = 0; p < skin.points(); ++p) {
    if (!skin.IsSkin(p)) continue;
    const float marching = marches() && march.part[p] != kNoPart ? 1 : 0;
    held += double{marches() ? marching : level.move_share[p]};
  }
  const auto points = static_cast<double>(std::max<std::size_t>(1, skin.points()));
  statistics.push_back({.name = "unprojected_points",
                        .value = 100 * (1 - held / points),
                        .unit = "%",
                        .description =
                            "Share of welded points that keep the skinned position, partly "
                            "projected points in proportion."});
  add("points_without_field", PointRole::kNoField,
      "Welded points that are not projected: their joint has no field.");
  add("border_points", PointRole::kBorder,
      "Welded points on open borders, which are not projected.");
  add("attached_points", PointRole::kAttachedComponent,
      "Welded points of components attached to the skin, such as eyes, buttons and sleeves, which "
      "move with the nearest skin point as far as they share its joints.");
  add("rigid_points", PointRole::kRigidComponent,
      "Welded points of rigid components, such as the separate limbs of a robot, which are not "
      "projected.");
  if (muscles.muscles() > 0) {
    statistics.push_back({.name = "muscles",
                          .value = static_cast<double>(muscles.muscles() - muscles.without_field()),
                          .unit = "muscles",
                          .description = "Muscles under the skin; muscles outside it, or without a "
                                         "field at their joint or its ancestors, have no effect."});
  }
  return statistics;
}

}  // namespace sinew
