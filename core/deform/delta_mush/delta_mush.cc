#include "core/deform/delta_mush/delta_mush.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "core/deform/delta_mush/delta_mush_kernel.h"
#include "core/deform/delta_mush/detail_kernel.h"
#include "core/deform/delta_mush/direct_kernel.h"
#include "core/surface/normals_kernel.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kPointGrain = 4096;  // about 25 microseconds of one step
constexpr std::size_t kBlockGrain = 128;   // about 20 microseconds
constexpr std::size_t kDirectGrain = 512;  // blocks, about 20 microseconds

struct DetailFrame {
  Vec3f tangent, bitangent, normal;
};

struct Smoothed {
  const DeltaMush& mush;
  const float* points;        // [P][4]
  const float* face_normals;  // see FillFaceNormals

  // The frame of point p. False: undefined in this pose.
  bool Frame(std::size_t p, DetailFrame& frame) const {
    const std::int32_t first = mush.frame_points[p * 2], second = mush.frame_points[p * 2 + 1];
    if (first < 0) return false;
    const auto at = static_cast<std::uint32_t>(p);
    alignas(16) float sum[4];
    PointSumsKernel(mush.surface.face_offset.data(), mush.surface.faces.data(), face_normals, sum,
                    p, p + 1);
    const float* least = mush.frame_least.data() + p * 3;
    const Vec3d area = {sum[0], sum[1], sum[2]};
    if (!(std::sqrt(Dot(area, area)) > double{least[0]} * double{least[0]}) ||
        !SurfaceNormal(mush.surface, points, face_normals, p, sum, frame.normal)) {
      return false;
    }
    SurfaceFrame along;
    if (Along(at, first, least[1], frame.normal, along)) {
      frame.tangent = along.tangent;
      frame.bitangent = along.bitangent;
      return true;
    }
    if (second < 0 || !Along(at, second, least[2], frame.normal, along)) return false;
    const float c = mush.frame_turn[p * 2], s = mush.frame_turn[p * 2 + 1];
    const Vec3f &t = along.tangent, &b = along.bitangent;
    frame.tangent = {c * t.x - s * b.x, c * t.y - s * b.y, c * t.z - s * b.z};
    frame.bitangent = {s * t.x + c * b.x, s * t.y + c * b.y, s * t.z + c * b.z};
    return true;
  }

  // The frame with its tangent towards a neighbour. False: the edge is not longer than `least`.
  bool Along(std::uint32_t p, std::int32_t neighbour, float least, const Vec3f& normal,
             SurfaceFrame& frame) const {
    const auto q = static_cast<std::uint32_t>(neighbour);
    if (!MakeFrame(points, p, q, normal, frame)) return false;
    const float* from = points + std::size_t{p} * 4;
    const float* to = points + std::size_t{q} * 4;
    const Vec3f& t = frame.tangent;
    return (to[0] - from[0]) * t.x + (to[1] - from[1]) * t.y + (to[2] - from[2]) * t.z > least;
  }
};

// How a block's pivot joint transforms detail.
struct PivotJoint {
  PivotJoint(const PosedRig& posed, std::uint16_t binding)
      : side(posed.signs[binding]), rotation(posed.rotations[binding]) {}

  // Face normals flip when a joint mirrors; the surface itself does not.
  Vec3f Along(const DetailFrame& f, float t, float b, float n) const {
    const float out = side * n;
    return {t * f.tangent.x + b * f.bitangent.x + out * f.normal.x,
            t * f.tangent.y + b * f.bitangent.y + out * f.normal.y,
            t * f.tangent.z + b * f.bitangent.z + out * f.normal.z};
  }
  Vec3f Turned(float x, float y, float z) const {
    const auto& m = rotation.m;
    return {side * (m[0] * x + m[1] * y + m[2] * z), side * (m[3] * x + m[4] * y + m[5] * z),
            side * (m[6] * x + m[7] * y + m[8] * z)};
  }

  float side;  // -1 if the joint mirrors
  const Mat3& rotation;
};

// Lane i of block b. Adds smoothing and detail to the input point, so that points unaffected by
// smoothing keep their bits.
void WriteLane(const StageFrame& frame, const Smoothed& smoothed, const Vec3f& origin,
               const PivotJoint& pivot, std::size_t b, std::size_t i) {
  const DeltaMush& mush = smoothed.mush;
  const float* delta = mush.delta.data() + b * 3 * kLanes;
  const float* offset = mush.offset.data() + b * 3 * kLanes;
  const std::size_t p = mush.lane_point[b * kLanes + i];
  const std::size_t lane = mush.point_lane[p];
  const Vec3f at = frame.in[lane / kLanes].At(lane % kLanes);
  DetailFrame detail;
  const Vec3f d = smoothed.Frame(p, detail)
                      ? pivot.Along(detail, delta[i], delta[i + kLanes], delta[i + 2 * kLanes])
                      : pivot.Turned(offset[i], offset[i + kLanes], offset[i + 2 * kLanes]);
  const float* x = smoothed.points + p * 4;
  frame.out[b].Set(
      i, {at.x + ((x[0] - (at.x - origin.x)) + d.x), at.y + ((x[1] - (at.y - origin.y)) + d.y),
          at.z + ((x[2] - (at.z - origin.z)) + d.z)});
}

