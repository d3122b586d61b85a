#include "core/deform/implicit/project/projection.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <utility>

#include "core/deform/implicit/project/projection_step.h"
#include "core/deform/implicit/project/stray_points.h"
#include "core/deform/method/scratch.h"
#include "core/deform/method/vertex_status.h"
#include "core/simd/vec4.h"

namespace sinew {
namespace {

constexpr float kLongestStep = 0.25f;                     // in units
constexpr float kNoGradient = 1e-5f;                      // per unit
constexpr float kStrayed = 10 * kLevelTolerance;          // smoothed if steps ran out
constexpr std::uint32_t kFirstRings = 6, kLastRings = 3;  // diffusions
// Where wrong-side points returned, rows of a coarse mesh alternate between the sides of the
// crease, which needs more passes.
constexpr std::uint32_t kLastSmoothing = 1, kStraySmoothing = 3;
constexpr std::size_t kFewNeighbours = 3;  // points with at most this many stay
constexpr float kMinStray = 0.5f;          // relative to the longest step
constexpr float kFarthestBack = 2;         // times the point's path: beyond is no contact
constexpr std::size_t kGrain = 1024;       // points per chunk of a sweep

// Allocates arrays from a frame's scratch; contents are undefined.
class Scratch {
 public:
  explicit Scratch(std::span<float> floats) : floats_(floats) {}

  template <class T>
  std::span<T> Take(std::size_t count) {
    const std::size_t size = WholeLines((count * sizeof(T) + sizeof(float) - 1) / sizeof(float));
    T* const first = reinterpret_cast<T*>(floats_.data());
    std::uninitialized_default_construct_n(first, count);
    floats_ = floats_.subspan(size);
    return {first, count};
  }

 private:
  std::span<float> floats_;
};

class Projection {
 public:
  Projection(const SkinSurface& skin, const PosedField& field, const ProjectionOptions& options,
             const StageFrame& frame)
      : skin_(skin), field_(field), options_(options), frame_(frame) {
    const std::size_t count = skin.points();
    Scratch scratch(frame.scratch);
    points_.at = scratch.Take<float>(count * 4);
    next_ = scratch.Take<float>(count * 4);
    points_.gradient = scratch.Take<float>(count * 4);
    points_.known = scratch.Take<std::uint8_t>(count);
    points_.state = scratch.Take<std::uint8_t>(count);
    first_state_ = scratch.Take<std::uint8_t>(count);
    reached_ = scratch.Take<std::uint8_t>(count);
    flag_ = scratch.Take<float>(count);
    next_flag_ = scratch.Take<float>(count);
    list_ = scratch.Take<std::uint32_t>(count);
    region_ = scratch.Take<std::uint32_t>(count);
    const float unit = options.unit * field.Scale();
    rules_ = {.sigma = options.sigma,
              .longest = kLongestStep * unit,
              .creases = options.contact,
              .least_gradient = kNoGradient / unit};
  }

  void Run(ProjectionCounts* counts) {
    GatherPoints(skin_, frame_.in, points_.at, frame_.task);
    std::ranges::fill(points_.known, std::uint8_t{0});
    std::ranges::fill(points_.state, static_cast<std::uint8_t>(VertexStatus::kExcluded));
    std::size_t moving = 0;
    for (std::uint32_t p = 0; p < skin_.points(); ++p) {
      if (IsSkin(p)) list_[moving++] = p;
    }
    Fit(moving, options_.iterations, options_.relax);
    if (counts != nullptr) Count(counts->first);

    FlagStopped();
    if (options_.contact && options_.strays) ReturnFromContact();
    std::ranges::copy(points_.state, first_state_.begin());
    const bool smooth = options_.contact && options_.smoothing > 0;
    const std::size_t region = smooth && flagged_ > 0 ? Grow(kFirstRings) : 0;
    if (region > 0) Smooth(region, kFirstRings, options_.smoothing);
    Refit(region);
    if (options_.contact && options_.strays) ReturnToContact();
    if (region > 0) {
      FlagStopped();
      if (flagged_ > 0) {
        Smooth(Grow(kLastRings), kLastRings, strayed_ ? kStraySmoothing : kLastSmoothing);
      }
    }
    KeepFirstVertexStatus();

    GoPartOfWay(skin_, frame_.in, points_.at, frame_.task);
    ScatterPoints(skin_, frame_.in, points_.at, frame_.out, frame_.task);
    if (!frame_.vertex_status.empty()) {
      ScatterVertexStatus(skin_, frame_.layout, points_.state, frame_.vertex_status);
    }
    if (counts != nullptr) {
      Count(counts->last);
      counts->evaluations = evaluations_;
    }
  }

