
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/deform/delta_mush/delta_mush.h"
#include "core/surface/laplacian.h"
#include "core/surface/smoothing_limit.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 4096;  // points
constexpr double kTie = 1e-5;         // frame neighbours this close to the best are equivalent
// Limits below which a rest frame is rounding noise: squared sine between normal and edge, and area
// over the squared lengths it came from. Higher than those for poses, so the rest pose always has
// its frames.
constexpr double kSteep = 1e-7, kNoArea = 1e-5;

// Minimum length of a frame's edge relative to its detail and to itself at rest: short edges
// amplify rounding into motion of the detail. Poses may halve the length required at bind.
constexpr double kBindEdge = 0.02, kPoseEdge = 0.01;

// Nanoseconds per vertex, for progress and for the estimated frame time.
constexpr double kPlanWork = 800, kStepWork = 12, kDetailWork = 300;
constexpr double kStepTime = 7, kDirectTime = 10, kFrameTime = 30;

struct Plan {
  const WeldedPoints& welded;
  const Adjacency& ring;
  std::uint32_t iterations = 0;
};

absl::StatusOr<Plan> MakePlan(const RigSurface& surface, const DeltaMushParams& params) {
  const Rig& rig = surface.rig();
  const bool cotangent = params.laplacian == MushLaplacian::kCotangent;
  Plan plan{.welded = surface.welded(),
            .ring = cotangent ? surface.triangles() : surface.polygons(),
            .iterations = params.step > 0 ? params.iterations : 0};
  const double edge = RmsEdge(rig.mesh(), plan.welded, plan.ring);
  if (!params.radius.has_value()) {
    if (edge == 0) plan.iterations = 0;
    return plan;
  }
  const double edges = edge > 0 ? double{*params.radius} * rig.mesh().diagonal() / edge : 0;
  const double steps = std::ceil(edges * edges / double{params.step});
  if (!(steps <= kMaxMushSteps)) {
    return InvalidArgument("delta_mush.radius: got ", *params.radius, ", which takes ", steps,
                           " steps of ", params.step, ", need at most ", kMaxMushSteps,
                           ": lower radius or raise step");
  }
  plan.iterations = static_cast<std::uint32_t>(steps);
  return plan;
}

absl::Status CheckMap(const Rig& rig, const DeltaMushParams& params) {
  if (params.map.empty() || rig.FindMap(params.map) != nullptr) return absl::OkStatus();
  return InvalidArgument("delta_mush.map: the rig has no vertex map '", params.map, "'");
}

// [P] step size of each welded point, 0 to 1.
std::vector<double> StepOfPoints(const RigSurface& surface, const DeltaMushParams& params) {
  const Rig& rig = surface.rig();
  const WeldedPoints& welded = surface.welded();
  std::vector<double> steps(welded.points(), double{params.step});
  if (!params.map.empty()) {
    // Vertices of one point may have different map values: use their mean.
    const VertexMap& map = *rig.FindMap(params.map);
    std::vector<double> sum(welded.points(), 0.0), count(welded.points(), 0.0);
    for (std::size_t v = 0; v < welded.point.size(); ++v) {
      sum[welded.point[v]] += std::clamp(double{map.values[v]}, 0.0, 1.0);
      ++count[welded.point[v]];
    }
    for (std::size_t p = 0; p < steps.size(); ++p) steps[p] *= sum[p] / count[p];
  }
  if (params.pin_borders) {
    const std::vector<std::uint8_t>& border = surface.border();
    for (std::size_t p = 0; p < steps.size(); ++p) {
      if (border[p] != 0) steps[p] = 0;
    }
  }
  return steps;
}

std::shared_ptr<const NeighbourWeights> WeightsOf(const RigSurface& surface, const Plan& plan,
                                                  MushLaplacian laplacian) {
  if (laplacian == MushLaplacian::kCotangent) return surface.cotangents();
  return std::make_shared<const NeighbourWeights>(
      laplacian == MushLaplacian::kUniform
          ? UniformWeights(plan.ring)
          : InverseDistanceWeights(surface.rig().mesh(), plan.welded, plan.ring));
}

