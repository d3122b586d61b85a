#include "core/fit/embedding.h"

#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>
#include <memory>
#include <queue>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew::fit {
namespace {

// Weights of the nine penalties, learned by the authors from some 70 characters.
constexpr double kShort = 0.027, kDirection = 0.023, kAsymmetry = 0.007, kShared = 0.046,
                 kFootHeight = 0.014, kZeroLength = 0.012, kBoneDirection = 0.072,
                 kNotAtEnd = 0.005, kNearInBody = 0.033;
constexpr double kForbidden = 1e10;
constexpr double kCostOfForbidden = 2;  // more than any assignment may cost
constexpr std::size_t kWideSpheres = 50;
constexpr std::size_t kMaxOpen = 400000;  // entries of the queue, of 40 bytes
constexpr double kRounding = 1e-9;        // of sums of penalties
constexpr std::size_t kStatesBetweenChecks = 16;
constexpr double kLeastSharedRadius = 0.02;
constexpr double kApart = 0.3;  // of the radius: how far joints of one sphere are spread

double Square(double x) {
  return x * x;
}
// a_value below a, b_value above b, linear between.
double Ramp(double x, double a, double a_value, double b, double b_value) {
  if (x <= a) return a_value;
  if (x >= b) return b_value;
  return a_value + (x - a) / (b - a) * (b_value - a_value);
}

using Taken = std::bitset<kMaxSpheres>;

struct State {
  std::vector<std::uint16_t> spheres;
  Taken taken;  // spheres of the paths so far
  double penalty = 0;
  double least_of_next = 0;  // penalty of the next joint
};

// Bones from a sphere of the parent; computed when asked for.
struct Bones {
  std::vector<float> penalty;           // [spheres] for a joint there
  std::vector<std::uint16_t> cheapest;  // candidates with an allowed one, the least first
};

class Search {
 public:
  Search(const EmbedInput& input, double most, const Task& task)
      : skeleton_(input.skeleton), graph_(input.graph), up_(input.up), most_(most), task_(task) {
    lowest_ = std::numeric_limits<double>::infinity();
    for (const Vec3d& centre : graph_.centre) lowest_ = std::min(lowest_, Dot(centre, up_));
    ancestors_.resize(skeleton_.joints.size());
    bones_.assign(skeleton_.joints.size(), std::vector<Bones>(graph_.count()));
    FindLimbs();
    for (std::size_t k = 0; k < skeleton_.joints.size(); ++k) {
      candidates_.push_back(Candidates(skeleton_.joints[k], input.only[k]));
      for (std::uint32_t i = 0; i < k; ++i) {
        ancestors_[k].push_back(skeleton_.CommonAncestor(static_cast<std::uint32_t>(k), i));
      }
    }
  }

  absl::StatusOr<std::optional<Embedding>> Run(EmbedReach& reach, std::size_t& effort) {
    // A state, or the one that it becomes by a sphere for the next joint: these are many more, and
    // most of them never come to the top.
    struct Entry {
      double key;         // of the assignment, at least
      std::size_t order;  // equal keys: the earlier one first
      std::shared_ptr<const State> state;
      std::optional<std::uint16_t> sphere;
      bool operator<(const Entry& other) const {
        return std::tie(key, order) > std::tie(other.key, other.order);
      }
    };
    std::priority_queue<Entry> open;
    open.push({0, 0, std::make_shared<State>(), std::nullopt});
    std::size_t seen = 0, order = 0;
    const std::size_t allowed = std::min(effort, kMaxEffort);
    const absl::Cleanup spend = [&] { effort -= std::min(effort, computed_); };
    while (!open.empty()) {
      if (computed_ > allowed || open.size() > kMaxOpen) break;
      if (seen++ % kStatesBetweenChecks == 0) SINEW_RETURN_IF_ERROR(task_.CheckCancelled());
      const Entry entry = open.top();
      open.pop();
      const State& state = *entry.state;
      const std::size_t k = state.spheres.size();
      if (entry.sphere) {
        auto next = std::make_shared<State>(state);
        Extend(*next, k, *entry.sphere);
        const double key = next->penalty + StillToCome(*next);
        if (key > most_) continue;
        open.push({key, ++order, std::move(next), std::nullopt});
        continue;
      }
      reach.joints = std::max(reach.joints, k);
      if (k == skeleton_.joints.size()) return Embedding{state.spheres, state.penalty};
      // What this joint may cost: the others that are still to come cost what the key holds.
      const double most = most_ + kRounding - entry.key + state.least_of_next;
      for (const std::uint16_t sphere : Cheapest(state, k)) {
        const double penalty = Penalty(state, k, sphere, most);
        if (penalty > most) continue;
        open.push({entry.key - state.least_of_next + penalty, ++order, entry.state, sphere});
      }
    }
    reach.exhausted = !open.empty();
    return std::nullopt;
  }

