#include "core/deform/delta_mush/direct_smoothing.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/base/rows.h"
#include "core/base/status.h"
#include "core/deform/delta_mush/delta_mush.h"
#include "core/rig/weight_table.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 1024;  // points
constexpr double kSpread = 1e-9;      // weights below stay with their points
constexpr double kKept = 2e-7;        // smaller weights are added to the strongest of a point
constexpr double kSpreadWork = 40;    // nanoseconds per point and step

// Tables are used up to this mean number of joints of a block, and of joints per step. A joint
// takes 0.9 ns and 16 bytes a point, a step 3.3 ns (AMD EPYC), and all else that is bound 280
// bytes.
constexpr std::size_t kMostJoints = 16, kJointsOfStep = 3;

using Moments = std::array<double, 4>;  // psi x y z, omega

struct Seed {
  std::uint32_t point;
  double weight;
};

// The moments of one binding after another, step by step.
class Spreading {
 public:
  Spreading(const DeltaMush& mush, const Adjacency& ring, const PointOrder& order)
      : mush_(mush),
        ring_(ring),
        order_(order),
        now_(mush.points()),
        next_(mush.points()),
        reached_(mush.points(), 0) {}

  // Every point within reach of the seeds, in a fixed order.
  std::span<const std::uint32_t> points() const { return points_; }
  const Moments& at(std::uint32_t point) const { return now_[point]; }

  absl::Status Run(std::span<const Seed> seeds, std::span<const Vec3d> rest, const Task& task) {
    Clear(task);
    for (const Seed& seed : seeds) Reach(seed.point);
    task.For(seeds.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (const auto& [p, w] : seeds.subspan(begin, end - begin)) {
        now_[p] = {w * rest[p].x, w * rest[p].y, w * rest[p].z, w};
      }
    });
    for (std::uint32_t step = 0; step < mush_.iterations; ++step) {
      Grow();
      task.For(points_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) Step(points_[i]);
      });
      SINEW_RETURN_IF_ERROR(task.CheckCancelled());
      now_.swap(next_);
    }
    return absl::OkStatus();
  }

 private:
  void Reach(std::uint32_t p) {
    if (std::exchange(reached_[p], std::uint8_t{1}) != 0) return;
    points_.push_back(p);
    edge_.push_back(p);
  }

  // Reaches the neighbours of points that have something to spread.
  void Grow() {
    std::vector<std::uint32_t> edge;
    edge.swap(edge_);
    for (const std::uint32_t p : edge) {
      if (now_[p][3] < kSpread) {
        edge_.push_back(p);
        continue;
      }
      for (const std::uint32_t q : ring_.row(order_.point[p])) Reach(order_.number[q]);
    }
  }

  void Step(std::uint32_t p) {
    Moments sum{};
    const Moments& at = now_[p];
    for (std::uint32_t k = mush_.row_offset[p]; k < mush_.row_offset[p + 1]; ++k) {
      const Moments& other = now_[mush_.neighbours[k]];
      const double w = mush_.weights[mush_.even == 1 ? p : k];
      for (std::size_t i = 0; i < 4; ++i) sum[i] += w * (other[i] - at[i]);
    }
    for (std::size_t i = 0; i < 4; ++i) next_[p][i] = at[i] + sum[i];
  }

  // Points out of reach are 0.
  void Clear(const Task& task) {
    task.For(points_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        now_[points_[i]] = next_[points_[i]] = {};
        reached_[points_[i]] = 0;
      }
    });
    points_.clear();
    edge_.clear();
  }

  const DeltaMush& mush_;
  const Adjacency& ring_;
  const PointOrder& order_;
  AlignedVector<Moments> now_, next_;         // [P]
  std::vector<std::uint8_t> reached_;         // [P]
  std::vector<std::uint32_t> points_, edge_;  // edge_: reached, neighbours not yet
};

// What a binding adds to a point.
struct Kept {
  std::uint32_t point, pair;  // pair: number in the point's block
  std::array<float, 4> moments;
};

// The points that each binding influences, with the weights of the blend.
Rows<Seed> SeedsOf(const BindInput& input, const DeltaMush& mush) {
  const std::size_t most = input.blended->influences;
  const Influences& influences =
      BlendsAll(input.rig, most) ? input.rig.own_influences() : input.rig.influences();
  return CollectRows<Seed>(input.rig.bindings().size(), [&](auto add) {
    for (std::uint32_t p = 0; p < mush.points(); ++p) {
      const std::uint32_t v = input.layout.Vertex(mush.point_lane[p]);
      const auto weights = influences.weights(v, most);
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (std::size_t k = 0; k < weights.size(); ++k) {
        add(influences.bindings(v, most)[k], Seed{p, weights[k] / sum});
      }
    }
  });
}