// The rows of one smoothing step; points in lane order, neighbours in file order.
void SetRows(const NeighbourWeights& weights, const PointOrder& order,
             const std::vector<double>& steps, DeltaMush& mush) {
  mush.even = weights.even ? 1 : 0;
  mush.row_offset.assign(1, 0);
  mush.neighbours.clear();
  mush.weights.clear();
  mush.row_offset.reserve(order.point.size() + 1);
  mush.neighbours.reserve(weights.neighbours.size());
  mush.weights.reserve(weights.even ? order.point.size() : weights.neighbours.size());
  for (const std::uint32_t p : order.point) {
    const std::uint64_t begin = weights.offsets[p], end = weights.offsets[p + 1];
    // An isolated point lists itself.
    const bool moves = steps[p] > 0 && weights.neighbours[begin] != p;
    for (std::uint64_t k = begin; moves && k < end; ++k) {
      mush.neighbours.push_back(order.number[weights.neighbours[k]]);
      if (!weights.even) mush.weights.push_back(static_cast<float>(steps[p] * weights.weights[k]));
    }
    if (weights.even) {
      mush.weights.push_back(moves ? static_cast<float>(steps[p] * weights.weights[begin]) : 0);
    }
    mush.row_offset.push_back(static_cast<std::uint32_t>(mush.neighbours.size()));
  }
}

Vec3d RestOf(const BindInput& input, std::size_t lane) {
  return ToDouble(input.rig.mesh().positions()[input.layout.Vertex(lane)]) - input.layout.centre;
}

// [P] rest points after all steps, in double; poses take the same steps in float.
absl::StatusOr<std::vector<Vec3d>> SmoothRest(const BindInput& input, const DeltaMush& mush,
                                              Task& task) {
  std::vector<Vec3d> now, next(mush.points());
  now.reserve(mush.points());
  for (const std::uint32_t lane : mush.point_lane) now.push_back(RestOf(input, lane));
  for (std::uint32_t step = 0; step < mush.iterations; ++step) {
    task.For(mush.points(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        Vec3d sum;
        for (std::uint32_t k = mush.row_offset[p]; k < mush.row_offset[p + 1]; ++k) {
          const double w = mush.weights[mush.even == 1 ? p : k];
          sum = sum + w * (now[mush.neighbours[k]] - now[p]);
        }
        next[p] = now[p] + sum;
      }
    });
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    now.swap(next);
    task.Advance(kStepWork * static_cast<double>(input.rig.vertices()));
  }
  return now;
}

// Sets the rows of all steps, damped where the rest mesh would lose more area than `keep_area`
// allows. Returns the rest points after them, see SmoothRest.
absl::StatusOr<std::vector<Vec3d>> SetSteps(const BindInput& input, const Plan& plan,
                                            const PointOrder& order, const DeltaMushParams& params,
                                            DeltaMush& mush, Task& task) {
  const Mesh& mesh = input.rig.mesh();
  const auto weights = WeightsOf(input.surface, plan, params.laplacian);
  std::vector<double> steps = StepOfPoints(input.surface, params);
  SetRows(*weights, order, steps, mush);
  SINEW_ASSIGN_OR_RETURN(std::vector<Vec3d> places, SmoothRest(input, mush, task));
  if (!(params.keep_area > 0)) return places;
  std::vector<Vec3d> smoothed;  // in point order
  smoothed.reserve(places.size());
  for (const std::uint32_t place : order.number) smoothed.push_back(places[place]);
  const std::vector<double> factors =
      MaxSmoothingSteps(mesh, plan.welded, *weights, smoothed, double{params.keep_area});
  if (std::ranges::all_of(factors, [](double factor) { return factor == 1; })) return places;
  for (std::size_t p = 0; p < steps.size(); ++p) steps[p] *= factors[p];
  SetRows(*weights, order, steps, mush);
  return SmoothRest(input, mush, task);
}