 private:
  bool IsSkin(std::uint32_t p) const { return skin_.IsSkin(p); }
  VertexStatus State(std::uint32_t p) const { return static_cast<VertexStatus>(points_.state[p]); }

  // Steps the first `count` points of list_ until all have stopped.
  void Fit(std::size_t count, std::uint32_t iterations, bool relax) {
    for (std::size_t i = 0; i < count; ++i) points_.state[list_[i]] = kMovingPoint;
    for (std::uint32_t k = 0; k < iterations && count > 0; ++k) {
      if (frame_.task.cancelled()) break;
      const std::span<const std::uint32_t> moving = list_.first(count);
      frame_.task.For(count, kStepGrain, [&](std::size_t begin, std::size_t end) {
        evaluations_ += AdvancePoints(field_, skin_.potential, rules_, k == 0,
                                      moving.subspan(begin, end - begin), points_);
      });
      const auto stopped =
          std::remove_if(list_.begin(), list_.begin() + std::ssize(moving),
                         [&](std::uint32_t p) { return points_.state[p] != kMovingPoint; });
      count = static_cast<std::size_t>(stopped - list_.begin());
      if (relax && k + 1 < iterations) Relax(count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      points_.state[list_[i]] = static_cast<std::uint8_t>(VertexStatus::kIterationLimit);
    }
  }

  // Relaxed position of point p along the surface, scaled by its remaining distance from the level:
  // 1 - (|d| - 1)^4.
  Vec4 Relaxed(std::uint32_t p) const {
    const Vec4 at = Load4(points_.at.data(), p);
    const Vec4 g = Load4(points_.gradient.data(), p);
    Vec4 shift = {0, 0, 0, 0};
    float total = 0;
    for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
      const auto weight = static_cast<float>(skin_.mean_value[k]);
      shift += weight * (Load4(points_.at.data(), skin_.rows.At(p, k)) - at);
      total += weight;
    }
    shift /= std::max(total, 1.0f);
    const float length2 = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    const float along = shift[0] * g[0] + shift[1] * g[1] + shift[2] * g[2];
    const Vec4 normal = {g[0], g[1], g[2], 0};
    shift -= (along / length2) * normal;
    const float left = (std::abs(g[3]) - 1) * (std::abs(g[3]) - 1);
    return at + std::max(0.0f, 1 - left * left) * shift;
  }