// Blocks [begin, end): all lanes with the kernel, lanes with a degenerate tangent frame
// individually.
void WriteBlocks(const StageFrame& frame, const Smoothed& smoothed, const Vec3f& origin,
                 std::size_t begin, std::size_t end) {
  const DeltaMush& mush = smoothed.mush;
  const DetailKernelArgs args = {.points = smoothed.points,
                                 .face_offset = mush.surface.face_offset.data(),
                                 .faces = mush.surface.faces.data(),
                                 .face_normals = smoothed.face_normals,
                                 .frame_points = mush.frame_points.data(),
                                 .least = mush.frame_least.data(),
                                 .origin = {origin.x, origin.y, origin.z},
                                 .in = frame.in.front().x,
                                 .lane_point = mush.lane_point.data(),
                                 .point_lane = mush.point_lane.data(),
                                 .delta = mush.delta.data(),
                                 .out = frame.out.front().x,
                                 .noise = kSurfaceNoise,
                                 .smallest = kSurfaceSmallest,
                                 .largest = kSurfaceLargest,
                                 .steep = kSurfaceSteep};
  for (std::size_t b = begin; b < end; ++b) {
    const PivotJoint pivot(frame.posed, frame.layout.pivot[b]);
    for (std::uint32_t left = DetailKernel(args, pivot.side, b); left != 0; left &= left - 1) {
      WriteLane(frame, smoothed, origin, pivot, b,
                static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

// Whether no earlier stage has moved the rest points in this frame.
bool RestIsStill(const StageFrame& frame) {
  return std::memcmp(frame.rest.data(), frame.layout.rest.data(), frame.rest.size_bytes()) == 0;
}

}  // namespace

StageFacts DeltaMush::Facts() const {
  const std::size_t buffers = stepped == 0 ? 1 : 2;
  const std::size_t scratch =
      iterations == 0 ? 0 : buffers * BufferFloats() + surface.normal_floats();
  return {.method = Params::kName,
          .in = Space::kPosed,
          .out = Space::kPosed,
          .pointwise = false,
          .rotations = true,
          .scratch_floats = scratch};
}

std::vector<BindStatistic> DeltaMush::Statistics() const {
  return {{.name = "smoothing_steps",
           .value = static_cast<double>(iterations),
           .unit = "steps",
           .description = "Smoothing steps per frame, as given or derived from the radius."}};
}

absl::Status DeltaMush::Check(const BlockLayout& layout, std::size_t bindings) const {
  return CheckFields(Params::kName, *this, layout.Sizes(bindings), iterations == 0);
}

std::span<const float> DeltaMush::Smooth(const StageFrame& frame, const Vec3f& origin) const {
  const std::size_t buffer = BufferFloats();
  float* now = frame.scratch.data();
  const float* const in = frame.in.front().x;
  if (direct.used() && (stepped == 0 || RestIsStill(frame))) {
    const DirectKernelArgs args = {.pair_offset = direct.joints.offset.data(),
                                   .pair_entry = direct.joints.entry.data(),
                                   .moments = direct.moments.data(),
                                   .skin = frame.posed.skin.front().m.data(),
                                   .origin = {origin.x, origin.y, origin.z},
                                   .out = now};
    frame.task.For(
        direct.joints.offset.size() - 1, kDirectGrain, [&](std::size_t begin, std::size_t end) {
          DirectKernel(args, begin, end);
          for (std::size_t p = begin * kLanes; p < std::min(end * kLanes, points()); ++p) {
            if (direct.still[p] == 0) continue;
            GatherPointsKernel(in, point_lane.data(), &origin.x, now, p, p + 1);
          }
        });
    return {now, buffer};
  }
  float* next = now + buffer;
  frame.task.For(points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    GatherPointsKernel(in, point_lane.data(), &origin.x, now, begin, end);
  });
  for (std::uint32_t step = 0; step < iterations; ++step) {
    const SmoothKernelArgs args = {.row_offset = row_offset.data(),
                                   .neighbours = neighbours.data(),
                                   .weights = weights.data(),
                                   .even = even != 0,
                                   .in = now,
                                   .out = next};
    frame.task.For(points(), kPointGrain,
                   [&](std::size_t begin, std::size_t end) { SmoothKernel(args, begin, end); });
    std::swap(now, next);
  }
  return {now, buffer};
}

void DeltaMush::Run(const StageFrame& frame) const {
  if (iterations == 0) {
    std::ranges::copy(frame.in, frame.out.begin());
    return;
  }
  // Relative to a vertex: far from the origin, rounding would destroy the detail.
  const std::size_t lane = point_lane.front();
  const Vec3f origin = frame.in[lane / kLanes].At(lane % kLanes);
  const std::span<const float> smooth = Smooth(frame, origin);
  const std::span<float> face_normals = frame.scratch.last(surface.normal_floats());
  FillFaceNormals(surface, smooth, face_normals, frame.task);
  const Smoothed smoothed = {*this, smooth.data(), face_normals.data()};
  frame.task.For(frame.layout.blocks(), kBlockGrain, [&](std::size_t begin, std::size_t end) {
    WriteBlocks(frame, smoothed, origin, begin, end);
  });
}

}  // namespace sinew