struct RestFrame {
  Vec3d tangent, bitangent, normal;
};

class RestFrames {
 public:
  RestFrames(const SurfaceFaces& surface, std::span<const Vec3d> points, const Task& task)
      : surface_(surface), points_(points), areas_(surface.face_count()) {
    task.For(areas_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t f = begin; f < end; ++f) areas_[f] = AreaOf(f);
    });
  }

  // Twice the vector area of the faces around p; 0 0 0 if they cancel.
  Vec3d AreaAround(std::size_t p) const {
    Area sum;
    for (std::uint32_t k = surface_.face_offset[p]; k < surface_.face_offset[p + 1]; ++k) {
      const Area& area = areas_[surface_.faces[k]];
      sum = {sum.vector + area.vector, sum.size + area.size};
    }
    return Length(sum.vector) > kNoArea * sum.size ? sum.vector : Vec3d{};
  }

  // Component of the edge from p to q along the surface; 0 0 0 if it is too short to have a
  // direction.
  Vec3d Along(std::size_t p, std::size_t q, const Vec3d& normal, double least) const {
    const Vec3d e = points_[q] - points_[p];
    const Vec3d t = e - Dot(e, normal) * normal;
    return Dot(t, t) > std::max(kSteep * Dot(e, e), least * least) ? t : Vec3d{};
  }

 private:
  struct Area {
    Vec3d vector;     // twice the vector area
    double size = 0;  // sum of squared lengths, for a relative tolerance
  };
  Area AreaOf(std::size_t f) const {
    const auto corners = surface_.Corners(f);
    const Vec3d origin = points_[corners[0]];
    Vec3d last = points_[corners[1]] - origin;
    Area area;
    for (std::size_t c = 2; c < corners.size(); ++c) {
      const Vec3d next = points_[corners[c]] - origin;
      area = {area.vector + Cross(last, next), area.size + Dot(last, last) + Dot(next, next)};
      last = next;
    }
    return area;
  }

  const SurfaceFaces& surface_;
  std::span<const Vec3d> points_;
  std::vector<Area> areas_;
};

// The candidate (except `taken`) with the longest edge along the surface, the first among ties. -1:
// none has a direction.
std::int64_t Farthest(std::span<const Vec3d> along, std::int64_t taken) {
  const auto length = [&](std::size_t k) {
    return static_cast<std::int64_t>(k) == taken ? 0 : Length(along[k]);
  };
  double longest = 0;
  for (std::size_t k = 0; k < along.size(); ++k) longest = std::max(longest, length(k));
  for (std::size_t k = 0; longest > 0 && k < along.size(); ++k) {
    if (length(k) >= longest * (1 - kTie)) return static_cast<std::int64_t>(k);
  }
  return -1;
}

// Chooses the neighbours for the frame of point p and returns its rest frame.
//
//    detail  length of the detail in it
RestFrame SetFrame(const RestFrames& frames, const Adjacency& ring, const PointOrder& order,
                   std::size_t p, double detail, DeltaMush& mush) {
  RestFrame frame;
  if (mush.row_offset[p] == mush.row_offset[p + 1]) return frame;  // no detail
  const Vec3d area = frames.AreaAround(p);
  const double least = kBindEdge * detail;
  if (!(Length(area) > least * least)) return frame;
  frame.normal = (1 / Length(area)) * area;
  const auto row = ring.row(order.point[p]);
  std::vector<Vec3d> along;
  along.reserve(row.size());
  for (const std::uint32_t q : row)
    along.push_back(frames.Along(p, order.number[q], frame.normal, least));
  const std::int64_t first = Farthest(along, -1);
  if (first < 0) return frame;
  const auto at = [&](std::int64_t k) { return along[static_cast<std::size_t>(k)]; };
  const auto unit = [](const Vec3d& v) { return (1 / Length(v)) * v; };
  const auto number = [&](std::int64_t k) {
    return static_cast<std::int32_t>(order.number[row[static_cast<std::size_t>(k)]]);
  };
  frame.tangent = unit(at(first));
  frame.bitangent = Cross(frame.normal, frame.tangent);
  mush.frame_points[p * 2] = number(first);
  const auto still = [&](double length) {
    return static_cast<float>(kPoseEdge * std::max(length, detail));
  };
  mush.frame_least[p * 3] = still(std::sqrt(Length(area)));
  mush.frame_least[p * 3 + 1] = still(Length(at(first)));
  if (const std::int64_t second = Farthest(along, first); second >= 0) {
    const Vec3d t = unit(at(second));
    mush.frame_points[p * 2 + 1] = number(second);
    mush.frame_least[p * 3 + 2] = still(Length(at(second)));
    mush.frame_turn[p * 2] = static_cast<float>(Dot(t, frame.tangent));
    mush.frame_turn[p * 2 + 1] = static_cast<float>(Dot(t, frame.bitangent));
  }
  return frame;
}