 private:
  std::vector<std::uint16_t> Candidates(const ReducedJoint& joint,
                                        const std::vector<std::uint16_t>& only) const {
    if (!only.empty()) return only;
    std::vector<std::uint16_t> list;
    if (joint.wide) {
      // Spheres are sorted by size.
      for (std::uint16_t s = 0; s < std::min(kWideSpheres, graph_.count()); ++s) list.push_back(s);
    } else if (joint.leaf) {
      list = limbs_;
    } else {
      for (std::uint16_t s = 0; s < graph_.count(); ++s) list.push_back(s);
    }
    return list;
  }

  // Candidates of a joint whose parent has a place, those with a cheap bone first.
  const std::vector<std::uint16_t>& Cheapest(const State& state, std::size_t k) const {
    const std::uint32_t parent = skeleton_.joints[k].parent;
    return parent == kNone ? candidates_[k] : BonesFrom(k, state.spheres[parent]).cheapest;
  }

  // Spheres at which some line of spheres ends.
  void FindLimbs() {
    for (std::uint16_t i = 0; i < graph_.count(); ++i) {
      const auto ends = [&](std::uint32_t a) {
        const Vec3d along = Unit(graph_.centre[i] - graph_.centre[a]);
        return std::ranges::none_of(graph_.neighbours[i], [&](std::uint32_t e) {
          return graph_.radius[i] <= 2 * graph_.radius[e] &&
                 Dot(Unit(graph_.centre[e] - graph_.centre[i]), along) > 0.8;
        });
      };
      if (std::ranges::any_of(graph_.neighbours[i], ends)) limbs_.push_back(i);
    }
  }

  // The penalty, or a number above `most` if it is larger.
  double Penalty(const State& state, std::size_t k, std::uint16_t s, double most) const {
    const ReducedJoint& joint = skeleton_.joints[k];
    if (joint.parent == kNone) return 0;
    ++computed_;
    const std::uint16_t p = state.spheres[joint.parent];
    double sum = BonesFrom(k, p).penalty[s];
    if (sum > most) return kCostOfForbidden;
    const double play = 0.7 * (graph_.radius[s] + graph_.radius[p]);
    const bool allowed =
        Add(kDirection, SiblingDirection(state, k, s), sum) &&
        Add(kAsymmetry, Asymmetry(state, joint, graph_.Distance(p, s), play), sum) && sum <= most &&
        Add(kNearInBody, NearInBody(state, k, s), sum) && sum <= most &&
        Add(kShared, SharedPath(state, p, s), sum);
    return allowed ? sum : kCostOfForbidden;
  }

  static bool Add(double weight, double term, double& sum) {
    if (weight * term > 1) return false;
    sum += weight * term;
    return true;
  }

  // The penalties that depend on the spheres of a joint and its parent alone.
  const Bones& BonesFrom(std::size_t k, std::uint16_t p) const {
    Bones& bones = bones_[k][p];
    if (!bones.penalty.empty()) return bones;
    computed_ += candidates_[k].size();
    bones.penalty.assign(graph_.count(), static_cast<float>(kCostOfForbidden));
    for (const std::uint16_t s : candidates_[k]) {
      bones.penalty[s] = static_cast<float>(ComputeOfBone(k, p, s));
      if (bones.penalty[s] <= most_) bones.cheapest.push_back(s);
    }
    std::ranges::stable_sort(bones.cheapest, {}, [&](std::uint16_t s) { return bones.penalty[s]; });
    return bones;
  }
  double ComputeOfBone(std::size_t k, std::uint16_t p, std::uint16_t s) const {
    const ReducedJoint& joint = skeleton_.joints[k];
    const double distance = graph_.Distance(p, s);
    if (!(distance < std::numeric_limits<double>::infinity())) return kCostOfForbidden;
    const double play = 0.7 * (graph_.radius[s] + graph_.radius[p]);
    double sum = 0;
    const bool allowed =
        Add(kShort, TooShort(joint, distance + play), sum) &&
        Add(kDirection, ParentDirection(k, p, s), sum) &&
        Add(kFootHeight, joint.foot ? Dot(graph_.centre[s], up_) - lowest_ : 0, sum) &&
        Add(kZeroLength, s == p ? 1 : 0, sum) && Add(kNotAtEnd, NotAtEnd(joint, s, p), sum) &&
        Add(kBoneDirection, BoneDirection(joint, graph_.Path(p, s)), sum);
    return allowed ? sum : kCostOfForbidden;
  }