  void Relax(std::size_t count) {
    frame_.task.For(count, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::uint32_t p = list_[i];
        // A row is positive or all zero; then its sum is 0 and the point stays.
        Store4(Relaxed(p), next_.data(), p);
      }
    });
    frame_.task.For(count, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) TakeNext(list_[i]);
    });
  }

  void TakeNext(std::uint32_t p) {
    const Vec4 from = Load4(points_.at.data(), p), to = Load4(next_.data(), p);
    if (from[0] == to[0] && from[1] == to[1] && from[2] == to[2]) return;
    Store4(to, points_.at.data(), p);
    points_.known[p] = 0;
  }

  Vec3f Skinned(std::uint32_t p) const { return skin_.PointOf(frame_.in, p); }
  Vec3f At(std::uint32_t p) const {
    return {points_.at[4 * p], points_.at[4 * p + 1], points_.at[4 * p + 2]};
  }

  // On its level, and far from its skinned position.
  bool MayStray(std::uint32_t p) const {
    const Vec3f from = Skinned(p), to = At(p);
    const float x = to.x - from.x, y = to.y - from.y, z = to.z - from.z;
    const float least = kMinStray * rules_.longest;
    return State(p) == VertexStatus::kFitted && x * x + y * y + z * z > least * least;
  }

  // Finds wrong-side points from the contact outward, ring by ring, and returns them; they stop at
  // contacts too.
  void ReturnFromContact() {
    std::size_t begin = 0, end = flagged_;
    std::ranges::fill(reached_, std::uint8_t{0});
    for (std::size_t i = 0; i < end; ++i) reached_[region_[i]] = 1;
    while (begin < end && !frame_.task.cancelled()) {
      std::size_t count = 0;
      for (; begin < end; ++begin) {
        const std::uint32_t p = region_[begin];
        for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
          const std::uint32_t q = skin_.rows.At(p, k);
          if (reached_[q] != 0 || !MayStray(q)) continue;
          reached_[q] = 1;
          list_[count++] = q;
        }
      }
      count = Find(count);
      std::copy_n(list_.begin(), count, region_.begin() + static_cast<std::ptrdiff_t>(end));
      end += count;
    }
    std::copy(region_.begin() + static_cast<std::ptrdiff_t>(flagged_),
              region_.begin() + static_cast<std::ptrdiff_t>(end), list_.begin());
    const std::size_t strays = end - flagged_;
    Return(strays);
    for (std::size_t i = 0; i < strays; ++i) {
      if (State(list_[i]) == VertexStatus::kGradientDivergence) Flag(list_[i]);
    }
  }

  // Returns points of the unsmoothed contact that left it through another limb's side.
  void ReturnToContact() {
    std::size_t count = 0;
    for (std::uint32_t p = 0; p < skin_.points(); ++p) {
      const auto first = static_cast<VertexStatus>(first_state_[p]);
      if (first == VertexStatus::kGradientDivergence && MayStray(p)) list_[count++] = p;
    }
    Return(Find(count));
  }

  void Return(std::size_t count) {
    strayed_ = strayed_ || count > 0;
    ForStrays(count, true);
  }

  // Keeps the wrong-side points among the first `count` of list_ and returns their number.
  std::size_t Find(std::size_t count) {
    ForStrays(count, false);
    const auto rest =
        std::remove_if(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](std::uint32_t p) { return points_.state[p] != kMovingPoint; });
    return static_cast<std::size_t>(rest - list_.begin());
  }

  // Finds (or with `back` returns) wrong-side points among the first `count` of list_.
  void ForStrays(std::size_t count, bool back) {
    std::sort(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) {  // also if cancelled
      points_.state[list_[i]] = static_cast<std::uint8_t>(VertexStatus::kFitted);
    }
    frame_.task.For(count, kLanes, [&](std::size_t begin, std::size_t end) {
      for (; begin < end; begin += kLanes) {
        std::array<StrayPoint, kLanes> points;
        const auto some = std::span(points).first(std::min(kLanes, end - begin));
        for (std::size_t i = 0; i < some.size(); ++i) {
          const std::uint32_t p = list_[begin + i];
          const Vec3f from = Skinned(p), to = At(p);
          const float way = std::hypot(to.x - from.x, to.y - from.y, to.z - from.z);
          some[i] = {.point = p, .at = back ? from : to, .farthest = kFarthestBack * way};
        }
        if (back) {
          ReturnStrays(skin_, field_, rules_.longest, rules_.least_gradient, some);
        } else {
          FindStrays(skin_, field_, some);
        }
        for (const StrayPoint& point : some) {
          if (!point.found) continue;
          points_.state[point.point] =
              back ? static_cast<std::uint8_t>(VertexStatus::kGradientDivergence) : kMovingPoint;
          if (!back) continue;
          Store4(Vec4{point.at.x, point.at.y, point.at.z, 0}, points_.at.data(), point.point);
          points_.known[point.point] = 0;
        }
      }
    });
  }

  void Flag(std::uint32_t p) {
    flag_[p] = 1;
    region_[flagged_++] = p;
  }

  // Flags points that stopped short of their level: flagged_ of them, listed in region_.
  void FlagStopped() {
    std::ranges::fill(flag_, 0.0f);
    std::ranges::fill(next_flag_, 0.0f);
    flagged_ = 0;
    for (std::uint32_t p = 0; p < skin_.points(); ++p) {
      const bool flagged = State(p) == VertexStatus::kGradientDivergence ||
                           State(p) == VertexStatus::kPotentialPit ||
                           (State(p) == VertexStatus::kIterationLimit &&
                            std::abs(points_.gradient[4 * p + 3]) > kStrayed);
      if (flagged) Flag(p);
    }
  }

  // Adds the points within `rings` rings of the flagged ones to region_.
  std::size_t Grow(std::uint32_t rings) {
    std::ranges::fill(reached_, std::uint8_t{0});
    std::size_t count = flagged_, begin = 0;
    for (std::size_t i = 0; i < count; ++i) reached_[region_[i]] = 1;
    for (std::uint32_t ring = 0; ring < rings; ++ring) {
      const std::size_t end = count;
      for (; begin < end; ++begin) {
        const std::uint32_t p = region_[begin];
        for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
          const std::uint32_t q = skin_.rows.At(p, k);
          if (reached_[q] != 0) continue;
          reached_[q] = 1;
          region_[count++] = q;
        }
      }
    }
    std::sort(region_.begin(), region_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }

  template <class Visit>
  void ForRegion(std::size_t region, Visit visit) const {
    frame_.task.For(region, kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) visit(region_[i]);
    });
  }

  void Smooth(std::size_t region, std::uint32_t diffusions, std::uint32_t passes) {
    for (std::uint32_t pass = 0; pass < diffusions; ++pass) {
      ForRegion(region, [&](std::uint32_t p) {
        float sum = 0;
        const std::size_t size = skin_.rows.RowSize(p);
        for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
          sum += flag_[skin_.rows.At(p, k)];
        }
        next_flag_[p] = size > 0 ? sum / static_cast<float>(size) : 0;
      });
      std::swap(flag_, next_flag_);
    }
    for (std::uint32_t k = 0; k < passes && !frame_.task.cancelled(); ++k) {
      ForRegion(region, [&](std::uint32_t p) { Store4(Smoothed(p), next_.data(), p); });
      ForRegion(region, [&](std::uint32_t p) { TakeNext(p); });
    }
  }

  // Offset from the skinned position of p to the mean of its neighbours' skinned positions.
  Vec4 SkinnedShape(std::uint32_t p) const {
    const Vec4 from = ToVec4(Skinned(p));
    Vec4 shape = {0, 0, 0, 0};
    for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
      shape += skin_.cotangent[k] * (ToVec4(Skinned(skin_.rows.At(p, k))) - from);
    }
    return shape;
  }

  Vec4 Smoothed(std::uint32_t p) const {
    const Vec4 at = Load4(points_.at.data(), p);
    if (!IsSkin(p) || !(flag_[p] > 0) || skin_.rows.RowSize(p) <= kFewNeighbours) return at;
    Vec4 shift = {0, 0, 0, 0};
    for (std::size_t k = skin_.rows.begin(p); k < skin_.rows.end(p); ++k) {
      shift += skin_.cotangent[k] * (Load4(points_.at.data(), skin_.rows.At(p, k)) - at);
    }
    const float firmness = skin_.FirmnessOf(p);
    if (firmness > 0) shift -= firmness * SkinnedShape(p);
    return at + flag_[p] * shift;
  }

  // Steps smoothed points, and those whose steps ran out, back to their level; all others are on
  // it.
  void Refit(std::size_t region) {
    std::size_t count = 0;
    for (std::uint32_t p = 0; p < skin_.points(); ++p) {
      const bool smoothed = region > 0 && reached_[p] != 0 && flag_[p] > 0;
      if (IsSkin(p) && (smoothed || State(p) == VertexStatus::kIterationLimit)) list_[count++] = p;
    }
    Fit(count, options_.fit_iterations, false);
  }

  // A point not moved by the last steps keeps its first status.
  void KeepFirstVertexStatus() {
    for (std::size_t p = 0; p < skin_.points(); ++p) {
      if (points_.state[p] == static_cast<std::uint8_t>(VertexStatus::kNotDisplaced)) {
        points_.state[p] = first_state_[p];
      }
    }
  }

  void Count(std::array<std::size_t, 7>& counts) const {
    for (const std::uint8_t state : points_.state) ++counts[state];
  }

  const SkinSurface& skin_;
  const PosedField& field_;
  const ProjectionOptions& options_;
  const StageFrame& frame_;
  StepRules rules_;
  MovingPoints points_;
  std::span<float> next_, flag_, next_flag_;
  std::span<std::uint8_t> first_state_, reached_;
  std::span<std::uint32_t> list_, region_;
  std::size_t flagged_ = 0;
  bool strayed_ = false;
  std::atomic<std::size_t> evaluations_{0};
};

}  // namespace

std::size_t ProjectionScratch(std::size_t points) {
  return 3 * WholeLines(points * 4) + 4 * WholeLines((points + 3) / 4) + 4 * WholeLines(points);
}

void Project(const SkinSurface& skin, const PosedField& field, const ProjectionOptions& options,
             const StageFrame& frame, ProjectionCounts* counts) {
  Projection(skin, field, options, frame).Run(counts);
}

}  // namespace sinew