// The difference between rest and smoothed mesh per vertex.
void SetDetail(const BindInput& input, const Plan& plan, const PointOrder& order,
               std::span<const Vec3d> smoothed, double displacement, const Task& task,
               DeltaMush& mush) {
  std::vector<RestFrame> rest(mush.points());
  const RestFrames frames(mush.surface, smoothed, task);
  task.For(mush.points(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const double detail = Length(RestOf(input, mush.point_lane[p]) - smoothed[p]);
      rest[p] = SetFrame(frames, plan.ring, order, p, detail, mush);
    }
  });
  const auto store = [](const Vec3d& v, float* to) {
    to[0] = static_cast<float>(v.x);
    to[kLanes] = static_cast<float>(v.y);
    to[2 * kLanes] = static_cast<float>(v.z);
  };
  task.For(mush.lane_point.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t lane = begin; lane < end; ++lane) {
      const std::uint32_t p = mush.lane_point[lane];
      const Vec3d d = displacement * (RestOf(input, lane) - smoothed[p]);
      const RestFrame& f = rest[p];
      const std::size_t at = lane / kLanes * 3 * kLanes + lane % kLanes;
      store(d, mush.offset.data() + at);
      store({Dot(d, f.tangent), Dot(d, f.bitangent), Dot(d, f.normal)}, mush.delta.data() + at);
    }
  });
}

}  // namespace

absl::Status DeltaMush::Validate(const DeltaMushParams& params) {
  if (params.radius.has_value() && !(params.step > 0)) {
    return InvalidArgument("delta_mush.step: got ", params.step,
                           ", but radius needs more than 0, at most 1");
  }
  return absl::OkStatus();
}

absl::StatusOr<BindCost> DeltaMush::Cost(const BindInput& input, const DeltaMushParams& params) {
  SINEW_RETURN_IF_ERROR(Validate(params));
  SINEW_RETURN_IF_ERROR(CheckMap(input.rig, params));
  std::uint32_t steps = params.iterations;
  if (params.radius.has_value()) {
    SINEW_ASSIGN_OR_RETURN(const Plan plan, MakePlan(input.surface, params));
    steps = plan.iterations;
  }
  // Over the rest mesh, for the smoothing limit.
  const double passes = params.keep_area > 0 ? 2 : 1;
  const std::size_t vertices = input.rig.vertices(), lanes = input.layout.order.size();
  const std::size_t corners = input.rig.mesh().face_vertices().size();
  const std::size_t faces = input.rig.mesh().faces();
  // Directed edges; triangulating polygons adds fewer edges than corners.
  const std::size_t edges = (params.laplacian == MushLaplacian::kCotangent ? 4 : 2) * corners;
  // Direct smoothing replaces the rows of the steps, unless rest points may move.
  const bool direct = input.blended.has_value() && steps > 0;
  const std::size_t rows = vertices * 8 + edges * 8;
  const std::size_t smoothing = !direct                   ? rows
                                : input.blended->may_move ? rows + DirectBytes(vertices)
                                                          : std::max(rows, DirectBytes(vertices));
  const std::size_t bound =
      steps == 0 ? 64 : vertices * 36 + smoothing + corners * 8 + faces * 4 + lanes * 28 + 64;
  // Welding, neighbours before and after deduplication and weighting, borders, frames.
  const std::size_t passing = vertices * 380 + ShapeWeldBytes(input.rig) + edges * 36 +
                              corners * 56 + faces * 64 +
                              (direct ? rows + DirectBindBytes(input.rig) : 0);
  const double step_time = direct ? std::min(kDirectTime, kStepTime * steps) : kStepTime * steps;
  return BindCost{
      .peak_bytes = bound + passing,
      .bound_bytes = bound,
      .work =
          static_cast<double>(vertices) * (kPlanWork + kDetailWork + kStepWork * passes * steps) +
          (direct ? DirectWork(vertices, steps) : 0),
      .frame_ns = static_cast<double>(vertices) * (steps == 0 ? 1 : kFrameTime + step_time),
      .surface = RigSurface::kWelded | RigSurface::kOrder | RigSurface::kBorder |
                 (params.laplacian == MushLaplacian::kCotangent
                      ? RigSurface::kTriangles | RigSurface::kCotangents
                      : RigSurface::kPolygons)};
}

