#include "core/fit/coverage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/segment.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/fit/body.h"
#include "core/fit/flood.h"

namespace sinew::fit {
namespace {

// Shorter bare parts are fingers, ears and the heels of right fits, for which a joint would leave
// its limb.
constexpr double kLongBare = 0.15 * kLongestSide;
// A part of this length may belong to a joint that shares the sphere of its parent.
constexpr double kShortBare = 0.05 * kLongestSide;
constexpr double kCostOfBare = 0.3 / kLongestSide;  // for each length
constexpr double kTip = 0.5;        // of the bare part's length: where a joint may be
constexpr double kMostMore = 0.15;  // that moved joints may cost
constexpr std::size_t kRounds = 2;  // joints that are moved at most
constexpr double kNearBone = 2;     // cells

// Whether the assignment found no limb for some joint.
bool MissesLimb(const ReducedSkeleton& skeleton, const Embedding& embedding) {
  for (std::uint32_t k = 1; k < skeleton.joints.size(); ++k) {
    const ReducedJoint& joint = skeleton.joints[k];
    if (joint.leaf && embedding.spheres[k] == embedding.spheres[skeleton.LimbRoot(k)]) return true;
  }
  return false;
}

struct Candidate {
  Embedding embedding;
  std::vector<BarePart> bare;
  double cost = 0;

  Candidate(const EmbedInput& input, Embedding from, double length) : embedding(std::move(from)) {
    bare = BareParts(input.graph, input.skeleton.parents,
                     PlacesOf(input.skeleton, input.graph, embedding), length);
    cost = embedding.penalty;
    for (const BarePart& part : bare) cost += kCostOfBare * part.length;
  }
  double longest() const { return bare.empty() ? 0 : bare[0].length; }
};

class Cover {
 public:
  Cover(const Candidate& first, double length, const Task& task, std::size_t& effort)
      : best_(first), first_(first), length_(length), task_(task), effort_(effort) {}

  // Candidates with one more joint in the longest bare part of `from`.
  absl::Status Extend(const EmbedInput& input, const Candidate& from, std::size_t rounds) {
    if (rounds == 0 || effort_ == 0 || from.bare.empty()) return absl::OkStatus();
    const SphereGraph& graph = input.graph;
    const double most = std::min(1.0, first_.embedding.penalty + kMostMore);
    std::vector<std::uint16_t> tip;
    for (std::uint16_t s = 0; s < graph.count(); ++s) {
      if (graph.Distance(s, from.bare[0].tip) < kTip * from.bare[0].length) tip.push_back(s);
    }
    for (std::uint32_t k = 1; k < input.skeleton.joints.size(); ++k) {
      if (effort_ == 0) break;
      const ReducedJoint& joint = input.skeleton.joints[k];
      if (!joint.leaf || !input.only[k].empty()) continue;
      // Shorter parts are for joints that have no limb; others are right as they are.
      const bool has_limb =
          from.embedding.spheres[k] != from.embedding.spheres[input.skeleton.LimbRoot(k)];
      if (has_limb && from.bare[0].length < kLongBare) continue;
      std::vector<std::vector<std::uint16_t>> only(input.only.begin(), input.only.end());
      only[k] = tip;
      const EmbedInput moved{input.skeleton, graph, input.up, only};
      EmbedReach reach;
      SINEW_ASSIGN_OR_RETURN(std::optional<Embedding> found,
                             Embed(moved, most, task_, reach, effort_));
      if (!found) continue;
      const Candidate candidate(input, *std::move(found), length_);
      if (candidate.cost < best_.cost && candidate.longest() <= 0.5 * first_.longest())
        best_ = candidate;
      SINEW_RETURN_IF_ERROR(Extend(moved, candidate, rounds - 1));
    }
    return absl::OkStatus();
  }
  Embedding Take() { return std::move(best_.embedding); }

