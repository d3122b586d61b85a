#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/deform/implicit/nearest_skin.h"
#include "core/deform/implicit/skin_surface.h"

namespace sinew {
namespace {

constexpr double kMinAlike = 0.5;  // minimum weight shared with skin to follow it
// Points: each may visit the whole skin in the worst case.
constexpr std::size_t kAttachedComponentGrain = 64;

std::uint8_t Byte(PointRole role) {
  return static_cast<std::uint8_t>(role);
}

std::uint8_t Byte(double share) {
  return static_cast<std::uint8_t>(std::lround(255 * share));
}

Vec3d RestOf(const SkinSurface& skin, const BlockLayout& layout, std::uint32_t point) {
  return ToDouble(skin.PointOf(layout.rest, point));
}

// Similarity of the influences of vertices a and b, 0 to 1: the weight they share, smoothed.
double Likeness(const Rig& rig, std::uint32_t a, std::uint32_t b) {
  double shared = 0;
  const auto of_a = rig.influences().bindings(a), of_b = rig.influences().bindings(b);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    for (std::size_t k = 0; k < of_b.size(); ++k) {
      if (rig.bindings()[of_a[i]].joint != rig.bindings()[of_b[k]].joint) continue;
      shared += double{std::min(rig.influences().weights(a)[i], rig.influences().weights(b)[k])};
    }
  }
  return SmoothStep((shared - kMinAlike) / (1 - kMinAlike));
}

void SetIslands(const BindInput& input, const Task& task, SkinSurface& skin) {
  std::vector<NearestSkin::Place> places;
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    if (skin.IsSkin(p) || skin.RoleOf(p) == PointRole::kRigidComponent) {
      places.push_back({RestOf(skin, input.layout, p), p});
    } else if (skin.RoleOf(p) == PointRole::kAttachedComponent) {
      skin.island.push_back(p);
    }
  }
  if (skin.island.empty()) return;
  const NearestSkin nearest(std::move(places));
  if (nearest.empty()) {
    for (const std::uint32_t p : skin.island) skin.role[p] = Byte(PointRole::kNoField);
    skin.island.clear();
    return;
  }
  skin.nearest.resize(skin.island.size());
  skin.along.resize(skin.island.size());
  task.For(skin.island.size(), kAttachedComponentGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t from = nearest.Find(RestOf(skin, input.layout, skin.island[k]));
      const auto vertex = [&](std::uint32_t p) { return input.layout.Vertex(skin.point_lane[p]); };
      skin.nearest[k] = from;
      skin.along[k] = Byte(Likeness(input.rig, vertex(skin.island[k]), vertex(from)));
    }
  });
}

}  // namespace

SkinSurfaceBytes SkinSurfaceCost(const Rig& rig, const BlockLayout& layout) {
  const std::size_t vertices = rig.vertices(), lanes = layout.order.size();
  const std::size_t corners = rig.mesh().face_vertices().size();
  const std::size_t edges = 4 * corners;  // directed edges; fans add fewer edges than corners
  return {.bound = vertices * 24 + lanes * 4 + 64,
          // Welding, borders, triangle rings, components, nearest points.
          .passing = vertices * 574 +
                     (rig.joints() + rig.bindings().size()) * kComponentJointBytes +
                     ShapeWeldBytes(rig) + edges * 52 + corners * 104};
}

absl::StatusOr<SkinSurface> BindSkinSurface(const BindInput& input,
                                            std::span<const std::int32_t> part_of_vertex,
                                            const Task& task) {
  SkinSurface skin;
  const WeldedPoints& welded = input.surface.welded();
  const PointOrder& order = input.surface.order();
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  for (const std::uint32_t p : order.point) skin.point_lane.push_back(order.lane[p]);
  for (std::size_t i = 0; i < input.layout.order.size(); ++i) {
    skin.lane_point.push_back(order.vertex[input.layout.Vertex(i)]);
  }

  const std::vector<std::uint8_t>& border = input.surface.border();
  const std::vector<ComponentRole>& roles = input.surface.components();
  for (const std::uint32_t p : order.point) {
    PointRole role = PointRole::kSkin;
    if (roles[p] == ComponentRole::kAttachedComponent) {
      role = PointRole::kAttachedComponent;
    } else if (roles[p] == ComponentRole::kRigidComponent) {
      role = PointRole::kRigidComponent;
    } else if (part_of_vertex[welded.first[p]] < 0) {
      role = PointRole::kNoField;
    } else if (border[p] != 0) {
      role = PointRole::kBorder;
    }
    skin.role.push_back(Byte(role));
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SetIslands(input, task, skin);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return skin;
}

}  // namespace sinew