// Adds what a point lacks to its strongest binding, so that a common motion of all joints is exact.
void Complete(std::span<const Vec3d> smoothed, DirectSmoothing& direct, const Task& task) {
  task.For(direct.joints.offset.size() - 1, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin * kLanes; p < std::min(end * kLanes, smoothed.size()); ++p) {
      float* const row = direct.moments.data() + p % kLanes;
      const std::size_t first = direct.joints.offset[p / kLanes];
      Moments left = {smoothed[p].x, smoothed[p].y, smoothed[p].z, 1};
      std::size_t strongest = first;
      for (std::size_t k = first; k < direct.joints.offset[p / kLanes + 1]; ++k) {
        for (std::size_t i = 0; i < 4; ++i) left[i] -= double{row[(k * 4 + i) * kLanes]};
        if (row[(k * 4 + 3) * kLanes] > row[(strongest * 4 + 3) * kLanes]) strongest = k;
      }
      for (std::size_t i = 0; i < 4; ++i) {
        float& value = row[(strongest * 4 + i) * kLanes];
        value = static_cast<float>(double{value} + left[i]);
      }
    }
  });
}

}  // namespace

std::size_t DirectBytes(std::size_t points) {
  return (points + kLanes) / kLanes * (kMostJoints * (4 * kLanes * sizeof(float) + 2) + 4) +
         points * 4;
}

std::size_t DirectBindBytes(const Rig& rig) {
  // Moments before and after a step, lists of points that grow by doubling, and what is kept: up to
  // the limit and that of one more binding.
  const std::size_t of_vertex =
      2 * sizeof(Moments) + sizeof(Vec3d) + 40 + (kMostJoints + 1) * sizeof(Kept);
  return rig.vertices() * of_vertex + rig.influences().size() * sizeof(Seed) +
         rig.bindings().size() * 64;
}

double DirectWork(std::size_t points, std::uint32_t steps) {
  return kSpreadWork * static_cast<double>(points) * steps;
}

absl::StatusOr<DirectSmoothing> BindDirect(const BindInput& input, const DeltaMush& mush,
                                           const Adjacency& ring, const PointOrder& order,
                                           std::span<const Vec3d> smoothed, Task& task) {
  const std::size_t bindings = input.rig.bindings().size();
  const std::size_t blocks = (mush.points() + kLanes - 1) / kLanes;
  const std::size_t most = blocks * std::min(kMostJoints, mush.iterations * kJointsOfStep);
  const Rows<Seed> seeds = SeedsOf(input, mush);
  std::vector<Vec3d> rest;
  rest.reserve(mush.points());
  for (const std::uint32_t lane : mush.point_lane) {
    rest.push_back(ToDouble(input.layout.rest[lane / kLanes].At(lane % kLanes)));
  }
  DirectSmoothing direct;
  direct.joints.offset.assign(blocks + 1, 0);
  std::vector<std::vector<Kept>> kept(bindings);
  std::vector<std::size_t> last(blocks, bindings);  // binding of a block
  std::size_t pairs = 0;
  double done = 0;
  Spreading spreading(mush, ring, order);
  for (std::size_t e = 0; e < bindings; ++e) {
    if (seeds.row(e).empty()) continue;
    SINEW_RETURN_IF_ERROR(spreading.Run(seeds.row(e), rest, task));
    const auto keeps = [&](std::uint32_t p) { return spreading.at(p)[3] >= kKept; };
    kept[e].reserve(static_cast<std::size_t>(std::ranges::count_if(spreading.points(), keeps)));
    for (const std::uint32_t p : spreading.points()) {
      if (!keeps(p)) continue;
      std::uint32_t& count = direct.joints.offset[p / kLanes + 1];
      if (std::exchange(last[p / kLanes], e) != e) {
        ++count;
        ++pairs;
      }
      const Moments& m = spreading.at(p);
      kept[e].push_back({p,
                         count - 1,
                         {static_cast<float>(m[0]), static_cast<float>(m[1]),
                          static_cast<float>(m[2]), static_cast<float>(m[3])}});
    }
    const double share =
        static_cast<double>(seeds.row(e).size()) / static_cast<double>(seeds.values.size());
    task.Advance(share * DirectWork(mush.points(), mush.iterations));
    done += share;
    if (pairs > most) {
      task.Advance((1 - done) * DirectWork(mush.points(), mush.iterations));
      return DirectSmoothing{};
    }
  }
  std::partial_sum(direct.joints.offset.begin(), direct.joints.offset.end(),
                   direct.joints.offset.begin());
  direct.joints.entry.resize(pairs);
  direct.moments.resize(pairs * 4 * kLanes);
  task.For(bindings, 1, [&](std::size_t e, std::size_t) {
    for (const Kept& one : std::exchange(kept[e], {})) {
      const std::size_t pair = direct.joints.offset[one.point / kLanes] + one.pair;
      direct.joints.entry[pair] = static_cast<std::uint16_t>(e);
      for (std::size_t i = 0; i < 4; ++i) {
        direct.moments[(pair * 4 + i) * kLanes + one.point % kLanes] = one.moments[i];
      }
    }
  });
  Complete(smoothed, direct, task);
  for (std::uint32_t p = 0; p < mush.points(); ++p) {
    direct.still.push_back(mush.row_offset[p] == mush.row_offset[p + 1] ? 1 : 0);
  }
  return direct;
}

}  // namespace sinew