  static double TooShort(const ReducedJoint& joint, double reach) {
    if (reach < 0.5 * joint.length) return kForbidden;
    const double ramp = Ramp(joint.length / reach, 0.5, 0, 2, 3);
    return ramp * ramp * ramp;
  }

  double Cosine(std::size_t k, std::uint16_t s, std::size_t i, std::uint16_t other) const {
    return Dot(Unit(graph_.centre[s] - graph_.centre[other]), Unit(Place(k) - Place(i)));
  }

  double ParentDirection(std::size_t k, std::uint16_t p, std::uint16_t s) const {
    if (s == p) return 0;
    const double cosine = Cosine(k, s, skeleton_.joints[k].parent, p);
    return cosine < 0 ? kForbidden : 0.5 * std::max(0.0, 16 * Square(1 - cosine) - 0.1);
  }

  double SiblingDirection(const State& state, std::size_t k, std::uint16_t s) const {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(k, state.spheres.size()); ++i) {
      const std::uint16_t other = state.spheres[i];
      if (skeleton_.joints[i].parent != skeleton_.joints[k].parent || other == s) continue;
      const double cosine = Cosine(k, s, i, other);
      if (cosine < -0.5) return kForbidden;
      sum += 0.5 * std::max(0.0, 4 * Square(1 - cosine) - 0.5);
    }
    return sum;
  }

  double Asymmetry(const State& state, const ReducedJoint& joint, double distance,
                   double play) const {
    if (joint.partner >= state.spheres.size()) return 0;
    const std::uint16_t s = state.spheres[joint.partner];
    const std::uint16_t p = state.spheres[skeleton_.joints[joint.partner].parent];
    const double other = graph_.Distance(p, s);
    const double other_play = 0.7 * (graph_.radius[s] + graph_.radius[p]);
    const double lengths = std::max(distance / (other + 1e-8), other / (distance + 1e-8));
    const double q = 0.2 * std::min(2.0, lengths) +
                     0.8 * std::max(other / (distance + play), distance / (other + other_play));
    return std::max(0.0, q * q * q - 1.2);
  }

  double SharedPath(const State& state, std::uint16_t p, std::uint16_t s) const {
    double sum = 0;
    std::size_t m = 1;
    for (std::size_t at = s; at != p; at = graph_.Before(p, at), ++m) {
      if (!state.taken[at]) continue;
      if (graph_.radius[at] < kLeastSharedRadius) return kForbidden;
      sum += 0.5 / Square(static_cast<double>(m));
    }
    return sum > 0 ? sum + 0.5 : 0;
  }

  double BoneDirection(const ReducedJoint& joint, const std::vector<std::uint16_t>& path) const {
    if (path.size() == 1) return 0;
    std::vector<Vec3d> points;
    if (joint.chain.size() == 1) {
      points = {graph_.centre[path.back()]};
    } else {
      points = PointsOfPath(graph_, path, joint.parts);
    }
    double sum = 0;
    Vec3d above = graph_.centre[path.front()];
    for (std::size_t b = 0; b < points.size(); ++b) {
      const Vec3d bone =
          skeleton_.places[joint.chain[b]] - skeleton_.places[skeleton_.parents[joint.chain[b]]];
      const double cosine = Dot(Unit(points[b] - above), Unit(bone));
      sum += 50 * Dot(bone, bone) * Square((1 - cosine) * Ramp(cosine, -0.5, 6, 0, 1));
      above = points[b];
    }
    return sum;
  }

  double NotAtEnd(const ReducedJoint& joint, std::uint16_t s, std::uint16_t p) const {
    if (!joint.leaf || s == p) return 0;
    const Vec3d along = Unit(graph_.centre[s] - graph_.centre[p]);
    const bool goes_on = std::ranges::any_of(graph_.neighbours[s], [&](std::uint32_t o) {
      return graph_.radius[s] <= 2 * graph_.radius[o] &&
             Dot(Unit(graph_.centre[o] - graph_.centre[p]), along) > 0.95 &&
             Dot(Unit(graph_.centre[o] - graph_.centre[s]), along) > 0.8;
    });
    return goes_on ? 1 : 0;
  }

  double NearInBody(const State& state, std::size_t k, std::uint16_t s) const {
    double sum = 0;
    for (std::uint32_t i = 0; i < std::min(k, state.spheres.size()); ++i) {
      if (i == skeleton_.joints[k].parent) continue;
      const std::uint16_t other = state.spheres[i];
      const std::uint16_t above = state.spheres[ancestors_[k][i]];
      const double radii = graph_.radius[s] + graph_.radius[other];
      const double in_tree = graph_.Distance(s, above) + graph_.Distance(above, other) + radii;
      if (in_tree / (graph_.Distance(s, other) + radii) > 2) ++sum;
    }
    return sum;
  }

