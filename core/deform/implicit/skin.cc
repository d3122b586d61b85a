#include "core/deform/implicit/skin.h"

#include <absl/strings/str_cat.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nanoflann.hpp>
#include <tuple>
#include <utility>

#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/deform/implicit/constants.h"
#include "core/rig/bind_pose.h"
#include "core/simd/vec4.h"

namespace sinew {
namespace {

constexpr double kSlack = 1 + 1e-12;  // the tree rounds its distances to boxes

// Result set: the smallest of the points at the least distance. nanoflann prunes boxes that are not
// nearer than worstDist(), hence the slack for ties.
class FirstNearest {
 public:
  double worstDist() const {
    return std::max(least_ * kSlack, std::numeric_limits<double>::denorm_min());
  }
  bool addPoint(double distance, std::uint32_t k) {
    if (std::tie(distance, k) < std::tie(least_, best_)) {
      least_ = distance;
      best_ = k;
    }
    return true;  // continue
  }
  bool full() const { return true; }
  std::uint32_t best() const { return best_; }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  std::uint32_t best_ = 0;
};

std::vector<NearestSkin::Place> Sorted(std::vector<NearestSkin::Place> places) {
  std::ranges::sort(places, [](const NearestSkin::Place& a, const NearestSkin::Place& b) {
    return std::tie(a.at.x, a.at.y, a.at.z, a.point) < std::tie(b.at.x, b.at.y, b.at.z, b.point);
  });
  return places;
}

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
  return SmoothStep((shared - kLeastShared) / (1 - kLeastShared));
}

void FollowSkin(const BindInput& input, const Task& task, SkinSurface& skin) {
  std::vector<NearestSkin::Place> places;
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    if (skin.IsSkin(p) || skin.RoleOf(p) == PointRole::kRigidComponent) {
      places.push_back({RestOf(skin, input.layout, p), p});
    } else if (skin.RoleOf(p) == PointRole::kAttachedComponent) {
      skin.attached.push_back(p);
    }
  }
  if (skin.attached.empty()) return;
  const NearestSkin nearest(std::move(places));
  if (nearest.empty()) {
    for (const std::uint32_t p : skin.attached) skin.role[p] = Byte(PointRole::kNoField);
    skin.attached.clear();
    return;
  }
  skin.followed.resize(skin.attached.size());
  skin.follow_share.resize(skin.attached.size());
  task.For(skin.attached.size(), kAttachedComponentGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const std::uint32_t from = nearest.Find(RestOf(skin, input.layout, skin.attached[k]));
      const auto vertex = [&](std::uint32_t p) { return input.layout.Vertex(skin.point_lane[p]); };
      skin.followed[k] = from;
      skin.follow_share[k] = Byte(Likeness(input.rig, vertex(skin.attached[k]), vertex(from)));
    }
  });
}

constexpr std::size_t kPointGrain = 4096, kBlockGrain = 256;

bool Same(const Vec4& a, const Vec4& b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

}  // namespace

// Dataset adaptor for nanoflann, and the index.
class NearestSkin::Tree {
 public:
  explicit Tree(std::vector<Place> sorted) : places(std::move(sorted)), index_(3, *this) {}
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  std::size_t kdtree_get_point_count() const { return places.size(); }
  double kdtree_get_pt(std::size_t k, std::size_t axis) const {
    const Vec3d& at = places[k].at;
    return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;  // nanoflann computes the bounding box
  }

  std::uint32_t Find(const Vec3d& at) const {
    const double query[3] = {at.x, at.y, at.z};
    FirstNearest nearest;
    index_.findNeighbors(nearest, query, {});
    return places[nearest.best()].point;
  }

  const std::vector<Place> places;

 private:
  nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Tree>, Tree, 3,
                                      std::uint32_t>
      index_;
};

NearestSkin::NearestSkin(std::vector<Place> skin)
    : tree_(std::make_unique<Tree>(Sorted(std::move(skin)))) {}

NearestSkin::~NearestSkin() = default;

bool NearestSkin::empty() const {
  return tree_->places.empty();
}

std::uint32_t NearestSkin::Find(const Vec3d& at) const {
  return tree_->Find(at);
}

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
  FollowSkin(input, task, skin);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return skin;
}

std::size_t SkinSurface::Count(PointRole role_of) const {
  std::size_t count = 0;
  for (std::size_t p = 0; p < points(); ++p) count += RoleOf(p) == role_of ? 1 : 0;
  return count;
}

absl::Status SkinSurface::Check() const {
  const auto damaged = [](absl::string_view what) {
    return absl::DataLossError(absl::StrCat("bound data: skin: ", what));
  };
  // Attached components follow skin, never each other, so their order does not matter.
  const auto has_role = [&](PointRole wanted) {
    return [&, wanted](std::uint32_t p) { return RoleOf(p) == wanted; };
  };
  if (!std::ranges::all_of(attached, has_role(PointRole::kAttachedComponent)) ||
      !std::ranges::all_of(followed, [&](std::uint32_t p) {
        return has_role(PointRole::kSkin)(p) || has_role(PointRole::kRigidComponent)(p);
      })) {
    return damaged("attached, followed: need points of attached components that follow others");
  }
  return absl::OkStatus();
}

std::vector<Vec3d> PointsInBindPose(const BindInput& input, const SkinSurface& skin) {
  const std::vector<AffineD> to_pose = ToBindPose(input.rig, BindPose(input.rig));
  std::vector<Vec3d> points;
  points.reserve(skin.points());
  for (const std::uint32_t lane : skin.point_lane) {
    points.push_back(InBindPose(input.rig, to_pose, input.layout.Vertex(lane)));
  }
  return points;
}

void GatherPoints(const SkinSurface& skin, std::span<const PointBlock> blocks,
                  std::span<float> points, const Task& task) {
  task.For(skin.points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      Store4(ToVec4(skin.PointOf(blocks, p)), points.data(), p);
    }
  });
}

void ScatterPoints(const SkinSurface& skin, std::span<float> moved,
                   std::span<const std::uint8_t> status, const StageFrame& frame) {
  const std::span<const PointBlock> in = frame.in;
  for (std::size_t k = 0; k < skin.attached.size(); ++k) {
    const std::size_t from = skin.followed[k], to = skin.attached[k];
    const Vec4 shift = Load4(moved.data(), from) - ToVec4(skin.PointOf(in, from));
    const float part = static_cast<float>(skin.follow_share[k]) / 255;
    Store4(ToVec4(skin.PointOf(in, to)) + part * shift, moved.data(), to);
  }
  frame.task.For(frame.out.size(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      PointBlock block = in[b];
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::size_t p = skin.lane_point[b * kLanes + i];
        const Vec4 at = Load4(moved.data(), p);
        if (Same(at, ToVec4(skin.PointOf(in, p)))) continue;
        block.x[i] = at[0];
        block.y[i] = at[1];
        block.z[i] = at[2];
      }
      frame.out[b] = block;
    }
  });
  frame.task.For(frame.vertex_status.size(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      frame.vertex_status[v] = status[skin.lane_point[frame.layout.lane[v]]];
    }
  });
}

}  // namespace sinew
