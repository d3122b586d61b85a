#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/smooth_step.h"
#include "core/base/status.h"
#include "core/deform/implicit/surface/nearest_skin.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/rig/bind_pose.h"
#include "core/rig/joint_order.h"
#include "core/surface/laplacian.h"

namespace sinew {
namespace {

constexpr float kNoDepth = 0.01f;  // a field this close to 0 or 1 has no usable gradient
// Minimum weight for projection: of two joints, and of all joints in line with the strongest. A
// thumb with a tenth of the palm's weight drags it off the palm's field.
constexpr double kMinOfTwo = 0.6, kMinOfChain = 0.8;
// Deviation of the field from 1/2 at rest: up to the first the weight is 1; from the second on the
// field does not fit its skin (an ear in the field of the head, a tip without samples).
constexpr double kFits = 0.1, kFitsNot = 0.25;
constexpr int kWaySmoothing = 2;  // smoothing passes over the projection weights
// Ranges over which feature preservation sets in: height of a point above its one-ring, relative to
// the edge length; field range along the edges; similarity of the influences at their ends.
constexpr double kSmooth = 0.35, kSharp = 0.5, kFine = 0.2, kCoarse = 0.3, kLoose = 0.5,
                 kFirm = 0.8;
constexpr std::size_t kMaxEdges = 64;  // of preserved points: excludes hubs of fans
constexpr double kMinAlike = 0.5;      // minimum weight shared with skin to follow it
constexpr std::size_t kGrain = 1024;   // points
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

void SetRows(const RigSurface& surface, SkinSurface& skin) {
  const Adjacency& ring = surface.triangles();
  const PointOrder& order = surface.order();
  // First, because computing it takes the most memory.
  const std::vector<double>& mean_value = surface.mean_value();
  const NeighbourWeights cotangent =
      CotangentWeights(surface.rig().mesh(), surface.welded(), ring, NegativeWeights::kClamp);
  skin.cotangent.reserve(ring.neighbours.size());
  skin.mean_value.reserve(ring.neighbours.size());
  std::vector<std::uint32_t> offsets = {0}, neighbours;
  offsets.reserve(order.point.size() + 1);
  neighbours.reserve(ring.neighbours.size());
  for (const std::uint32_t p : order.point) {
    const auto row = ring.row(p);
    const std::size_t first = cotangent.offsets[p];
    // A point without weights, e.g. with zero-area faces, lists itself in cotangent.
    const bool alone = cotangent.neighbours[first] == p;
    for (std::size_t k = 0; k < row.size(); ++k) {
      neighbours.push_back(order.number[row[k]]);
      skin.cotangent.push_back(alone ? 0 : static_cast<float>(cotangent.weights[first + k]));
    }
    AddWeights(std::span(mean_value).subspan(ring.offsets[p], row.size()), skin.mean_value);
    offsets.push_back(static_cast<std::uint32_t>(neighbours.size()));
  }
  skin.rows = NeighbourRows(offsets, neighbours);
}

// [P] bind pose positions, model space.
std::vector<Vec3f> BindPoints(const BindInput& input, const SkinSurface& skin) {
  const std::vector<AffineD> to_pose = ToBindPose(input.rig, BindPose(input.rig));
  std::vector<Vec3f> points;
  points.reserve(skin.points());
  for (const std::uint32_t lane : skin.point_lane) {
    points.push_back(ToFloat(InBindPose(input.rig, to_pose, input.layout.Vertex(lane))));
  }
  return points;
}

// Sets the levels from the bind-pose field. Returns its slope at each point, [P].
std::vector<float> SetPotentials(std::span<const Vec3f> rest, const PosedField& field,
                                 const Task& task, SkinSurface& skin) {
  skin.potential.resize(skin.points());
  std::vector<float> steepness(skin.points());
  std::vector<std::uint16_t> largest(skin.points());
  task.For(skin.points(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; p += kLanes) {
      const PointBlock at =
          BlockOf(std::min(kLanes, end - p), [&](std::size_t i) { return rest[p + i]; });
      FieldBlock values;
      field.Evaluate(at, Contact::kCrease, values);
      const PartBlocks parts = field.EvaluateParts(at);
      for (std::size_t i = 0; i < kLanes && p + i < end; ++i) {
        skin.potential[p + i] = values.value[i];
        steepness[p + i] = std::hypot(values.x[i], values.y[i], values.z[i]);
        float most = 0;
        for (const PartBlock& part : parts) {
          if (!(part.value[i] > most)) continue;
          most = part.value[i];
          largest[p + i] = static_cast<std::uint16_t>(part.part);
        }
      }
    }
  });
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    if (p > 0 && largest[p] == largest[p - 1]) continue;
    skin.run_point.push_back(p);
    skin.run_part.push_back(largest[p]);
  }
  return steepness;
}