  void Extend(State& state, std::size_t k, std::uint16_t s) const {
    state.penalty += Penalty(state, k, s, most_);
    const ReducedJoint& joint = skeleton_.joints[k];
    if (joint.parent == kNone) {
      state.taken.set(s);
    } else {
      for (const std::uint16_t sphere : graph_.Path(state.spheres[joint.parent], s))
        state.taken.set(sphere);
    }
    state.spheres.push_back(s);
  }

  // What joints whose parents have a place cost at least: penalties only grow as joints are added.
  double StillToCome(State& state) const {
    double sum = 0;
    const std::size_t first = state.spheres.size();
    for (std::size_t k = first; k < skeleton_.joints.size(); ++k) {
      if (skeleton_.joints[k].parent >= state.spheres.size()) continue;
      double least = most_ - state.penalty - sum + kRounding;
      const Bones& bones = BonesFrom(k, state.spheres[skeleton_.joints[k].parent]);
      bool found = false;
      for (const std::uint16_t sphere : bones.cheapest) {
        if (bones.penalty[sphere] >= least) break;
        const double penalty = Penalty(state, k, sphere, least);
        found |= penalty < least;
        least = std::min(least, penalty);
      }
      if (!found) return kCostOfForbidden;
      sum += least;
      if (k == first) state.least_of_next = least;
    }
    return sum;
  }

  Vec3d Place(std::size_t k) const { return skeleton_.places[skeleton_.joints[k].joint]; }

  const ReducedSkeleton& skeleton_;
  const SphereGraph& graph_;
  const Vec3d up_;
  const double most_;
  const Task& task_;
  double lowest_ = 0;                 // height of the lowest sphere
  mutable std::size_t computed_ = 0;  // penalties
  std::vector<std::uint16_t> limbs_;
  std::vector<std::vector<std::uint16_t>> candidates_;
  std::vector<std::vector<std::uint32_t>>
      ancestors_;  // [reduced joints] common ones with earlier joints
  mutable std::vector<std::vector<Bones>> bones_;  // [reduced joints][spheres of the parent]
};

}  // namespace

std::vector<Vec3d> PointsOfPath(const SphereGraph& graph, std::span<const std::uint16_t> spheres,
                                std::span<const double> parts) {
  double whole = 0;
  for (std::size_t k = 1; k < spheres.size(); ++k) {
    whole += Length(graph.centre[spheres[k]] - graph.centre[spheres[k - 1]]);
  }
  std::vector<Vec3d> points;
  double before = 0;
  std::size_t k = 1;
  for (const double part : parts) {
    double piece = 0;
    for (; k < spheres.size(); ++k) {
      piece = Length(graph.centre[spheres[k]] - graph.centre[spheres[k - 1]]);
      if (before + piece >= part * whole) break;
      before += piece;
    }
    if (k >= spheres.size()) {
      points.push_back(graph.centre[spheres.back()]);
      continue;
    }
    const double along = piece > 0 ? (part * whole - before) / piece : 0;
    points.push_back(graph.centre[spheres[k - 1]] +
                     along * (graph.centre[spheres[k]] - graph.centre[spheres[k - 1]]));
  }
  return points;
}

std::vector<Vec3d> PlacesOf(const ReducedSkeleton& skeleton, const SphereGraph& graph,
                            const Embedding& embedding) {
  std::vector<Vec3d> places(skeleton.places.size());
  for (std::size_t k = 0; k < skeleton.joints.size(); ++k) {
    const ReducedJoint& joint = skeleton.joints[k];
    const std::uint16_t sphere = embedding.spheres[k];
    places[joint.joint] = graph.centre[sphere];
    if (joint.parent == kNone) continue;
    const std::uint16_t above = embedding.spheres[joint.parent];
    if (above != sphere) {
      const std::vector<Vec3d> points = PointsOfPath(graph, graph.Path(above, sphere), joint.parts);
      for (std::size_t b = 0; b < points.size(); ++b) places[joint.chain[b]] = points[b];
      continue;
    }
    // A chain without length would stay one, for its length has no gradient.
    Vec3d at = graph.centre[sphere];
    for (const std::uint32_t link : joint.chain) {
      const Vec3d bone = skeleton.places[link] - skeleton.places[skeleton.parents[link]];
      at = at + std::min(Length(bone), kApart * graph.radius[sphere]) * Unit(bone);
      places[link] = at;
    }
  }
  return places;
}

absl::StatusOr<std::optional<Embedding>> Embed(const EmbedInput& input, double most,
                                               const Task& task, EmbedReach& reach,
                                               std::size_t& effort) {
  return Search(input, most, task).Run(reach, effort);
}

}  // namespace sinew::fit