absl::StatusOr<DeltaMush> DeltaMush::Bind(const BindInput& input, const DeltaMushParams& params,
                                          Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(Validate(params));
  SINEW_RETURN_IF_ERROR(CheckMap(input.rig, params));
  const Mesh& mesh = input.rig.mesh();
  const auto vertices = static_cast<double>(input.rig.vertices());
  SINEW_ASSIGN_OR_RETURN(const Plan plan, MakePlan(input.surface, params));
  DeltaMush mush;
  mush.iterations = plan.iterations;
  if (mush.iterations == 0) return mush;
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());

  const PointOrder& order = input.surface.order();
  const std::size_t points = order.point.size();
  for (const std::uint32_t p : order.point) mush.point_lane.push_back(order.lane[p]);
  mush.lane_point.resize(input.layout.order.size());
  for (std::size_t i = 0; i < mush.lane_point.size(); ++i) {
    mush.lane_point[i] = order.vertex[input.layout.Vertex(i)];
  }
  mush.frame_points.assign(points * 2, -1);
  mush.frame_turn.assign(points * 2, 0.0f);
  mush.frame_least.assign(points * 3, 0.0f);
  mush.delta.resize(mush.lane_point.size() * 3);
  mush.offset.resize(mush.lane_point.size() * 3);
  mush.surface.polygon_offset = {0};
  mush.surface.face_offset.assign(points + 1, 0);

  absl::StatusOr<std::vector<Vec3d>> smoothed = absl::CancelledError("cancelled");
  const auto smooth = [&]() -> absl::Status {
    smoothed = SetSteps(input, plan, order, params, mush, task);
    SINEW_RETURN_IF_ERROR(smoothed.status());
    task.Advance(kPlanWork * vertices);
    if (!input.blended) return absl::OkStatus();
    SINEW_ASSIGN_OR_RETURN(mush.direct, BindDirect(input, mush, plan.ring, order, *smoothed, task));
    return absl::OkStatus();
  };
  absl::Status of_steps;
  task.For(2, 1, [&](std::size_t part, std::size_t) {
    if (part == 0) {
      of_steps = smooth();
    } else if (params.displacement != 0) {
      mush.surface = MakeSurfaceFaces(mesh, order.vertex, order.vertex, points);
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SINEW_RETURN_IF_ERROR(of_steps);
  if (params.displacement != 0) {
    SetDetail(input, plan, order, *smoothed, double{params.displacement}, task, mush);
  }
  if (mush.direct.used() && !input.blended->may_move) {
    mush.stepped = 0;
    mush.row_offset = mush.neighbours = {};
    mush.weights = {};
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  task.Advance(kDetailWork * vertices);
  return mush;
}

}  // namespace sinew