// Projection weight of vertex v from its influences: by one limb, and by two joints of it.
double HoldOfLimb(const Rig& rig, const JointOrder& order, std::uint32_t v) {
  const auto bindings = rig.influences().bindings(v);
  const auto weights = rig.influences().weights(v);
  absl::InlinedVector<std::pair<std::uint16_t, double>, 8> joints;
  for (std::size_t k = 0; k < bindings.size(); ++k) {
    const std::uint16_t joint = rig.bindings()[bindings[k]].joint;
    const auto found = std::ranges::find(joints, joint, [](const auto& of) { return of.first; });
    if (found == joints.end()) {
      joints.emplace_back(joint, weights[k]);
    } else {
      found->second += weights[k];
    }
  }
  std::uint16_t strongest = 0;
  double first = 0, second = 0;
  for (const auto& [joint, weight] : joints) {
    if (weight > first) {
      first = weight;
      strongest = joint;
    }
  }
  double chain = first;
  for (const auto& [joint, weight] : joints) {
    if (joint == strongest || !order.AreInLine(joint, strongest)) continue;
    second = std::max(second, weight);
    chain += weight;
  }
  return SmoothStep(std::min((first + second - kMinOfTwo) / (1 - kMinOfTwo),
                             (chain - kMinOfChain) / (1 - kMinOfChain)));
}

// Averages each skin point's value with those of its skin neighbours.
void SmoothOnce(const SkinSurface& skin, std::vector<double>& values) {
  const std::vector<double> before = values;
  for (std::uint32_t p = 0; p < values.size(); ++p) {
    if (!skin.IsSkin(p)) continue;
    double sum = 0, count = 0;
    for (std::size_t k = skin.rows.begin(p); k < skin.rows.end(p); ++k) {
      const std::uint32_t q = skin.rows.At(p, k);
      if (!skin.IsSkin(q)) continue;
      sum += before[q];
      ++count;
    }
    if (count > 0) values[p] = 0.5 * (before[p] + sum / count);
  }
}

// Sets the projection weights. Smooth, so that neighbours do not tear.
void SetWays(const BindInput& input, SkinSurface& skin) {
  constexpr double kNone = static_cast<double>(PointRole::kSkin);
  const JointOrder order(input.rig.skeleton());
  std::vector<double> ways;
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    const double off = std::abs(double{skin.potential[p]} - 0.5);
    ways.push_back(!skin.IsSkin(p)
                       ? 0
                       : SmoothStep((kFitsNot - off) / (kFitsNot - kFits)) *
                             HoldOfLimb(input.rig, order, input.layout.Vertex(skin.point_lane[p])));
  }
  for (int pass = 0; pass < kWaySmoothing; ++pass) SmoothOnce(skin, ways);
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    if (!skin.IsSkin(p)) continue;
    skin.role[p] = static_cast<std::uint8_t>(std::lround(kNone + (kWholeWay - kNone) * ways[p]));
  }
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

