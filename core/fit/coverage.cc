#include "core/fit/coverage.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/fit/body.h"
#include "core/fit/segment.h"

namespace sinew::fit {
namespace {

// Shorter bare parts are fingers, ears and the heels of right fits, for which a joint would leave
// its limb.
constexpr double kLongBare = 0.15 * kLongestSide;
// As long may be what a joint that shares the sphere of its parent has missed.
constexpr double kShortBare = 0.05 * kLongestSide;
constexpr double kCostOfBare = 0.3 / kLongestSide;  // for each length
constexpr double kTip = 0.5;        // of the bare part's length: where a joint may be
constexpr double kMostMore = 0.15;  // that moved joints may cost
constexpr std::size_t kRounds = 2;  // joints that are moved at most
constexpr double kNearBone = 2;     // cells

// Whether the assignment found no limb for some joint.
bool MissesLimb(const ReducedSkeleton& skeleton, const Embedding& embedding) {
  for (std::size_t k = 1; k < skeleton.joints.size(); ++k) {
    const ReducedJoint& joint = skeleton.joints[k];
    if (joint.leaf && embedding.spheres[k] == embedding.spheres[joint.parent]) return true;
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
    for (std::size_t k = 1; k < input.skeleton.joints.size(); ++k) {
      if (effort_ == 0) break;
      if (!input.skeleton.joints[k].leaf || !input.only[k].empty()) continue;
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
      if (DistanceToSegment(graph.centre[s], places[parents[j]], places[j]) > graph.radius[s])
        continue;
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
                                std::span<const Vec3d> places, double length) {
  // [cells] the cell of a sphere or bone from which the fewest steps lead to it.
  constexpr std::uint32_t kFar = 0xffffffff;
  std::vector<std::uint32_t> source(body.cell_count(), kFar);
  std::vector<std::uint32_t> reached;  // in the order of steps
  for (std::uint32_t c = 0; c < source.size(); ++c) {
    if (!body.Inside(c)) continue;
    const Vec3d at = body.Middle(c);
    bool held = false;
    for (std::size_t s = 0; !held && s < graph.count(); ++s) {
      held = Length(at - graph.centre[s]) < graph.radius[s];
    }
    for (std::size_t j = 1; !held && j < places.size(); ++j) {
      held = DistanceToSegment(at, places[parents[j]], places[j]) < kNearBone * body.cell();
    }
    if (!held) continue;
    source[c] = c;
    reached.push_back(c);
  }
  std::vector<std::uint32_t> free;  // cells that are not held, in the order of steps
  for (std::size_t k = 0; k < reached.size(); ++k) {
    const std::uint32_t c = reached[k];
    if (source[c] != c) free.push_back(c);
    for (const std::size_t next : body.Neighbours(c)) {
      if (!body.Inside(next) || source[next] != kFar) continue;
      source[next] = source[c];
      reached.push_back(static_cast<std::uint32_t>(next));
    }
  }
  std::vector<ThinPart> parts;
  while (true) {
    ThinPart farthest;
    for (const std::uint32_t c : free) {
      const Vec3d at = body.Middle(c);
      const double distance = Length(at - body.Middle(source[c]));
      if (distance > farthest.length) farthest = {distance, at};
    }
    if (farthest.length < length) return parts;
    parts.push_back(farthest);
    std::erase_if(free, [&](std::uint32_t c) {
      return Length(body.Middle(c) - farthest.tip) <= farthest.length;
    });
  }
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