 private:
  Candidate best_;
  const Candidate& first_;
  const double length_;
  const Task& task_;
  std::size_t& effort_;
};

}  // namespace

std::vector<BarePart> BareParts(const SphereGraph& graph, std::span<const std::uint32_t> parents,
                                std::span<const Vec3d> places, double length) {
  std::vector<std::uint16_t> crossed;
  for (std::uint16_t s = 0; s < graph.count(); ++s) {
    for (std::size_t j = 1; j < places.size(); ++j) {
      const Vec3d& centre = graph.centre[s];
      const OnSegment nearest = NearestOnSegment(places[parents[j]], places[j], centre);
      if (Length(centre - nearest.point) > graph.radius[s]) continue;
      crossed.push_back(s);
      break;
    }
  }
  // [spheres] from a sphere that a bone crosses to the far side of this one.
  constexpr double kUnconnected = std::numeric_limits<double>::infinity();
  std::vector<double> bare(graph.count(), kUnconnected);
  for (std::uint16_t s = 0; s < graph.count(); ++s) {
    for (const std::uint16_t c : crossed) {
      bare[s] = std::min(bare[s], graph.Distance(c, s) - graph.radius[c] + graph.radius[s]);
    }
    if (bare[s] == kUnconnected) bare[s] = 0;
  }
  std::vector<BarePart> parts;
  while (true) {
    const auto farthest = std::ranges::max_element(bare);
    if (farthest == bare.end() || *farthest < length) return parts;
    parts.push_back({*farthest, static_cast<std::uint16_t>(farthest - bare.begin())});
    for (std::uint16_t s = 0; s < graph.count(); ++s) {
      if (graph.Distance(s, parts.back().tip) < parts.back().length) bare[s] = 0;
    }
  }
}

std::vector<ThinPart> ThinParts(const Body& body, const SphereGraph& graph,
                                std::span<const std::uint32_t> parents,
                                std::span<const Vec3d> places, double length, std::size_t most) {
  // [cells] of the sphere that a cell is in, the largest; 0 beside a bone.
  constexpr float kInNone = -1;
  std::vector<float> radius(body.cell_count(), kInNone);
  std::vector<std::uint32_t> held;  // cells of spheres and bones
  const auto hold = [&](const Vec3d& at, double distance, double of) {
    body.ForEachWithin(at, distance, [&](std::size_t cell) {
      if (radius[cell] != kInNone) return;
      radius[cell] = static_cast<float>(of);
      held.push_back(static_cast<std::uint32_t>(cell));
    });
  };
  for (std::size_t s = 0; s < graph.count(); ++s) {
    hold(graph.centre[s], graph.radius[s], graph.radius[s]);
  }
  for (std::size_t j = 1; j < places.size(); ++j) {
    const Vec3d root = places[parents[j]], along = places[j] - root;
    const double pieces = std::ceil(Length(along) / body.cell());
    for (double k = 0; k <= pieces; ++k) {
      hold(root + (k / std::max(pieces, 1.0)) * along, kNearBone * body.cell(), 0);
    }
  }
  Flood flood = FloodFrom(body, std::move(held));
  const auto distance = [&](std::uint32_t c) {
    return Length(body.Middle(c) - body.Middle(flood.source[c]));
  };
  std::vector<std::uint32_t> free = std::move(flood.reached);  // cells far from spheres and bones
  std::erase_if(free, [&](std::uint32_t c) {
    return distance(c) < std::max(length, double{radius[flood.source[c]]});
  });
  std::vector<ThinPart> parts;
  while (!free.empty() && parts.size() < most) {
    const std::uint32_t farthest = *std::ranges::max_element(free, {}, distance);
    parts.push_back({distance(farthest), body.Middle(farthest)});
    std::erase_if(free, [&](std::uint32_t c) {
      return Length(body.Middle(c) - parts.back().tip) <= parts.back().length;
    });
  }
  return parts;
}

absl::Status CoverBareParts(const EmbedInput& input, const Task& task, Embedding& embedding,
                            std::size_t& effort) {
  const double length = MissesLimb(input.skeleton, embedding) ? kShortBare : kLongBare;
  const Candidate first(input, embedding, length);
  Cover cover(first, length, task, effort);
  SINEW_RETURN_IF_ERROR(cover.Extend(input, first, kRounds));
  embedding = cover.Take();
  return absl::OkStatus();
}

}  // namespace sinew::fit
