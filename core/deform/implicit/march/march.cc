#include "core/deform/implicit/march/march.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/deform/method/scratch.h"
#include "core/deform/method/vertex_status.h"
#include "core/simd/vec4.h"
#include "core/surface/laplacian.h"
#include "core/surface/rig_surface.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256, kSmoothGrain = 4096;  // points
// |f - level| of points that stay, and the way to which bisection is exact, in units.
constexpr double kAtLevel = 1e-4;
constexpr double kLeastGradient = 1e-5;   // shorter ones have no direction
constexpr std::uint32_t kDiffusions = 6;  // as in the authors' program

// Directed edges of the triangles that polygons are split into.
std::size_t MostNeighbours(const Rig& rig) {
  return 4 * rig.mesh().face_vertices().size() + rig.vertices();
}

bool MeetsLimb(VertexStatus status) {
  return status == VertexStatus::kGradientDivergence || status == VertexStatus::kPotentialPit;
}

// One point's march. The field is evaluated at `next`, and Take decides how to go on.
struct Walk {
  std::size_t point;
  std::uint16_t part;  // with the least f at the last evaluation
  double level;
  Vec3d at, next = at;  // at: where the march has come to
  bool bisects = false, done = false;
  VertexStatus status = VertexStatus::kExcluded;
  std::uint32_t steps = 0;
  Vec3d step{}, gradient{};  // gradient and residual: where the last whole step starts
  double residual = 0;

  void Take(const UnionValue& value, const MarchRules& rules, double unit) {
    const double off = double{value.f} - level;
    const bool flat = !(Length(value.gradient) > kLeastGradient);
    // Where the field ends there is no level to cross.
    const bool crosses = std::isfinite(off) && residual * off <= 0;
    const bool turns =
        flat || Dot(Unit(gradient), Unit(value.gradient)) < double{rules.gradient_threshold};
    if (value.part != kNoPart) part = value.part;
    if (bisects) return Halve(status == VertexStatus::kFitted ? crosses : turns, unit);
    if (steps == 0) {
      if (flat) return Stop(VertexStatus::kZeroGradient);
      if (std::abs(off) < kAtLevel) return Stop(VertexStatus::kNotDisplaced);
    } else {
      // First of all, so that a level that is reached wins over a crease behind it.
      if (crosses) return Bisect(VertexStatus::kFitted, unit);
      if (flat) return Stop(VertexStatus::kZeroGradient);
      if (turns) return Bisect(VertexStatus::kGradientDivergence, unit);
      const bool leads_away = std::abs(off) > std::abs(residual);
      if (rules.potential_pit && leads_away) return Stop(VertexStatus::kPotentialPit);
      at = next;
      if (steps == rules.max_iterations) return Stop(VertexStatus::kIterationLimit);
    }
    ++steps;
    residual = off;
    gradient = value.gradient;
    // Inward from outside the level, outward from within.
    step = ((off > 0 ? -1 : 1) * double{rules.step_length} * unit) * Unit(gradient);
    next = at + step;
  }

  void Stop(VertexStatus how) {
    status = how;
    done = true;
  }

  // Begins to look for where the last step meets the condition of the status.
  void Bisect(VertexStatus how, double unit) {
    status = how;
    bisects = true;
    Halve(true, unit);
  }

  void Halve(bool behind, double unit) {
    if (!behind) at = next;
    done = Length(step) < kAtLevel * unit;
    step = 0.5 * step;
    next = at + step;
  }
};

void Advance(std::span<Walk* const> walks, const PosedField& posed, const MarchRules& rules) {
  std::array<std::uint16_t, kLanes> parts;
  for (std::size_t i = 0; i < kLanes; ++i) parts[i] = walks[std::min(i, walks.size() - 1)]->part;
  const auto next = [&](std::size_t i) { return ToFloat(walks[i]->next); };
  const auto values = UnionAt(posed, BlockOf(walks.size(), next), parts);
  for (std::size_t i = 0; i < walks.size(); ++i) {
    walks[i]->Take(values[i], rules, double{posed.unit()});
  }
}

}  // namespace

std::size_t March::BoundBytes(const Rig& rig) {
  // `ring` and `ring_weight` grow by doubling.
  return 10 * rig.vertices() + 2 * 8 * MostNeighbours(rig);
}

std::size_t March::PassingBytes(const Rig& rig) {
  return (16 + sizeof(Vec3d)) * rig.vertices() + (8 + 12) * MostNeighbours(rig) +
         rig.bindings().size() * sizeof(AffineD);
}