// Feature preservation weights: coarse skin with similar influences at or next to a sharp edge.
void SetFirmness(const BindInput& input, std::span<const Vec3f> rest,
                 std::span<const float> steepness, const Task& task, SkinSurface& skin) {
  std::vector<double> sharp(skin.points()), spans(skin.points());
  task.For(skin.points(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
      Vec3d out{};
      double squared = 0;
      for (std::size_t k = skin.rows.begin(p); k < skin.rows.end(p); ++k) {
        const Vec3d edge = ToDouble(rest[p]) - ToDouble(rest[skin.rows.At(p, k)]);
        const double weight = double{skin.cotangent[k]};
        out = out + weight * edge;
        squared += weight * Dot(edge, edge);
      }
      if (!(squared > 0)) continue;
      sharp[p] = SmoothStep(kSmooth, kSharp, std::sqrt(Dot(out, out) / squared));
      spans[p] = std::sqrt(squared) * double{steepness[p]};
    }
  });
  std::vector<std::uint8_t> firmness(skin.points());
  task.For(skin.points(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (auto p = static_cast<std::uint32_t>(begin); p < end; ++p) {
      const std::size_t edges = skin.rows.end(p) - skin.rows.begin(p);
      if (!skin.IsSkin(p) || !(spans[p] > kFine) || edges > kMaxEdges) continue;
      const std::uint32_t vertex = input.layout.Vertex(skin.point_lane[p]);
      double alike = 0, sharpest = sharp[p];
      for (std::size_t k = skin.rows.begin(p); k < skin.rows.end(p); ++k) {
        sharpest = std::max(sharpest, sharp[skin.rows.At(p, k)]);
      }
      if (!(sharpest > 0)) continue;
      for (std::size_t k = skin.rows.begin(p); k < skin.rows.end(p); ++k) {
        const std::uint32_t q = skin.rows.At(p, k);
        alike += double{skin.cotangent[k]} *
                 Likeness(input.rig, vertex, input.layout.Vertex(skin.point_lane[q]));
      }
      firmness[p] =
          Byte(sharpest * SmoothStep(kFine, kCoarse, spans[p]) * SmoothStep(kLoose, kFirm, alike));
    }
  });
  for (std::uint32_t p = 0; p < skin.points(); ++p) {
    if (firmness[p] == 0) continue;
    skin.firm.push_back(p);
    skin.firmness.push_back(firmness[p]);
  }
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
  return {.bound = vertices * 31 + edges * 16 + lanes * 4 + 64,
          // Welding, neighbours before and after deduplication and weighting, borders, triangle
          // rings, nearest points.
          .passing = vertices * 574 +
                     (rig.joints() + rig.bindings().size()) * kComponentJointBytes +
                     ShapeWeldBytes(rig) + edges * 52 + corners * 104};
}

absl::StatusOr<SkinSurface> BindSkinSurface(const BindInput& input,
                                            std::span<const std::int32_t> part_of_vertex,
                                            const PosedField& field, const Task& task) {
  SkinSurface skin;
  const WeldedPoints& welded = input.surface.welded();
  const PointOrder& order = input.surface.order();
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  for (const std::uint32_t p : order.point) skin.point_lane.push_back(order.lane[p]);
  for (std::size_t i = 0; i < input.layout.order.size(); ++i) {
    skin.lane_point.push_back(order.vertex[input.layout.Vertex(i)]);
  }
  SetRows(input.surface, skin);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const std::vector<Vec3f> rest = BindPoints(input, skin);
  const std::vector<float> steepness = SetPotentials(rest, field, task, skin);

  const std::vector<std::uint8_t>& border = input.surface.border();
  const std::vector<ComponentRole>& roles = input.surface.components();
  for (const std::uint32_t p : order.point) {
    const float depth = skin.potential[skin.role.size()];
    PointRole role = PointRole::kSkin;
    if (roles[p] == ComponentRole::kAttachedComponent) {
      role = PointRole::kAttachedComponent;
    } else if (roles[p] == ComponentRole::kRigidComponent) {
      role = PointRole::kRigidComponent;
    } else if (part_of_vertex[welded.first[p]] < 0 ||
               !(depth >= kNoDepth && depth <= 1 - kNoDepth)) {
      role = PointRole::kNoField;
    } else if (border[p] != 0) {
      role = PointRole::kBorder;
    }
    skin.role.push_back(Byte(role));
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SetWays(input, skin);
  SetFirmness(input, rest, steepness, task, skin);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SetIslands(input, task, skin);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return skin;
}

}  // namespace sinew