absl::StatusOr<March> March::Bind(const BindInput& input, const MarchRules& rules,
                                  const PosedField& bind_pose, const SkinSurface& skin,
                                  std::span<const Vec3d> rest, const Task& task) {
  March march;
  march.rules = rules;
  march.part.assign(skin.points(), kNoPart);
  march.level.assign(skin.points(), 0);
  task.For(skin.points(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t first = begin; first < end; first += kLanes) {
      const std::size_t count = std::min(kLanes, end - first);
      const auto at = BlockOf(count, [&](std::size_t i) { return ToFloat(rest[first + i]); });
      const auto values = UnionAt(bind_pose, at, {});
      for (std::size_t i = 0; i < count; ++i) {
        if (!skin.IsSkin(first + i) || !(Length(values[i].gradient) > 0)) continue;
        march.part[first + i] = values[i].part;
        march.level[first + i] = values[i].f;
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  const PointOrder& order = input.surface.order();
  const NeighbourWeights& weights = *input.surface.cotangents();
  for (std::size_t p = 0; p < march.points(); ++p) {
    const std::uint32_t point = order.point[p];
    for (std::size_t k = weights.offsets[point]; k < weights.offsets[point + 1]; ++k) {
      if (march.part[p] == kNoPart) break;
      march.ring.push_back(order.number[weights.neighbours[k]]);
      march.ring_weight.push_back(static_cast<float>(weights.weights[k]));
    }
    march.ring_offset.push_back(static_cast<std::uint32_t>(march.ring.size()));
  }
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return march;
}

std::size_t March::ScratchFloats(std::size_t points) {
  return 2 * WholeLines(points * 4);
}

void March::Run(const SkinSurface& skin, const PosedField& posed, const StageFrame& frame) const {
  const std::span<float> at = frame.scratch.first(points() * 4);
  GatherPoints(skin, frame.in, at, frame.task);
  std::vector<std::uint8_t> status(points(), static_cast<std::uint8_t>(VertexStatus::kExcluded));
  std::atomic<bool> meets = false;
  frame.task.For(points(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Walk> walks;
    walks.reserve(end - begin);
    std::vector<Walk*> active;
    for (std::size_t p = begin; p < end; ++p) {
      if (part[p] == kNoPart) continue;
      const Vec3d start = {at[4 * p], at[4 * p + 1], at[4 * p + 2]};
      walks.push_back({.point = p, .part = part[p], .level = double{level[p]}, .at = start});
      active.push_back(&walks.back());
    }
    while (!active.empty()) {
      for (std::size_t first = 0; first < active.size(); first += kLanes) {
        const std::size_t count = std::min(kLanes, active.size() - first);
        Advance(std::span(active).subspan(first, count), posed, rules);
      }
      std::erase_if(active, [](const Walk* walk) { return walk->done; });
    }
    for (const Walk& walk : walks) {
      status[walk.point] = static_cast<std::uint8_t>(walk.status);
      Vec4 to = ToVec4(ToFloat(walk.at));
      to[3] = MeetsLimb(walk.status) ? 1 : 0;
      if (to[3] > 0) meets = true;
      Store4(to, at.data(), walk.point);
    }
  });
  if (meets) {
    Smooth(at, frame.scratch.subspan(WholeLines(at.size()), at.size()), frame.task);
  }
  ScatterPoints(skin, at, status, frame);
}

void March::Smooth(std::span<float> at, std::span<float> spare, const Task& task) const {
  float *from = at.data(), *to = spare.data();
  for (std::uint32_t pass = 0; pass < kDiffusions + rules.smoothing; ++pass) {
    task.For(points(), kSmoothGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t p = begin; p < end; ++p) {
        Vec4 here = Load4(from, p), sum{};
        const float b = here[3];
        for (std::size_t k = ring_offset[p]; k < ring_offset[p + 1]; ++k) {
          sum += ring_weight[k] * (Load4(from, ring[k]) - here);
        }
        if (pass < kDiffusions) {
          here[3] += 0.5f * sum[3];
        } else if (b > 0) {
          here += b * Vec4{sum[0], sum[1], sum[2], 0};
        }
        Store4(here, to, p);
      }
    });
    std::swap(from, to);
  }
  if (from != at.data()) std::copy_n(from, at.size(), at.data());
}

}  // namespace sinew
